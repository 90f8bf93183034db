// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes

/// A kind of outcome, in a run that handles many items: a row of the table of its command.
///
/// JSON, metrics, the summary and the exit status follow from it.
struct OutcomeKind: Sendable {
  /// Its word in JSON.
  let word: String
  /// The name of its number in JSON and metrics; nil if it is not counted.
  let counter: String?
  /// The exit status of a run in which it occurs.
  let status: ExitStatus
  /// Its explanation in crashpadctl-json(5), which follows the word.
  let meaning: String
  /// Its part of the summary after a number; nil if it has none.
  let phrase: (@Sendable (Int) -> String)?

  init(
    _ word: String, countedAs counter: String?, _ meaning: String, exit status: ExitStatus = .success,
    phrase: (@Sendable (Int) -> String)? = nil
  ) {
    self.word = word
    self.counter = counter
    self.status = status
    self.meaning = meaning
    self.phrase = phrase
  }

  /// - Parameter word: the word, which is also the name of the number, with underscores.
  init(
    _ word: String, _ meaning: String, exit status: ExitStatus = .success,
    phrase: (@Sendable (Int) -> String)? = nil
  ) {
    let counter = String(word.map { $0 == "-" ? "_" : $0 })
    self.init(word, countedAs: counter, meaning, exit: status, phrase: phrase)
  }

  /// A text for crashpadctl-json(5) with each word and its explanation.
  static func explanation(of kinds: [OutcomeKind]) -> String {
    kinds.map { "`\($0.word)`: \($0.meaning)." }.joined(separator: "\n")
  }
}

extension Member {
  /// The word of an outcome.
  static func outcome(
    _ kinds: [OutcomeKind], _ meaning: String, _ presence: MemberPresence = .always,
    _ value: @escaping @Sendable (Value) -> OutcomeKind
  ) -> Member {
    let meaning = "\(meaning)\n\(OutcomeKind.explanation(of: kinds))"
    return word("outcome", of: kinds.map(\.word), meaning, presence) { value($0).word }
  }
}

/// The number of items for each kind of outcome.
struct OutcomeCounts: Sendable {
  /// The kinds in the order of JSON.
  let kinds: [OutcomeKind]
  private var counts: [String: Int] = [:]

  init(_ kinds: [OutcomeKind]) { self.kinds = kinds }

  mutating func add(_ kind: OutcomeKind) {
    if let counter = kind.counter { counts[counter, default: 0] += 1 }
  }

  subscript(kind: OutcomeKind) -> Int { kind.counter.flatMap { counts[$0] } ?? 0 }

  /// The kinds that have a number of their own.
  private static func counted(_ kinds: [OutcomeKind]) -> [OutcomeKind] {
    var seen: Set<String> = []
    return kinds.filter { kind in kind.counter.map { seen.insert($0).inserted } ?? false }
  }

  /// The numbers with their names in JSON and metrics.
  var byCounter: [(name: String, count: Int)] {
    Self.counted(kinds).compactMap { kind in kind.counter.map { ($0, self[kind]) } }
  }

  /// The exit status: 1 if there was a failure, 75 if all failures may pass with a retry.
  var status: ExitStatus {
    let statuses = Self.counted(kinds).filter { self[$0] > 0 }.map(\.status)
    return statuses.contains(.findings)
      ? .findings : statuses.contains(.temporaryFailure) ? .temporaryFailure : .success
  }

  /// Parts of a summary in the order of `kinds`, such as "12 processed".
  func phrases(_ kinds: [OutcomeKind]) -> [String] {
    kinds.compactMap { kind in
      let count = self[kind]
      return count > 0 ? kind.phrase.map { $0(count) } : nil
    }
  }

  /// The object `counts` of JSON.
  static func record(_ kinds: [OutcomeKind], of items: String) -> Record<OutcomeCounts> {
    Record(
      counted(kinds).map { kind in
        .number(kind.counter ?? "", "The number of \(items) with the outcome `\(kind.word)`.", .always) { $0[kind] }
      })
  }
}
