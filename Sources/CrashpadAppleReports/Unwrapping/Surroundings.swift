// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadJSON

/// Text before and behind a report: that of a message, and the marks of Markdown.
enum Surroundings {
  // MARK: JSON

  /// Removes the text before a report in JSON, or the JSON around it.
  static func ofJSON(_ text: [UInt8]) -> Removal? {
    guard let first = text.firstIndex(where: { $0 > 0x20 }), !isTranslation(text) else { return nil }
    if text[first] == UInt8(ascii: "[") || text[first...].beginsObject { return inner(text) }
    if let fragment = fragment(text) { return fragment }
    for start in candidates(text).prefix(maximumCandidates) {
      guard let form = ReportFormat.of(text[start...]), form != .crash else { continue }
      // A body without its header would have lost facts.
      guard isWhole(text, start) else { return nil }
      var copy = TextCopy(of: text)
      copy.copy(start..<text.count)
      return Removal(copy, "text before the report was left out", at: first)
    }
    return nil
  }

  private static let maximumCandidates = 64

  /// Adds the brace before members that were copied out of an object.
  private static func fragment(_ text: [UInt8]) -> Removal? {
    var start: Int?
    for line in TextLines(text) {
      let content = line.trimmed
      if content.first == UInt8(ascii: "{") || content.last == UInt8(ascii: "{") && start == nil { return nil }
      guard content.first == UInt8(ascii: "\"") else {
        start = nil
        continue
      }
      start = start ?? content.startIndex
      guard let first = start, let anchor = ReportAnchors.anchor(of: content), anchor.start == content.startIndex else {
        continue
      }
      var copy = TextCopy(of: text, capacity: text.count + 1)
      copy.put(UInt8(ascii: "{"), for: first)
      let missing = missingCommas(text, from: first)
      var next = first
      for comma in missing {
        copy.copy(next..<comma)
        copy.put(UInt8(ascii: ","), for: comma)
        next = comma
      }
      copy.copy(next..<text.count)
      guard ReportFormat.of(copy.bytes[...]) == .ips else { return nil }
      let words = "the report was a part of a JSON object, without its start"
      var notes = [Removal.Note(text: words, offset: first, isUncertain: true)]
      if let comma = missing.first {
        notes.append(.init(text: "commas between its members were missing", offset: comma, isUncertain: true))
      }
      return Removal(copy, notes)
    }
    return nil
  }

  /// The offsets behind members without a comma, above a line that begins with the next member: people copy members one by one.
  private static func missingCommas(_ text: [UInt8], from start: Int) -> [Int] {
    var commas: [Int] = []
    var end: Int?
    for line in TextLines(text) where line.startIndex >= start || line.endIndex > start {
      let content = line.trimmed
      guard let first = content.first else { continue }
      if let end, first == UInt8(ascii: "\""), isMember(content) { commas.append(end) }
      // The end of an object, a list, a text, a number or a word.
      let isEnd = content.last.map { [0x7d, 0x5d, 0x22, 0x65, 0x6c].contains($0) || $0.isDigit } ?? false
      end = isEnd && isMember(content) ? content.endIndex : nil
    }
    return commas
  }

  /// Whether a line begins with a member: a short name in quotation marks, and a colon.
  private static func isMember(_ line: TextBytes) -> Bool {
    guard line.first == 0x22, let close = line.dropFirst().prefix(48).firstIndex(of: 0x22) else { return false }
    return line[(close + 1)...].first { $0 != 0x20 } == 0x3a
  }

  /// Whether what begins at `start` is JSON to its end or to that of the text, and a header has a body.
  private static func isWhole(_ text: [UInt8], _ start: Int) -> Bool {
    let tree = unsafe JSONTree(text.span.bytes, from: start)
    guard let root = tree.root else { return false }
    if let failure = tree.failure { return isEnd(text[failure.offset...]) }
    guard ReportJSON.isHeader(root) else { return true }
    let second = text[tree.end...].drop { $0 <= 0x20 }
    return second.isEmpty || second.first == UInt8(ascii: "{") || ReportLine.isHead(second)
      || ReportLine.isFence(second)
      || TextKey(second.prefix { $0 != 0x0a })?.isPadded == true
  }

  /// Whether a report that was cut ends here: with the last line of the text, or with the mark of Markdown behind it.
  private static func isEnd(_ rest: TextBytes) -> Bool {
    let content = rest.drop { $0 <= 0x20 }
    return content.count < 64 || content.first == UInt8(ascii: "`") || !content.trimmed.contains(0x0a)
  }

  /// Whether the text is Console's export, which the reader knows.
  private static func isTranslation(_ text: [UInt8]) -> Bool {
    unsafe ReportStart(text.span.bytes).hasLine("Translated Report (Full Report Below)")
  }

