// SPDX-License-Identifier: Apache-2.0
/// The starts of a log's lines before the text of a tool or a runtime: a panic of Go in a journal, a crash of Python in the log of a
/// container, the stack of a server in its own log.
///
/// Each logger writes its lines in a form of its own. The words that such a text begins with show where the message of their line
/// begins: what stands before is the log's, and the other lines of the same program begin alike, but for their numbers.
enum LogLines {
  static func remove(_ text: [UInt8]) -> Removal? {
    let isRead = ReportFormat.of(text[...]) != nil
    let begin = text.prefix(TextStart.length)
    // A text that is read has its own lines; that with its message may be the log's.
    if isRead, TextStart.isApple(begin) || ToolText.form(ofTextWith: begin) == nil { return nil }
    var tried: [LineStart] = []
    var count = 0
    for line in searched(isRead ? Array(begin) : text) {
      guard let head = head(of: line, isRead ? messages : heads) else { continue }
      count += 1
      if count > mostHeads { return nil }
      let start = LineStart(line[..<head])
      if tried.contains(start) { continue }
      let each = isRead ? nil : ofEachLine(text, start, at: line)
      if let removal = each ?? ofFirstLine(text, start, at: line) { return removal }
      tried.append(start)
      if tried.count == mostTried { return nil }
    }
    return nil
  }

  /// The lines with first words that are looked at: a service that crashes over and over has one in each text.
  private static let mostHeads = 1024
  /// The forms of starts that are tried.
  private static let mostTried = 8
  /// A start has at most so many bytes.
  private static let longestStart = 256
  /// The lines before the first words that belong to them: what a server writes of the signal.
  private static let linesBefore = 24

  /// The lines of the beginning and the end of a log, which may be long.
  private static func searched(_ text: [UInt8]) -> some Sequence<TextBytes> {
    let (most, first) = (4 << 20, 1 << 20)
    let ranges = text.count <= most ? [text[...]] : [text[..<first], text[(text.count - (most - first))...]]
    return ranges.lazy.flatMap { $0.split(separator: 0x0a) }
  }

  /// How far behind the first line the next one is searched for.
  private static let nearBytes = 16 << 10
  private static let nearLines = 64

  // MARK: Removals

  /// Removes the start from all lines of the program, and the lines of others.
  private static func ofEachLine(_ text: [UInt8], _ start: LineStart, at anchor: TextBytes) -> Removal? {
    let next = text[min(anchor.endIndex + 1, text.count)...].prefix(nearBytes).split(separator: 0x0a).prefix(nearLines)
    guard next.contains(where: { start.length($0) != nil }) else { return nil }
    var lines: [(line: TextBytes, length: Int)] = []
    var others = 0
    for line in TextLines(text) {
      if let length = start.length(line) {
        lines.append((line, length))
      } else if !line.trimmed.isEmpty {
        others += 1
      }
    }
    guard let index = lines.firstIndex(where: { $0.line.startIndex == anchor.startIndex }), lines.count - index >= 3
    else {
      return nil
    }
    var copy = TextCopy(of: text)
    for (line, length) in lines[max(0, index - linesBefore)...] {
      copy.copy((line.startIndex + length)..<min(line.endIndex + 1, text.count))
    }
    guard ReportFormat.of(copy.bytes[...]) != nil else { return nil }
    var notes = [note(start, anchor, "each line")]
    if others > 0 { notes.append(.init(text: "\(others) lines of others were left out", offset: anchor.startIndex)) }
    return Removal(copy, notes)
  }

  /// Removes the start from the first line alone: the message has many lines.
  private static func ofFirstLine(_ text: [UInt8], _ start: LineStart, at anchor: TextBytes) -> Removal? {
    let length = start.length(anchor) ?? 0
    var end = text.count
    for line in text[min(anchor.endIndex + 1, text.count)...].split(separator: 0x0a) where start.length(line) != nil {
      end = line.startIndex
      break
    }
    var copy = TextCopy(of: text)
    copy.copy((anchor.startIndex + length)..<end)
    guard ReportFormat.of(copy.bytes[...]) != nil else { return nil }
    return Removal(copy, [note(start, anchor, "the first line")])
  }

  private static func note(_ start: LineStart, _ anchor: TextBytes, _ lines: String) -> Removal.Note {
    Removal.Note(
      text: "\(lines) began with the start of a log's lines, as \"\(anchor.prefix(start.length(anchor) ?? 0).string)\"",
      offset: anchor.startIndex)
  }

