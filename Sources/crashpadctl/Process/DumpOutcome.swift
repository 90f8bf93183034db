// SPDX-License-Identifier: Apache-2.0
import CrashpadCore
import CrashpadDatabase
import CrashpadFiles
import CrashpadSnapshot
import CrashpadText

/// The outcome for a dump in a run of `process`: a kind, a sentence, and the members in JSON.
struct DumpOutcome {
  let kind: OutcomeKind
  /// The sentence, in which the name of the dump precedes; empty for none.
  let text: String
  /// Whether the sentence is also printed without `--verbose`.
  var isProblem = false
  var report: UUIDBytes?
  var reportBytes: Int?
  var isComplete: Bool?
  var keptAs: FileName?
  var reason: String?
  var error: String?

  static let processed = OutcomeKind("processed", "its report is `report`") { "\(grouped($0)) processed" }
  static let repeated = OutcomeKind("repeated", "its report, `report`, existed already") {
    "\(grouped($0)) had a report already"
  }
  static let rejected = OutcomeKind(
    "rejected", "no report can be made of it, and its name is now `kept_as`", exit: .findings
  ) { "\(grouped($0)) rejected" }
  static let empty = OutcomeKind("empty", "it was empty: nothing of a crash was written into it") {
    "\(grouped($0)) empty"
  }
  static let busy = OutcomeKind("busy", "another program works on it", exit: .temporaryFailure) {
    "\(grouped($0)) busy"
  }
  static let failed = OutcomeKind("failed", "it could not be processed", exit: .findings) { "\(grouped($0)) failed" }
  static let notTried = OutcomeKind("not-tried", "the run was asked to end before", exit: .temporaryFailure) {
    "\(grouped($0)) not tried"
  }
  static let gone = OutcomeKind("gone", countedAs: nil, "another run was faster")

  static let kinds = [processed, repeated, rejected, empty, busy, failed, notTried, gone]

  /// Counted in addition to `processed`.
  static let incomplete = OutcomeKind("incomplete", "it is truncated", exit: .findings)

  init(_ outcome: DumpProcessor.Outcome, _ database: CrashDatabase, isDryRun: Bool, now: Int64) {
    func row(_ kind: OutcomeKind, _ text: String, isProblem: Bool = false) -> DumpOutcome {
      DumpOutcome(kind: kind, text: text, isProblem: isProblem)
    }
    let removed = isDryRun ? "would be removed" : "removed"
    switch outcome {
    case .processed(let id, let byteCount, let isComplete):
      let became = "\(isDryRun ? "would become" : "became") report \(id.text)"
      self = row(Self.processed, "\(became) (\(grouped(byteCount)) bytes\(isComplete ? "" : ", incomplete"))")
      report = id
      reportBytes = byteCount
      self.isComplete = isComplete
    case .repeated(let id):
      self = row(Self.repeated, "\(removed): report \(id.text) was made of it before")
      report = id
    case .rejected(let name):
      let path = TextFormat.printable(database.path.appending(DatabaseLayout.rejected).appending(name))
      let text = isDryRun ? "would be rejected; no report can be made of it" : "rejected; kept as \(path)"
      self = row(Self.rejected, "error: \(text)", isProblem: true)
      keptAs = name
    case .empty:
      self = row(Self.empty, "\(removed): empty, as nothing of a crash was written into it")
    case .busy(let state):
      let holder = LockText.holder(state, now: now)
      self = row(Self.busy, "busy: \(holder)", isProblem: true)
      reason = holder
    case .failed(let error):
      let path = (error as? FileFailure).map { " (\(TextFormat.printable($0.path)))" } ?? ""
      let text = Sentences.failure(error, creating: true).text
      self = row(Self.failed, "error: not processed: \(text)\(path)", isProblem: true)
      self.error = text
    case .notTried: self = row(Self.notTried, "not tried: the run was asked to end")
    case .gone: self = row(Self.gone, "gone: another run was faster")
    }
  }

  private init(kind: OutcomeKind, text: String, isProblem: Bool) {
    self.kind = kind
    self.text = text
    self.isProblem = isProblem
  }
}