  /// Offsets at which JSON may begin: the first bracket of each line.
  private static func candidates(_ text: [UInt8]) -> some Sequence<Int> {
    TextLines(text).lazy.compactMap { line in
      let start = line.prefix(512).firstIndex { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "[") }
      guard let start else { return nil }
      let next = line[(start + 1)...].first ?? 0x0a
      return [0x0a, 0x0d, 0x20, 0x09, UInt8(ascii: "\""), UInt8(ascii: "{")].contains(next) ? start : nil
    }
  }

  /// Takes reports out of other JSON, such as the answer of a server.
  private static func inner(_ text: [UInt8]) -> Removal? {
    let tree = unsafe JSONTree(text.span.bytes)
    guard let root = tree.root, tree.failure == nil, !ReportJSON.isReport(root) else { return nil }
    var found: [Range<Int>] = []
    var open = [root]
    while let value = open.popLast(), found.count < ReportJSON.maximumParts {
      if ReportJSON.isReport(value) {
        found.append(value.range)
      } else {
        open += value.elements.reversed() + value.members.map(\.value).reversed()
      }
    }
    guard !found.isEmpty else { return nil }
    var copy = TextCopy(of: text)
    for range in found {
      copy.copy(range)
      copy.put(0x0a as UInt8, for: range.upperBound)
    }
    return Removal(copy, "the report was a member of other JSON", at: found[0].lowerBound)
  }

  // MARK: Text

  /// Removes the text before and behind a `.crash` text.
  static func ofText(_ text: [UInt8]) -> Removal? {
    guard let form = ReportFormat.of(text[...]), form == .crash || form == .ips && isTranslation(text) else {
      return nil
    }
    // The export of Console with its JSON has a reader that knows both.
    if form == .ips, TextLines(text).contains(where: { $0.first == UInt8(ascii: "{") }) { return nil }
    var finder = TextFinder(isApple: TextStart.isApple(text.prefix(TextStart.length)))
    for line in TextLines(text) { finder.read(line) }
    guard let start = finder.start else { return nil }
    let end = finder.end ?? codeEnd(text, start) ?? text.count
    let isBefore = text[..<start].contains { $0 > 0x20 }
    let isBehind = text[end...].contains { $0 > 0x20 }
    guard isBefore || isBehind || finder.cut != nil else { return nil }
    var copy = TextCopy(of: text)
    copy.copy((finder.cut ?? start)..<min(end, finder.firstEnd ?? end))
    if let first = finder.firstEnd, first < end { copy.copy(first..<end) }
    var notes: [Removal.Note] = []
    if isBefore { notes.append(.init(text: "text before the report was left out", offset: 0)) }
    if isBehind { notes.append(.init(text: "text behind the report was left out", offset: end)) }
    if notes.isEmpty { notes.append(.init(text: "text before the first key was left out", offset: start)) }
    return Removal(copy, notes)
  }
}

extension Surroundings {
  /// The keys of a text at which a report may begin.
  private static let mostStarts = 64

  /// Removes the text before a report of Apple's form that begins behind the bytes by which forms are known.
  static func beforeLateReport(_ text: [UInt8]) -> Removal? {
    guard text.count > TextStart.length, ReportFormat.of(text[...]) == nil else { return nil }
    let starts = ReportAnchors.all(text).lazy.map(\.line.lowerBound).filter { $0 >= TextStart.length / 2 }
    let start = starts.prefix(mostStarts).first { start in
      TextStart.isApple(text[start...].prefix(TextStart.length))
    }
    guard let start else { return nil }
    var copy = TextCopy(of: text)
    copy.copy(start..<text.count)
    return Removal(copy, "text before the report was left out", at: 0)
  }

  /// The offset of the mark that ends code in Markdown, if one stands before the report and one behind it.
  private static func codeEnd(_ text: [UInt8], _ start: Int) -> Int? {
    let mark = UInt8(ascii: "`")
    guard let last = text.lastIndex(where: { $0 > 0x20 }), last > start, text[last] == mark else { return nil }
    let before = text[..<start]
    return before.indices.contains { before[$0] == mark && ($0 == 0 || before[$0 - 1] == 0x0a) } ? last : nil
  }
}

/// Finds where a `.crash` text begins and ends.
private struct TextFinder {
  /// Whether lines of Apple's reports follow: the reader of other texts takes each line for itself.
  let isApple: Bool
  /// The offset of the first line.
  private(set) var start: Int?
  /// The offset in the first line at which the report begins, if that has other words before it.
  private(set) var cut: Int?
  /// The offset of the mark behind the report, if nothing of it follows.
  private(set) var end: Int?
  private(set) var firstEnd: Int?

