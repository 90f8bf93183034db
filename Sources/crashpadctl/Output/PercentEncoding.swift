// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadSnapshot

/// Bytes as a part of a URL (RFC 3986): letters, digits and `others` stand for themselves.
func percentEncoded(_ bytes: [UInt8], keeping others: StaticString) -> String {
  var text = ""
  let kept = others.withUTF8Buffer { unsafe Array($0) }
  for byte in bytes {
    if byte.isLetterOrDigit || kept.contains(byte) {
      text.unicodeScalars.append(Unicode.Scalar(byte))
    } else {
      text += "%" + hexadecimal(UInt64(byte), width: 2).uppercased()
    }
  }
  return text
}
