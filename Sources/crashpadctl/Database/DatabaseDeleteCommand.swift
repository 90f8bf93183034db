// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadDatabase
import CrashpadSnapshot
import CrashpadText

struct DatabaseDeleteCommand: Command {
  static let name = "delete"
  static var documents: [DocumentDescription] { [ReportChangeDocument.delete.description] }
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Delete reports with their metadata and attachments.",
    discussion: flowing(
      """
      Reports whose metadata is damaged are deleted too, and so are metadata and
      attachments that a deletion left when it failed. A report that another program
      has locked stays, and the exit status is 75; the others are deleted.

      Examples:
        crashpadctl database delete -d DB 4f2a
        crashpadctl database delete -d DB --all --dry-run
      """))

  var reports: [ReportArgument] = []
  var all = false
  var dryRun = false
  var format: OutputFormat = .text
  var database = DatabaseOption()

  mutating func rows(_ row: inout OptionRows) {
    row.reports(&reports)
    row.flag(&all, "--all", "Delete all reports, pending and completed ones.")
    row.dryRun(&dryRun, "Print what would be deleted; change nothing.")
    row.format(&format, "Print what was done as text, or as a JSON document on standard output.")
    row.group(&database)
  }

  func validate() throws {
    if all, !reports.isEmpty { throw ValidationError("--all takes no reports.") }
    if !all, reports.isEmpty { throw ValidationError("Name reports, or all with --all.") }
  }

  /// Deletes a report. A program that died while it moved a report without a lock may have left two with the same id.
  private static func delete(_ session: DatabaseSession, _ id: UUIDBytes) throws {
    try session.remove(id)
    if try session.database.reportForClaim(id) != nil { try session.remove(id) }
  }

  func run() throws {
    let database = try database.open()
    let ids: [UUIDBytes?]
    if all {
      do { ids = try database.reportIDs() + database.remains() } catch {
        throw DatabaseSentences.fail(error, database.path)
      }
      if ids.isEmpty, format == .text { Terminal.error("\(TextFormat.printable(database.path)): no reports") }
    } else {
      ids = try ReportArgument.resolve(reports, in: database, includingRemains: true)
    }
    let run = ReportChangeRun(
      database: database, isDryRun: dryRun, check: { _ in }, change: Self.delete, takesRemains: true,
      deletes: true)
    throw ExitCode(try run.run(ids, command: "delete", done: "deleted", format).rawValue)
  }
}
