// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadDatabase
internal import DumpInterpretation
internal import CrashpadFiles
internal import IntermediateDump
internal import CrashpadMinidump
internal import CrashpadSnapshot
internal import SystemPackage

/// One run of `DumpProcessor`: dumps go through it in batches, so that a thousand of them do not wait for the disk a thousand
/// times.
struct DumpProcessorRun: Sendable {
  /// The most dumps, and so locks, that a batch has. A larger batch is no faster.
  static let batchSize = 256

  /// The most reports whose files are flushed one by one. More are flushed with the whole file system: that costs
  /// about the same, but for a
  /// few dumps, the files of other programs are not flushed.
  private static let mostSingleSyncs = 32

  private let processing: DumpProcessor
  private let session: DatabaseSession
  private let clientID: UUIDBytes

  init(_ processing: DumpProcessor, _ session: DatabaseSession, clientID: UUIDBytes) {
    self.processing = processing
    self.session = session
    self.clientID = clientID
  }

  /// A dump that this run has claimed. Its lock is held for as long as this lives.
  private final class ClaimedDump: Sendable {
    let dump: PendingDump
    /// Under the name by which it was found.
    let original: PendingDump
    /// Which file it is.
    let file: FileStatus
    let phase: Phase

    enum Phase: Sendable {
      /// There is a report of it.
      case repeated(UUIDBytes, ReportLock)
      case staged(Staged, byteCount: Int, isComplete: Bool)
    }
    let findings: FindingList

    init(
      _ dump: PendingDump, _ original: PendingDump, _ file: FileStatus, _ phase: Phase,
      findings: FindingList = FindingList()
    ) {
      self.dump = dump
      self.original = original
      self.file = file
      self.phase = phase
      self.findings = findings
    }
  }

  /// A report that has to be made to appear. One thread at a time has it.
  private struct Staged: @unchecked Sendable { let report: NewReport }

  private enum StartedDump: Sendable {
    case claimed(ClaimedDump)
    case ended(DumpProcessor.DumpResult)
  }

  func process(_ dumps: [PendingDump]) -> [DumpProcessor.DumpResult] {
    var begun: [StartedDump] = []
    let isLarge = dumps.count > Self.mostSingleSyncs
    parallelMapInOrder(count: dumps.count, jobs: processing.options.jobs, work: { begin(dumps[$0], isLarge) }) {
      _, result in
      begun.append(result)
      return true
    }
    // Staged reports that were not published stay until the journal is gone.
    defer { withExtendedLifetime(begun) {} }
    let hasClaims = begun.contains { if case .claimed = $0 { true } else { false } }
    var failure: FileFailure?
    let staged = begun.compactMap { begun -> NewReport? in
      if case .claimed(let claim) = begun, case .staged(let staged, _, _) = claim.phase { staged.report } else { nil }
    }
    do throws(FileFailure) {
      if isLarge {
        if !staged.isEmpty { try session.syncFileSystem() }
      } else {
        for report in staged { try report.sync() }
      }
    } catch { failure = error }
    var journal: PublicationJournal?
    var failures: [Int: FileFailure] = [:]
    defer { journal?.remove(waiting: failure != nil || !failures.isEmpty) }
    do throws(FileFailure) { if failure == nil { journal = try writeJournal(begun) } } catch { failure = error }
    for (index, begun) in begun.enumerated() {
      guard case .claimed(let claim) = begun, case .staged(let staged, _, _) = claim.phase else { continue }
      do throws(FileFailure) {
        if let failure { throw failure }
        try staged.report.publish()
      } catch { failures[index] = error }
    }
    // The names too, those of earlier runs included, before the dumps go.
    do throws(FileFailure) { if hasClaims { try session.syncPending() } } catch { failure = error }
    let results = begun.enumerated().map { index, begun in
      switch begun {
      case .ended(let report): report
      case .claimed(let claim): end(claim, failures[index] ?? failure)
      }
    }
    // Before the journal goes: a dump that is back after a power failure would become a report that was deleted since.
    // If this fails, the reports stay published.
    if hasClaims { try? session.syncDumps() }
    return results
  }

  /// Nil if nothing is to be published.
  private func writeJournal(_ begun: [StartedDump]) throws(FileFailure) -> PublicationJournal? {
    let entries = begun.compactMap { begun -> PublicationJournal.Entry? in
      guard case .claimed(let claim) = begun, case .staged(let staged, _, _) = claim.phase else { return nil }
      return PublicationJournal.Entry(staged.report, claim.dump, claim.file)
    }
    return entries.isEmpty ? nil : try session.journal(entries)
  }

  // MARK: The beginning: claim, and stage

  private func begin(_ dump: PendingDump, _ isLarge: Bool) -> StartedDump {
    if processing.options.runEnd.isRequested { return .ended(DumpProcessor.DumpResult(dump, .notTried)) }
    do {
      let begun = try claim(unlocked(dump) ?? dump, original: dump)
      if isLarge, case .claimed(let claim) = begun, case .staged(let staged, _, _) = claim.phase {
        staged.report.close()
      }
      return begun
    } catch let busy as DatabaseSession.Busy {
      return .ended(DumpProcessor.DumpResult(dump, .busy(busy.state)))
    } catch {
      return .ended(DumpProcessor.DumpResult(dump, .failed(error)))
    }
  }

