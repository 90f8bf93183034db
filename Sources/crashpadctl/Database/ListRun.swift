// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import CrashpadFiles
import CrashpadSnapshot

/// The reports that `database list` prints.
struct ReportSelection {
  /// All reports of the states.
  fileprivate(set) var reports: [Report] = []
  /// The indices of the chosen reports, in their order.
  fileprivate(set) var order: ArraySlice<Int> = []
  fileprivate var lockedIDs: [ReportState: Set<UUIDBytes>] = [:]
  fileprivate(set) var failures: [FileFailure] = []

  var chosen: some Sequence<Report> { order.lazy.map { reports[$0] } }

  func lock(of report: Report, in database: CrashDatabase) -> LockState? {
    guard lockedIDs[report.state]?.contains(report.id) == true else { return nil }
    return (try? database.lockState(report.id, in: report.state)) ?? nil
  }
}

/// One run of `database list`: reads, chooses and sorts reports.
struct ListRun {
  let command: DatabaseListCommand
  let database: CrashDatabase

  /// The sort key of a report. Sorting moves only keys, because reports are large.
  private struct Key {
    let primary: Int64
    let high: UInt64
    let low: UInt64
    let index: Int
  }

  /// Throws `FileFailure` if a directory can't be read.
  func run() throws(FileFailure) -> ReportSelection {
    var found = ReportSelection()
    let states = command.states.isEmpty ? ReportState.allCases : ReportState.allCases.filter(isChosen)
    for state in states {
      let listing = try database.listing(of: state)
      if found.reports.isEmpty { found.reports = listing.reports } else { found.reports += listing.reports }
      found.lockedIDs[state] = listing.lockedIDs
      found.failures += listing.failures
    }
    found.order = order(of: found.reports)
    return found
  }

  private func isChosen(_ state: ReportState) -> Bool { command.states.contains { $0.state == state } }

  // MARK: Choice and order

  private func matches(_ report: Report) -> Bool {
    let created = report.creationTime
    if let since = command.since, created < since.seconds(now: command.clock.seconds) { return false }
    if let until = command.until, created >= until.seconds(now: command.clock.seconds) { return false }
    if command.upload == nil, !command.requested { return true }
    // Without metadata, both upload state and request are unknown.
    guard let metadata = report.metadata.value else { return false }
    if let upload = command.upload, metadata.isUploaded != (upload == .uploaded) { return false }
    return !command.requested || metadata.isUploadExplicitlyRequested
  }

  private func order(of reports: [Report]) -> ArraySlice<Int> {
    var keys: [Key] = []
    keys.reserveCapacity(reports.count)
    for index in reports.indices where matches(reports[index]) {
      let report = reports[index]
      keys.append(Key(primary: primary(report), high: report.id.high, low: report.id.low, index: index))
    }
    keys.sort { a, b in
      a.primary != b.primary ? a.primary < b.primary : a.high != b.high ? a.high < b.high : a.low < b.low
    }
    let order = command.reverse ? keys.reversed().map(\.index) : keys.map(\.index)
    return order.prefix(command.limit ?? order.count)
  }

  /// The primary sort key; smaller keys come first.
  private func primary(_ report: Report) -> Int64 {
    switch command.sort {
    case .created: ~report.creationTime
    case .size: -Int64(report.size)
    case .id: 0
    case .attempts: -Int64(report.metadata.value?.uploadAttempts ?? 0)
    case .state: report.state == .pending ? 0 : 1
    }
  }
}
