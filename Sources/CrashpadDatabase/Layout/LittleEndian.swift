// SPDX-License-Identifier: Apache-2.0
extension [UInt8] {
  mutating func append(littleEndian value: some FixedWidthInteger) {
    var rest = value
    for _ in 0..<(type(of: value).bitWidth / 8) {
      append(UInt8(truncatingIfNeeded: rest))
      rest >>= 8
    }
  }
}
