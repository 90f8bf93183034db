// SPDX-License-Identifier: Apache-2.0
/// Starts of lines that are not the report's: marks of quotations and differences, numbers, time stamps of logs.
enum LinePrefixes {
  static func remove(_ text: [UInt8]) -> Removal? {
    let anchors = ReportAnchors.all(text)
    let wrapped = anchors.filter { !text[$0.line.lowerBound..<$0.start].trimmed.isEmpty }
    // The lines of JSON that is pretty begin with blanks, and so do those that a message indents.
    guard let first = wrapped.first, wrapped.count * 2 > anchors.count else { return nil }
    let starts = wrapped.map { anchor in
      let start = text[anchor.line.lowerBound..<anchor.start]
      // JSON has blanks of its own before its keys.
      guard text[anchor.start] == UInt8(ascii: "\""), let last = start.lastIndex(where: { $0 != 0x20 }) else {
        return start
      }
      return start[...last]
    }
    guard let prefix = PrefixForm.of(starts, in: text) else { return nil }
    // Marks that are entities are no marks before all entities are characters.
    if prefix.hasEntity, Markup.remove(text) != nil { return nil }
    var stripper = PrefixStripper(text, prefix, first.line.lowerBound)
    return stripper.removal()
  }

  /// Removes the words of a tool that all lines begin with, such as "info: [IOS_SYSLOG_ROW ] ", before a console's text.
  static func words(_ text: [UInt8]) -> Removal? {
    var common: TextBytes?
    var count = 0
    for line in TextLines(text) where !line.trimmed.isEmpty {
      count += 1
      common = common.map { $0.prefix(zip($0, line).prefix { $0 == $1 }.count) } ?? line
      if common?.count ?? 0 < smallestWords { return nil }
    }
    // A blank ends the words: what is behind it may begin alike, too.
    guard count >= 3, let start = common, let end = start.lastIndex(of: 0x20), case let words = start[...end],
      words.count >= smallestWords, words.contains(where: { $0.isLetter }),
      [UInt8(ascii: ":"), UInt8(ascii: "]"), UInt8(ascii: ")"), UInt8(ascii: "|")].contains(words.trimmed.last)
    else { return nil }
    var copy = TextCopy(of: text)
    for line in TextLines(text) {
      let begin = line.trimmed.isEmpty ? line.startIndex : line.startIndex + words.count
      copy.copy(begin..<min(line.endIndex + 1, text.count))
    }
    guard PastedLine.areIn(copy.bytes[...]) else { return nil }
    return Removal(copy, "each line began with \"\(words.string)\"", at: 0)
  }

  private static let smallestWords = 4

  /// Removes the blanks before a fence from it and the lines in it: a list has its code in the column of its words.
  static func indentationOfFence(_ text: [UInt8]) -> Removal? {
    var fence: (line: TextBytes, blanks: Int)?
    var end: Int?
    for line in TextLines(text) where !line.trimmed.isEmpty {
      let blanks = line.prefix { $0 == 0x20 }.count
      guard let begun = fence else {
        if blanks > 0, line.trimmed.has(prefix: "```") || line.trimmed.has(prefix: "~~~") { fence = (line, blanks) }
        continue
      }
      // A mark of a quotation before the line may have taken one of them.
      guard blanks + 1 >= begun.blanks else { return nil }
      if ReportLine.isFence(line.trimmed), line.trimmed.first == begun.line.trimmed.first {
        end = line.endIndex
        break
      }
    }
    guard let fence, let end,
      ReportAnchors.all(text).contains(where: { (fence.line.endIndex..<end).contains($0.start) })
    else { return nil }
    var copy = TextCopy(of: text)
    for line in TextLines(text) {
      let isInside = line.startIndex >= fence.line.startIndex && line.startIndex < end
      let blanks = isInside ? min(fence.blanks, line.prefix { $0 == 0x20 }.count) : 0
      copy.copy((line.startIndex + blanks)..<min(line.endIndex + 1, text.count))
    }
    return Removal(copy, "a fence stood behind \(fence.blanks) blanks", at: fence.line.startIndex)
  }

  /// Removes the blanks that all lines begin with.
  static func indentation(_ text: [UInt8]) -> Removal? {
    var least = Int.max
    for line in TextLines(text) where !line.trimmed.isEmpty {
      least = min(least, line.prefix { $0 == 0x20 || $0 == 0x09 }.count)
      if least == 0 { return nil }
    }
    guard least < Int.max, !ReportAnchors.all(text).isEmpty else { return nil }
    var copy = TextCopy(of: text)
    for line in TextLines(text) {
      let start = line.trimmed.isEmpty ? line.endIndex : line.startIndex + least
      copy.copy(start..<min(line.endIndex + 1, text.count))
    }
    return Removal(copy, "each line began with \(least) blanks", at: 0)
  }
}

