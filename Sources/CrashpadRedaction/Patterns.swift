// SPDX-License-Identifier: Apache-2.0
/// A pattern for whole names: `*` stands for any number of characters, `?` for one.
public struct NamePattern: Sendable, Hashable {
  private let bytes: [UInt8]

  /// A pattern in which `*` stands for any text and `?` for one character.
  public init(_ pattern: String) { bytes = Array(pattern.utf8) }

  /// Takes at most as many steps as the product of both lengths. In a name that is not ASCII, `?` matches one byte.
  func matches(_ name: [UInt8], ignoringCase: Bool) -> Bool {
    var index = 0
    var place = 0
    var star: (index: Int, place: Int)?
    while place < name.count {
      if index < bytes.count, bytes[index] == UInt8(ascii: "*") {
        star = (index + 1, place)
        index += 1
      } else if index < bytes.count, bytes[index] == UInt8(ascii: "?") || equal(bytes[index], name[place], ignoringCase)
      {
        index += 1
        place += 1
      } else if let last = star {
        index = last.index
        place = last.place + 1
        star = (index, place)
      } else {
        return false
      }
    }
    return bytes[index...].allSatisfy { $0 == UInt8(ascii: "*") }
  }

  private func equal(_ a: UInt8, _ b: UInt8, _ ignoringCase: Bool) -> Bool {
    a == b || (ignoringCase && lowercase(UInt16(a)) == lowercase(UInt16(b)))
  }
}

/// A pattern for parts of text, ignoring the case of ASCII letters. `*` stands for any number of characters that are
/// neither blanks nor quotation marks, `?` for one such character.
///
/// A search takes time proportional to the length of the text times the length of the pattern, for any content.
public struct TextPattern: Sendable, Hashable {
  fileprivate enum Element: Hashable {
    case literal(UInt16)
    case one
    case run
  }

  private let utf8: [Element]
  private let utf16: [Element]

  /// Nil if the pattern would match empty text, as `*` alone does.
  public init?(_ pattern: String) {
    guard pattern.contains(where: { $0 != "*" }) else { return nil }
    utf8 = pattern.utf8.map { Self.element(UInt16($0)) }
    utf16 = pattern.utf16.map(Self.element)
  }

  private static func element(_ unit: UInt16) -> Element {
    switch unit {
    case Unit.star: .run
    case UInt16(UInt8(ascii: "?")): .one
    default: .literal(lowercase(unit))
    }
  }

  /// Marks all matches in `text`. Overwritten text (`*`) never matches, so a second redaction finds no match either.
  func mark(_ text: [UInt16], isUTF16: Bool, _ marks: inout Marks) {
    let elements = isUTF16 ? utf16 : utf8
    let none = Int.max
    // For each state, the earliest start of a match that has reached it.
    var starts = [Int](repeating: none, count: elements.count + 1)
    var next = starts
    for index in 0...text.count {
      starts[0] = min(starts[0], index)
      for state in elements.indices where elements[state] == .run {
        starts[state + 1] = min(starts[state + 1], starts[state])
      }
      if starts[elements.count] != none { marks.mark(starts[elements.count]..<index) }
      guard index < text.count else { return }
      let unit = text[index]
      let letter = lowercase(unit)
      let isPlain = Self.isPlain(unit)
      for state in 0...elements.count { next[state] = none }
      for state in elements.indices where starts[state] != none {
        switch elements[state] {
        case .literal(let wanted):
          if wanted == letter { next[state + 1] = min(next[state + 1], starts[state]) }
        case .one:
          if isPlain { next[state + 1] = min(next[state + 1], starts[state]) }
        case .run:
          if isPlain { next[state] = min(next[state], starts[state]) }
        }
      }
      swap(&starts, &next)
    }
  }

  private static func isPlain(_ unit: UInt16) -> Bool {
    unit > 0x20 && unit != Unit.star && unit != Unit.quote && unit != Unit.apostrophe
  }
}

/// The units of a text to overwrite.
struct Marks {
  /// The number of marked ranges that begin at a unit minus the number that end there. Most searches find nothing, so
  /// it is empty until the first range.
  private var edges: [Int] = []
  private let count: Int
  private(set) var isEmpty = true

  init(count: Int) { self.count = count }

  mutating func mark(_ range: Range<Int>) {
    if range.isEmpty { return }
    if isEmpty { edges = [Int](repeating: 0, count: count + 1) }
    isEmpty = false
    edges[range.lowerBound] += 1
    edges[range.upperBound] -= 1
  }

  /// The marked ranges in order; adjacent ranges are merged.
  var ranges: [Range<Int>] {
    if isEmpty { return [] }
    var ranges: [Range<Int>] = []
    var depth = 0
    var start = 0
    for (index, edge) in edges.enumerated() where edge != 0 {
      if depth == 0 { start = index }
      depth += edge
      guard depth == 0, index > start else { continue }
      if let last = ranges.last, last.upperBound == start {
        ranges[ranges.count - 1] = last.lowerBound..<index
      } else {
        ranges.append(start..<index)
      }
    }
    return ranges
  }
}
