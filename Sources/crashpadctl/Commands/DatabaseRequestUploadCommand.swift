import ArgumentParser
import CrashDatabase

struct DatabaseRequestUploadCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "request-upload",
    abstract: "Ask for the upload of reports, whatever the settings say.",
    discussion: """
      A completed report becomes pending again. One that was uploaded already stays
      as it is, which is an error.

      Examples:
        crashpadctl database request-upload -d DB 4f2a
      """)

  @Argument(help: "Reports: ids, or at least four digits that begin one.", completion: ReportArgument.completion)
  var reports: [ReportArgument]

  @Flag(name: [.customShort("n"), .long], help: "Only tell what would be done.")
  var dryRun = false

  @Option(
    name: .long,
    help: ArgumentHelp("Tell what was done in text, or as a JSON document on standard output.", valueName: "form"))
  var format: ReportFormat = .text

  @OptionGroup var database: DatabaseOption

  func run() throws {
    let database = try database.open()
    let run = ReportChangeRun(
      database: database, command: "request-upload", done: "requested for upload", isDry: dryRun, format: format,
      check: Self.check, change: { try $0.requestUpload($1) })
    throw ExitCode(try run.run(ReportArgument.resolve(reports, in: database)).rawValue)
  }

  private static func check(_ report: Report) throws {
    guard let metadata = report.metadata.value else { throw ReportChangeFailure.damagedMetadata }
    if metadata.isUploaded { throw ReportChangeFailure.alreadyUploaded }
  }
}