  /// The dump without its lock, if the lock has expired; nil if it has no expired lock, or if the name is taken.
  private func unlocked(_ dump: PendingDump) throws -> PendingDump? {
    // One without a byte goes as it is: there was no crash.
    guard processing.isExpired(dump), dump.size > 0 else { return nil }
    do { return try session.database.unlock(dump) } catch {
      if error.errno == .fileExists { return nil }
      throw error
    }
  }

  private func claim(_ dump: PendingDump, original: PendingDump) throws -> StartedDump {
    func ended(_ outcome: DumpProcessor.Outcome, _ findings: FindingList = FindingList()) -> StartedDump {
      .ended(DumpProcessor.DumpResult(original, outcome, findings: findings))
    }
    let decision = try processing.decide(dump) { id, status -> ReportLock? in
      try session.database.checkRemovable(dump, status)
      let lock = try session.lock(id, in: .pending)
      // The lock came late: another run may have done it all before.
      return try session.database.isCurrent(dump, status) ? lock : nil
    }
    switch decision {
    case .gone: return ended(.gone)
    case .empty(let status): return ended(try session.database.remove(dump, status) ? .empty : .gone)
    case .repeated(let id, let crash):
      try crash.input.file.checkReading()
      return .claimed(ClaimedDump(dump, original, crash.file, .repeated(id, crash.lock)))
    case .convert(let id, let crash): return try stage(dump, original, crash.file, crash.input, id, crash.lock)
    }
  }

  private func stage(
    _ dump: PendingDump, _ original: PendingDump, _ file: FileStatus, _ input: DumpInput, _ id: UUIDBytes,
    _ lock: ReportLock
  ) throws -> StartedDump {
    let report = try NewReport(id, lock: lock, in: session)
    guard let output = report.file else { preconditionFailure("a new report is open") }
    let conversion = processing.conversion(reportID: id, clientID: clientID)
    let result = try conversion.convert(input, to: output)
    if result.outcome == .rejected {
      let reason = RejectionReason.text(result.findings, byteCount: input.file.byteCount)
      let name = try session.reject(dump, reason: reason)
      return .ended(
        DumpProcessor.DumpResult(original, name.map { .rejected(keptAs: $0) } ?? .gone, findings: result.findings))
    }
    try report.stage(ReportMetadata(creationTime: processing.options.now))
    return .claimed(
      ClaimedDump(
        dump, original, file,
        .staged(
          Staged(report: report), byteCount: result.byteCount, isComplete: result.outcome == .converted),
        findings: result.findings))
  }

  // MARK: The end: remove the dump

  private func end(_ claim: ClaimedDump, _ failure: FileFailure?) -> DumpProcessor.DumpResult {
    func report(_ outcome: DumpProcessor.Outcome) -> DumpProcessor.DumpResult {
      DumpProcessor.DumpResult(claim.original, outcome, findings: claim.findings)
    }
    if let failure { return report(.failed(failure)) }
    do {
      _ = try session.database.remove(claim.dump, claim.file)
    } catch {
      return report(.failed(error))
    }
    switch claim.phase {
    case .repeated(let id, _): return report(.repeated(id))
    case .staged(let staged, let byteCount, let isComplete):
      return report(.processed(staged.report.id, byteCount: byteCount, isComplete: isComplete))
    }
  }
}

/// Why no report can be made of a dump, for the file beside it.
enum RejectionReason {
  static func text(_ findings: FindingList, byteCount: Int) -> String {
    let lines = findings.filter { $0.severity == .error }.map { finding in
      let place = finding.offset.map { "0x" + String($0, radix: 16) + ": " } ?? ""
      let path = finding.path.isEmpty ? "" : finding.path + ": "
      return "\(place)\(path)\(finding.rule.summary) [\(finding.rule.code)]"
    }
    return (["\(byteCount) bytes"] + lines).joined(separator: "\n")
  }
}

extension DumpProcessor {
  /// Converts the pending dumps to reports, and calls `onEvent` for each dump in order. Throws `FileFailure` if the
  /// database itself can't be used.
  public func run(_ onEvent: (Event) -> Void) throws(FileFailure) {
    let dumps = try plan(onEvent)
    onEvent(.begins(count: dumps.count))
    if dumps.isEmpty, try !database.hasDeadSessions() { return }
    let session = try DatabaseSession(database, now: options.lockTime)
    defer { session.close() }
    if dumps.isEmpty { return }
    let change = try session.changeSettings(newClientID: options.newClientID)
    onEvent(.settings(change))
    let run = DumpProcessorRun(self, session, clientID: change.settings.clientID)
    var start = 0
    var busy: [DumpResult] = []
    while start < dumps.count {
      if options.runEnd.isRequested { break }
      let batch = Array(dumps[start..<min(start + DumpProcessorRun.batchSize, dumps.count)])
      for result in run.process(batch) {
        if case .busy = result.outcome { busy.append(result) } else { onEvent(.result(result)) }
      }
      start += batch.count
    }
    for dump in dumps[start...] { onEvent(.result(DumpResult(dump, .notTried))) }
    // Meanwhile the others may be done with theirs; and of several dumps with one id, each round is one's turn.
    while !busy.isEmpty, !options.runEnd.isRequested {
      let waiting = busy
      busy = []
      for start in stride(from: 0, to: waiting.count, by: DumpProcessorRun.batchSize) {
        let batch = waiting[start..<min(start + DumpProcessorRun.batchSize, waiting.count)].map(\.dump)
        for result in run.process(batch) {
          if case .busy = result.outcome { busy.append(result) } else { onEvent(.result(result)) }
        }
      }
      guard busy.count < waiting.count else { break }
    }
    for result in busy { onEvent(.result(result)) }
  }
}
