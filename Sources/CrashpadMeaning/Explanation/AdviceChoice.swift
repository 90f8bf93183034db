// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Leaves advice out that this report can't fulfil, and advice that was given in other words.
struct AdviceChoice {
  /// The things that a step tells to read, by the words that it uses for them.
  enum Topic: CaseIterable {
    case lastException
    case message
    case termination
    case syndrome
    case trap
    case fieldOffset
    case region
    case nearNull

    var words: [String] {
      switch self {
      case .lastException: ["last exception backtrace"]
      case .message:
        [
          "application specific information", "he message names", "Read the message", "error in the message",
          "Read the text behind", "The message has", "The text names",
        ]
      case .termination: ["the termination's text names"]
      case .syndrome: ["esr"]
      case .trap: ["brk NUMBER", "explain brk"]
      case .fieldOffset: ["The address is the offset of the field"]
      case .region: ["the VM region"]
      case .nearNull: ["near 0 it is nil plus an offset"]
      }
    }
  }

  private let crash: CrashEvidence

  init(_ crash: CrashEvidence) { self.crash = crash }

  /// The steps that the report can fulfil, one for each topic.
  func choice(of advice: [String]) -> [String] {
    // An array: the first set of a type takes longer than the search among five.
    var seen: [Topic] = []
    return advice.filter { text in
      let topics = Topic.allCases.filter { topic in topic.words.contains { text.containsBytes($0) } }
      guard topics.allSatisfy({ canFulfil($0, text) }) else { return false }
      // Another text on a topic is the same step.
      guard !topics.isEmpty else { return true }
      guard let new = topics.first(where: { !seen.contains($0) }) else { return false }
      seen.append(new)
      return true
    }
  }

  /// Whether a message has more than the name of an exception, or that abort() was called.
  private static func saysMore(_ text: String, _ advice: String) -> Bool {
    // Some versions of the system leave the places of names in the message.
    if advice.containsBytes("he message names"), text.containsBytes("[%s %s]") { return false }
    let message = RuntimeMessage(text)
    return message.exception == nil ? text != "abort() called" : message.reason?.isEmpty == false
  }

  private func canFulfil(_ topic: Topic, _ text: String) -> Bool {
    switch topic {
    case .lastException: !crash.lastException.isEmpty
    // The log outside of the report may have it.
    case .message: text.containsBytes("program's log") || crash.messages.contains { Self.saysMore($0, text) }
    case .termination:
      crash.report?.termination.map { !($0.reasons + $0.details).allSatisfy(\.isEmpty) }
        ?? !crash.terminationText.isEmpty
    case .syndrome: crash.report?.syndrome != nil
    // The evidence has it already.
    case .trap: false
    case .fieldOffset: (crash.exception?.address ?? 0) != 0
    case .region: crash.report?.vmRegionInfo != nil
    // The evidence has what the address says.
    case .nearNull: crash.exception.map { !$0.hasRecordedAddress } ?? true
    }
  }
}
