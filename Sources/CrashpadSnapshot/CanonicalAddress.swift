// SPDX-License-Identifier: Apache-2.0
extension UInt64 {
  /// Whether the upper 17 bits are all 0 or all 1, without which x86-64 refuses an address where addresses have 48 bits.
  package var isCanonical: Bool { Int64(bitPattern: self << 16) >> 16 == Int64(bitPattern: self) }

  /// Whether the upper 8 bits are all 0 or all 1, without which it refuses one where addresses have 57 bits, too.
  package var isCanonicalIn57Bits: Bool { Int64(bitPattern: self << 7) >> 7 == Int64(bitPattern: self) }
}
