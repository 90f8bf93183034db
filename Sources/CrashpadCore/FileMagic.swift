// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// Kinds of files that are given for dumps by mistake.
package enum FileMagic {
  private static let kinds: [(start: [UInt8], offset: Int, kind: String)] = [
    ([0x89, 0x50, 0x4e, 0x47], 0, "a PNG image"), ([0xff, 0xd8, 0xff], 0, "a JPEG image"),
    (Array("GIF8".utf8), 0, "a GIF image"), (Array("%PDF-".utf8), 0, "a PDF document"),
    (Array("bplist00".utf8), 0, "a property list"), (Array("SQLite format 3".utf8), 0, "an SQLite database"),
    ([0xcf, 0xfa, 0xed, 0xfe], 0, "a Mach-O program"), ([0xce, 0xfa, 0xed, 0xfe], 0, "a Mach-O program"),
    ([0xca, 0xfe, 0xba, 0xbe], 0, "a universal Mach-O program"), (Array("MZ".utf8), 0, "a Windows program"),
    (Array("!<arch>\n".utf8), 0, "an archive of object files"), (Array("ustar".utf8), 257, "a tar archive"),
    (Array("PAGEDU64".utf8), 0, "a memory dump of the Windows kernel"), (Array("BZh".utf8), 0, "a bzip2 file"),
    (Array("7z".utf8) + [0xbc, 0xaf], 0, "a 7z archive"), (Array("Rar!".utf8), 0, "a RAR archive"),
    (Array("MODULE ".utf8), 0, "a Breakpad symbol file"), (Array("Microsoft C/C++ MSF 7.00".utf8), 0, "a PDB file"),
    (Array("MSCF".utf8), 0, "a cabinet archive"), (Array("070701".utf8), 0, "a cpio archive"),
    (Array("070707".utf8), 0, "a cpio archive"), ([0xc7, 0x71], 0, "a cpio archive"),
  ]

  /// The number of bytes that are examined.
  private static let startLength = 4096

  /// "a PNG image"; nil if the bytes do not say.
  package static func kind(_ bytes: RawSpan) -> String? {
    magic(bytes) ?? textKind(bytes)
  }

  /// The same of kinds that are no text, though reports may be inside of them: one of them would be read for all.
  package static func notText(_ bytes: RawSpan) -> String? {
    // Texts may begin with these words.
    magic(bytes).flatMap { ["a Windows program", "a Breakpad symbol file"].contains($0) ? nil : $0 }
  }

  private static func magic(_ bytes: RawSpan) -> String? {
    for row in kinds where row.offset + row.start.count <= bytes.byteCount {
      if row.start.indices.allSatisfy({ bytes.uint8(at: row.offset + $0) == row.start[$0] }) { return row.kind }
    }
    return nil
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
    return "text"
  }
}
