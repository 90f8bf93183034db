// SPDX-License-Identifier: Apache-2.0
// Numbers and columns in the format used throughout the tool's output.

/// Lowercase hexadecimal digits, padded with zeros to `width`.
package func hexadecimal(_ value: UInt64, width: Int = 0) -> String {
  let digits = max(1, (67 - value.leadingZeroBitCount) / 4)
  let count = max(digits, width)
  return unsafe String(unsafeUninitializedCapacity: count) { buffer in
    var rest = value
    for index in stride(from: count - 1, through: 0, by: -1) {
      let digit = UInt8(truncatingIfNeeded: rest & 0xf)
      unsafe buffer.initializeElement(at: index, to: hexadecimalDigit(digit))
      rest >>= 4
    }
    return count
  }
}

/// The character of a number below 16, in lower case.
package func hexadecimalDigit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 &+ value : 0x57 &+ value }

/// Decimal digits, padded with zeros to `width`.
package func decimal(_ value: Int, width: Int) -> String {
  let digits = String(value)
  return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
}

/// Decimal digits in groups of three: "1,234,567".
package func grouped(_ value: some BinaryInteger) -> String {
  let digits = String(value.magnitude)
  var text = value < 0 ? "-" : ""
  for (index, digit) in digits.enumerated() {
    if index > 0, (digits.count - index) % 3 == 0 { text.append(",") }
    text.append(digit)
  }
  return text
}

extension String {
  /// The text followed by blanks, at least `width` characters.
  package func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }

  /// The text preceded by blanks, at least `width` characters.
  package func rightAligned(to width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}
