// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// The statement of a message or a function of a runtime about the end of a process, and its place.
package struct Verdict: Sendable, Hashable {
  /// The place of the evidence.
  package enum Place: Sendable, Hashable {
    /// A message.
    case message
    /// A frame of the last exception's stack.
    case lastException(frame: Int)
    /// A frame of the crashed thread.
    case thread(frame: Int)
  }

  package let row: CodeMeaning
  package let place: Place
  /// The line of the message that has the words of the row; nil for a function.
  package let line: String?

  fileprivate let rank: Rank
}

/// Which of two statements counts. No part of it depends on the order of a table, so that a new row can't hide another.
private struct Rank: Sendable, Hashable, Comparable {
  /// One mistake says more than a class of them.
  var level: Grounds.Level
  /// A message was written for this end; a function may stand on the stack of another.
  var isFunction = false
  /// The last exception was raised before the stack that aborts.
  var stack = 0
  /// An exception's own name says more than a word in its text.
  var isText = true
  /// The nearest to the fault: the frame, or the line.
  var distance: Int
  /// A longer text says more.
  var length: Int
  /// Two rows that are still equal must not depend on their order.
  var name: String

  static func < (left: Self, right: Self) -> Bool {
    if left.level != right.level { return left.level < right.level }
    if left.isFunction != right.isFunction { return !left.isFunction }
    if left.stack != right.stack { return left.stack < right.stack }
    if left.isText != right.isText { return !left.isText }
    // In one message the longer text says more; on a stack the nearer frame does.
    if left.distance != right.distance { return left.distance < right.distance }
    if left.length != right.length { return left.length > right.length }
    return left.name < right.name
  }
}

