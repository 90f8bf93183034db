// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadCore
import CrashpadDatabase
import CrashpadFiles
import CrashpadSnapshot

/// The result of `process` as JSON, which is written while the run goes on.
final class ProcessDocument {
  private let run: ProcessRun
  private let printer: ProcessPrinter
  private let upload: UploadDocument?
  private var locks: [LockRecord] = []
  private var settings: DatabaseSession.SettingsChange?

  /// - Parameter upload: the uploads that follow; nil for none.
  init(_ run: ProcessRun, _ printer: ProcessPrinter, upload: UploadDocument?) {
    self.run = run
    self.printer = printer
    self.upload = upload
  }

  static let document = Document<ProcessDocument>(
    "crashpadctl-process/1", "Output of `crashpadctl process --format json`.",
    .path("database", "The database.", .always) { $0.run.database.path },
    .time("now", "The time that the run used.") { $0.run.now },
    .flag("dry_run", "Whether the run only reported what it would do.") { $0.run.isDryRun },
    .stream("dumps", dump, "The dumps that were processed, in the order of the run.") { $0.process($1) },
    .list("locks", LockRecord.record, "The locked dumps, as in `crashpadctl-unlock/1`, without `unlocked` and `error`.")
    { $0.locks },
    .uuid("client_id", "The installation's id; null if nothing had to be processed.") {
      $0.settings?.settings.clientID
    },
    .object(
      "counts", OutcomeCounts.record(DumpOutcome.kinds, of: "dumps").adding(incomplete),
      "The number of dumps with each outcome.", .always
    ) { $0.run.counts.outcomes },
    .object(
      "upload", UploadDocument.record, "Only with `--upload`: the uploads that followed, as in `crashpadctl-upload/1`.",
      .omittable
    ) { $0.run.failure == nil ? $0.upload : nil })

  private static let incomplete: Member<OutcomeCounts> = .number(
    "incomplete", "The number of processed dumps that are truncated.", .always
  ) { $0[DumpOutcome.incomplete] }

  private static let dump = Record<(result: DumpProcessor.DumpResult, outcome: DumpOutcome)>(
    .fileName("name", "Its name in `pending-serialized-ios-dump/`.", .always) { $0.result.dump.name.bytes },
    .number("bytes", "Its size.", .always) { $0.result.dump.size },
    .outcome(DumpOutcome.kinds, "The outcome.") { $0.outcome.kind },
    .uuid("report", "The id of its report.", .omittable) { $0.outcome.report },
    .number("report_bytes", "The size of the new report.", .omittable) { $0.outcome.reportBytes },
    .flag("complete", "False if the dump is truncated.", .omittable) { $0.outcome.isComplete },
    .fileName("kept_as", "Its name in `rejected/`.", .omittable) { $0.outcome.keptAs?.bytes },
    .text("reason", "The reason why it is busy.", .omittable) { $0.outcome.reason },
    .text("error", "The reason why it failed.", .omittable) { $0.outcome.error },
    .members(ifAny: FindingRecord.list) { $0.result.findings.isEmpty ? nil : $0.result.findings })

  private func process(_ write: ((result: DumpProcessor.DumpResult, outcome: DumpOutcome)) -> Void) {
    run.run { event in
      switch event {
      case .result(let result): write((result, run.outcome(of: result)))
      case .lock(let lock): locks.append(LockRecord(dump: lock.dump, decision: lock.decision, now: run.now))
      case .settings(let change): settings = change
      case .begins, .foreign, .unreadable: break
      }
      printer.printMessage(event)
    }
  }
}
