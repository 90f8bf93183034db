// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadText
import SystemPackage

/// Quotes words of a command line so that they can be pasted into a shell.
enum ShellWord {
  static func quoted(_ path: FilePath) -> String {
    unsafe path.withPlatformString {
      quoted(unsafe Array(UnsafeBufferPointer(start: $0, count: path.length)).map { UInt8(bitPattern: $0) })
    }
  }

  static func quoted(_ text: String) -> String { quoted(Array(text.utf8)) }

  /// The word unchanged, in single quotes, or as $'…' if it has bytes that a terminal can't show.
  static func quoted(_ bytes: [UInt8]) -> String {
    let text = String(decoding: bytes, as: UTF8.self)
    if !bytes.isEmpty, bytes.allSatisfy(isPlain) { return text }
    if Array(text.utf8) == bytes, TextFormat.printable(text) == text {
      return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
    let escaped = bytes.map { byte in
      switch byte {
      case UInt8(ascii: "'"), UInt8(ascii: "\\"): "\\" + String(UnicodeScalar(byte))
      case 0x20..<0x7f: String(UnicodeScalar(byte))
      // Octal escapes have exactly three digits, so following digits are not read as a part of them.
      default: "\\" + octal(byte)
      }
    }
    return "$'" + escaped.joined() + "'"
  }

  private static func octal(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 8)
    return String(repeating: "0", count: 3 - digits.utf8.count) + digits
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    byte.isLetterOrDigit || "_@%+=:,./-".utf8.contains(byte)
  }
}

extension UInt8 {
  /// Whether the byte is a letter or digit of ASCII.
  var isLetterOrDigit: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }
}
