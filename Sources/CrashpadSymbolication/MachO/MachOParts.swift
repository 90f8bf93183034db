// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes

struct MachOHeader: Sendable {
  /// Whether commands have 32-bit addresses, and other sizes.
  let is32Bit: Bool
  let architecture: MachOArchitecture
  let kind: MachOKind
  let commandCount: UInt32
  let commandBytes: Int

  /// The size in bytes.
  var size: Int { is32Bit ? 28 : 32 }
}

package struct MachOSegment: Sendable, Hashable {
  package let name: String
  package let address: UInt64
  /// The size in memory, in bytes.
  package let size: UInt64
  /// The offset in the slice, from the load command; it may be outside of the slice.
  package let fileOffset: UInt64
  package let fileSize: UInt64
}

package struct MachOSection: Sendable, Hashable {
  package let segment: String
  /// At most 16 bytes: longer names are truncated.
  package let name: String
  package let address: UInt64
  /// The size in bytes.
  package let size: UInt64
  /// The range of its bytes in the file; nil if they are missing, like those of the code in a dSYM.
  package let content: ByteRange?
  package let hasInstructions: Bool
  /// The relocations of an object file; nil for other files, and if there are none.
  var relocations: ByteRange?

  /// The address after the last byte.
  package var end: UInt64 { address.addingReportingOverflow(size).overflow ? .max : address + size }
}

/// The ranges of LC_SYMTAB in the file.
struct MachOSymbolTable: Sendable {
  /// The size of an entry in bytes.
  let entrySize: Int
  let entries: ByteRange
  let strings: ByteRange
}

extension MachOSection {
  func contains(_ address: UInt64) -> Bool { address >= self.address && address - self.address < size }
}

package enum MachOKind: UInt32, Sendable {
  case object = 1
  case execute = 2
  case dylib = 6
  case dylinker = 7
  case bundle = 8
  /// The stub of a dylib: only its load commands
  case dylibStub = 9
  /// The debug information of another file
  case debugSymbols = 10
  case kernelExtension = 11
  case fileSet = 12
}
