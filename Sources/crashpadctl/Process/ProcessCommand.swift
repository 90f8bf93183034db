import ArgumentParser
import CrashpadDatabase
import CrashpadCore
import CrashpadFiles
import CrashpadJSON
import CrashpadSnapshot
import SystemPackage

struct ProcessCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "process",
    abstract: "Convert pending dumps to pending reports.",
    discussion: """
      Converts each dump without a lock, or with an expired one, to a minidump in
      pending/, exactly once, even if several runs work at the same time or a run is
      killed. Unusable dumps are moved to rejected/, each with a file that states the
      reason. Made for cron: prints one line, and only if there was something to do.

      Examples:
        crashpadctl process --database DB
        crashpadctl process -d DB --bundle-id com.example.app
        crashpadctl process -d DB --annotation channel=beta --limit 20
        crashpadctl process -d DB --dry-run --verbose     what would be done
        crashpadctl process -d DB --quiet --metrics-file crashpad.prom
        crashpadctl process -d DB --upload --url @crashes.url     and sends the reports
      """)

  @OptionGroup var database: DatabaseOption

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Bundle whose dumps come first, and whose locks expire after 24 hours. May be repeated.", valueName: "id"))
  var bundleID: [String] = []

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Add or replace a process annotation. May be repeated.", valueName: "name=value"))
  var annotation: [AnnotationArgument] = []

  @Option(name: .long, help: ArgumentHelp("Process at most n dumps; Crashpad processes 20.", valueName: "n"))
  var limit: Int?

  @Flag(
    name: .long,
    help: "Also process locked dumps (of --bundle-id, or all), except empty ones and those a running program holds.")
  var includeLocked = false

  @Option(
    name: .shortAndLong, help: ArgumentHelp("Number of dumps to process at once; 0 for one per CPU.", valueName: "n")
  )
  var jobs: Int = 0

  @OptionGroup var metrics: MetricsOption

  @Flag(
    name: .long,
    help: "Then send pending reports to a server, with the options of crashpadctl upload: --url, --to and so on.")
  var upload = false

  // About two dozen options, hidden here; see `crashpadctl upload --help`.
  @OptionGroup(visibility: .hidden) var server: UploadOptions

  @OptionGroup var clock: ClockOption

  @Flag(name: [.customShort("n"), .long], help: "Print what would be done; change nothing.")
  var dryRun = false

  @Option(name: .shortAndLong, help: ArgumentHelp("Print text, or one JSON document.", valueName: "form"))
  var format: OutputFormat = .text

  @OptionGroup var page: HTMLOption

  @Flag(name: .shortAndLong, help: "Print only errors.")
  var quiet = false

  @Flag(name: .shortAndLong, help: "Print the outcome for every dump, and why locks have not expired.")
  var verbose = false

  func validate() throws {
    try checkJobs(jobs)
    if let limit, limit < 0 { throw ValidationError("--limit takes 0 or more.") }
    if !upload, server.isGiven { throw ValidationError("Options of crashpadctl upload require --upload.") }
    try HTMLOption.check(page.html, [])
    if quiet, verbose { throw ValidationError("--quiet and --verbose exclude each other.") }
  }

  func run() throws {
    var counts = ProcessCounts()
    var uploadCounts = upload ? UploadCounts(isSuccess: false) : nil
    var status = ExitStatus.noInput
    let server = upload ? try self.server.options(now: clock.now?.seconds) : nil
    do {
      let database = try self.database.open()
      let processing = Processing(database, options: options)
      let uploads = server.map { UploadReport(database, $0, now: clock.seconds, style: uploadStyle) }
      let report = ProcessReport(self, database)
      let failure =
        switch format {
        case .text: report.text(processing)
        case .json: report.json(processing, uploads)
        }
      counts = report.counts
      status = counts.status
      if let failure {
        Terminal.error(Sentences.databaseFailure(failure, database.path))
        status = Sentences.failure(failure, creating: true).status
      } else if let uploads {
        let uploaded = format == .text ? uploads.text() : uploads.status
        uploadCounts = uploads.counts
        if status == .success { status = uploaded }
      }
      status = writePage(report.reports, status)
      counts.isSuccess = failure == nil
      counts.waiting = (try? database.pendingDumps())?.dumps.count
    } catch let code as ExitCode {
      // The database could not be opened, and the error is printed already.
      status = ExitStatus(rawValue: code.rawValue) ?? .noInput
      counts.isSuccess = false
    }
    if !dryRun {
      let written = metrics.write {
        counts.add(to: &$0, now: clock.seconds)
        uploadCounts?.add(to: &$0, now: clock.seconds)
      }
      if status == .success { status = written }
    }
    throw ExitCode(status.rawValue)
  }

  /// Writes the HTML page for the new reports.
  private func writePage(_ reports: [String], _ status: ExitStatus) -> ExitStatus {
    HTMLOption.write(
      page.html, of: InputList(reports, accepting: InputFormat.withMeaning), PageRun.Options(), status: status)
  }

  private var uploadStyle: UploadReport.Style {
    UploadReport.Style(isDry: dryRun, isQuiet: quiet, isVerbose: verbose)
  }

  private var options: Processing.Options {
    var options = Processing.Options(now: clock.seconds, lockTime: TimeArgument.now)
    options.bundleIDs = bundleID
    options.includesLocked = includeLocked
    options.limit = limit
    options.annotations = annotation.map { ($0.name, $0.value) }
    options.jobs = jobs
    return options
  }
}
