// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// One member of a tar archive.
package struct TarMember: Sendable {
  package enum Kind: Sendable, Equatable {
    case file
    /// A file whose holes are left out: its bytes are not those of the archive.
    case sparse
    case hardLink(to: String)
    case symbolicLink
    /// A directory, a device, or something else without content.
    case other
  }

  /// Invalid parts of UTF-8 are U+FFFD.
  package let name: String
  package let kind: Kind
  package let size: Int

  package init(name: String, kind: Kind, size: Int) {
    self.name = name
    self.kind = kind
    self.size = size
  }
}

/// The reason why a tar archive can't be read.
package enum TarFailure: Error, Equatable, Sendable {
  case damaged
  /// The end of the archive is missing.
  case cut
  /// A part of an archive of several volumes, or names and sizes for all members at once.
  case unsupported
}

/// Receives the members of a tar archive in their order.
package protocol TarVisitor: AnyObject {
  /// Whether it takes the member's content.
  func begin(_ member: TarMember) throws -> Bool
  /// Takes the next bytes of the content. Returns false if it needs no more.
  func content(_ bytes: RawSpan) throws -> Bool
  /// Called after a content that was taken, whether whole or not.
  func end() throws
}

/// Reads a tar archive from its beginning to its end, piece by piece, in the forms ustar and pax (POSIX.1-2024), with GNU's
/// long names and large numbers, and the older form without a mark.
package struct TarReader {
  package static let blockSize = 512
  private static let maximumExtension = 1 << 20
  /// The most bytes that a visitor gets at once.
  private static let maximumPiece = 64 << 10

  private enum Data {
    case skipped, visited
    /// A header that extends the next one, of this type.
    case header(UInt8)
  }

  /// A block of a header, or the content of one that extends another.
  private var buffer: [UInt8] = []
  private var data = Data.skipped
  /// The bytes of the current content that are to come.
  private var rest = 0
  private var padding = 0
  private var records = TarRecords()
  /// The size of a sparse file, while more places of its holes come before its content.
  private var sparseSize: Int?
  private var hasEnded = false
  private var isBehindEnd = false

  package init() {}

  /// Whether `bytes` begin with the header of a member, even if it is damaged.
  package static func recognises(_ bytes: RawSpan) -> Bool {
    if bytes.byteCount >= blockSize, TarHeader.isValid(bytes.extracting(0..<blockSize)) { return true }
    guard bytes.byteCount >= 265 else { return false }
    return TarHeader.marks.contains(bytes.array(in: ByteRange(offset: 257, count: 8)))
  }

  /// Reads the next bytes. Throws `TarFailure` and the errors of `visitor`.
  package mutating func read(_ bytes: RawSpan, _ visitor: some TarVisitor) throws {
    var offset = 0
    while offset < bytes.byteCount, !isBehindEnd {
      let left = bytes.byteCount - offset
      if rest > 0 {
        let count = min(rest, left, isSkipping ? .max : Self.maximumPiece)
        try take(bytes.extracting(offset..<offset + count), visitor)
        offset += count
      } else if padding > 0 {
        let count = min(padding, left)
        padding -= count
        offset += count
      } else {
        let count = min(Self.blockSize - buffer.count, left)
        buffer += bytes.array(in: ByteRange(offset: offset, count: count))
        offset += count
        if buffer.count == Self.blockSize { try takeHeader(visitor) }
      }
    }
  }

  /// Throws `TarFailure` if the archive has no end.
  package func finish() throws(TarFailure) {
    guard isBehindEnd || hasEnded && rest == 0 else { throw .cut }
  }

  private var isSkipping: Bool { if case .skipped = data { true } else { false } }

  private mutating func take(_ bytes: RawSpan, _ visitor: some TarVisitor) throws {
    rest -= bytes.byteCount
    switch data {
    case .skipped: break
    case .visited:
      let wantsMore = try visitor.content(bytes)
      if rest == 0 || !wantsMore {
        data = .skipped
        try visitor.end()
      }
    case .header(let type):
      buffer += bytes.array()
      guard rest == 0 else { return }
      try records.add(buffer, type)
      buffer.removeAll(keepingCapacity: true)
    }
  }

  private mutating func takeHeader(_ visitor: some TarVisitor) throws {
    defer { buffer.removeAll(keepingCapacity: true) }
    if let size = sparseSize {
      if buffer[504] == 0 {
        sparseSize = nil
        begin(.skipped, size)
      }
      return
    }
    guard buffer.contains(where: { $0 != 0 }) else {
      hasEnded = true
      return
    }
    let block = buffer
    guard unsafe TarHeader.isValid(block.span.bytes) else {
      // Archives may be put behind one another; other bytes behind the end are not read.
      isBehindEnd = hasEnded
      if !hasEnded { throw TarFailure.damaged }
      return
    }
    hasEnded = false
    let header = try TarHeader(block)
    if TarRecords.types.contains(header.type) {
      guard header.size <= Self.maximumExtension else { throw TarFailure.damaged }
      begin(.header(header.type), header.size)
      return
    }
    let member = try records.member(header)
    records = TarRecords()
    let isVisited = try visitor.begin(member)
    begin(isVisited ? .visited : .skipped, member.size)
    if isVisited, member.size == 0 { try visitor.end() }
    if header.type == UInt8(ascii: "S"), buffer[482] != 0 { (sparseSize, rest, padding) = (rest, 0, 0) }
  }

  private mutating func begin(_ data: Data, _ size: Int) {
    self.data = data
    rest = size
    padding = (Self.blockSize - size % Self.blockSize) % Self.blockSize
  }
}

