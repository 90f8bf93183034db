// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadDatabase
import CrashpadFiles
import CrashpadSnapshot

/// One run of `database check`: repairs the database if that is asked for, and then checks it.
struct DatabaseCheckRun {
  let database: CrashDatabase
  /// The time in seconds since 1970.
  let now: Int64
  let repairs: Bool
  let isDryRun: Bool
  /// Whether warnings count as errors.
  let isStrict: Bool
  /// The codes of rules that are left out.
  let ignored: Set<String>
  var runEnd = RunEnd()

  struct Outcome {
    let check: DatabaseCheck.Summary
    let isStrict: Bool
    let repaired: Int
    let busy: Int
    let notRepaired: Int
    /// Whether the repair was asked to end before all was repaired.
    let hasEnded: Bool
    /// The failure of the whole repair.
    let failure: FileFailure?

    func count(_ severity: Severity) -> Int { check.findings.count(of: severity) }

    var status: ExitStatus { EndSignals.status(statusOfFindings, isPartial: hasEnded) }

    private var statusOfFindings: ExitStatus {
      if let failure { return Sentences.failure(failure, creating: true).status }
      if notRepaired > 0 || count(.error) > 0 || (isStrict && count(.warning) > 0) { return .findings }
      return busy > 0 ? .temporaryFailure : .success
    }
  }

  /// - Parameter report: called with each repair, and each fault that can't be repaired.
  func run(_ report: (DatabaseRepair.Event) -> Void) -> Outcome {
    var counts = (repaired: 0, busy: 0, notRepaired: 0)
    var hasEnded = false
    var failure: FileFailure?
    if repairs {
      var repair = DatabaseRepair(database, now: now, newClientID: .random(), ignoring: ignored)
      repair.runEnd = runEnd
      do throws(FileFailure) {
        try repair.run(isDryRun: isDryRun) { event in
          switch event {
          case .done: counts.repaired += 1
          case .notDone(_, .busy): counts.busy += 1
          case .notDone(_, .ended): hasEnded = true
          case .notDone(_, .file): counts.notRepaired += 1
          }
          report(event)
        }
      } catch { failure = error }
    }
    return Outcome(
      check: DatabaseCheck(database, now: now, ignoring: ignored).run(), isStrict: isStrict,
      repaired: counts.repaired, busy: counts.busy, notRepaired: counts.notRepaired, hasEnded: hasEnded,
      failure: failure)
  }
}
