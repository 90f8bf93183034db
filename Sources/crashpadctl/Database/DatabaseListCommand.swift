// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadDatabase

/// The part of the database to list.
enum StateChoice: String, FlagChoice {
  case pending
  case completed

  var name: String { "--" + rawValue }

  static func help(for value: StateChoice) -> ArgumentHelp? {
    switch value {
    case .pending: "List pending reports only."
    case .completed: "List completed reports only: uploaded ones, and those that will not be uploaded."
    }
  }

  var state: ReportState {
    switch self {
    case .pending: .pending
    case .completed: .completed
    }
  }
}

enum UploadChoice: String, FlagChoice {
  case uploaded
  case notUploaded = "not-uploaded"

  var name: String { "--" + rawValue }

  static func help(for value: UploadChoice) -> ArgumentHelp? {
    switch value {
    case .uploaded: "Only reports that were uploaded."
    case .notUploaded: "Only reports that were not uploaded."
    }
  }
}

enum ReportOrder: String, ExpressibleByArgument, CaseIterable {
  case created
  case size
  case id
  case attempts
  case state
}

enum ListFormat: String, ExpressibleByArgument, CaseIterable {
  case text
  case tsv
  case json
}

struct DatabaseListCommand: Command {
  static let name = "list"
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "List reports.",
    discussion: flowing(
      """
      Lists the newest reports first. --since, --until, --uploaded, --not-uploaded
      and --requested choose reports to which all of them apply. Times are in UTC.

      Examples:
        crashpadctl database list -d DB --pending --sort size --limit 10
        crashpadctl database list -d DB --since 7d --long
        crashpadctl database list -d DB --format tsv --columns id,size --no-header
      """))

  var states: [StateChoice] = []
  var upload: UploadChoice?
  var requested = false
  var since: TimeOrAge?
  var until: TimeOrAge?
  var sort: ReportOrder = .created
  var reverse = false
  var limit: Int?
  var columns: ColumnList?
  var long = false
  var noHeader = false
  var format: ListFormat = .text
  var clock = ClockOption()
  var database = DatabaseOption()

  mutating func rows(_ row: inout OptionRows) {
    row.flags(&states)
    row.flags(&upload)
    row.flag(&requested, "--requested", "Only reports whose upload was requested.")
    row.option(&since, "--since <time>", "Only reports created at this time or later; an age such as 1d is a time ago.")
    row.option(&until, "--until <time>", "Only reports created before this time.")
    row.option(&sort, "--sort <key>", "Sort order: newest, largest, first id, most attempts, or pending first.")
    row.flag(&reverse, "-r, --reverse", "Reverse the order.")
    row.limit(&limit, "Print at most n reports.")
    row.option(&columns, "--columns <names>", "Comma-separated columns: \(ColumnList.names).", ColumnList.completion)
    row.flag(&long, "-l, --long, --all", "Print all details of each report, as show does.")
    row.flag(&noHeader, "--no-header", "Print no column titles.")
    row.format(&format, "Print a table, tab-separated values, or a JSON document.")
    row.group(&clock)
    row.group(&database)
  }

  func validate() throws {
    if let limit, limit < 0 { throw ValidationError("--limit takes 0 or more.") }
    if long, columns != nil { throw ValidationError("--long and --columns exclude each other.") }
    if format == .json, columns != nil { throw ValidationError("--columns is for text and tsv; JSON has everything.") }
    if format == .tsv, long { throw ValidationError("--long is for text; tsv has every column without --columns.") }
  }

  func run() throws {
    let database = try database.open()
    let found: ReportSelection
    do { found = try ListRun(command: self, database: database).run() } catch {
      throw DatabaseSentences.fail(error, database.path, creating: false)
    }
    throw ExitCode(ListPrinter(command: self, database: database).print(found).rawValue)
  }
}
