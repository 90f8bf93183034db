// SPDX-License-Identifier: Apache-2.0
import CrashpadFiles
import Foundation
import CrashpadSnapshot
import CrashpadSymbolication
import SystemPackage
import ToolRunner

/// A process made for a test: some memory, some modules, and what their symbol files say.
struct TestProcess {
  var snapshot: ProcessSnapshot
  var modules: [WalkedModule] = []
  let cache: SymbolCache
  let folder: TemporaryFolder

  init(_ architecture: CPUArchitecture, symbolFiles: [String] = []) throws {
    snapshot = ProcessSnapshot(system: SystemSnapshot(architecture: architecture, operatingSystem: .ios))
    folder = try TemporaryFolder()
    for (number, text) in symbolFiles.enumerated() { try folder.write("\(number).sym", text) }
    cache = SymbolCache(SymbolSearch(paths: [folder.path], looksInSystem: false))
  }

  mutating func memory(at address: UInt64, _ words: [UInt64]) {
    let bytes = words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * UInt64($0))) } }
    snapshot.extraMemory.append(MemoryRegion(address: address, content: snapshot.store(bytes)))
  }

  /// - Parameter id: as in the MODULE record.
  mutating func module(_ name: String, at address: UInt64, size: UInt64, id: String? = nil) {
    let identity = ModuleIdentity(path: name, debugID: id.flatMap { DebugID(text: $0) })
    modules.append(
      WalkedModule(index: modules.count, address: address, size: size, symbols: LazySymbols(identity, cache)))
  }

  func walk(
    _ registers: FrameRegisters, isThumb: Bool = false, mask: UInt64 = 0,
    limits: StackWalker.Limits = StackWalker.Limits()
  ) -> StackWalker.Walk {
    StackWalker(
      modules: modules, StackWalker.Process(snapshot, InputFile(bytes: []), addressMask: mask), limits: limits
    ).walk(from: registers, isThumb: isThumb)
  }
}

extension TemporaryFolder {
  var path: FilePath { FilePath(work.path) }

  @discardableResult
  func write(_ name: String, _ text: String) throws -> FilePath { try write(name, Array(text.utf8)) }

  /// Makes the folders above it too.
  @discardableResult
  func write(_ name: String, _ bytes: [UInt8]) throws -> FilePath {
    let url = work.appending(path: name)
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: url)
    return path.appending(name)
  }
}

extension FrameRegisters {
  /// By DWARF's numbers.
  init(_ architecture: Architecture, _ values: [Int: UInt64]) {
    self.init(architecture)
    for (number, value) in values { self[number] = value }
  }
}
