import ArgumentParser
import CrashDatabase
import Snapshot

struct DatabaseRequestUploadCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "request-upload",
    abstract: "Ask for the upload of reports, whatever the settings say.",
    discussion: """
      A completed report becomes pending again. One that was uploaded already stays
      as it is, which is an error.

      Examples:
        crashpadctl database request-upload -d DB 4f2a
        crashpadctl database request-upload -d DB --given-up
      """)

  @Argument(help: "Reports: ids, or at least four digits that begin one.", completion: ReportArgument.completion)
  var reports: [ReportArgument] = []

  @Flag(name: .long, help: "All completed reports of which attempts to upload them failed.")
  var givenUp = false

  @Flag(name: [.customShort("n"), .long], help: "Print what would be done; change nothing.")
  var dryRun = false

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("Print what was done as text, or as a JSON document on standard output.", valueName: "form"))
  var format: ReportFormat = .text

  @OptionGroup var database: DatabaseOption

  func validate() throws {
    if reports.isEmpty != givenUp { throw ValidationError("Name reports, or give --given-up.") }
  }

  func run() throws {
    let database = try database.open()
    let run = ReportChangeRun(
      database: database, command: "request-upload", done: "requested for upload", isDry: dryRun, format: format,
      check: Self.check, change: { try $0.requestUpload($1) })
    let ids = givenUp ? try Self.givenUp(in: database) : try ReportArgument.resolve(reports, in: database)
    throw ExitCode(try run.run(ids).rawValue)
  }

  /// Those that the settings did not allow had no attempt.
  private static func givenUp(in database: CrashDatabase) throws -> [UUIDBytes] {
    do {
      return try database.reportIDs(in: .completed).filter {
        guard let metadata = try database.report($0)?.metadata.value else { return false }
        return !metadata.isUploaded && metadata.uploadAttempts > 0
      }
    } catch { throw DatabaseSentences.fail(error, database.path) }
  }

  private static func check(_ report: Report) throws {
    guard let metadata = report.metadata.value else { throw ReportChangeFailure.damagedMetadata }
    if metadata.isUploaded { throw ReportChangeFailure.alreadyUploaded }
  }
}
