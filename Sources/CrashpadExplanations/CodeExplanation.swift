// SPDX-License-Identifier: Apache-2.0
internal import CrashpadMeaning

/// One meaning of a code: an exception, a signal, a termination reason, or a message.
public struct CodeExplanation: Sendable, Hashable {
  /// A decoded part of a number.
  public struct Fact: Sendable, Hashable {
    /// The name of the part.
    public let label: String
    /// Its value in words.
    public let text: String
  }

  /// Such as "EXC_GUARD / MACH_PORT INVALID_NAME".
  public let title: String
  /// The text that has only this meaning, such as "signal 11".
  public let query: String
  /// The decoded parts of the number.
  public let facts: [Fact]
  /// The event, as a sentence.
  public let meaning: String
  /// States who ends the process; empty if that is not known.
  public let endedBy: String
  /// Usual causes.
  public let causes: [String]
  /// The next steps.
  public let advice: [String]
  /// Common misconceptions.
  public let misconceptions: [String]
  /// The sources, such as pages of documentation.
  public let sources: [String]

  init(_ reading: CodeReading) {
    title = reading.title
    query = reading.query
    facts = reading.facts.map { Fact(label: $0.label, text: $0.text) }
    meaning = reading.event
    endedBy = reading.endedBy
    causes = reading.causes
    advice = reading.advice
    misconceptions = reading.myths
    sources = reading.sources
  }

  /// The meanings of the codes in a text: a name or number, such as "0x8badf00d", or a line copied from a report. A
  /// number without its field may have several; an unknown code has none.
  public static func meanings(of text: String) -> [CodeExplanation] {
    CodeAnswer.answers(to: [text]).flatMap(\.readings).map { CodeExplanation($0) }
  }
}
