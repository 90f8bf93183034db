// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadDatabase
import CrashpadSnapshot
import CrashpadText
import SystemPackage

enum ListFormat: String, ExpressibleByArgument, CaseIterable {
  case text
  case tsv
  case json
}

/// The form in which `database list` prints reports.
struct ListForm: OptionTable {
  var columns: ColumnList?
  var long = false
  var noHeader = false
  var format: ListFormat = .text

  mutating func rows(_ row: inout OptionRows) {
    row.option(&columns, "--columns <names>", "Comma-separated columns: \(ColumnList.names).", ColumnList.completion)
    row.flag(&long, "-l, --long, --all", "Print all details of each report, as show does.")
    row.flag(&noHeader, "--no-header", "Print no column titles.")
    row.format(&format, "Print a table, tab-separated values, or a JSON document.")
  }

  func validate() throws {
    if long, columns != nil { throw ValidationError("--long and --columns exclude each other.") }
    if format == .json, columns != nil { throw ValidationError("--columns is for text and tsv; JSON has everything.") }
    if format == .tsv, long { throw ValidationError("--long is for text; tsv has every column without --columns.") }
  }
}

/// Prints the reports of `database list`.
struct ListPrinter {
  let database: CrashDatabase
  let form: ListForm
  /// The time of the run in seconds since 1970.
  let now: Int64

  /// - Returns: the exit status.
  func print(_ found: ReportSelection) -> ExitStatus {
    for failure in found.failures { Terminal.error(Sentences.databaseFailure(failure, database.path)) }
    switch form.format {
    case .json: writeJSON(found)
    case .tsv: writeLines(found)
    case .text where form.long: writeBlocks(found)
    case .text: writeTable(found)
    }
    return found.failures.isEmpty ? .success : .findings
  }

  private func reportsEmpty(_ found: ReportSelection) -> Bool {
    guard found.chosen.isEmpty else { return false }
    if !found.failures.isEmpty || found.hasMatches { return true }
    let what = found.isOfNone ? "no reports" : "no such reports"
    Terminal.error("\(TextFormat.printable(database.path)): \(what)")
    return true
  }

  private func writeTable(_ found: ReportSelection) {
    if reportsEmpty(found) { return }
    let columns = form.columns?.columns ?? ReportColumn.usual
    var table = ReportTable(columns, hasHeader: !form.noHeader, rows: found.chosen.count)
    let cells = ReportCells(database: database, now: now)
    let needsLock = columns.contains(.lock)
    for report in found.chosen {
      table.add(report, needsLock ? found.lock(of: report) : nil, cells)
    }
    Terminal.output(table.text(limit: TextStyle.output.width, keepsColumns: form.columns != nil))
  }

  private func writeLines(_ found: ReportSelection) {
    let columns = form.columns?.columns ?? ReportColumn.raw
    let cells = ReportCells(database: database, now: now)
    let needsLock = columns.contains(.lock)
    var text: [UInt8] = []
    if !form.noHeader { text += (columns.map(\.rawValue).joined(separator: "\t") + "\n").utf8 }
    for report in found.chosen {
      let lock = needsLock ? found.lock(of: report) : nil
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
    var text = ""
    for report in found.chosen {
      if !text.isEmpty { text += "\n" }
      text += ReportText.text(report, found.lock(of: report), in: database, now: now)
    }
    Terminal.output(text)
  }

  private func writeJSON(_ found: ReportSelection) {
    let reports = ReportsDocument(database: database) { write in
      for report in found.chosen { write(report, found.lock(of: report)) }
    }
    ReportsDocument.list.print(reports)
  }
}
