// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes

/// One file in a universal ("fat") file.
package struct MachOSlice: Sendable, Hashable {
  package let architecture: MachOArchitecture
  /// The range for `MachOFile.init(_:in:)`.
  package let range: ByteRange

  /// Read as big-endian, for 32-bit and 64-bit offsets
  static let magic: UInt32 = 0xcafe_babe
  static let magic64: UInt32 = 0xcafe_babf

  /// Java class files have the same magic number, followed by a version of at least 45 instead of the number of slices.
  static func isUniversal(_ bytes: RawSpan) -> Bool {
    guard bytes.byteCount >= 8 else { return false }
    let magic = bytes.uint32(at: 0).byteSwapped
    guard magic == Self.magic || magic == magic64 else { return false }
    return bytes.uint32(at: 4).byteSwapped < 45
  }
}
