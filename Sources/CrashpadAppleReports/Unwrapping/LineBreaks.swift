// SPDX-License-Identifier: Apache-2.0
/// Line ends that editors and mail programs added.
enum LineBreaks {
  /// Removes the blank line behind each line.
  static func singleSpaced(_ text: [UInt8]) -> Removal? {
    guard isDoubleSpaced(text), !ReportAnchors.all(text).isEmpty else { return nil }
    var copy = TextCopy(of: text)
    for (index, line) in TextLines(text).enumerated() where index % 2 == 0 {
      copy.copy(line.startIndex..<min(line.endIndex + 1, text.count))
    }
    return Removal(copy, "a blank line followed each line", at: 0)
  }

  static let leastLines = 12

  private static func isDoubleSpaced(_ text: [UInt8]) -> Bool {
    var count = 0
    for (index, line) in TextLines(text).enumerated() {
      if index % 2 == 1, !line.trimmed.isEmpty { return false }
      count = index
    }
    return count >= leastLines
  }

  /// Joins lines that were broken at some width.
  static func joined(_ text: [UInt8]) -> Removal? {
    guard let first = text.first(where: { $0 > 0x20 }) else { return nil }
    let isJSON = text.firstIndex(of: first).map { text[$0...].beginsObject } == true || first == UInt8(ascii: "[")
    return isJSON ? JSONJoiner.joined(text) : TextJoiner.joined(text)
  }

  /// The width of the widest line that a program could have broken.
  static func widest(_ text: [UInt8]) -> Int {
    TextLines(text).reduce(0) { $1.isBreakable ? max($0, width($1)) : $0 }
  }

  /// The number of characters of a line.
  static func width(_ line: TextBytes) -> Int {
    let line = line.last == 0x0d ? line.dropLast() : line
    return line.count { $0 & 0xc0 != 0x80 }
  }

  /// Whether a line of this width was broken at a blank, which is gone, and not inside of a word.
  ///
  /// - Parameter keepsWords: whether no word was broken, as some lines are wider.
  static func wasBlank(_ line: TextBytes, _ next: TextBytes, _ width: Int, keepsWords: Bool) -> Bool {
    guard let last = line.last, last != 0x20 else { return false }
    if keepsWords { return true }
    let word = line.suffix(width + 1).reversed().prefix { $0 != 0x20 }.count
    let other = next.prefix(width + 1).prefix { $0 != 0x20 && $0 != 0x0d && $0 != 0x0a }.count
    // Words that fit into a line are not broken.
    return !(self.width(line) >= width && word + other > width)
  }

  /// Lines of texts that were broken are no longer than this.
  static let maximumWidth = OmittedLines.widestBroken
}

/// Joins the lines of JSON that was broken inside of strings and numbers.
private enum JSONJoiner {
  static func joined(_ text: [UInt8]) -> Removal? {
    let breaks = breaks(in: text)
    guard let first = breaks.first else { return nil }
    let breakable = breaks.filter { text[$0.line..<$0.end].isBreakable }
    let width =
      breaks.count > 1
      ? (breakable.isEmpty ? breaks : breakable).reduce(0) { max($0, $1.width) }
      : TextLines(text).reduce(0) { max($0, LineBreaks.width($1)) }
    // The first line may have lost what stood before the report.
    let isFixed = breaks.count > 1 && breaks.dropFirst().allSatisfy { $0.width == width }
    let keepsWords = width <= LineBreaks.maximumWidth && breaks.contains { $0.width > width }
    var copy = TextCopy(of: text)
    // Lines that end at blanks are seldom as wide as each other.
    let alike = breaks.count { $0.width == width }
    var (start, uncertain) = (0, !isFixed && breaks.count > 3 && alike * 2 > breaks.count ? 1 : 0)
    for place in breaks {
      copy.copy(start..<place.end)
      start = place.next
      if !place.isInString || isFixed || width > LineBreaks.maximumWidth { continue }
      let next = text[place.next...]
      guard LineBreaks.wasBlank(text[place.line..<place.end], next, width, keepsWords: keepsWords) else { continue }
      let word = next.prefix(width + 1).prefix { $0 != 0x20 && $0 != 0x0d && $0 != 0x0a }.count
      let isShort = !keepsWords && place.width + 1 + word <= width
      if place.isAmbiguous || next.first == 0x20 || isShort { uncertain += 1 }
      copy.put(0x20 as UInt8, for: place.end)
    }
    copy.copy(start..<text.count)
    let words = "\(breaks.count) line breaks stood inside of texts and numbers"
    let isWide = width > LineBreaks.maximumWidth
    var removal = Removal(copy, [Removal.Note(text: words, offset: first.end, isUncertain: isWide)])
    if uncertain > 0, !isWide {
      removal.refusal =
        "JSON whose lines were broken inside of texts, so that it is not known where these had blanks"
    }
    return removal
  }