/// Searches messages and stacks for what they say about the end of a process.
package struct EvidenceSearch: Sendable {
  private let messages: [CodeMeaning]
  private let functions: [CodeMeaning]
  /// The texts of all messages' rows.
  private let texts: [Text]

  /// A text of a row, with its first bytes, by which most texts are known not to be in a message.
  private struct Text: Sendable {
    let row: Int32
    let number: Int32
    let start: TextStarts.Start
  }

  /// All rows of the table.
  package static let all = EvidenceSearch(messages: CodeMeaning.messages, functions: CodeMeaning.functions)

  package init(messages: [CodeMeaning], functions: [CodeMeaning]) {
    self.messages = messages
    self.functions = functions
    var texts: [Text] = []
    texts.reserveCapacity(messages.count * 2)
    for row in messages.indices {
      for (number, alias) in messages[row].aliases.enumerated() {
        texts.append(Text(row: Int32(row), number: Int32(number), start: TextStarts.Start(alias)))
      }
    }
    self.texts = texts
  }

  /// The statement that says most of a crash; nil if nothing on its stacks or in its messages is known.
  ///
  /// - Parameter isFault: whether a fault ended the process, and not the process itself. Few statements explain faults.
  package func verdict(_ crash: CrashEvidence, isFault: Bool = false) -> Verdict? {
    var best: Verdict?
    func take(_ verdict: Verdict?) {
      if let verdict, !isFault || verdict.row.grounds.explainsFaults, best.map({ verdict.rank < $0.rank }) ?? true {
        best = verdict
      }
    }
    for (index, text) in crash.messages.prefix(Self.messageCount).enumerated() {
      take(verdict(ofMessage: text, at: .message, distance: index))
    }
    if isFault { return best }
    let system = crash.system.operatingSystem
    take(verdict(of: crash.lastException, isRaised: true, on: system))
    take(verdict(of: crash.crashedThread?.frames ?? [], isRaised: false, on: system))
    return best
  }

  // MARK: Messages

  /// The number of messages, and of characters of each, that are compared.
  private static let messageCount = 200
  private static let messageLength = 2000

  /// Returns the row for the text of a message.
  package func message(_ text: String) -> CodeMeaning? {
    verdict(ofMessage: text, at: .message, distance: 0)?.row
  }

  private func verdict(ofMessage text: String, at place: Verdict.Place, distance: Int) -> Verdict? {
    // The text of the message comes first; a program may log megabytes after it.
    let text = String(text.prefix(Self.messageLength))
    let message = RuntimeMessage(text)
    let whole = message.usualWords + text.lowercased()
    let name = message.exception?.lowercased()
    // Words before the reason are the runtime's, and the same for all exceptions.
    let reason = message.reason.flatMap { $0.isEmpty || name == nil ? nil : $0.lowercased() }
    var starts = TextStarts(whole)
    if let name { starts.add(name) }
    if let reason { starts.add(reason) }
    var best: (row: Int, rank: Rank)?
    // By number: a row has so much text that copying each of them takes as long as the search.
    for candidate in texts where starts.mayHave(candidate.start) {
      let row = Int(candidate.row)
      let grounds = messages[row].grounds
      if let writer = message.runtime, let own = grounds.runtime, own != writer { continue }
      let alias = messages[row].aliases[Int(candidate.number)]
      let isName = alias == name
      guard isName || (grounds.level < .kind ? reason ?? whole : whole).containsBytes(alias) else { continue }
      let rank = Rank(
        level: grounds.level, isText: !isName, distance: distance, length: alias.utf8.count, name: messages[row].name)
      if best.map({ rank < $0.rank }) ?? true { best = (row, rank) }
    }
    return best.map {
      Verdict(row: messages[$0.row], place: place, line: line(of: text, for: messages[$0.row]), rank: $0.rank)
    }
  }

  /// The first line that has a text of the row, or else the first.
  private func line(of text: String, for row: CodeMeaning) -> String {
    let lines = text.split(whereSeparator: \.isNewline)
    let found = lines.first { line in
      let line = line.lowercased()
      return row.aliases.contains { line.containsBytes($0) }
    }
    return String(found ?? lines.first ?? "")
  }

  // MARK: Functions

  /// Returns the row for one function, whatever stands around it: of rows that fit equally, the one that claims least.
  package func function(_ name: String) -> CodeMeaning? {
    functions.compactMap { row in length(of: name, in: row).map { (row, $0) } }
      .min { (-$0.1, -$0.0.grounds.level.rawValue, $0.0.name) < (-$1.1, -$1.0.grounds.level.rawValue, $1.0.name) }?.0
  }

  private func verdict(of frames: [CrashEvidence.Frame], isRaised: Bool, on system: OperatingSystem) -> Verdict? {
    guard !frames.isEmpty else { return nil }
    let chain = RaiseChain(frames, on: system)
    var best: Verdict?
    for (index, name) in chain.names.enumerated() where !name.isEmpty {
      let place: Verdict.Place = isRaised ? .lastException(frame: index) : .thread(frame: index)
      // An inlined check has its message for a name.
      let isMessage = CrashEvidence.Frame.isInlinedCheck(name)
      var verdict = isMessage ? self.verdict(ofMessage: name, at: place, distance: index) : nil
      for row in functions {
        guard let length = length(of: name, in: row), chain.meets(row.grounds.need, at: index, isRaised: isRaised)
        else {
          continue
        }
        let rank = Rank(
          level: row.grounds.level, isFunction: true, stack: isRaised ? 0 : 1, distance: index, length: length,
          name: row.name)
        if verdict.map({ rank < $0.rank }) ?? true { verdict = Verdict(row: row, place: place, line: nil, rank: rank) }
      }
      if let verdict, best.map({ verdict.rank < $0.rank }) ?? true { best = verdict }
    }
    return best
  }

  /// The length of the longest of the row's names in a function's; nil if none is in it.
  private func length(of function: String, in row: CodeMeaning) -> Int? {
    var longest: Int?
    if function.containsWord(row.name) { longest = row.name.utf8.count }
    for alias in row.aliases where alias.utf8.count > longest ?? 0 && function.containsWord(alias) {
      longest = alias.utf8.count
    }
    return longest
  }
}
