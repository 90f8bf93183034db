// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadDatabase
import CrashpadSnapshot
import CrashpadText

struct DatabaseImportCommand: Command {
  static let name = "import"
  static var documents: [DocumentDescription] { [NewReportPrinter.document.description] }
  static let formerName: String? = "new"
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Add a file to the database as a pending report.",
    discussion: flowing(
      """
      Prints the id of the report, which is written completely or not at all, and
      flushed to disk. A Linux core file is converted to a minidump; any other file
      is taken as it is, although readers of the database expect minidumps.

      Examples:
        crashpadctl database import -d DB crash.dmp
        crashpadctl database import -d DB core
        crashpadctl convert crash.idump -o - | crashpadctl database import -d DB -
        crashpadctl database import -d DB crash.dmp --attachment log.txt=app.log
      """))

  var file: String = ""
  var attachment: [AttachmentArgument] = []
  var id: UUIDBytes?
  var created: TimeArgument?
  var dryRun = false
  var format: OutputFormat = .text
  var database = DatabaseOption()

  mutating func rows(_ row: inout OptionRows) {
    row.argument(&file, "<file>", "File of the report; - is standard input.", .file())
    row.option(
      &attachment, "--attachment <name=path>",
      "Attach a file; its name has letters, digits, _, - and dots. May be repeated.", .file())
    row.option(&id, "--id <uuid>", "Report id; by default a random one.")
    row.option(&created, "--created <time>", "Creation time of the report; by default now.")
    row.dryRun(&dryRun, "Print what would be created; change nothing.")
    row.format(&format, "Print the id, or a JSON document.")
    row.group(&database)
  }

  func validate() throws {
    try checkInputs([file] + attachment.map(\.path))
    var names: Set<String> = []
    for attachment in attachment {
      guard NewReport.isAllowed(attachmentName: attachment.name) else {
        throw ValidationError("\"\(TextFormat.printable(attachment.name))\" can't be the name of an attachment.")
      }
      if !names.insert(attachment.name).inserted {
        throw ValidationError("There are two attachments named \(attachment.name).")
      }
    }
  }

  func run() throws {
    let database = try database.open()
    let run = NewReportRun(
      file: file, attachments: attachment, id: id, created: created?.seconds ?? TimeArgument.now, isDryRun: dryRun,
      database: database)
    let printer = NewReportPrinter(run: run, format: format)
    let made: NewReportRun.Made
    do { made = try run.run() } catch { throw printer.print(error) }
    throw ExitCode(printer.print(made).rawValue)
  }
}
