// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import CrashpadSymbolication
import Testing
import ToolRunner

/// The names of libraries on this machine, against the tools of their languages.
@Suite("Names of real libraries")
struct RealNameTests {
  private static func path(_ command: String) -> String? {
    guard let folder = try? TemporaryFolder() else { return nil }
    return try? Tool.shell("command -v \(command)", in: folder).outputLines.first.map(String.init)
  }

  private static let cxxfilt = ["llvm-cxxfilt-19", "llvm-cxxfilt"].first { path($0) != nil }

  /// The toolchain's library with the Swift runtime and what is beside it.
  private static let libraries: [String] = {
    let command = "swift -print-target-info | sed -n 's|.*\"\\(/.*/lib/swift/linux\\)\".*|\\1|p' | head -n 1"
    guard let folder = try? TemporaryFolder(),
      let path = try? Tool.shell(command, in: folder).outputLines.first, path.hasPrefix("/")
    else { return [] }
    return ["libswiftCore", "libFoundation", "libFoundationEssentials", "libTesting"].map { "\(path)/\($0).so" }
      .filter { FileManager.default.fileExists(atPath: $0) }
  }()

  /// Up to `count` of the names in the toolchain's libraries, and what `command` makes of each.
  private func names(
    _ pattern: String, _ count: Int, _ libraries: [String], _ commands: String...
  ) throws -> [(symbol: String, names: [String])] {
    let folder = try TemporaryFolder()
    let files = libraries.map { "'\($0)'" }.joined(separator: " ")
    let symbols = try Tool.shell("nm -D \(files) | awk '{print $NF}' | sed 's/@.*//' | sort -u", in: folder)
      .outputLines.map(String.init).filter { $0.hasPrefix(pattern) }
    let seed = UInt64.random(in: 0 ... .max)
    print("seed \(seed)")
    var random = SplitMix64(seed: seed)
    let sample = (0..<min(count, symbols.count)).map { _ in symbols[random.below(symbols.count)] }
    try folder.write(Array((sample.joined(separator: "\n") + "\n").utf8), to: "symbols")
    let answers = try commands.map { try Tool.shell("\($0) < symbols", in: folder).outputLines.map(String.init) }
    return sample.enumerated().map { index, symbol in (symbol, answers.map { $0[index] }) }
  }

  @Test(
    "Swift's names are those of swift demangle, full and simplified",
    .enabled(if: !libraries.isEmpty, "the libraries of the Swift toolchain are not found"))
  func swift() throws {
    let names = try names(
      "$s", 20_000, Self.libraries, "swift demangle -compact", "swift demangle -compact -simplified")
    try #require(names.count > 1000)
    for (symbol, expected) in names {
      #expect(Demangler.demangle(symbol) ?? symbol == expected[0])
      #expect(Demangler.demangle(symbol, .simplified) ?? symbol == expected[1])
    }
  }

  @Test(
    "C++ names that LLVM reads are demangled",
    .enabled(
      if: !libraries.isEmpty && cxxfilt != nil, "the libraries of the Swift toolchain, or llvm-cxxfilt, are not found"
    ))
  func cxx() throws {
    let cxxfilt = try #require(Self.cxxfilt)
    let system = ["/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"]
      .filter { FileManager.default.fileExists(atPath: $0) }
    let names = try names("_Z", 20_000, Self.libraries + system, cxxfilt)
    try #require(names.count > 100)
    for (symbol, expected) in names where expected[0] != symbol {
      #expect(Demangler.demangle(symbol) != nil, "\(symbol)")
    }
  }
}
