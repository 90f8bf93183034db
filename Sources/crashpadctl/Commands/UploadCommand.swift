import ArgumentParser
import CrashDatabase
import CrashUpload
import Snapshot
import SystemPackage

struct UploadCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "upload",
    abstract: "Send pending reports to a server.",
    discussion: """
      Every pending report that the settings allow, or whose upload was asked for, is
      sent once, with its annotations as fields of a form. What the server answers
      is kept as its id of the report, which becomes a completed one. What fails is
      tried again by later runs, after 15 minutes, 30, and so on, five times.

      Examples:
        crashpadctl upload -d DB --url https://crashes.example.com/submit
        crashpadctl upload -d DB --to sentry=https://KEY@sentry.example.com/42
        crashpadctl upload -d DB --url @crashes.url --report 4f2a -n   this one
        crashpadctl upload -d DB --url @crashes.url --all -n -v   what would be sent
      """)

  @OptionGroup var database: DatabaseOption

  @OptionGroup(title: "Server") var server: UploadOptions

  @Option(
    name: .long, parsing: .upToNextOption,
    help: ArgumentHelp(
      "Just these reports, whatever the settings say: ids, or at least four digits that begin one.", valueName: "id"),
    completion: ReportArgument.completion)
  var report: [ReportArgument] = []

  @Flag(name: .long, help: "All pending reports, as if each had been named.")
  var all = false

  @Option(name: .shortAndLong, help: ArgumentHelp("How many reports to send at once.", valueName: "n"))
  var jobs = 4

  @OptionGroup var metrics: MetricsOption

  @OptionGroup var clock: ClockOption

  @Flag(name: [.customShort("n"), .long], help: "Only say what would be done; nothing is sent.")
  var dryRun = false

  @Option(name: .long, help: ArgumentHelp("Print text, or one JSON document.", valueName: "form"))
  var format: ReportFormat = .text

  @Flag(name: .shortAndLong, help: "Print only errors.")
  var quiet = false

  @Flag(name: .shortAndLong, help: "Say of every report what became of it.")
  var verbose = false

  func validate() throws {
    if !(1...64).contains(jobs) { throw ValidationError("--jobs takes 1 to 64.") }
    if quiet, verbose { throw ValidationError("--quiet and --verbose exclude each other.") }
    if all, !report.isEmpty { throw ValidationError("--all and --report exclude each other.") }
  }

  func run() throws {
    var options = try server.options(now: clock.now?.seconds)
    options.jobs = jobs
    options.includesAll = all
    var counts = UploadCounts()
    var status: ExitStatus
    do {
      (status, counts) = try upload(options)
    } catch let code as ExitCode {
      // It was said why nothing could be done.
      status = ExitStatus(rawValue: code.rawValue) ?? .noInput
      counts.isSuccess = false
    }
    if !dryRun {
      let written = metrics.write { counts.add(to: &$0, now: clock.seconds) }
      if status == .success { status = written }
    }
    throw ExitCode(status.rawValue)
  }

  private func upload(_ options: Uploading.Options) throws -> (ExitStatus, UploadCounts) {
    var options = options
    let database = try database.open()
    let ids = try ReportArgument.resolve(report, in: database)
    if !report.isEmpty {
      let found = ids.compactMap(\.self)
      if found.isEmpty { throw ExitCode(ExitStatus.noInput.rawValue) }
      options.reports = found
    }
    let style = UploadReport.Style(
      isDry: dryRun, isQuiet: quiet, isVerbose: verbose || (!report.isEmpty && !quiet))
    let run = UploadReport(database, options, now: clock.seconds, style: style)
    let status =
      switch format {
      case .text: run.text()
      case .json: run.json()
      }
    let missing = ids.filter { $0 == nil }.map { _ in ExitStatus.noInput }
    return (ExitStatus.combined([status] + missing), run.counts)
  }
}
