// SPDX-License-Identifier: Apache-2.0
import Foundation
import ToolRunner

/// The compilers and peers of this machine; what is missing is nil, and its tests are skipped.
enum Toolbox {
  static let gcc = program("gcc")
  static let gxx = program("g++")
  static let clang = program("clang")
  static let clangxx = program("clang++")
  static let swiftc = program("swiftc")
  static let lld = program("ld.lld")
  static let objcopy = program("objcopy", "llvm-objcopy")
  static let xz = program("xz")
  static let nm = program("nm", "llvm-nm")
  /// That of the Swift toolchain first: one before LLVM 15 does not know all forms of DWARF 5.
  static let llvmSymbolizer: String? = {
    let beside = swiftc.map { URL(fileURLWithPath: $0).deletingLastPathComponent().path }
    let versions = (15...30).reversed().map { "llvm-symbolizer-\($0)" }
    return program(folders: [beside].compactMap { $0 }, ["llvm-symbolizer"])
      ?? program(folders: folders, versions + ["llvm-symbolizer"])
  }()
  static let euAddr2line = program("eu-addr2line")

  private static let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(
    String.init)

  private static func program(_ names: String...) -> String? { program(folders: folders, names) }

  private static func program(folders: [String], _ names: [String]) -> String? {
    names.flatMap { name in folders.map { "\($0)/\(name)" } }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  static func named(_ name: String) -> String? { program(folders: folders, [name]) }

  /// That of the newest LLVM whose number is in the name, or the one without a number.
  static func newest(_ name: String) -> String? {
    program(folders: folders, (14...30).reversed().map { "\(name)-\($0)" } + [name])
  }

  static let seed: UInt64 = {
    let environment = ProcessInfo.processInfo.environment
    let seed = environment["CRASHPADCTL_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0..<1_000_000)
    print("agreement: CRASHPADCTL_SEED=\(seed)")
    return seed
  }()
}
