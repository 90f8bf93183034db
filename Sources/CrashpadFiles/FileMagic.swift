// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// Kinds of files that are given for others by mistake, by their first bytes.
package enum FileMagic {
  package struct Kind: Sendable {
    /// "a PNG image".
    package let name: String
    /// Whether texts may begin with these bytes too.
    package let mayBeText: Bool
    /// Whether it holds other files, or one in another form, in a way that is not read.
    package let isPacked: Bool
  }

  private struct Row {
    let start: [UInt8]
    let offset: Int
    let kind: Kind

    init(_ start: [UInt8], _ name: String, at offset: Int = 0, mayBeText: Bool = false, isPacked: Bool = false) {
      self.start = start
      self.offset = offset
      kind = Kind(name: name, mayBeText: mayBeText, isPacked: isPacked)
    }

    init(_ words: String, _ name: String, at offset: Int = 0, mayBeText: Bool = false, isPacked: Bool = false) {
      self.init(Array(words.utf8), name, at: offset, mayBeText: mayBeText, isPacked: isPacked)
    }

    static func packed(_ start: [UInt8], _ name: String, at offset: Int = 0) -> Row {
      Row(start, name, at: offset, isPacked: true)
    }

    static func packed(_ words: String, _ name: String, at offset: Int = 0) -> Row {
      Row(words, name, at: offset, isPacked: true)
    }
  }

  private static let rows: [Row] = [
    Row([0x89, 0x50, 0x4e, 0x47], "a PNG image"), Row([0xff, 0xd8, 0xff], "a JPEG image"),
    Row("GIF8", "a GIF image"), Row("%PDF-", "a PDF document"),
    Row("bplist00", "a property list"), Row("SQLite format 3", "an SQLite database"),
    Row([0xcf, 0xfa, 0xed, 0xfe], "a Mach-O program"), Row([0xce, 0xfa, 0xed, 0xfe], "a Mach-O program"),
    Row([0xca, 0xfe, 0xba, 0xbe], "a universal Mach-O program"), Row("MZ", "a Windows program", mayBeText: true),
    .packed("!<arch>\ndebian", "a Debian package"), Row("!<arch>\n", "an archive of object files"),
    Row("ustar", "a tar archive", at: 257), Row("PAGEDU64", "a memory dump of the Windows kernel"),
    Row("MODULE ", "a Breakpad symbol file", mayBeText: true), Row("Microsoft C/C++ MSF 7.00", "a PDB file"),
    .packed("BZh", "a bzip2 file"), .packed(Array("7z".utf8) + [0xbc, 0xaf], "a 7z archive"),
    .packed("Rar!", "a RAR archive"), .packed("MSCF", "a cabinet archive"), .packed("070701", "a cpio archive"),
    .packed("070702", "a cpio archive"), .packed("070707", "a cpio archive"), .packed([0xc7, 0x71], "a cpio archive"),
    .packed([0x5d, 0, 0], "an LZMA file"), .packed("LZIP", "an lzip file"),
    .packed([0x1f, 0x9d], "a file of compress"), .packed([0x89, 0x4c, 0x5a, 0x4f, 0], "an lzop file"),
    .packed([0xed, 0xab, 0xee, 0xdb], "an RPM package"), .packed("xar!", "a xar archive"),
    .packed("hsqs", "a SquashFS image"), .packed("AA01", "an Apple Archive"), .packed("YAA1", "an Apple Archive"),
    .packed("pbzx", "a pbzx file"),
  ]

  /// Nil if the first bytes do not say.
  package static func known(_ bytes: RawSpan) -> Kind? {
    rows.first { row in
      row.offset + row.start.count <= bytes.byteCount
        && row.start.indices.allSatisfy { bytes.uint8(at: row.offset + $0) == row.start[$0] }
    }?.kind
  }

  /// The names of all kinds that are packed, with the bytes that they begin with.
  package static var packed: [(start: [UInt8], name: String)] {
    rows.filter(\.kind.isPacked).map { ([UInt8](repeating: 0, count: $0.offset) + $0.start, $0.kind.name) }
  }
}
