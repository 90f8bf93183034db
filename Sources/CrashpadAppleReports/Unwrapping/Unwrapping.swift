// SPDX-License-Identifier: Apache-2.0
/// A report without what it was wrapped in: the encoding of an editor, the marks of a quotation, the time stamps of a log.
package struct Unwrapping: Sendable {
  /// One thing that was removed.
  package struct Step: Sendable, Hashable {
    /// The wrapping, as a sentence without its end.
    package let text: String
    /// The offset in the input at which it was found first; nil if that is not known.
    package var offset: Int?
    /// Whether facts may have been lost; then the text says which.
    package let isUncertain: Bool
  }

  package private(set) var bytes: [UInt8]
  /// From the outside to the inside.
  package private(set) var steps: [Step] = []
  private var maps: [OffsetMap] = []

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func add(_ removal: Removal) {
    for note in removal.notes {
      let offset = source(of: note.offset)
      steps.append(Step(text: note.text, offset: offset, isUncertain: note.isUncertain))
    }
    bytes = removal.copy.bytes
    maps.append(removal.copy.map)
  }

  /// The part of the text that is one of several reports.
  func part(_ range: Range<Int>) -> Unwrapping {
    var copy = TextCopy(of: bytes, capacity: range.count)
    copy.copy(range)
    var part = self
    part.add(Removal(copy, []))
    return part
  }

  /// The offset in the input of a byte of the text; nil if it is not known.
  package func source(of offset: Int) -> Int? {
    var offset: Int? = offset
    for map in maps.reversed() { offset = offset.flatMap { map.source(of: $0) } }
    return offset
  }
}
