// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadDatabase
import CrashpadCore
import CrashpadFiles
import CrashpadSnapshot
import CrashpadUpload
import SystemPackage

struct ProcessCommand: Command {
  static let name = "process"
  static var documents: [DocumentDescription] { [ProcessDocument.document.description] }
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Convert pending dumps to pending reports.",
    discussion: flowing(
      """
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
        crashpadctl process -d DB --upload --url @crashes.url
      """))

  var database = DatabaseOption()
  var bundleID: [String] = []
  var annotations = AnnotationOption()
  var limit: Int?
  var includeLocked = false
  var jobs: Int = 0
  var ending = EndingOptions()
  var metrics = MetricsOption()
  var upload = false
  // About two dozen options, hidden here; see `crashpadctl upload --help`.
  var server = UploadOptions()
  var clock = ClockOption()
  var dryRun = false
  var format: OutputFormat = .text
  var page = HTMLOption()
  var quiet = false
  var verbose = false

  mutating func rows(_ row: inout OptionRows) {
    row.group(&database)
    row.bundleIDs(&bundleID, "Bundle whose dumps come first, and whose locks expire after 24 hours. May be repeated.")
    row.group(&annotations)
    row.limit(&limit, "Process at most n dumps; Crashpad processes 20.")
    row.flag(
      &includeLocked, "--include-locked",
      "Also process locked dumps (of --bundle-id, or all), except empty ones and those a running program holds.")
    row.jobs(&jobs, "Number of dumps to process at once; 0 for one per CPU.")
    row.group(&ending)
    row.group(&metrics)
    row.flag(
      &upload, "--upload",
      "Then send pending reports to a server, with the options of crashpadctl upload: --url, --to and so on.")
    row.group(&server, visibility: .hidden)
    row.group(&clock)
    row.dryRun(&dryRun, "Print what would be done; change nothing.")
    row.format(&format, "Print text, or one JSON document.")
    row.group(&page)
    row.quiet(&quiet)
    row.verbose(&verbose, "Print the outcome for every dump, and why locks have not expired.")
  }

  func validate() throws {
    try checkJobs(jobs)
    if let limit, limit < 0 { throw ValidationError("--limit takes 0 or more.") }
    if !upload, server.isGiven { throw ValidationError("Options of crashpadctl upload require --upload.") }
    try HTMLOption.check(page.html, [])
    if quiet, verbose { throw ValidationError("--quiet and --verbose exclude each other.") }
  }

  func run() throws {
    var counts = ProcessCounts(isSuccess: false)
    var uploadCounts = upload ? UploadCounts(isSuccess: false) : nil
    var status: ExitStatus
    var server = upload ? try self.server.options(now: clock.now?.seconds) : nil
    let runEnd = dryRun ? RunEnd() : ending.begin()
    server?.runEnd = runEnd
    do {
      let database = try self.database.open()
      let run = ProcessRun(database, options(runEnd), isDryRun: dryRun)
      let uploads = server.map { UploadRun(database, $0, isDryRun: dryRun) }
      process(run, uploads)
      counts = run.counts
      status = run.status
      if run.failure == nil, let uploads {
        uploadCounts = uploads.counts
        if status == .success { status = uploads.status }
      }
      status = writePage(run.reports, status)
      if dryRun, counts.isSuccess, !quiet { DatabaseSentences.warnOfObstacle(to: database) }
    } catch let failure as ExitStatus {
      // The database could not be opened, and the error is printed already.
      status = failure
    }
    if !dryRun {
      let written = metrics.write {
        counts.add(to: &$0, now: clock.seconds)
        uploadCounts?.add(to: &$0, now: clock.seconds)
      }
      if status == .success { status = written }
    }
    throw status
  }

  /// Processes the dumps, and then uploads the reports if the database could be used.
  private func process(_ run: ProcessRun, _ uploads: UploadRun?) {
    let printer = ProcessPrinter(run, isQuiet: quiet, isVerbose: verbose)
    let uploadPrinter = uploads.map { UploadPrinter($0, isQuiet: quiet, isVerbose: verbose) }
    switch format {
    case .text:
      run.run(printer.print)
      printer.printSummary()
    case .json:
      let upload = uploads.flatMap { run in uploadPrinter.map { UploadDocument(run: run, printer: $0) } }
      ProcessDocument.document.print(ProcessDocument(run, printer, upload: upload))
      if run.failure == nil { uploadPrinter?.printAnyFailure() }
    }
    if let failure = run.failure {
      Terminal.error(Sentences.databaseFailure(failure, run.database.path))
    } else if format == .text, let uploads, let uploadPrinter {
      uploads.run(uploadPrinter.print)
      uploadPrinter.printEnd()
    }
  }

  /// Writes the HTML page for the new reports.
  private func writePage(_ reports: [String], _ status: ExitStatus) -> ExitStatus {
    HTMLOption.write(
      page.html, of: InputList(reports, accepting: InputFormat.withMeaning), PageRun.Options(), status: status)
  }

  private func options(_ runEnd: RunEnd) -> DumpProcessor.Options {
    var options = DumpProcessor.Options()
    options.runEnd = runEnd
    options.now = clock.seconds
    options.bundleIDs = bundleID
    options.includesLocked = includeLocked
    options.limit = limit
    options.annotations = annotations.values
    options.jobs = jobCount(jobs)
    return options
  }
}
