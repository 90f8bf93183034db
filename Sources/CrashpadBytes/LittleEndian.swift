// SPDX-License-Identifier: Apache-2.0
/// The bytes of a number, the lowest first.
package func littleEndian(_ value: some FixedWidthInteger) -> [UInt8] {
  littleEndian(UInt64(truncatingIfNeeded: value), size: value.bitWidth / 8)
}

/// The lowest `size` bytes of a number.
package func littleEndian(_ value: UInt64, size: Int) -> [UInt8] {
  (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
}
