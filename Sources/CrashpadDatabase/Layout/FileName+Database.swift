// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
internal import CrashpadSnapshot

// The meaning of names in a database.
extension FileName {
  /// The UUID that this name spells, in any case; nil if it is not one.
  var uuid: UUIDBytes? {
    guard bytes.count == 36 else { return nil }
    var halves: (UInt64, UInt64) = (0, 0)
    var count = 0
    for (index, byte) in bytes.enumerated() {
      if index == 8 || index == 13 || index == 18 || index == 23 {
        guard byte == UInt8(ascii: "-") else { return nil }
        continue
      }
      let digit: UInt8
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
      default: return nil
      }
      if count < 16 { halves.0 = halves.0 << 4 | UInt64(digit) } else { halves.1 = halves.1 << 4 | UInt64(digit) }
      count += 1
    }
    return UUIDBytes(high: halves.0, low: halves.1)
  }

  var hasUpperCase: Bool { bytes.contains { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) } }

  /// The name `<name>` if this is `._<name>`.
  var mainOfAppleDouble: FileName? { hasPrefix("._") ? FileName(bytes: Array(bytes.dropFirst(2))) : nil }

  /// The name `._<name>` of the file with this file's extended attributes, see `AppleDouble`.
  var appleDouble: FileName {
    guard let name = FileName(bytes: Array("._".utf8) + bytes) else { preconditionFailure("no slash was added") }
    return name
  }

  // The files of the report with this stem, the name without an extension.
  var reportName: FileName { appending(DatabaseLayout.reportExtension) }
  var metadataName: FileName { appending(DatabaseLayout.metadataExtension) }
  var lockName: FileName { appending(DatabaseLayout.lockExtension) }

  /// The name without an extension that the database uses.
  var stem: FileName {
    for suffix in [DatabaseLayout.reportExtension, DatabaseLayout.metadataExtension, DatabaseLayout.lockExtension] {
      if let stem = removing(suffix: suffix) { return stem }
    }
    return self
  }

  /// The name as text; each byte that is not UTF-8 is shown as `\xNN`, so that different names have different texts.
  var escaped: String {
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    return bytes.map { byte in
      (0x20..<0x7f).contains(byte) ? String(UnicodeScalar(byte)) : "\\x" + hexadecimal(UInt64(byte), width: 2)
    }.joined()
  }
}

extension UUIDBytes {
  /// The name of this report's files without an extension.
  var stem: FileName { DatabaseLayout.attachments(of: self) }
}
