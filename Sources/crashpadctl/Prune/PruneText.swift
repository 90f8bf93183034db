import CrashpadDatabase
import CrashpadFiles
import CrashpadSnapshot
import CrashpadText
import SystemPackage

/// The text output of `prune`.
struct PruneText {
  let database: CrashDatabase
  let isDryRun: Bool

  private var verb: String { isDryRun ? "would be removed" : "removed" }

  // MARK: Standard output

  /// A line for each removed item, with the reason.
  func lines(_ results: PruneRun.Results) -> [String] {
    var lines: [String] = []
    for (leftover, removal) in results.leftovers where removal == .removed {
      let path = Wording.printable(database.path(of: leftover))
      lines.append("\(path): \(verb) (\(Wording.size(leftover.size))): \(Self.sentence(leftover))")
    }
    for (dump, removal) in results.surplus where removal == .removed {
      let path = Wording.printable(database.path(of: dump))
      lines.append("\(path): \(verb) (\(Wording.size(dump.size))): \(Self.sentence(dump)), beyond --max-size")
    }
    for (decision, removal) in results.reports where removal == .removed {
      let path = Wording.printable(database.path(of: decision.report))
      let reasons = decision.reasons.map { Self.sentence($0, decision.report) }.joined(separator: "; ")
      lines.append("\(path): \(verb) (\(Wording.size(UInt64(clamping: decision.report.totalSize)))): \(reasons)")
    }
    return lines
  }

  private static func sentence(_ reason: PruneDecision.Reason, _ report: Report) -> String {
    switch reason {
    case .age(let limit): "created \(Wording.date(report.creationTime)), before \(Wording.date(limit))"
    case .size(let kibibytes, let limit):
      "with all newer ones \(grouped(kibibytes)) KiB, more than \(grouped(limit)) KiB"
    case .count(let number, let limit):
      "number \(grouped(number)) of the newest, more than --max-reports \(grouped(limit))"
    }
  }

  private static func sentence(_ leftover: Leftover) -> String {
    let date = Wording.date(leftover.since)
    return switch leftover.kind {
    case .endedSession: "left by a run of crashpadctl that was ended"
    case .newFile: "not finished since \(date)"
    case .abandonedLock: "a lock whose owner is gone"
    case .expiredLock: "a lock that has expired, of \(date)"
    case .reportWithoutMetadata: "a report without metadata, of \(date)"
    case .metadataWithoutReport: "metadata without a report"
    case .attachmentsWithoutReport: "attachments without a report"
    case .settingsLock: "a lock of the settings that has expired, of \(date)"
    case .rejectedDump: "rejected \(date)"
    }
  }

  // MARK: Standard error

  /// A line for each item that could not be removed.
  func errors(_ results: PruneRun.Results) -> [String] {
    let unseen = results.failures.map { Sentences.databaseFailure($0, database.path) }
    let leftovers = (results.leftovers + results.surplus).compactMap {
      line(database.path(of: $0.leftover), $0.removal)
    }
    return unseen + leftovers + results.reports.compactMap { line(database.path(of: $0.decision.report), $0.removal) }
  }

  private func line(_ path: FilePath, _ removal: Removal) -> String? {
    switch removal {
    case .removed: nil
    case .failed(let failure): Sentences.databaseFailure(failure, path)
    case .busy: "\(Wording.printable(path)): busy: \(error(removal) ?? "")"
    case .changed: "\(Wording.printable(path)): warning: not removed: \(error(removal) ?? "")"
    }
  }

  /// Such as "3 reports removed (1.2 MiB), 7 kept (3 MiB), 1 busy; 4 leftovers removed (12 KiB)".
  func summary(_ results: PruneRun.Results) -> String {
    let counts = PruneCounts(results)
    var text = "\(Wording.count(counts.removed, "report")) \(verb) (\(Wording.size(counts.removedBytes)))"
    text += ", \(grouped(counts.kept)) kept (\(Wording.size(counts.keptBytes)))"
    if counts.keptPending > 0 {
      text += "; kept beyond the limits: \(Wording.count(counts.keptPending, "pending report")) (see --pending)"
    }
    if counts.rejected > 0 {
      text += "; \(Wording.count(counts.rejected, "rejected dump")) \(verb) (\(Wording.size(counts.rejectedBytes)))"
    }
    if counts.keptRejected > 0 {
      text +=
        "; \(Wording.count(counts.keptRejected, "rejected dump")) kept (\(Wording.size(counts.keptRejectedBytes)))"
    }
    if results.others.waitingCount > 0 {
      let size = Wording.size(results.others.waitingSize)
      text += "; \(Wording.count(results.others.waitingCount, "waiting dump")) kept (\(size))"
    }
    if counts.cleaned > 0 {
      text += "; \(Wording.count(counts.cleaned, "leftover")) \(verb) (\(Wording.size(counts.cleanedBytes)))"
    }
    if counts.busy > 0 { text += "; \(grouped(counts.busy)) busy" }
    if counts.failed > 0 { text += "; \(grouped(counts.failed)) failed" }
    return text
  }

  // MARK: JSON

  static func name(of reason: PruneDecision.Reason) -> String {
    switch reason {
    case .age: "age"
    case .size: "size"
    case .count: "number"
    }
  }

  func outcome(_ removal: Removal) -> String {
    switch removal {
    case .removed: isDryRun ? "would-be-removed" : "removed"
    case .changed: "changed"
    case .busy: "busy"
    case .failed: "failed"
    }
  }

  /// The reason why an item was not removed.
  func error(_ removal: Removal) -> String? {
    switch removal {
    case .removed: nil
    case .changed: "another program changed it meanwhile"
    case .busy(.held(since: let time?)), .busy(.unknown(since: let time)):
      "another program has its lock since \(Wording.date(time))"
    case .busy: "another program has its lock"
    case .failed(let failure): Sentences.failure(failure, creating: false).text
    }
  }
}

/// The totals of a run.
struct PruneCounts {
  var kept = 0
  var keptBytes: UInt64 = 0
  /// The kept reports that are beyond a limit, but pending.
  var keptPending = 0
  var removed = 0
  var removedBytes: UInt64 = 0
  /// The rejected dumps removed because of the size limit.
  var rejected = 0
  var rejectedBytes: UInt64 = 0
  var keptRejected = 0
  var keptRejectedBytes: UInt64 = 0
  var cleaned = 0
  var cleanedBytes: UInt64 = 0
  var busy = 0
  var failed: Int

  init(_ results: PruneRun.Results) {
    failed = results.failures.count
    var total: UInt64 = 0
    for decision in results.decisions { total &+= UInt64(clamping: decision.report.totalSize) }
    keptPending = results.decisions.count(where: \.isKeptAsPending)
    for (decision, removal) in results.reports where removal == .removed {
      removed += 1
      removedBytes &+= UInt64(clamping: decision.report.totalSize)
    }
    keptRejected = results.others.rejected.count
    for dump in results.others.rejected { keptRejectedBytes &+= dump.size }
    for (dump, removal) in results.surplus where removal == .removed {
      rejected += 1
      rejectedBytes &+= dump.size
    }
    keptRejected -= rejected
    keptRejectedBytes &-= rejectedBytes
    for (leftover, removal) in results.leftovers where removal == .removed {
      cleaned += 1
      cleanedBytes &+= leftover.size
    }
    for removal in results.removals {
      if removal.isBusy { busy += 1 }
      if removal.isFailure { failed += 1 }
    }
    kept = results.decisions.count - removed
    keptBytes = total &- removedBytes
  }
}