/// The fields of one block.
struct TarHeader {
  /// The marks of ustar and pax, and that of GNU, which has no prefix of names.
  static let marks = [Array("ustar\u{0}00".utf8), Array("ustar  \u{0}".utf8)]

  let name: [UInt8]
  let linkName: [UInt8]
  let size: Int
  let type: UInt8

  init(_ block: [UInt8]) throws(TarFailure) {
    guard let size = Self.number(block[124..<136]) else { throw .damaged }
    self.size = size
    type = block[156]
    linkName = Self.text(block[157..<257])
    let prefix = block[257..<263].elementsEqual(Self.marks[0][..<6]) ? Self.text(block[345..<500]) : []
    let name = Self.text(block[0..<100])
    self.name = prefix.isEmpty ? name : prefix + [UInt8(ascii: "/")] + name
  }

  /// Whether the checksum is that of the block; some old programs added signed bytes.
  static func isValid(_ block: RawSpan) -> Bool {
    guard let expected = number(block.array(in: ByteRange(offset: 148, count: 8))[...]), expected > 8 * 0x20 else {
      return false
    }
    var (sum, signed) = (8 * 0x20, 8 * 0x20)
    for index in 0..<block.byteCount where !(148..<156).contains(index) {
      let byte = block.uint8(at: index)
      sum += Int(byte)
      signed += Int(Int8(bitPattern: byte))
    }
    return expected == sum || expected == signed
  }

  private static func text(_ field: ArraySlice<UInt8>) -> [UInt8] { Array(field.prefix { $0 != 0 }) }

  /// Octal digits between blanks, or GNU's number of bytes behind one of 0x80; nil if the field has no number, or one that is too large.
  private static func number(_ field: ArraySlice<UInt8>) -> Int? {
    if field.first == 0x80 {
      guard field.dropFirst().dropLast(7).allSatisfy({ $0 == 0 }) else { return nil }
      return field.suffix(7).reduce(0) { $0 << 8 | Int($1) }
    }
    let isBlank: (UInt8) -> Bool = { $0 == 0 || $0 == 0x20 }
    let digits = field.drop(while: isBlank).prefix { !isBlank($0) }
    guard field[digits.endIndex...].allSatisfy(isBlank) else { return nil }
    guard digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "7")).contains($0) }) else { return nil }
    return digits.reduce(0) { $0 << 3 | Int($1 & 7) }
  }
}

