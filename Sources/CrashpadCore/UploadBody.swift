// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles

/// The body of an upload: multipart/form-data (RFC 7578), as crash servers receive and keep it. Breakpad in Chromium for Android
/// and Linux writes the whole body to the file of the minidump. The head of a request may stand before it, as it was sent.
struct UploadBody {
  struct Part {
    /// The name of the file, or of the field.
    let name: String
    let content: ByteRange
  }

  let parts: [Part]

  /// In bytes: RFC 2046 allows 70 for a boundary; lines of heads are short, too.
  private static let mostBoundary = 128
  private static let mostHead = 16 << 10
  private static let mostParts = 4096

  /// Nil if the bytes are no such body.
  init?(_ bytes: RawSpan) {
    guard let start = Self.start(bytes), bytes.byteCount > start + 4, bytes.uint16(at: start) == 0x2d2d else {
      return nil
    }
    let boundary = Self.line(bytes, at: start, most: Self.mostBoundary).map { bytes.array(in: $0.content) }
    guard let boundary, boundary.count > 2 else { return nil }
    var parts: [Part] = []
    var place = start
    while parts.count < Self.mostParts, let head = Self.head(bytes, behind: place + boundary.count) {
      let (end, next) = Self.end(bytes, from: head.end, boundary)
      // Parts of mails have boundaries, too, and no names.
      if head.name == nil, parts.isEmpty { return nil }
      if let name = head.name {
        parts.append(Part(name: name, content: ByteRange(offset: head.end, count: end - head.end)))
      }
      guard let next else { break }
      place = next
    }
    guard !parts.isEmpty else { return nil }
    self.parts = parts
  }

  /// The parts that are dumps or reports, by their first bytes.
  func dumps(_ bytes: RawSpan) -> [Part] {
    parts.filter { part in
      let count = min(part.content.count, InputFormat.startLength)
      let start = bytes.array(in: ByteRange(offset: part.content.offset, count: count))
      return !start.isEmpty && ArchiveChoice.isDump(start, named: part.name)
    }
  }

  /// The offset of the body: 0, or the end of the request's head. Nil if the head is cut, or is not that of a form.
  private static func start(_ bytes: RawSpan) -> Int? {
    guard bytes.byteCount > 4, bytes.text(in: ByteRange(offset: 0, count: 5)) == "POST " else { return 0 }
    var place = 0
    var isForm = false
    while place < mostHead, let line = line(bytes, at: place, most: mostHead) {
      place = line.next
      if line.content.count == 0 { return isForm ? place : nil }
      let words = bytes.text(in: line.content).lowercased()
      if words.hasPrefix("content-type:"), words.contains("multipart/form-data") { isForm = true }
    }
    return nil
  }

  /// The line at `place` without its end, and the place of the next one; nil if it is longer than `most` or has no end.
  private static func line(_ bytes: RawSpan, at place: Int, most: Int) -> (content: ByteRange, next: Int)? {
    let range = ByteRange(offset: place, count: min(most, bytes.byteCount - place))
    let end = bytes.first(0x0a, in: range)
    guard end < range.end else { return nil }
    let count = end - place - (end > place && bytes.uint8(at: end - 1) == 0x0d ? 1 : 0)
    return (ByteRange(offset: place, count: count), end + 1)
  }

  /// The head of a part behind its boundary, up to the blank line: the name in it, nil if it is no field of a form. Nil behind the
  /// last boundary, which hyphens follow.
  private static func head(_ bytes: RawSpan, behind boundary: Int) -> (name: String?, end: Int)? {
    guard let first = line(bytes, at: boundary, most: mostBoundary), first.content.count == 0 else { return nil }
    var place = first.next
    var name: String?
    while place - boundary < mostHead, let line = line(bytes, at: place, most: mostHead) {
      place = line.next
      guard line.content.count > 0 else { return (name, place) }
      name = name ?? fieldName(bytes.text(in: line.content))
    }
    return nil
  }

  /// Parses `Content-Disposition: form-data; name="upload_file_minidump"; filename="crash.dmp"`.
  private static func fieldName(_ line: String) -> String? {
    let words = line.lowercased()
    guard words.hasPrefix("content-disposition:"), words.contains("form-data") else { return nil }
    return value(of: "; filename=", line) ?? value(of: "; name=", line) ?? ""
  }

  private static func value(of key: String, _ line: String) -> String? {
    guard let range = line.firstRange(of: key) else { return nil }
    var rest = line[range.upperBound...]
    let end: Character = rest.first == "\"" ? "\"" : ";"
    if end == "\"" { rest = rest.dropFirst() }
    let value = rest.prefix { $0 != end }
    return value.isEmpty ? nil : String(value)
  }

  /// The end of the content that begins at `start`, and the place of the boundary behind it; nil if the body ends before.
  private static func end(_ bytes: RawSpan, from start: Int, _ boundary: [UInt8]) -> (end: Int, boundary: Int?) {
    // An empty content has the line break of the head before its boundary.
    var place = start - 1
    while place < bytes.byteCount {
      let newline = bytes.first(0x0a, in: ByteRange(offset: place, count: bytes.byteCount - place))
      let next = newline + 1
      guard next + boundary.count <= bytes.byteCount else { break }
      if boundary.indices.allSatisfy({ bytes.uint8(at: next + $0) == boundary[$0] }) {
        let hasReturn = newline > start && bytes.uint8(at: newline - 1) == 0x0d
        return (max(start, hasReturn ? newline - 1 : newline), next)
      }
      place = next
    }
    return (bytes.byteCount, nil)
  }
}
