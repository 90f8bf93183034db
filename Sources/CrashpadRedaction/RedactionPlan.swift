// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes
internal import CrashpadSnapshot

/// The plan for redacting one dump: every byte of the output is copied, generated or zero, as decided
/// before the first byte is written.
package struct RedactionPlan: Sendable {
  /// The removals.
  package internal(set) var report: RedactionReport

  /// The number of bytes in the output.
  package internal(set) var byteCount = 0

  enum Segment: Sendable {
    case copy(ByteRange)
    case zeros(Int)
    case stars(Int)
    /// Asterisks in UTF-16; `phase` is 1 if the range begins inside a unit.
    case wideStars(Int, phase: Int)
    /// A range of `made`.
    case made(ByteRange)
    /// Memory that begins at `address`; the pointer rule decides which words stay.
    case words(ByteRange, address: UInt64)
  }

  var segments: [Segment] = []
  /// Bytes of the output that are not in the input.
  var made: [UInt8] = []
  var rule: PointerRule

  init(_ report: RedactionReport, _ rule: PointerRule) {
    self.report = report
    self.rule = rule
  }

  mutating func append(_ segment: Segment) {
    switch segment {
    case .copy(let range):
      if range.count == 0 { return }
      byteCount += range.count
      if case .copy(let last)? = segments.last, last.end == range.offset {
        segments[segments.count - 1] = .copy(ByteRange(offset: last.offset, count: last.count + range.count))
        return
      }
    case .made(let range): byteCount += range.count
    case .words(let range, _): byteCount += range.count
    case .zeros(let count), .stars(let count), .wideStars(let count, _):
      if count == 0 { return }
      byteCount += count
    }
    segments.append(segment)
  }

  mutating func append(made bytes: [UInt8]) {
    append(.made(ByteRange(offset: made.count, count: bytes.count)))
    made += bytes
  }

  /// Whether all bytes of `range`, a range of the output, come from the input or from `made`.
  func keeps(_ range: ByteRange) -> Bool {
    var place = 0
    for segment in segments {
      if place >= range.end { break }
      let count: Int
      switch segment {
      case .copy(let bytes), .made(let bytes):
        place += bytes.count
        continue
      case .words(let bytes, _): count = bytes.count
      case .zeros(let zeros): count = zeros
      case .stars(let stars), .wideStars(let stars, _): count = stars
      }
      if place + count > range.offset { return false }
      place += count
    }
    return place >= range.end
  }

  /// Counts the words that stay and the words that are removed.
  mutating func countWords(_ bytes: RawSpan, _ removals: inout RemovalCounter) {
    var kept = 0
    var removed = 0
    for case .words(let range, let address) in segments {
      rule.forEachWord(of: range, at: address, bytes) { word, stays in
        if stays { kept += 1 } else if word != removedWord & rule.wordMask { removed += 1 }
      }
    }
    report.keptWords = kept
    removals.add(.word, count: removed, byteCount: removed * rule.wordSize)
  }

  /// Writes the output. `bytes` must be the bytes that the plan was made for. Throws the errors of `output`.
  package func write(_ bytes: RawSpan, to output: any ByteOutput) throws {
    try output.reserve(byteCount)
    var writer = ByteWriter(to: output, expecting: byteCount)
    for segment in segments {
      switch segment {
      case .copy(let range): writer.bytes(bytes.extracting(range.offset..<range.end))
      case .zeros(let count): writer.zeros(count)
      case .stars(let count):
        for _ in 0..<count { writer.uint8(UInt8(ascii: "*")) }
      case .wideStars(let count, let phase):
        for index in 0..<count { writer.uint8((index + phase) % 2 == 0 ? UInt8(ascii: "*") : 0) }
      case .made(let range): unsafe writer.bytes(made.span.bytes.extracting(range.offset..<range.end))
      case .words(let range, let address): write(range, at: address, bytes, to: &writer)
      }
    }
    try writer.finish()
  }

  /// Partial words at either end become zero.
  private func write(_ range: ByteRange, at address: UInt64, _ bytes: RawSpan, to writer: inout ByteWriter) {
    let size = UInt64(rule.wordSize)
    let lead = min(range.count, Int((size - address % size) % size))
    writer.zeros(lead)
    rule.forEachWord(of: range, at: address, bytes) { word, stays in
      let value = stays ? word : removedWord
      if size == 8 { writer.uint64(value) } else { writer.uint32(UInt32(truncatingIfNeeded: value)) }
    }
    writer.zeros((range.count - lead) % rule.wordSize)
  }
}