/// The records about a member in the headers before its own.
struct TarRecords {
  static let types: [UInt8] = [
    UInt8(ascii: "x"), UInt8(ascii: "g"), UInt8(ascii: "X"), UInt8(ascii: "L"), UInt8(ascii: "K"),
  ]
  private static let maximumName = 4096

  private var name: [UInt8]?
  private var linkName: [UInt8]?
  private var size: Int?
  private var isSparse = false

  mutating func add(_ content: [UInt8], _ type: UInt8) throws(TarFailure) {
    switch type {
    case UInt8(ascii: "L"): name = Array(content.prefix { $0 != 0 })
    case UInt8(ascii: "K"): linkName = Array(content.prefix { $0 != 0 })
    case UInt8(ascii: "g"):
      var all = TarRecords()
      try all.addPax(content)
      // These would count for all members to come, as if they had one name.
      if all.name != nil || all.linkName != nil || all.size != nil || all.isSparse { throw .unsupported }
    default: try addPax(content)
    }
  }

  /// Lines of "LENGTH KEY=VALUE", whose values may have line feeds.
  private mutating func addPax(_ content: [UInt8]) throws(TarFailure) {
    var rest = content[...]
    while let first = rest.first, first != 0 {
      guard let blank = rest.prefix(8).firstIndex(of: 0x20), let length = Self.number(rest[..<blank]),
        length > blank - rest.startIndex + 1, length <= rest.count, rest[rest.startIndex + length - 1] == 0x0a
      else { throw .damaged }
      let record = rest[(blank + 1)..<(rest.startIndex + length - 1)]
      guard let sign = record.firstIndex(of: UInt8(ascii: "=")) else { throw .damaged }
      try set(String(decoding: record[..<sign], as: UTF8.self), Array(record[(sign + 1)...]))
      rest = rest.dropFirst(length)
    }
  }

  private mutating func set(_ key: String, _ value: [UInt8]) throws(TarFailure) {
    switch key {
    case "path": name = value.isEmpty ? nil : value
    case "linkpath": linkName = value.isEmpty ? nil : value
    case "size":
      guard value.isEmpty || Self.number(value[...]) != nil else { throw .damaged }
      size = Self.number(value[...])
    case "GNU.sparse.name":
      isSparse = true
      name = value
    default:
      if key.hasPrefix("GNU.sparse.") || key == "SUN.holesdata" { isSparse = true }
    }
  }

  /// The value of up to 18 decimal digits.
  private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
    guard (1...18).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return digits.reduce(0) { $0 * 10 + Int($1 & 0xf) }
  }

  func member(_ header: TarHeader) throws(TarFailure) -> TarMember {
    let name = name ?? header.name
    guard name.count <= Self.maximumName, !name.contains(0) else { throw .damaged }
    // Programs differ in whether the content of others follows; with a size of 0 they agree.
    let size = size ?? header.size
    let kind = try kind(header, name)
    switch header.type {
    case UInt8(ascii: "1")...UInt8(ascii: "6"): if size > 0 { throw .damaged }
    default: break
    }
    return TarMember(name: String(decoding: name, as: UTF8.self), kind: kind, size: size)
  }

  private func kind(_ header: TarHeader, _ name: [UInt8]) throws(TarFailure) -> TarMember.Kind {
    switch header.type {
    case 0, UInt8(ascii: "0"), UInt8(ascii: "7"):
      name.last == UInt8(ascii: "/") ? .other : isSparse ? .sparse : .file
    case UInt8(ascii: "1"): .hardLink(to: String(decoding: linkName ?? header.linkName, as: UTF8.self))
    case UInt8(ascii: "2"): .symbolicLink
    case UInt8(ascii: "S"): .sparse
    case UInt8(ascii: "M"): throw .unsupported
    default: .other
    }
  }
}
