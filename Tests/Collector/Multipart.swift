// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A part of a body of multipart/form-data (RFC 7578).
struct Part {
  var name = ""
  /// The name of the file; nil for a field.
  var fileName: String?
  var type: String?
  /// A field's bytes, up to `MultipartParser.maximumField`.
  var value: [UInt8] = []
  var size: Int64 = 0
  var checksum: UInt32 = 0
  /// The name of the file that has its bytes.
  var storedAs: String?
}

/// Takes a body apart while it comes; no more of it than a piece is in memory. What is no multipart is a problem, never a
/// crash.
struct MultipartParser {
  static let maximumField = 4 << 20
  static let maximumHead = 64 << 10
  static let maximumParts = 20_000

  private enum State { case preamble, afterDelimiter, head, data, epilogue, broken }

  private let delimiter: [UInt8]
  private var state = State.preamble
  private var pending: [UInt8]
  private(set) var problem: String?
  var isComplete: Bool { state == .epilogue }

  init(boundary: String) {
    delimiter = Array("\r\n--\(boundary)".utf8)
    // The first delimiter has no line before it.
    pending = [13, 10]
  }

  /// The boundary that a header names.
  static func boundary(in type: String?) -> String? {
    guard let type, type.lowercased().hasPrefix("multipart/form-data"),
      let range = type.lowercased().firstRange(of: "boundary=")
    else { return nil }
    let offset = type.lowercased().distance(from: type.lowercased().startIndex, to: range.upperBound)
    var rest = type.dropFirst(offset)
    if rest.first == "\"" {
      rest = rest.dropFirst()
      rest = rest.prefix { $0 != "\"" }
    } else {
      rest = rest.prefix { $0 != ";" && $0 != " " }
    }
    return (1...200).contains(rest.utf8.count) ? String(rest) : nil
  }

  /// Takes more of the body, and gives what it is to `sink`.
  mutating func push(_ bytes: UnsafeRawBufferPointer, to sink: inout some PartSink) throws {
    if state == .broken || state == .epilogue { return }
    unsafe pending.append(contentsOf: bytes)
    var start = 0
    while try step(&start, &sink) {}
    pending.removeFirst(start)
  }

  private mutating func fail(_ text: String) {
    problem = text
    state = .broken
  }

  /// One step from `start`; false if it takes more bytes.
  private mutating func step(_ start: inout Int, _ sink: inout some PartSink) throws -> Bool {
    let available = pending.count - start
    switch state {
    case .preamble:
      if let found = position(of: delimiter, from: start) {
        start = found + delimiter.count
        state = .afterDelimiter
        return true
      }
      start = max(start, pending.count - delimiter.count + 1)
    case .afterDelimiter:
      guard available >= 2 else { return false }
      let next = (pending[start], pending[start + 1])
      if next == (45, 45) {
        start = pending.count
        state = .epilogue
      } else if next == (13, 10) {
        // The line's end is the first half of what ends a head without lines.
        state = .head
      } else if next.0 == 32 || next.0 == 9 {
        start += 1
      } else {
        fail("a delimiter with more behind it")
      }
      return state != .broken && state != .epilogue
    case .head:
      guard let found = position(of: [13, 10, 13, 10], from: start) else {
        if available > Self.maximumHead { fail("a part's head is too long") }
        return false
      }
      let lines = String(decoding: pending[start..<found], as: UTF8.self)
      start = found + 4
      guard sink.count < Self.maximumParts else {
        fail("too many parts")
        return false
      }
      try sink.begin(Self.part(lines))
      state = .data
      return true
    case .data:
      if let found = position(of: delimiter, from: start) {
        try give(start..<found, to: &sink)
        try sink.end()
        start = found + delimiter.count
        state = .afterDelimiter
        return true
      }
      let end = max(start, pending.count - delimiter.count + 1)
      try give(start..<end, to: &sink)
      start = end
    case .epilogue, .broken: start = pending.count
    }
    return false
  }

  private func give(_ range: Range<Int>, to sink: inout some PartSink) throws {
    guard !range.isEmpty else { return }
    try unsafe pending.withUnsafeBytes { try unsafe sink.take(UnsafeRawBufferPointer(rebasing: $0[range])) }
  }

  private func position(of bytes: [UInt8], from start: Int) -> Int? {
    unsafe pending.withUnsafeBytes { unsafe search(for: bytes, in: UnsafeRawBufferPointer(rebasing: $0[start...])) }
      .map { $0 + start }
  }

  private static func part(_ head: String) -> Part {
    var part = Part()
    for line in head.split(whereSeparator: \.isNewline) {
      let sides = line.split(separator: ":", maxSplits: 1)
      guard sides.count == 2 else { continue }
      switch sides[0].lowercased() {
      case "content-disposition":
        part.name = parameter("name", in: sides[1]) ?? ""
        part.fileName = parameter("filename", in: sides[1])
      case "content-type": part.type = String(sides[1].drop { $0 == " " })
      default: break
      }
    }
    return part
  }

  /// `name="…"`, with what Crashpad writes for a quote and for line ends.
  private static func parameter(_ name: String, in value: Substring) -> String? {
    guard let range = value.firstRange(of: " \(name)=\"") ?? value.firstRange(of: ";\(name)=\"") else { return nil }
    let text = value[range.upperBound...].prefix { $0 != "\"" }
    return String(text).replacing("%22", with: "\"").replacing("%0d", with: "\r")
      .replacing("%0a", with: "\n").replacing("%25", with: "%")
  }
}

/// The first offset of `bytes`.
func search(for bytes: [UInt8], in buffer: UnsafeRawBufferPointer) -> Int? {
  var start = 0
  while buffer.count - start >= bytes.count {
    let base = buffer.baseAddress!
    guard let found = unsafe memchr(base + start, Int32(bytes[0]), buffer.count - start - bytes.count + 1) else {
      return nil
    }
    let position = unsafe UnsafeRawPointer(found) - base
    if unsafe memcmp(found, bytes, bytes.count) == 0 { return position }
    start = position + 1
  }
  return nil
}

/// The receiver of the parts, one after the other.
protocol PartSink {
  /// How many have begun.
  var count: Int { get }
  mutating func begin(_ part: Part) throws
  mutating func take(_ bytes: UnsafeRawBufferPointer) throws
  mutating func end() throws
}
