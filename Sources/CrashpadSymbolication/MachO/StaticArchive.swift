// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// The members of a static library, as made by `ar` and `libtool`, with names in the forms of BSD and GNU.
struct StaticArchive {
  struct Member {
    let name: String
    /// In seconds since 1970.
    let time: UInt64
    let range: ByteRange
  }

  private(set) var members: [Member] = []
  /// Names that are too long for a header, in the form of GNU.
  private var names = ByteRange.empty

  /// Nil if the bytes are no archive. One that ends early has the members before.
  init?(_ bytes: RawSpan) {
    guard bytes.byteCount >= 8, bytes.text(in: ByteRange(offset: 0, count: 8)) == "!<arch>\n" else { return nil }
    var offset = 8
    while offset <= bytes.byteCount - 60 {
      guard let size = Self.number(bytes, offset + 48, 10), size <= UInt64(bytes.byteCount - offset - 60) else {
        return
      }
      read(bytes, offset, ByteRange(offset: offset + 60, count: Int(size)))
      offset += 60 + Int(size) + Int(size % 2)
    }
  }

  private mutating func read(_ bytes: RawSpan, _ header: Int, _ content: ByteRange) {
    let field = bytes.text(in: ByteRange(offset: header, count: 16)).drop { $0 == " " }
    let name = String(field.reversed().drop { $0 == " " }.reversed())
    if name == "//" { names = content }
    guard let (own, range) = Self.named(name, content, names, bytes) else { return }
    members.append(Member(name: own, time: Self.number(bytes, header + 16, 12) ?? 0, range: range))
  }

  /// The name and the bytes of a member; nil if it has no name, or is a table.
  private static func named(
    _ field: String, _ content: ByteRange, _ names: ByteRange, _ bytes: RawSpan
  ) -> (String, ByteRange)? {
    if field.hasPrefix("#1/") {
      guard let count = Int(field.dropFirst(3)), count >= 0, count <= content.count else { return nil }
      let end = bytes.firstZero(in: ByteRange(offset: content.offset, count: count))
      let name = bytes.text(in: ByteRange(offset: content.offset, count: end - content.offset))
      return (name, ByteRange(offset: content.offset + count, count: content.count - count))
    }
    if field.hasPrefix("/") {
      guard let place = Int(field.dropFirst()), place >= 0, place < names.count else { return nil }
      let rest = bytes.array(in: ByteRange(offset: names.offset + place, count: min(names.count - place, 4096)))
      return (String(decoding: rest.prefix { $0 != UInt8(ascii: "/") && $0 != 0x0a }, as: UTF8.self), content)
    }
    return (field.hasSuffix("/") ? String(field.dropLast()) : field, content)
  }

  /// A decimal number in a field that blanks fill up.
  private static func number(_ bytes: RawSpan, _ offset: Int, _ count: Int) -> UInt64? {
    UInt64(bytes.text(in: ByteRange(offset: offset, count: count)).filter { $0 != " " })
  }
}