  init(isApple: Bool) { self.isApple = isApple }

  /// The offset of the first of the keys that lead to the present line.
  private var block: Int?
  /// The padded keys of the block so far.
  private var padded = 0
  /// The key on the last line, if other words stand before it.
  private var joint: ReportAnchor?
  /// Whether the present line is below "Application Specific Information:", whose lines may have any words.
  private var isInInformation = false

  mutating func read(_ line: TextBytes) {
    let content = line.trimmed
    guard start != nil else { return readBefore(line, content) }
    if ReportLine.isFence(content) {
      end = end ?? line.startIndex
    } else if end != nil, ReportLine.isFrame(content) || ReportLine.isImage(content) || ReportLine.isThread(content) {
      // The report goes on behind the mark.
      end = nil
    }
  }

  private mutating func readBefore(_ line: TextBytes, _ content: TextBytes) {
    if content.isEmpty {
      isInInformation = false
      return
    }
    if block != nil, isInInformation || content.equals("Application Specific Information:") {
      isInInformation = true
      return
    }
    // The line above the title of Console's export.
    if content.allSatisfy({ $0 == 0x2d }) {
      // The head of a spindump has such lines in it.
      if block == nil || padded < Self.fewestKeys { block = line.startIndex }
      return
    }
    if block != nil, ReportLine.isFrame(content) || content.has(prefix: "Use -i and -timeline") { return }
    if ReportLine.isFrame(content) {
      block = line.startIndex
      return
    }
    let code = content.drop { $0 == UInt8(ascii: "`") }
    if code.startIndex > content.startIndex, isStrong(code) {
      start = code.startIndex
      return
    }
    if isStrong(content) {
      start = block ?? line.startIndex
      if block == nil, let first = joint, first.line.upperBound + 1 >= line.startIndex {
        start = first.line.lowerBound
        cut = cutStart(first)
      }
      return
    }
    let key = TextKey(content)
    if let key, !key.value.isEmpty, key.isPadded || isKnown(key) {
      padded = block == nil ? 1 : padded + 1
      if block == nil, let first = joint, first.line.upperBound + 1 >= line.startIndex {
        block = first.line.lowerBound
        cut = cutStart(first)
      }
      block = block ?? line.startIndex
    } else if block == nil || padded < Self.fewestKeys || key == nil {
      block = nil
      cut = nil
      noteJoint(line)
    }
  }

  /// The offset behind other words of a line; nil if the line has none.
  private func cutStart(_ anchor: ReportAnchor) -> Int? {
    anchor.start > anchor.line.lowerBound ? anchor.start : nil
  }

  /// As many padded keys are the head of a report, in which others have one blank: "System Integrity Protection: enabled".
  private static let fewestKeys = 2

  /// Whether a key that messages have too has the value of a report's, though the blanks behind it were removed.
  private func isKnown(_ key: TextKey) -> Bool {
    switch key.name {
    case "Path": key.value.first == UInt8(ascii: "/")
    case "Date/Time", "Launch Time": ReportTime.isTime(key.value.string)
    case "OS Version", "Version", "Code Type": key.value.last == UInt8(ascii: ")")
    case "Report Version", "Crashed Thread": key.value.decimal != nil
    case "Parent Process", "Coalition", "Responsible": key.value.last == UInt8(ascii: "]")
    case "Exception Codes", "Exception Subtype": TextCodes.type(of: key.value.string) != nil
    case "Identifier": key.value.contains(UInt8(ascii: ".")) && !key.value.contains(0x20)
    default: false
    }
  }

  /// Whether reports alone have such a line.
  private func isStrong(_ content: TextBytes) -> Bool {
    let starts = [
      "Translated Report", "panic(cpu ", "Debugger message: ", "kernel abort type ", "Analysis of sampling", "# ",
    ]
    if isApple, content.first(of: "Terminating app due to uncaught exception '") != nil { return true }
    if ReportLine.isThread(content) || starts.contains(where: { content.has(prefix: $0) }) { return true }
    guard let key = TextKey(content), !key.value.isEmpty else { return false }
    switch key.name {
    case "Incident Identifier", "CrashReporter Key", "Hardware Model": return true
    case "Process", "Command": return key.isPadded || key.value.last == UInt8(ascii: "]")
    case "Exception Type": return key.isPadded || ["EXC_", "SIG", "0"].contains { key.value.has(prefix: $0) }
    default: return false
    }
  }

  /// "Here it is: Incident Identifier: …", if the next line is the report's second.
  private mutating func noteJoint(_ line: TextBytes) {
    joint = ReportAnchors.anchor(of: line)
  }
}