/// The form of what lines begin with.
enum PrefixForm {
  /// The same characters on each line.
  case constant([UInt8])
  /// The number of the line, and what is behind it.
  case numbered(separator: [UInt8])
  /// The text that a log writes before its messages.
  case log(LogPrefix)

  /// - Parameter starts: the texts before the report's own words.
  static func of(_ starts: [TextBytes], in text: [UInt8]) -> PrefixForm? {
    let starts = starts.map(withoutWidthless)
    let most = LogPrefix.all.map { form in (form, starts.count { form.length($0) != nil }) }.max { $0.1 < $1.1 }
    if let (form, count) = most, count * 2 > starts.count { return .log(form) }
    if let numbered = numbered(starts) { return numbered }
    return constant(starts)
  }

  /// The start of a line without characters that have no width at its end: these are of the line.
  private static func withoutWidthless(_ start: TextBytes) -> TextBytes {
    var rest = start
    while rest.count >= 3, case let (kind, length)? = UnicodeBlanks.kind(Array(rest.suffix(3)), at: 0), length == 3,
      kind == .nothing
    {
      rest = rest.dropLast(3)
    }
    return rest
  }

  private static func numbered(_ starts: [TextBytes]) -> PrefixForm? {
    var separator: [UInt8]?
    var last: UInt64?
    for start in starts {
      var rest = start.drop { TextBytes.isBlank($0) }
      guard let number = rest.takeNumber(), last.map({ $0 < number }) ?? true else { return nil }
      last = number
      let own = Self.separator(rest)
      separator = separator.map { Array(zip($0, own).prefix { $0 == $1 }.map(\.0)) } ?? own
    }
    // Without a sign, numbers may be the report's own.
    guard let separator, !separator.isEmpty, starts.count >= 2 else { return nil }
    return .numbered(separator: separator)
  }

  /// The text between a line's number and the line: blanks, and one sign.
  private static func separator(_ text: TextBytes) -> [UInt8] {
    let blanks = text.prefix { TextBytes.isBlank($0) }
    let rest = text[blanks.endIndex...]
    guard let sign = rest.first, [0x3a, 0x7c, 0x2e, 0x29].contains(sign) else { return Array(blanks) }
    return Array(blanks) + [sign] + rest.dropFirst().prefix { TextBytes.isBlank($0) }
  }

  /// The signs that all begin with, or the whole text if it is the same on all lines.
  private static func constant(_ starts: [TextBytes]) -> PrefixForm? {
    guard var common = starts.first, starts.count >= 2 || common.first == UInt8(ascii: ">") else { return nil }
    // Marks of a quotation may have no blank behind them.
    if let longest = starts.max(by: { $0.count < $1.count }), Self.isQuotation(longest),
      starts.allSatisfy({ $0.trimmed.elementsEqual(longest.trimmed) })
    {
      return .constant(Array(longest))
    }
    for start in starts { common = common.prefix(zip(common, start).prefix { $0 == $1 }.count) }
    // Lines of JSON are indented in addition.
    if starts.count >= 2, starts.allSatisfy({ $0.trimmed.elementsEqual(common.trimmed) }) {
      return .constant(widened(common, starts))
    }
    common = common.prefix { !$0.isDigit && !$0.isLetter && ![0x28, 0x5b, 0x7b, 0x3c, 0x22].contains($0) }
    return common.trimmed.isEmpty ? nil : .constant(widened(common, starts))
  }

  /// The marks of a quotation with the blank that some lines have behind them.
  private static func widened(_ common: TextBytes, _ starts: [TextBytes]) -> [UInt8] {
    let isWide = isQuoted(common) && starts.contains { $0.dropFirst(common.count).first == 0x20 }
    return Array(common) + (isWide ? [0x20] : [])
  }

  /// Whether a text is ">> " or the like.
  private static func isQuotation(_ text: TextBytes) -> Bool {
    text.contains(UInt8(ascii: ">")) && text.allSatisfy { $0 == UInt8(ascii: ">") || TextBytes.isBlank($0) }
      && text.first == UInt8(ascii: ">")
  }

  /// The bytes of a line's marks if it is quoted as often as `prefix` says; blanks between marks may be missing.
  private static func marks(of prefix: [UInt8], in line: TextBytes) -> Int? {
    var rest = line
    for _ in 0..<prefix.count(where: { $0 == UInt8(ascii: ">") }) {
      if rest.first == 0x20, rest.startIndex > line.startIndex { rest = rest.dropFirst() }
      guard rest.first == UInt8(ascii: ">") else { return nil }
      rest = rest.dropFirst()
    }
    // Some marks have no blank behind them, also where all lines are indented.
    let blanks = prefix.reversed().prefix { $0 == 0x20 }.count
    return rest.startIndex - line.startIndex + min(blanks, rest.prefix { $0 == 0x20 }.count)
  }

