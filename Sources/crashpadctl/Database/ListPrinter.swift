// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import CrashpadSnapshot
import CrashpadText
import SystemPackage

/// Prints the reports of `database list`.
struct ListPrinter {
  let command: DatabaseListCommand
  let database: CrashDatabase

  /// - Returns: the exit status.
  func print(_ found: ReportSelection) -> ExitStatus {
    for failure in found.failures { Terminal.error(Sentences.databaseFailure(failure, database.path)) }
    switch command.format {
    case .json: writeJSON(found)
    case .tsv: writeLines(found)
    case .text where command.long: writeBlocks(found)
    case .text: writeTable(found)
    }
    return found.failures.isEmpty ? .success : .findings
  }

  private func reportsEmpty(_ found: ReportSelection) -> Bool {
    guard found.order.isEmpty else { return false }
    if !found.failures.isEmpty { return true }
    let what = found.reports.isEmpty ? "no reports" : "no such reports"
    Terminal.error("\(TextFormat.printable(database.path)): \(what)")
    return true
  }

  private func writeTable(_ found: ReportSelection) {
    if reportsEmpty(found) { return }
    let columns = command.columns?.columns ?? ReportColumn.usual
    var table = ReportTable(columns, hasHeader: !command.noHeader, rows: found.order.count)
    let cells = ReportCells(database: database, now: command.clock.seconds)
    let needsLock = columns.contains(.lock)
    for report in found.chosen {
      table.add(report, needsLock ? found.lock(of: report, in: database) : nil, cells)
    }
    Terminal.output(table.text(limit: TextStyle.output.width, keepsColumns: command.columns != nil))
  }

  private func writeLines(_ found: ReportSelection) {
    let columns = command.columns?.columns ?? ReportColumn.raw
    let cells = ReportCells(database: database, now: command.clock.seconds)
    let needsLock = columns.contains(.lock)
    var text: [UInt8] = []
    if !command.noHeader { text += (columns.map(\.rawValue).joined(separator: "\t") + "\n").utf8 }
    for report in found.chosen {
      let lock = needsLock ? found.lock(of: report, in: database) : nil
      for (index, column) in columns.enumerated() {
        if index > 0 { text.append(UInt8(ascii: "\t")) }
        cells.appendRaw(column, report, lock, to: &text)
      }
      text.append(UInt8(ascii: "\n"))
    }
    Terminal.output(text)
  }

  private func writeBlocks(_ found: ReportSelection) {
    if reportsEmpty(found) { return }
    let now = command.clock.seconds
    var text = ""
    for report in found.chosen {
      if !text.isEmpty { text += "\n" }
      text += ReportText.text(report, found.lock(of: report, in: database), in: database, now: now)
    }
    Terminal.output(text)
  }

  private func writeJSON(_ found: ReportSelection) {
    let reports = ReportsDocument(database: database) { write in
      for report in found.chosen { write(report, found.lock(of: report, in: database)) }
    }
    ReportsDocument.list.print(reports)
  }
}
