// SPDX-License-Identifier: Apache-2.0
import CrashpadCore
import CrashpadDatabase
import CrashpadFiles
import CrashpadSnapshot
import SystemPackage

/// One run of `process`: converts the pending dumps of a database, or forecasts it, and counts the outcomes.
final class ProcessRun {
  let database: CrashDatabase
  let isDryRun: Bool
  /// The time in seconds since 1970.
  let now: Int64
  private let processing: DumpProcessor
  private(set) var counts = ProcessCounts()
  /// The reason why the database could not be used.
  private(set) var failure: FileFailure?
  private var made: [UUIDBytes] = []

  init(_ database: CrashDatabase, _ options: DumpProcessor.Options, isDryRun: Bool) {
    self.database = database
    self.isDryRun = isDryRun
    now = options.now
    processing = DumpProcessor(database, options: options)
  }

  /// Processes the dumps, and passes each event to `report` when it is counted.
  func run(_ report: (DumpProcessor.Event) -> Void) {
    func count(_ event: DumpProcessor.Event) {
      switch event {
      case .result(let result):
        counts.add(outcome(of: result))
        if case .processed(let id, _, _) = result.outcome, !isDryRun { made.append(id) }
      case .unreadable: counts.outcomes.add(DumpOutcome.failed)
      case .begins, .settings, .lock, .foreign: break
      }
      report(event)
    }
    do throws(FileFailure) {
      if isDryRun { try processing.forecast(count) } else { try processing.run(count) }
    } catch {
      failure = error
    }
    counts.isSuccess = failure == nil
    counts.waiting = hint { try database.pendingDumps() }?.dumps.count
  }

  func outcome(of result: DumpProcessor.DumpResult) -> DumpOutcome {
    DumpOutcome(result.outcome, database, isDryRun: isDryRun, now: now)
  }

  /// The exit status of a run that has ended.
  var status: ExitStatus {
    EndSignals.status(
      failure.map { Sentences.failure($0, creating: true).status } ?? counts.outcomes.status,
      isPartial: counts.outcomes[DumpOutcome.notTried] > 0)
  }

  /// The paths of the reports that were created.
  var reports: [String] {
    made.compactMap { id in
      hint { try database.report(id) }.map { ArgumentText.text(database.path(of: $0).bytes) }
    }
  }
}
