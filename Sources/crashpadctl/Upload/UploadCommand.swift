// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadDatabase
import CrashpadUpload
import CrashpadSnapshot

struct UploadCommand: Command {
  static let name = "upload"
  static var documents: [DocumentDescription] { [UploadDocument.document.description] }
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Send pending reports to a server.",
    discussion: flowing(
      """
      Sends each pending report once, if the settings allow uploads or its upload was
      requested, with its annotations as form fields. The server's answer is stored
      as the report's server id, and the report becomes a completed one. A server
      that is not available, or refuses the address, ends the run: all reports stay
      pending, and later runs try again. A report is given up if the server refuses
      it as such, for example because it is too large, or if it failed five times
      while the server accepted others.

      Examples:
        crashpadctl upload -d DB --url https://crashes.example.com/submit
        crashpadctl upload -d DB --to sentry=https://KEY@sentry.example.com/42
        crashpadctl upload -d DB --url @crashes.url --report 4f2a -n   this one
        crashpadctl upload -d DB --url @crashes.url --all -n -v   what would be sent
      """))

  var database = DatabaseOption()
  var server = UploadOptions()
  var report: [ReportArgument] = []
  var all = false
  var jobs = 4
  var ending = EndingOptions()
  var metrics = MetricsOption()
  var clock = ClockOption()
  var dryRun = false
  var format: OutputFormat = .text
  var quiet = false
  var verbose = false

  mutating func rows(_ row: inout OptionRows) {
    row.group(&database)
    row.group(&server, title: "Server")
    row.option(
      &report, "--report <id>",
      "Send only this report, regardless of the settings: an id, or its first four digits or more. May be repeated.",
      ReportArgument.completion, isList: true)
    row.flag(&all, "--all", "Send all pending reports, regardless of the settings.")
    row.jobs(&jobs, "Number of reports to send at once.")
    row.group(&ending)
    row.group(&metrics)
    row.group(&clock)
    row.dryRun(&dryRun, "Print what would be done; send nothing.")
    row.format(&format, "Print text, or one JSON document.")
    row.quiet(&quiet)
    row.verbose(&verbose, "Print the outcome for every report.")
  }

  func validate() throws {
    if !(1...64).contains(jobs) { throw ValidationError("--jobs takes 1 to 64.") }
    if quiet, verbose { throw ValidationError("--quiet and --verbose exclude each other.") }
    if all, !report.isEmpty { throw ValidationError("--all and --report exclude each other.") }
  }

  func run() throws {
    var options = try server.options(now: clock.now?.seconds)
    options.jobs = jobs
    options.includesAll = all
    if !dryRun { options.runEnd = ending.begin() }
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
  private func makeRun(_ options: ReportUploader.Options) throws -> (UploadRun, missing: [ExitStatus]) {
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
