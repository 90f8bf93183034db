// SPDX-License-Identifier: Apache-2.0
/// Digits without Foundation.
public enum Hex {
  public static func digits(_ bytes: some Sequence<UInt8>) -> String {
    var out = ""
    for byte in bytes {
      let text = String(byte, radix: 16)
      out += text.count == 1 ? "0" + text : text
    }
    return out
  }

  /// Sixteen bytes in their order as 8-4-4-4-12 lower-case digits. Fewer bytes are filled with zeros.
  public static func uuid(_ bytes: [UInt8]) -> String {
    let padded = Array(bytes.prefix(16)) + [UInt8](repeating: 0, count: max(0, 16 - bytes.count))
    return [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { digits(padded[$0]) }.joined(separator: "-")
  }
}
