// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadDatabase
import CrashpadSnapshot

struct DatabaseRequestUploadCommand: Command {
  static let name = "request-upload"
  static var documents: [DocumentDescription] { [ReportChangeDocument.requestUpload.description] }
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Ask for the upload of reports, whatever the settings say.",
    discussion: flowing(
      """
      A completed report becomes pending again. One that was uploaded already stays
      as it is, which is an error.

      Examples:
        crashpadctl database request-upload -d DB 4f2a
        crashpadctl database request-upload -d DB --given-up
        crashpadctl database request-upload -d DB --skipped
      """))

  var reports: [ReportArgument] = []
  var givenUp = false
  var skipped = false
  var all = false
  var dryRun = false
  var format: OutputFormat = .text
  var database = DatabaseOption()

  mutating func rows(_ row: inout OptionRows) {
    row.reports(&reports)
    row.flag(&givenUp, "--given-up", "All completed reports of which attempts to upload them failed.")
    row.flag(&skipped, "--skipped", "All completed reports that were never sent, as uploads were disabled.")
    row.flag(&all, "--all", "All reports that were not uploaded, pending ones too.")
    row.dryRun(&dryRun, "Print what would be done; change nothing.")
    row.format(&format, "Print what was done as text, or as a JSON document on standard output.")
    row.group(&database)
  }

  func validate() throws {
    let isBulk = givenUp || skipped || all
    if reports.isEmpty != isBulk { throw ValidationError("Name reports, or give --given-up, --skipped or --all.") }
  }

  func run() throws {
    let database = try database.open()
    let run = ReportChangeRun(
      database: database, isDryRun: dryRun, check: Self.check, change: { try $0.requestUpload($1) })
    let ids = reports.isEmpty ? try notUploaded(in: database) : try ReportArgument.resolve(reports, in: database)
    throw ExitCode(
      try run.run(ids, command: "request-upload", done: "requested for upload", format).rawValue)
  }

  /// The reports selected by the flags. Skipped reports had no upload attempt.
  private func notUploaded(in database: CrashDatabase) throws -> [UUIDBytes] {
    do {
      let ids = try all ? database.reportIDs() : database.reportIDs(in: [.completed])
      return try ids.filter {
        guard let metadata = try database.report($0)?.metadata.value, !metadata.isUploaded else { return false }
        return all || (metadata.uploadAttempts > 0 ? givenUp : skipped)
      }
    } catch { throw DatabaseSentences.fail(error, database.path) }
  }

  private static func check(_ report: Report) throws {
    guard let metadata = report.metadata.value else { throw ReportChangeFailure.damagedMetadata }
    if metadata.isUploaded { throw ReportChangeFailure.alreadyUploaded }
  }
}
