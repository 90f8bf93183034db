import ArgumentParser
import CrashpadDatabase
import CrashpadUpload
import CrashpadSnapshot

struct UploadCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "upload",
    abstract: "Send pending reports to a server.",
    discussion: """
      Sends each pending report once, if the settings allow uploads or its upload was
      requested, with its annotations as form fields. The server's answer is stored
      as the report's server id, and the report becomes a completed one. A server
      that is not available, or refuses the address, ends the run: all reports stay
      pending, and later runs try again. Only reports that the server refuses while
      it accepts others are given up, after five attempts.

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
      "Send only this report, regardless of the settings: an id, or its first four digits or more. May be repeated.",
      valueName: "id"),
    completion: ReportArgument.completion)
  var report: [ReportArgument] = []

  @Flag(name: .long, help: "Send all pending reports, regardless of the settings.")
  var all = false

  @Option(name: .shortAndLong, help: ArgumentHelp("Number of reports to send at once.", valueName: "n"))
  var jobs = 4

  @OptionGroup var metrics: MetricsOption

  @OptionGroup var clock: ClockOption

  @Flag(name: [.customShort("n"), .long], help: "Print what would be done; send nothing.")
  var dryRun = false

  @Option(name: .shortAndLong, help: ArgumentHelp("Print text, or one JSON document.", valueName: "form"))
  var format: OutputFormat = .text

  @Flag(name: .shortAndLong, help: "Print only errors.")
  var quiet = false

  @Flag(name: .shortAndLong, help: "Print the outcome for every report.")
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
    var counts = UploadCounts(isSuccess: false)
    var status: ExitStatus
    do {
      let (run, missing) = try makeRun(options)
      upload(run)
      counts = run.counts
      status = ExitStatus.combined([run.status] + missing)
    } catch let failure as ExitStatus {
      // The reason is printed already.
      status = failure
    }
    if !dryRun {
      let written = metrics.write { counts.add(to: &$0, now: clock.seconds) }
      if status == .success { status = written }
    }
    throw status
  }

  /// Returns the run, and a status for each report that is not there.
  private func makeRun(_ options: Uploading.Options) throws -> (UploadRun, missing: [ExitStatus]) {
    var options = options
    let database = try database.open()
    let ids = try ReportArgument.resolve(report, in: database)
    if !report.isEmpty {
      let found = ids.compactMap(\.self)
      if found.isEmpty { throw ExitStatus.noInput }
      options.reports = found
    }
    return (UploadRun(database, options, isDryRun: dryRun), ids.filter { $0 == nil }.map { _ in .noInput })
  }

  private func upload(_ run: UploadRun) {
    let printer = UploadPrinter(
      run, isQuiet: quiet, isVerbose: verbose || (!report.isEmpty && !quiet))
    switch format {
    case .text:
      run.run(printer.print)
      printer.printEnd()
    case .json:
      UploadDocument.document.print(UploadDocument(run: run, printer: printer))
      printer.printAnyFailure()
    }
  }
}
