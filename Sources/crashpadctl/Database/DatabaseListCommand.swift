import ArgumentParser
import CrashpadDatabase

/// The part of the database to list.
enum StateChoice: String, EnumerableFlag {
  case pending
  case completed

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

enum UploadChoice: String, EnumerableFlag {
  case uploaded
  case notUploaded

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

struct DatabaseListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List reports.",
    discussion: """
      Lists the newest reports first. --since, --until, --uploaded, --not-uploaded
      and --requested choose reports to which all of them apply. Times are in UTC.

      Examples:
        crashpadctl database list -d DB --pending --sort size --limit 10
        crashpadctl database list -d DB --since 7d --long
        crashpadctl database list -d DB --format tsv --columns id,size --no-header
      """)

  @Flag
  var states: [StateChoice] = []

  @Flag(exclusivity: .exclusive)
  var upload: UploadChoice?

  @Flag(name: .long, help: "Only reports whose upload was requested.")
  var requested = false

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Only reports created at this time or later; an age such as 1d is a time ago.", valueName: "time"))
  var since: TimeOrAge?

  @Option(name: .long, help: ArgumentHelp("Only reports created before this time.", valueName: "time"))
  var until: TimeOrAge?

  @Option(
    name: .long,
    help: ArgumentHelp("Sort order: newest, largest, first id, most attempts, or pending first.", valueName: "key"))
  var sort: ReportOrder = .created

  @Flag(name: .shortAndLong, help: "Reverse the order.")
  var reverse = false

  @Option(name: .long, help: ArgumentHelp("Print at most n reports.", valueName: "n"))
  var limit: Int?

  @Option(
    name: .long,
    help: ArgumentHelp("Comma-separated columns: \(ColumnList.names).", valueName: "names"),
    completion: ColumnList.completion)
  var columns: ColumnList?

  @Flag(name: [.short, .long, .customLong("all")], help: "Print all details of each report, as show does.")
  var long = false

  @Flag(name: .long, help: "Print no column titles.")
  var noHeader = false

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "Print a table, tab-separated values, or a JSON document.", valueName: "form"))
  var format: ListFormat = .text

  @OptionGroup var clock: ClockOption
  @OptionGroup var database: DatabaseOption

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