  // MARK: Heads

  /// The start of the message of a line, if it has the first words of a text; nil if nothing stands before them.
  private static func head(of line: TextBytes, _ heads: [String]) -> Int? {
    let line = line.prefix(longestStart + 64)
    for words in heads {
      guard let start = line.first(of: words), start > line.startIndex, start - line.startIndex <= longestStart,
        !line[..<start].trimmed.isEmpty, TextBytes.isBlank(line[start - 1]) || TextBytes.endsStart(line[start - 1]),
        !line[..<start].has(suffix: "Observed a ")
      else { continue }
      return start
    }
    return nil
  }

  /// First words that are messages: the frames below them stand on lines of their own.
  private static let messages = ["panic: ", "fatal error: ", "thread '", "Fatal Python error: "]

  /// The first words of texts, those of each tool in a row.
  private static let heads =
    messages + [
      "SIGSEGV: segmentation violation", "unexpected fault address ", "goroutine 1 [",
      "stack backtrace:",
      "Current thread 0x", "Traceback (most recent call last):",
      "Program received signal ", "Program terminated with signal ", "Core was generated by ", "Thread 1 ",
      "# A fatal error has been detected by ", "# Fatal error in ", "Received signal ",
      "FATAL ERROR: ", "<--- Last few GCs --->",
      "*** Error in ", "*** glibc detected ", "*** stack smashing detected ", "*** buffer overflow detected ",
      "======= Backtrace: ", "Backtrace:",
      "*** Aborted at ", "*** SIG", "*** Signal ", "*** Check failure stack trace: ***", "PC: @ ",
      "*** Caught signal ", "Got signal: ", "Invalid access at address: ", "----- BEGIN BACKTRACE -----",
      "===== CRASH =====", "handle_crash: Program crashed ", "*** Segmentation fault",
      "*** Process received signal ***",
      "Caught Segmentation fault, suspect faulting address", "Caught Aborted, suspect faulting address",
      "=== REDIS BUG REPORT START",
      "Stack trace (most recent call last)", "Unhandled exception: ", "Fatal glibc error: ",
      "==ERROR: AddressSanitizer", "ERROR: AddressSanitizer",
      "PID: ", "Stack trace of thread ", "Process: ", "Incident Identifier: ", "*** *** *** ***",
    ]
}

/// The start of the lines of one program in a log: the same characters, but for their numbers.
private struct LineStart: Equatable {
  private enum Part: Equatable {
    case number
    case blanks
    case byte(UInt8)
  }

  private var parts: [Part] = []
  /// The blanks at the end: further ones are of the message.
  private let ending: Int

  init(_ text: TextBytes) {
    let blanks = text.reversed().prefix { TextBytes.isBlank($0) }.count
    ending = blanks
    let process = Self.process(text)
    for (index, byte) in zip(text.indices, text.dropLast(blanks)) {
      if byte.isDigit, process?.contains(index) != true {
        if parts.last != .number { parts.append(.number) }
      } else if TextBytes.isBlank(byte) {
        if parts.last != .blanks { parts.append(.blanks) }
      } else {
        parts.append(.byte(byte))
      }
    }
  }

  /// The number of a process in the form of Open MPI, "[node:442794]": the processes of a job write into one log at once.
  private static func process(_ text: TextBytes) -> Range<Int>? {
    let text = text.trimmed
    guard text.first == UInt8(ascii: "["), text.last == UInt8(ascii: "]"), text.dropFirst().first?.isLetter == true,
      let colon = text.lastIndex(of: UInt8(ascii: ":")), text[(colon + 1)...].dropLast().decimal != nil
    else { return nil }
    return colon + 1..<text.endIndex - 1
  }

  /// The number of bytes before the message; nil if the line does not begin so.
  func length(_ line: TextBytes) -> Int? {
    var index = line.startIndex
    let end = line.endIndex
    for part in parts {
      guard index < end else { return nil }
      switch part {
      case .byte(let byte):
        guard line[index] == byte else { return nil }
        index += 1
      case .number:
        guard line[index].isDigit else { return nil }
        while index < end, line[index].isDigit { index += 1 }
      case .blanks:
        guard TextBytes.isBlank(line[index]) else { return nil }
        while index < end, TextBytes.isBlank(line[index]) { index += 1 }
      }
    }
    let limit = min(index + ending, end)
    while index < limit, TextBytes.isBlank(line[index]) { index += 1 }
    return index - line.startIndex
  }
}