  /// Whether a text ends with the mark of a quotation: other marks may stand before it, as in "* > ".
  private static func isQuoted(_ text: TextBytes) -> Bool { text.trimmed.last == UInt8(ascii: ">") }

  /// The number of bytes to remove from a line; nil if it does not begin so.
  func length(_ line: TextBytes) -> Int? {
    switch self {
    case .constant(let prefix):
      if line.starts(with: prefix) { return prefix.count }
      if Self.isQuotation(prefix[...]), let count = Self.marks(of: prefix, in: line) { return count }
      // Some marks of a quotation have no blank behind them, also before those of a list.
      let quotation = prefix.prefix { $0 == UInt8(ascii: ">") }
      if !quotation.isEmpty, prefix.dropFirst(quotation.count).first == 0x20,
        case let narrow = quotation + prefix.dropFirst(quotation.count + 1), narrow.count > quotation.count,
        line.starts(with: narrow)
      {
        return narrow.count
      }
      if Self.isQuoted(prefix[...]), case let marks = prefix[...].withoutEndingBlanks,
        line.starts(with: marks)
      {
        return marks.count
      }
      // Editors remove blanks from ends of lines, and from lines that have nothing else.
      let short = prefix[...].trimmed
      return line.trimmed.elementsEqual(short)
        || prefix.last == 0x20 && line.starts(with: prefix.dropLast())
          && prefix.count > 1 && line.dropFirst(prefix.count - 1).first == prefix.first
        ? min(line.count, prefix.count - 1) : nil
    case .numbered(let separator):
      var rest = line.drop { TextBytes.isBlank($0) }
      guard rest.takeNumber() != nil else { return nil }
      if rest.starts(with: separator) { return rest.startIndex - line.startIndex + separator.count }
      return rest.trimmed.elementsEqual(separator[...].trimmed) ? line.count : nil
    case .log(let form): return form.length(line)
    }
  }

  /// The words of the finding.
  func words(_ example: TextBytes) -> String {
    switch self {
    case .constant(let prefix): "each line began with \"\(prefix[...].string)\""
    case .numbered: "each line began with its number"
    case .log(let form): "each line began with \(form.name), as in \"\(example.prefix(80).string)\""
    }
  }

  /// Whether it has a mark as HTML writes it.
  var hasEntity: Bool {
    guard case .constant(let prefix) = self else { return false }
    return prefix.indices.contains { prefix[$0] == UInt8(ascii: "&") && Markup.entity(prefix, at: $0) != nil }
  }

  /// Whether lines of others may stand between those of the report.
  var hasOwners: Bool {
    if case .log(let form) = self { return form.hasOwner }
    return false
  }
}

/// Removes what lines begin with.
private struct PrefixStripper {
  private let text: [UInt8]
  private let form: PrefixForm
  /// The offset of the first line that is known to have the prefix.
  private let anchor: Int
  private var copy: TextCopy
  private var without = 0
  private var ofOthers = 0
  private var gaps = 0
  private var broken = 0
  private var mayGoOn = false
  private var number: UInt64?
  /// The widest line of the text, and the last line.
  private let width: Int
  private var isFixed = true
  private var last: TextBytes = []

  private let isTable: Bool

  /// Lines without the prefix that may stand between those with it.
  private static let maximumRun = 3

  init(_ text: [UInt8], _ form: PrefixForm, _ anchor: Int) {
    self.text = text
    self.form = form
    self.anchor = anchor
    copy = TextCopy(of: text)
    width = TextLines(text).reduce(0) { max($0, LineBreaks.width($1)) }
    isTable = Self.isTable(text, form)
  }

  mutating func removal() -> Removal? {
    guard let length = form.length(line(anchor)), length > 0 else { return nil }
    let example = text[anchor..<(anchor + length)]
    survey()
    let owner = form.hasOwners ? LogPrefix.owner(example) : nil
    let start = regionStart()
    var offset = start
    var run: [Range<Int>] = []
    while offset < text.count {
      let line = line(offset)
      let end = line.endIndex
      if let length = form.length(line) {
        flush(&run)
        take(line, length, owner)
      } else {
        run.append(offset..<min(end + 1, text.count))
        if run.count > Self.maximumRun, !line.trimmed.isEmpty { break }
      }
      offset = end + 1
    }
    takeEnd(run)
    return Removal(copy, notes(example))
  }

  private func line(_ offset: Int) -> TextBytes { text[offset..<(text[offset...].firstIndex(of: 0x0a) ?? text.count)] }

