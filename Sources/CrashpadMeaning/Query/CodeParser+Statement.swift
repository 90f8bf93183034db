// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// A line of a log that says how a process ended.
package struct EndStatement: Sendable {
  package let answer: CodeAnswer
  /// The number of the line, from 1 on.
  package let line: Int
  /// Whether it names one mistake, and not only the signal or the class of mistakes.
  private let isCause: Bool

  /// The lines that are searched, and the bytes of each.
  private static let lines = 4000
  private static let length = 2000

  private static let valgrindEnd = "Process terminating with default action of signal "

  /// The line of a text that says most about the end of a process: the first that names a mistake, or else the first with a
  /// signal, an exception or an exit status of one. Nil if no line does.
  package init?(in text: [UInt8]) {
    var best: EndStatement?
    for (index, line) in text.split(separator: 0x0a, omittingEmptySubsequences: false).prefix(Self.lines).enumerated() {
      let content = line.drop { [0x20, 0x09, 0x3e, 0x60].contains($0) }
      // Rows of tables in Markdown are of documents about crashes.
      guard (6...Self.length).contains(content.count), content.first != 0x7c else { continue }
      var words = String(decoding: content, as: UTF8.self)
      while let last = words.last, last.isWhitespace || last == "`" { words.removeLast() }
      guard let found = CodeParser([words]).statement() else { continue }
      let statement = EndStatement(found.answer, line: index + 1, isCause: found.isCause)
      // Valgrind goes on after most of what it finds: the line about the end says more than those before it.
      let isValgrind = content.starts(with: [0x3d, 0x3d]) && !words.containsBytes("ERROR: ")
      if isValgrind, words.containsBytes(Self.valgrindEnd) || best?.isCause != true { best = statement }
      if statement.isCause, !isValgrind, best?.isCause != true {
        self = statement
        return
      }
      best = best ?? statement
    }
    guard let best else { return nil }
    self = best
  }

  private init(_ answer: CodeAnswer, line: Int, isCause: Bool) {
    self.answer = answer
    self.line = line
    self.isCause = isCause
  }
}

extension CodeParser {
  /// The answer to a line that says how a process ended; nil for another line, whatever names of codes are in it.
  fileprivate func statement() -> (answer: CodeAnswer, isCause: Bool)? {
    if let answer = unitStatus() ?? batchStatus() ?? kernelFault() ?? kernelLine() { return (answer, true) }
    // The words of a debugger for what a sanitizer found are those of other messages.
    if let row = EvidenceSearch.all.message(text), row.grounds.level < .general, isWritten(by: row.grounds),
      !text.containsBytes("stop reason = ")
    {
      return (CodeAnswer(text, [CodeReading(row)]), row.grounds.level == .cause)
    }
    if let answer = shellLine() ?? (isTold ? nil : phrase()) { return (answer, false) }
    let line = text.lowercased()
    guard Self.endWords.contains(where: { line.containsBytes($0) }) else { return nil }
    var parser = self
    return parser.end().map { ($0, false) }
  }

  /// Whether a line has the words of a runtime itself, and not only such as its messages have too: "assertion failed".
  private func isWritten(by grounds: Grounds) -> Bool {
    switch grounds.runtime {
    case .objectiveC, .cxx: RuntimeMessage(text).runtime == grounds.runtime
    case .swift: grounds.level == .cause || RuntimeMessage(text).runtime == .swift
    default: true
    }
  }

  /// Words that stand beside the name of a signal or of an exception where it is said to have come.
  private static let endWords = [
    "signal", "exit", "exception", "stop reason", "(code=", " code=", "pc=", "received", "terminated", "aborted",
    "got a sig", ": *** [", "npm err! errno ", "npm error errno ",
  ]

  /// The answer to the first exception, signal or exit status of one in a line. Other names are not looked up, as a log has many
  /// lines.
  private mutating func end() -> CodeAnswer? {
    while position < tokens.count {
      let start = position
      let token = tokens[position]
      let answer: CodeAnswer? =
        if token.upper.hasPrefix("EXC_") {
          exception(token)
        } else if token.upper == "SIGNAL" {
          // "signal quit" may be words of a sentence.
          self.token(at: 1).map { $0.number != nil || $0.upper == "CODE" } == true ? keyword(token) : nil
        } else if token.upper.hasPrefix("SIG") {
          signal(token)
        } else {
          exitStatus()
        }
      if let answer, answer.isKnown { return answer }
      if position == start { position += 1 }
    }
    return nil
  }
}
