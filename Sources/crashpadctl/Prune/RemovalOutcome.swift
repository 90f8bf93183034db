// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import CrashpadText
import SystemPackage

/// The outcome of a removal: a kind, and the reason why the item was not removed.
struct RemovalOutcome {
  let kind: OutcomeKind
  let reason: String?
  /// The line of text for a path; nil if nothing is wrong.
  let line: @Sendable (FilePath) -> String?

  static let removed = OutcomeKind("removed", "it was removed")
  static let planned = OutcomeKind("would-be-removed", "only in a dry run")
  static let kept = OutcomeKind("kept", "it is pending, and pending reports stay")
  static let busy = OutcomeKind("busy", "another program has its lock", exit: .temporaryFailure)
  static let changed = OutcomeKind("changed", "another program moved or removed it meanwhile")
  static let failed = OutcomeKind("failed", "it could not be removed", exit: .findings)
  static let notTried = OutcomeKind("not-tried", "the run was asked to end before", exit: .temporaryFailure)

  static let kinds = [removed, planned, kept, busy, changed, failed, notTried]

  init(_ removal: Removal, isDryRun: Bool) {
    switch removal {
    case .removed: self.init(isDryRun ? Self.planned : Self.removed, nil) { _, _ in nil }
    case .changed:
      self.init(Self.changed, "another program changed it meanwhile") {
        "\(TextFormat.printable($0)): warning: not removed: \($1)"
      }
    case .busy(let state):
      let since: String
      switch state {
      case .held(since: let time?), .unknown(since: let time): since = " since \(TextFormat.date(time))"
      case .held, .abandoned: since = ""
      }
      self.init(Self.busy, "another program has its lock\(since)") { "\(TextFormat.printable($0)): busy: \($1)" }
    case .failed(let failure):
      self.init(Self.failed, Sentences.failure(failure, creating: false).text) { path, _ in
        Sentences.databaseFailure(failure, path)
      }
    }
  }

  private init(_ kind: OutcomeKind, _ reason: String?, line: @escaping @Sendable (FilePath, String) -> String?) {
    self.kind = kind
    self.reason = reason
    self.line = { path in line(path, reason ?? "") }
  }

  static func counts(of removals: some Sequence<Removal>) -> OutcomeCounts {
    var counts = OutcomeCounts(kinds)
    for removal in removals { counts.add(RemovalOutcome(removal, isDryRun: false).kind) }
    return counts
  }

  static func status(of removals: some Sequence<Removal>) -> ExitStatus { counts(of: removals).status }
}
