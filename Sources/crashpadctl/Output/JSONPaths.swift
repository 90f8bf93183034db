// SPDX-License-Identifier: Apache-2.0
import CrashpadFiles
import CrashpadJSON
import CrashpadSymbolication
import CrashpadText
import SystemPackage

/// Paths in JSON. JSON holds only text, so a path is written in its display form and, if
/// that loses bytes, also as bytes.
extension JSONWriter {
  /// Writes the member `key` with the display form of a file name, and `KEY_bytes` with its bytes in hexadecimal if the two
  /// differ.
  mutating func member(_ key: String, fileName: [UInt8]?) {
    guard let bytes = fileName else { return member(key, nil as String?) }
    let text = TextFormat.printable(bytes)
    member(key, text)
    if !text.utf8.elementsEqual(bytes) { member(key + "_bytes", hexadecimalDigits(bytes)) }
  }

  /// Writes the same members for a path.
  mutating func member(_ key: String, path: FilePath?) { member(key, fileName: path?.bytes) }

  /// Writes the same members for an argument that names a file; `-` is standard input.
  mutating func member(_ key: String, argument: String) {
    if argument == "-" { member(key, displayName(argument)) } else { member(key, path: FilePath(argument: argument)) }
  }
}
