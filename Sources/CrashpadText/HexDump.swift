// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// A hex dump with sixteen bytes per line: address, bytes, characters.
package enum HexDump {
  package static func text(_ bytes: RawSpan, address: UInt64 = 0) -> String {
    var text = ""
    text.reserveCapacity(bytes.byteCount / 16 * 80)
    for start in stride(from: 0, to: bytes.byteCount, by: 16) { text += line(bytes, start, address) }
    return text
  }

  private static func line(_ bytes: RawSpan, _ start: Int, _ address: UInt64) -> String {
    var line = hexadecimal(address &+ UInt64(start), width: 16) + " "
    var characters = ""
    for place in 0..<16 {
      if place == 8 { line += " " }
      guard start + place < bytes.byteCount else {
        line += "   "
        continue
      }
      let byte = bytes.uint8(at: start + place)
      line += " " + hexadecimal(UInt64(byte), width: 2)
      characters.append((0x20..<0x7f).contains(byte) ? Character(Unicode.Scalar(byte)) : ".")
    }
    return line + "  |" + characters + "|\n"
  }
}
