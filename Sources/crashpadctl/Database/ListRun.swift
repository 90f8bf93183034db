import ArgumentParser
import CrashpadDatabase
import CrashpadJSON
import CrashpadSnapshot
import SystemPackage

/// One run of `database list`.
struct ListRun {
  let command: DatabaseListCommand
  let database: CrashDatabase

  private struct Found {
    var reports: [Report] = []
    var lockedIDs: [ReportState: Set<UUIDBytes>] = [:]
    var failures = 0
  }

  /// The sort key of a report. Sorting moves only keys, because reports are large.
  private struct Key {
    let primary: Int64
    let high: UInt64
    let low: UInt64
    let index: Int
  }

  func run() throws -> ExitStatus {
    let found = try read()
    let order = order(of: found.reports)
    switch command.format {
    case .json: writeJSON(found, order)
    case .tsv: writeLines(found, order)
    case .text where command.long: writeBlocks(found, order)
    case .text: writeTable(found, order)
    }
    return found.failures > 0 ? .findings : .success
  }

  private func read() throws -> Found {
    var found = Found()
    let states = command.states.isEmpty ? ReportState.allCases : ReportState.allCases.filter(isChosen)
    for state in states {
      let listing: ReportListing
      do { listing = try database.listing(of: state) } catch {
        Terminal.error(Sentences.databaseFailure(error, database.path))
        throw ExitCode(Sentences.failure(error, creating: false).status.rawValue)
      }
      if found.reports.isEmpty { found.reports = listing.reports } else { found.reports += listing.reports }
      found.lockedIDs[state] = listing.lockedIDs
      for failure in listing.failures { Terminal.error(Sentences.databaseFailure(failure, database.path)) }
      found.failures += listing.failures.count
    }
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

  // MARK: Output

  private func lock(of report: Report, _ found: Found) -> LockState? {
    guard found.lockedIDs[report.state]?.contains(report.id) == true else { return nil }
    return (try? database.lockState(report.id, in: report.state)) ?? nil
  }

  private func sayIfEmpty(_ found: Found, _ order: ArraySlice<Int>) -> Bool {
    guard order.isEmpty else { return false }
    if found.failures > 0 { return true }
    let what = found.reports.isEmpty ? "no reports" : "no such reports"
    Terminal.error("\(Wording.printable(database.path)): \(what)")
    return true
  }

  private func writeTable(_ found: Found, _ order: ArraySlice<Int>) {
    if sayIfEmpty(found, order) { return }
    let columns = command.columns?.columns ?? ReportColumn.usual
    var table = ReportTable(columns, hasHeader: !command.noHeader, rows: order.count)
    var cells = ReportCells(database: database, now: command.clock.seconds)
    let needsLock = columns.contains(.lock)
    for index in order {
      table.add(found.reports[index], needsLock ? lock(of: found.reports[index], found) : nil, &cells)
    }
    Terminal.output(table.text(limit: TextStyle.output.width, keepsColumns: command.columns != nil))
  }

  private func writeLines(_ found: Found, _ order: ArraySlice<Int>) {
    let columns = command.columns?.columns ?? ReportColumn.raw
    var cells = ReportCells(database: database, now: command.clock.seconds)
    let needsLock = columns.contains(.lock)
    var text: [UInt8] = []
    if !command.noHeader { text += (columns.map(\.rawValue).joined(separator: "\t") + "\n").utf8 }
    for report in order.lazy.map({ found.reports[$0] }) {
      let lock = needsLock ? lock(of: report, found) : nil
      for (index, column) in columns.enumerated() {
        if index > 0 { text.append(UInt8(ascii: "\t")) }
        cells.appendRaw(column, report, lock, to: &text)
      }
      text.append(UInt8(ascii: "\n"))
    }
    Terminal.output(text)
  }

  private func writeBlocks(_ found: Found, _ order: ArraySlice<Int>) {
    if sayIfEmpty(found, order) { return }
    let now = command.clock.seconds
    var text = ""
    for index in order {
      let report = found.reports[index]
      if !text.isEmpty { text += "\n" }
      text += ReportText.text(report, lock(of: report, found), in: database, now: now)
    }
    Terminal.output(text)
  }

  private func writeJSON(_ found: Found, _ order: ArraySlice<Int>) {
    var writer = ReportJSON(database: database)
    JSONWriter.standardOutput(.indented) { json in
      json.object { json in
        json.member("schema", "crashpadctl-database-list/1")
        json.member("database", path: database.path)
        json.array("reports") { json in
          for index in order {
            let report = found.reports[index]
            writer.write(report, lock(of: report, found), to: &json)
          }
        }
      }
    }
  }
}
