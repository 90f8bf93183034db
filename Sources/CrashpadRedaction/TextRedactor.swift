// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// Decides which parts of texts are overwritten. Texts keep their lengths.
struct TextRedactor {
  /// Longer texts, in code units, are overwritten as a whole. Annotations are shorter.
  static let maximumLength = 64 * 1024
  /// The same limit for names and paths.
  static let maximumNameLength = 4096
  /// The same limit for thread names.
  static let maximumThreadNameLength = 256

  let policy: RedactionPolicy
  /// Collects user names in paths. User names that are known already are in `policy`.
  let collector: UserNameCollector
  private let kept: Set<PersonalKind>
  private let hidesUserNames: Bool
  private let imageIDs: Set<[UInt16]>

  /// - Parameter imageIDs: the UUIDs of images, in lowercase, which stay.
  init(policy: RedactionPolicy, collector: UserNameCollector, imageIDs: Set<[UInt16]> = []) {
    self.policy = policy
    self.collector = collector
    self.imageIDs = imageIDs
    kept = policy.kept
    hidesUserNames = !kept.contains(.users)
  }

  /// A part of a text that is kept or overwritten as a whole.
  struct Piece {
    let range: ByteRange
    let isHidden: Bool
  }

  /// The pieces of UTF-8 text (or bytes that should be), in order.
  func pieces(
    of range: ByteRange, _ bytes: RawSpan, limit: Int = maximumLength, _ place: TextPlace = .free
  ) -> [Piece] {
    if range.count > limit { return [Piece(range: range, isHidden: true)] }
    if range.count == 0 { return [] }
    let units = bytes.array(in: range).map(UInt16.init)
    guard units.allSatisfy(Self.isText) else { return [Piece(range: range, isHidden: true)] }
    let hidden = hiddenRanges(units, isUTF16: false, place).map { part in
      // The `?` of a pattern may match one byte of a multibyte character.
      var start = part.lowerBound
      var end = part.upperBound
      while start > 0, units[start] & 0xc0 == 0x80 { start -= 1 }
      while end < units.count, units[end] & 0xc0 == 0x80 { end += 1 }
      return start..<end
    }
    return Self.pieces(hidden, of: range, unitSize: 1)
  }

  /// The pieces of UTF-16 text; an odd byte at its end is hidden.
  func widePieces(of range: ByteRange, _ bytes: RawSpan, limit: Int = maximumLength) -> [Piece] {
    if range.count / 2 > limit { return [Piece(range: range, isHidden: true)] }
    let units = (0..<range.count / 2).map { bytes.uint16(at: range.offset + 2 * $0) }
    guard units.allSatisfy(Self.isText) else { return [Piece(range: range, isHidden: true)] }
    var pieces = Self.pieces(hiddenRanges(units, isUTF16: true, .free), of: range, unitSize: 2)
    if range.count % 2 != 0 {
      pieces.append(Piece(range: ByteRange(offset: range.end - 1, count: 1), isHidden: true))
    }
    return pieces
  }

  /// Whether the unit is not a control character. If a damaged dump refers to memory as a name, the memory has some.
  private static func isText(_ unit: UInt16) -> Bool { unit >= 0x20 && unit != 0x7f || (0x09...0x0d).contains(unit) }

  /// Collects user names in the paths of text that is removed.
  func learn(_ bytes: [UInt8]) {
    if hidesUserNames, bytes.count <= Self.maximumLength {
      collector.collect(bytes.map(UInt16.init), isUTF16: false)
    }
  }

  /// The maximum number of rounds until a text has nothing more to hide.
  private static let maximumRounds = 8

  /// Overwriting a part may end the word beside it, so the rules are repeated until they find nothing more. A second
  /// redaction then finds nothing either.
  private func hiddenRanges(_ units: [UInt16], isUTF16: Bool, _ place: TextPlace) -> [Range<Int>] {
    var scan = PersonalScan(text: units, place: place, imageIDs: imageIDs)
    if hidesUserNames { collector.collect(units, isUTF16: isUTF16) }
    var all = Marks(count: units.count)
    for _ in 0..<Self.maximumRounds {
      if !hide(&scan, isUTF16: isUTF16, &all) { break }
    }
    return all.ranges
  }

  /// Applies hidden text first: text overwritten here can't match later rules, except that it
  /// may become part of a user name. Returns whether anything was found.
  private func hide(_ scan: inout PersonalScan, isUTF16: Bool, _ all: inout Marks) -> Bool {
    let before = scan.text
    func hide(_ marks: Marks, _ scan: inout PersonalScan) {
      for range in marks.ranges {
        all.mark(range)
        for index in range { scan.text[index] = Unit.star }
      }
    }
    for pattern in policy.hiddenText {
      var marks = Marks(count: scan.text.count)
      pattern.mark(scan.text, isUTF16: isUTF16, &marks)
      hide(marks, &scan)
    }
    PersonalSearch.mark(&scan, kept, &all)
    if hidesUserNames {
      var marks = Marks(count: scan.text.count)
      UserNames.mark(scan.text, &marks)
      for name in policy.userNames { name.mark(scan.text, isUTF16: isUTF16, &marks) }
      hide(marks, &scan)
    }
    return scan.text != before
  }

  private static func pieces(_ hidden: [Range<Int>], of range: ByteRange, unitSize: Int) -> [Piece] {
    var pieces: [Piece] = []
    var place = range.offset
    func add(upTo end: Int, _ isHidden: Bool) {
      if end > place { pieces.append(Piece(range: ByteRange(offset: place, count: end - place), isHidden: isHidden)) }
      place = max(place, end)
    }
    for part in hidden {
      add(upTo: range.offset + part.lowerBound * unitSize, false)
      add(upTo: range.offset + part.upperBound * unitSize, true)
    }
    add(upTo: range.offset + range.count / unitSize * unitSize, false)
    return pieces
  }
}

extension TextRedactor.Piece {
  /// Whether the piece consists of asterisks already.
  func isStars(_ bytes: RawSpan, wide: Bool) -> Bool {
    for index in 0..<range.count {
      let wanted = wide && index % 2 != 0 ? 0 : UInt8(ascii: "*")
      if bytes.uint8(at: range.offset + index) != wanted { return false }
    }
    return true
  }
}