  private struct Break {
    let line: Int
    /// The offset of the line's end, and of the next line.
    let end: Int
    let next: Int
    let width: Int
    let isInString: Bool
    /// Whether some programs break lines here without a blank.
    let isAmbiguous: Bool
  }

  private static func breaks(in text: [UInt8]) -> [Break] {
    var breaks: [Break] = []
    var (line, isInString, depth, index) = (0, false, 0, 0)
    scan: while index < text.count {
      switch text[index] {
      case UInt8(ascii: "\""): isInString.toggle()
      // An escape that a line break divides goes on behind it.
      case 0x5c where isInString: if index + 1 < text.count, text[index + 1] != 0x0a { index += 1 }
      case 0x0a:
        if depth > 0, let place = place(text, line, index, isInString) { breaks.append(place) }
        line = index + 1
      case UInt8(ascii: "{") where !isInString, UInt8(ascii: "[") where !isInString: depth += 1
      case UInt8(ascii: "}") where !isInString, UInt8(ascii: "]") where !isInString: depth -= 1
      // The body may be text.
      case 0x21... where depth <= 0: break scan
      default: break
      }
      index += 1
    }
    // A string that does not end was not broken, but cut.
    return isInString ? [] : breaks
  }

  private static func place(_ text: [UInt8], _ line: Int, _ index: Int, _ isInString: Bool) -> Break? {
    let end = index > line && text[index - 1] == 0x0d ? index - 1 : index
    guard end > line, index + 1 < text.count else { return nil }
    let (last, next) = (text[end - 1], text[index + 1])
    func isWord(_ byte: UInt8) -> Bool { byte.isDigit || byte.isLetter || byte == 0x2e || byte == 0x2d || byte == 0x2b }
    guard isInString || isWord(last) && isWord(next) else { return nil }
    return Break(
      line: line, end: end, next: index + 1, width: LineBreaks.width(text[line..<end]), isInString: isInString,
      isAmbiguous: last == 0x2d || last == 0x2f || next == 0x2f)
  }
}

/// Joins the lines of a `.crash` text that was broken at a width.
private struct TextJoiner {
  private enum Section {
    case head, thread, addresses, registers, images
  }

  private let text: [UInt8]
  private let width: Int
  /// Whether all lines were broken at the same width, whatever is there.
  private let isFixed: Bool
  /// Whether each line was broken at a blank.
  private var keepsWords = false
  private var section = Section.head
  private var frame: UInt64?
  private var previous: TextBytes = []
  private var count = 0
  private var first: Int?
  private var isEndOfImages = false

  static func joined(_ text: [UInt8]) -> Removal? {
    let width = LineBreaks.widest(text)
    guard (40...LineBreaks.maximumWidth).contains(width) else { return nil }
    var survey = TextJoiner(text, width: width, isFixed: false)
    let widths = survey.widthsOfBroken()
    guard widths.count > 1 || widths.count == 1 && !survey.isEndOfImages else { return nil }
    // Only programs that do not break words leave lines that are wider.
    let keepsWords = TextLines(text).contains { LineBreaks.width($0) > width }
    var joiner = TextJoiner(text, width: width, isFixed: !keepsWords && widths.allSatisfy { $0 == width })
    joiner.keepsWords = keepsWords
    return joiner.removal()
  }

  private init(_ text: [UInt8], width: Int, isFixed: Bool) {
    self.text = text
    self.width = width
    self.isFixed = isFixed
  }

  /// The widths of the lines that are followed by one that can't be the start of a line, and that did not fit into them.
  private mutating func widthsOfBroken() -> [Int] {
    var widths: [Int] = []
    for line in TextLines(text) {
      if isContinuation(line), isFull(line) {
        widths.append(LineBreaks.width(previous))
        // Other text may follow the last image; ends of paths are one word as a rule.
        isEndOfImages = section == .images && previous.first(of: "> /") != nil && line.trimmed.contains(0x20)
      }
      previous = line.last == 0x0d ? line.dropLast() : line
    }
    return widths
  }

  private mutating func removal() -> Removal? {
    var copy = TextCopy(of: text)
    for line in TextLines(text) {
      let isContinued = isContinuation(line) || isContinuedHead(line)
      if isContinued, isFull(line) {
        join(line, &copy)
      } else if line.startIndex > 0 {
        copy.put(0x0a as UInt8, for: line.startIndex - 1)
      }
      let content = line.last == 0x0d ? line.dropLast() : line
      copy.copy(content.startIndex..<content.endIndex)
      previous = content
    }
    if text.last == 0x0a { copy.put(0x0a as UInt8, for: text.count - 1) }
    guard let first else { return nil }
    let words = "\(count) lines were broken at \(width) characters and were joined"
    return Removal(copy, [Removal.Note(text: words, offset: first, isUncertain: true)])
  }

