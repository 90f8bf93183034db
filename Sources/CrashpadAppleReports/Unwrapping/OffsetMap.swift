// SPDX-License-Identifier: Apache-2.0
/// The places of an unwrapped text's bytes in the text that it was made of.
package struct OffsetMap: Sendable {
  private struct Segment {
    let start: Int
    let source: Int
    /// Whether the bytes are those of the source; others were made of what is at `source`.
    let isCopy: Bool
  }

  /// A hostile text has a segment for each byte. Beyond this number no offset is known.
  private static let maximumSegments = 1 << 18

  private var segments: [Segment] = []
  private var isKnown = true

  /// Notes that the text from `start` on is made of the source from `source` on.
  mutating func add(_ start: Int, from source: Int, isCopy: Bool) {
    if let last = segments.last {
      if isCopy, last.isCopy, source - last.source == start - last.start { return }
      if !isCopy, !last.isCopy, source == last.source { return }
    }
    if segments.count == Self.maximumSegments {
      isKnown = false
      segments = []
    }
    if isKnown { segments.append(Segment(start: start, source: source, isCopy: isCopy)) }
  }

  /// The offset in the source; nil if it is not known.
  package func source(of offset: Int) -> Int? {
    var (low, high) = (0, segments.count)
    while low < high {
      let middle = (low + high) / 2
      if segments[middle].start <= offset { low = middle + 1 } else { high = middle }
    }
    guard low > 0 else { return nil }
    let segment = segments[low - 1]
    return segment.isCopy ? segment.source + offset - segment.start : segment.source
  }
}

/// A text that is made of parts of another one.
struct TextCopy {
  let source: [UInt8]
  private(set) var bytes: [UInt8] = []
  private(set) var map = OffsetMap()

  /// - Parameter capacity: the number of bytes to expect; as many as in `source` if nil.
  init(of source: [UInt8], capacity: Int? = nil) {
    self.source = source
    bytes.reserveCapacity(capacity ?? source.count)
  }

  mutating func removeLast() { bytes.removeLast() }

  mutating func copy(_ range: Range<Int>) {
    guard !range.isEmpty else { return }
    map.add(bytes.count, from: range.lowerBound, isCopy: true)
    bytes += source[range]
  }

  /// Adds other bytes in the place of those at `offset`.
  mutating func put(_ other: some Sequence<UInt8>, for offset: Int) {
    map.add(bytes.count, from: offset, isCopy: false)
    bytes += other
  }

  mutating func put(_ byte: UInt8, for offset: Int) {
    map.add(bytes.count, from: offset, isCopy: false)
    bytes.append(byte)
  }

  /// Adds a character, as UTF-8.
  mutating func put(_ scalar: Unicode.Scalar, for offset: Int) {
    map.add(bytes.count, from: offset, isCopy: false)
    if scalar.isASCII { bytes.append(UInt8(scalar.value)) } else { bytes += Array(String(scalar).utf8) }
  }
}
