// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes
internal import CrashpadFiles
internal import Synchronization

/// The exported functions and the unwind information of a Windows program or library.
package final class PESymbols: SymbolFile {
  private let input: InputFile
  private let file: PEFile
  /// The addresses and the places of names; nil until one is looked up.
  private let known = Mutex<[(address: UInt64, name: Int)]?>(nil)

  /// Nil if the file is no Portable Executable.
  init?(_ input: InputFile) {
    guard let file = input.withBytes({ PEFile($0) }) else { return nil }
    (self.input, self.file) = (input, file)
  }

  package var imageBase: UInt64 { 0 }
  package var isEmpty: Bool { false }
  /// Lines are in the PDB, or in a `.sym` that a tool made of it.
  package var hasDebugInfo: Bool { false }
  package var findings: FindingList { FindingList() }

  /// The exported function that contains the offset, or the one before a function that is in no table. A function that is in
  /// the table and is not exported has no name.
  package func symbolize(_ offset: UInt64) -> SymbolizedAddress? {
    guard file.isCode(offset) else { return nil }
    return known.withLock { known in
      let exports = known ?? input.withBytes { file.exports($0) }
      known = exports
      let start = functionAddress(offset)
      let next = exports.indices.partitioningIndex { exports[$0].address > start ?? offset }
      guard next > 0 else { return nil }
      let (address, place) = exports[next - 1]
      if let start, start != address { return nil }
      let name = input.withBytes { file.name(at: place, $0) }
      return SymbolizedAddress(
        frames: [SymbolizedAddress.Frame(function: name, location: nil)], functionAddress: address,
        isNearest: start == nil)
    }
  }

  package func functionAddress(_ offset: UInt64) -> UInt64? {
    input.withBytes { bytes in file.function(containing: offset, bytes).map { file.primary(of: $0, bytes).start } }
  }

  package func isInFunction(_ offset: UInt64) -> Bool { file.isCode(offset) }

  package func frameRules(at offset: UInt64, _ architecture: FrameRegisters.Architecture) -> FrameRules? { nil }

  package func caller(
    of callee: FrameRegisters, at offset: UInt64, isInnermost: Bool, _ memory: (UInt64) -> UInt64?
  ) -> FrameRegisters? {
    guard callee.architecture == .x86_64, file.machine == .x86_64 else { return nil }
    return input.withBytes { bytes in
      PEUnwind(file: file).caller(of: callee, at: offset, isInnermost: isInnermost, bytes, memory)
    }
  }

  package func code(at offset: UInt64) -> UInt64? {
    guard file.isCode(offset) else { return nil }
    return input.withBytes { bytes in file.offset(of: offset, count: 8).map { bytes.uint64(at: $0) } }
  }

  package func data(at offset: UInt64, count: Int) -> [UInt8]? {
    input.withBytes { bytes in file.data(at: offset, count: count).map { bytes.array(in: $0) } }
  }

  package func code(around offset: UInt64, before: Int, after: Int) -> (bytes: [UInt8], before: Int)? {
    guard file.isCode(offset) else { return nil }
    let first = offset - min(offset, UInt64(before))
    return input.withBytes { bytes in
      guard let start = file.offset(of: first, count: Int(offset - first) + after) else { return nil }
      return (bytes.array(in: ByteRange(offset: start, count: Int(offset - first) + after)), Int(offset - first))
    }
  }
}