  /// Whether the first word of the line did not fit into the one before.
  private func isFull(_ line: TextBytes) -> Bool {
    let before = LineBreaks.width(previous)
    // The blanks behind a key may have been those at which the line was broken.
    if previous.last == UInt8(ascii: ":"), section == .head { return true }
    // No line of a stack begins or ends with a parenthesis that is open.
    if section == .thread, line.first == UInt8(ascii: "(") || previous.last == UInt8(ascii: "(") { return true }
    if isFixed { return before == width }
    return before + 1 + line.prefix { $0 != 0x20 && $0 != 0x0d }.count > width || previous.last == 0x20
  }

  private mutating func join(_ line: TextBytes, _ copy: inout TextCopy) {
    first = first ?? line.startIndex
    count += 1
    guard !isFixed, LineBreaks.wasBlank(previous, line, width, keepsWords: keepsWords) else { return }
    // Mail programs break words behind hyphens and parentheses, too.
    if previous.last == UInt8(ascii: "(") || previous.last == 0x2d && previous.dropLast().last != 0x20 { return }
    copy.put(0x20 as UInt8, for: line.startIndex)
  }

  // MARK: Lines

  /// Whether the line can't begin one of the report's own, which only stacks, registers and images show for certain.
  private mutating func isContinuation(_ line: TextBytes) -> Bool {
    let content = line.trimmed
    // Most lines are frames and images.
    if section == .images && ReportLine.isImage(content) || section == .thread && isNextFrame(content) { return false }
    if content.isEmpty || ReportLine.isTitle(content) || ReportLine.isFence(content) || ReportLine.isHead(content) {
      begin(content)
      return false
    }
    switch section {
    case .head: return false
    case .thread: return !isNextFrame(content)
    case .addresses:
      // A list of addresses in parentheses, or frames.
      if content.has(prefix: "(0x") || content.has(prefix: "0x") { return false }
      section = .thread
      return !isNextFrame(content)
    case .registers:
      // Names of registers may be broken as well.
      return !ReportLine.isRegisters(content) || isFixed && LineBreaks.width(previous) == width
    case .images: return !ReportLine.isImage(content) && mayEndImage(content)
    }
  }

  /// Whether the line may be the rest of an image's: behind a path, other text may follow the last image.
  private func mayEndImage(_ content: TextBytes) -> Bool {
    guard previous.first(of: "> /") != nil, let first = content.first else { return true }
    return first.isLetter || first.isDigit || first >= 0x80 && !content.has(prefix: "…")
      || "/._-+(".utf8.contains(first)
  }

  private static let keys: Set<String> = [
    "Path", "Identifier", "Version", "Code Type", "Parent Process", "Responsible", "Coalition", "OS Version",
    "Date/Time",
    "Launch Time", "Hardware Model", "Incident Identifier", "CrashReporter Key", "Exception Type", "Exception Codes",
    "Exception Subtype", "Exception Message", "Exception Note", "Termination Reason", "Termination Description",
    "Terminating Process", "Process", "VM Region Info",
  ]

  /// Whether a line before the stacks goes on here.
  private func isContinuedHead(_ line: TextBytes) -> Bool {
    guard section == .head, !line.trimmed.isEmpty, TextKey(line.trimmed)?.isPadded != true else { return false }
    if isFixed { return !previous.isEmpty }
    return TextKey(previous.trimmed).map { Self.keys.contains($0.name) } ?? false
  }

  private mutating func begin(_ content: TextBytes) {
    if content.isEmpty {
      // Blank lines end the registers, and may stand between threads.
      if section != .images { section = .head }
      return
    }
    frame = nil
    section = Self.section(content)
  }

  private static func section(_ title: TextBytes) -> Section {
    if title.has(prefix: "Binary Images") { return .images }
    if title.has(prefix: "Last Exception Backtrace") { return .addresses }
    if title.has(prefix: "Application Specific Backtrace") { return .thread }
    guard ReportLine.isThread(title) else { return .head }
    if title.first(of: " crashed with ") != nil { return .registers }
    return title.first(of: " name:") != nil || title.first(of: " instruction stream") != nil ? .head : .thread
  }

  /// Whether the line is a frame with the next number.
  private mutating func isNextFrame(_ content: TextBytes) -> Bool {
    guard ReportLine.isFrame(content) || isStartOfFrame(content) else { return false }
    var rest = content
    frame = rest.takeNumber()
    return true
  }

  /// Whether a frame begins that was broken before its address.
  private func isStartOfFrame(_ content: TextBytes) -> Bool {
    var rest = content
    guard let number = rest.takeNumber(), rest.first == 0x20 || rest.first == 0x09 else { return false }
    return frame.map { number == $0 &+ 1 } ?? (number == 0)
  }
}