  /// The first of the lines with the prefix that lead to the anchor.
  private func regionStart() -> Int {
    var start = anchor
    while start > 0 {
      var before = start - 1
      while before > 0, text[before - 1] != 0x0a { before -= 1 }
      guard form.length(text[before..<(start - 1)]) != nil else { break }
      start = before
    }
    return start
  }

  /// Keeps lines without the prefix, as lines with it follow.
  private mutating func flush(_ run: inout [Range<Int>]) {
    for range in run {
      let line = text[range].prefix { $0 != 0x0a }
      if !line.trimmed.isEmpty, !continuesLast(line) { without += 1 }
      copy.copy(range)
      last = line
    }
    run = []
  }

  /// Takes the lines behind the last one with the prefix that go on with it.
  private mutating func takeEnd(_ run: [Range<Int>]) {
    for range in run {
      let line = text[range].prefix { $0 != 0x0a }
      guard !line.trimmed.isEmpty, !ReportLine.isFence(line) else { return }
      // As wide as that line is, this one may be its end, or the text of a message.
      if broken == 0 {
        mayGoOn = LineBreaks.width(last) == width && width <= LineBreaks.maximumWidth
        return
      }
      guard continuesLast(line) else { return }
      copy.copy(range)
      last = line
    }
  }

  /// Sees whether all lines that go on without the prefix were broken at one width.
  private mutating func survey() {
    var last: TextBytes = []
    for line in TextLines(text) {
      if form.length(line) == nil, form.length(last) != nil, !line.trimmed.isEmpty, LineBreaks.width(last) != width {
        isFixed = false
      }
      last = line
    }
  }

  /// Joins a line to the last one if that was broken, as it is as wide as any.
  private mutating func continuesLast(_ line: TextBytes) -> Bool {
    let before = LineBreaks.width(last)
    guard width <= LineBreaks.maximumWidth, copy.bytes.last == 0x0a,
      isFixed && before == width
        || !isFixed && before + 1 + line.prefix(while: { $0 != 0x20 && $0 != 0x0d }).count > width
    else { return false }
    copy.removeLast()
    if !isFixed, LineBreaks.wasBlank(last, line, width, keepsWords: false) {
      copy.put(0x20 as UInt8, for: line.startIndex)
    }
    broken += 1
    return true
  }

  private mutating func take(_ line: TextBytes, _ length: Int, _ owner: [UInt8]?) {
    if let owner, LogPrefix.owner(line.prefix(length)) != owner {
      ofOthers += 1
      return
    }
    countGap(line)
    last = line
    let start = line.startIndex + length
    guard isTable, line.trimmed.last == UInt8(ascii: "|"), let bar = line.lastIndex(of: UInt8(ascii: "|")), bar > start
    else { return copy.copy(start..<min(line.endIndex + 1, text.count)) }
    copy.copy(start..<start + text[start..<bar].withoutEndingBlanks.count)
    copy.copy(line.endIndex..<min(line.endIndex + 1, text.count))
  }

  /// Whether the lines are those of a table: a bar ends them too.
  private static func isTable(_ text: [UInt8], _ form: PrefixForm) -> Bool {
    let bar = UInt8(ascii: "|")
    switch form {
    case .constant(let prefix):
      let marks = prefix[...].trimmed
      return marks.first == bar || marks.last == bar
    case .numbered(let separator):
      return separator.contains(bar)
        && TextLines(text).allSatisfy { form.length($0) == nil || $0.trimmed.last == bar }
    case .log: return false
    }
  }

  private mutating func countGap(_ line: TextBytes) {
    guard case .numbered = form else { return }
    var rest = line.drop { TextBytes.isBlank($0) }
    let next = rest.takeNumber()
    if let number, let next, number &+ 1 != next { gaps += 1 }
    number = next
  }

  private func notes(_ example: TextBytes) -> [Removal.Note] {
    var notes = [Removal.Note(text: form.words(example), offset: anchor)]
    func add(_ count: Int, _ words: String) {
      if count > 0 { notes.append(.init(text: "\(count) \(words)", offset: anchor, isUncertain: true)) }
    }
    add(broken, "lines were broken and were joined")
    add(mayGoOn ? 1 : 0, "line behind them may have been the end of the last one")
    add(without, "lines between them did not, and were left as they are")
    add(gaps, "times the numbers skip lines, which are missing")
    if ofOthers > 0 {
      notes.append(.init(text: "\(ofOthers) lines of others between them were left out", offset: anchor))
    }
    return notes
  }
}

extension TextBytes {
  fileprivate var withoutEndingBlanks: TextBytes { self[..<((lastIndex { !Self.isBlank($0) } ?? startIndex - 1) + 1)] }
}
