// SPDX-License-Identifier: Apache-2.0
internal import CrashpadAppleReports
internal import CrashpadBytes

/// Kinds of files that are given for dumps by mistake.
package enum FileMagic {
  private struct Row {
    let start: [UInt8]
    let offset: Int
    let kind: String
    /// Whether texts may begin with these bytes too.
    let mayBeText: Bool

    init(_ start: [UInt8], _ kind: String, at offset: Int = 0, mayBeText: Bool = false) {
      self.start = start
      self.offset = offset
      self.kind = kind
      self.mayBeText = mayBeText
    }

    init(_ words: String, _ kind: String, at offset: Int = 0, mayBeText: Bool = false) {
      self.init(Array(words.utf8), kind, at: offset, mayBeText: mayBeText)
    }
  }

  private static let kinds: [Row] = [
    Row([0x89, 0x50, 0x4e, 0x47], "a PNG image"), Row([0xff, 0xd8, 0xff], "a JPEG image"),
    Row("GIF8", "a GIF image"), Row("%PDF-", "a PDF document"),
    Row("bplist00", "a property list"), Row("SQLite format 3", "an SQLite database"),
    Row([0xcf, 0xfa, 0xed, 0xfe], "a Mach-O program"), Row([0xce, 0xfa, 0xed, 0xfe], "a Mach-O program"),
    Row([0xca, 0xfe, 0xba, 0xbe], "a universal Mach-O program"), Row("MZ", "a Windows program", mayBeText: true),
    Row("!<arch>\n", "an archive of object files"), Row("ustar", "a tar archive", at: 257),
    Row("PAGEDU64", "a memory dump of the Windows kernel"), Row("BZh", "a bzip2 file"),
    Row(Array("7z".utf8) + [0xbc, 0xaf], "a 7z archive"), Row("Rar!", "a RAR archive"),
    Row("MODULE ", "a Breakpad symbol file", mayBeText: true), Row("Microsoft C/C++ MSF 7.00", "a PDB file"),
    Row("MSCF", "a cabinet archive"), Row("070701", "a cpio archive"),
    Row("070707", "a cpio archive"), Row([0xc7, 0x71], "a cpio archive"),
  ]

  /// The number of bytes that are examined.
  private static let startLength = 4096

  /// "a PNG image"; nil if the bytes do not say.
  package static func kind(_ bytes: RawSpan) -> String? {
    row(bytes)?.kind ?? textKind(bytes)
  }

  /// The same of kinds that are no text, though reports may be inside of them: one of them would be read for all.
  package static func notText(_ bytes: RawSpan) -> String? {
    row(bytes).flatMap { $0.mayBeText ? nil : $0.kind }
  }

  /// A property list of the old form, as an object is printed, which begins as JSON does: "{ name = Wheel; }".
  package static func notJSON(_ bytes: RawSpan) -> String? {
    let start = bytes.array(in: ByteRange(offset: 0, count: min(bytes.byteCount, startLength)))
    let content = start.drop { $0 <= 0x20 }.dropFirst().drop { $0 <= 0x20 }
    let line = content.prefix { $0 != 0x0a && $0 != 0x0d }
    let key = line.prefix { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ":") }
    return key.count < line.count && line[key.endIndex] == UInt8(ascii: "=") ? "a property list of the old form" : nil
  }

  private static func row(_ bytes: RawSpan) -> Row? {
    kinds.first { row in
      row.offset + row.start.count <= bytes.byteCount
        && row.start.indices.allSatisfy { bytes.uint8(at: row.offset + $0) == row.start[$0] }
    }
  }

  private static func textKind(_ bytes: RawSpan) -> String? {
    let count = min(bytes.byteCount, startLength)
    guard count > 0 else { return nil }
    let start = bytes.array(in: ByteRange(offset: 0, count: count))
    guard start.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || (0x08...0x0d).contains($0) || $0 == 0x1b }) else { return nil }
    // The last character may be cut.
    guard !String(decoding: start, as: UTF8.self).dropLast(count < bytes.byteCount ? 3 : 0).contains("\u{fffd}") else {
      return nil
    }
    let words = String(decoding: start.drop { $0 <= 0x20 }.prefix(64), as: UTF8.self).lowercased()
    if words.hasPrefix("<!doctype html") || words.hasPrefix("<html") { return "an HTML page" }
    if words.hasPrefix("<?xml") || words.hasPrefix("<!doctype") { return "an XML file" }
    return OtherTexts.name(start) ?? "text"
  }
}
