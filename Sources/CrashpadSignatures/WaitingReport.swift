// SPDX-License-Identifier: Apache-2.0
/// A report that may be of a crash that is counted elsewhere. All collections that have it share its facts, which take a quarter
/// of a kilobyte: there may be millions.
package final class WaitingReport: Sendable {
  let facts: CrashFacts
  /// Kept, as a collection that grows needs it again and again.
  private let hash: Int

  init(_ facts: CrashFacts) {
    self.facts = facts
    hash = facts.hashValue
  }
}

extension WaitingReport: Hashable {
  package static func == (one: WaitingReport, other: WaitingReport) -> Bool {
    one === other || one.hash == other.hash && one.facts == other.facts
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

/// The parts that the forms of one crash share: its id and the program that wrote them.
///
/// The id is compared by its bytes, as an index does: other bytes may be the same text.
struct ReportForm: Hashable {
  private let report: String
  private let role: CrashAccount.Role?

  /// Nil for a report without an id.
  init?(_ facts: CrashFacts) {
    guard let report = facts.report else { return nil }
    self.report = report
    role = facts.role
  }

  static func == (one: ReportForm, other: ReportForm) -> Bool {
    one.role == other.role && one.report.utf8.elementsEqual(other.report.utf8)
  }

  func hash(into hasher: inout Hasher) {
    for byte in report.utf8 { hasher.combine(byte) }
    hasher.combine(role)
  }
}
