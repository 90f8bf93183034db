import ArgumentParser
import CrashDatabase
import FileSystem
import JSONFormat
import Snapshot
import SystemPackage

/// `NAME=PATH`
struct AttachmentArgument: ExpressibleByArgument {
  let name: String
  let path: String

  init?(argument: String) {
    guard let separator = argument.firstIndex(of: "=") else { return nil }
    name = String(argument[..<separator])
    path = String(argument[argument.index(after: separator)...])
    guard !path.isEmpty else { return nil }
  }
}

struct DatabaseNewCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "new",
    abstract: "Put a file into the database as a pending report.",
    discussion: """
      Prints the id of the report, which is there whole or not at all, and on the
      disk. What is in the file does not matter; a minidump is what others expect.

      Examples:
        crashpadctl database new -d DB crash.dmp
        crashpadctl convert crash.idump -o - | crashpadctl database new -d DB -
        crashpadctl database new -d DB crash.dmp --attachment log.txt=app.log
      """)

  @Argument(help: "The report's file; - is standard input.", completion: .file())
  var file: String

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Attach a file under a name of letters, digits, _, - and dots. May be repeated.", valueName: "name=path"),
    completion: .file())
  var attachment: [AttachmentArgument] = []

  @Option(name: .customLong("id"), help: ArgumentHelp("The report's id; without it a random one.", valueName: "uuid"))
  var id: UUIDBytes?

  @Option(name: .long, help: ArgumentHelp("When the report was created; without it, now.", valueName: "time"))
  var created: TimeArgument?

  @Flag(name: [.customShort("n"), .long], help: "Only tell what would be made.")
  var dryRun = false

  @Option(name: .long, help: ArgumentHelp("Print the id, or a JSON document.", valueName: "form"))
  var format: ReportFormat = .text

  @OptionGroup var database: DatabaseOption

  func validate() throws {
    try checkInputs([file] + attachment.map(\.path))
    var names: Set<String> = []
    for attachment in attachment {
      guard NewReport.isAllowed(attachmentName: attachment.name) else {
        throw ValidationError("\"\(Wording.printable(attachment.name))\" can't be the name of an attachment.")
      }
      if !names.insert(attachment.name).inserted {
        throw ValidationError("There are two attachments named \(attachment.name).")
      }
    }
  }

  func run() throws {
    let database = try database.open()
    throw ExitCode(try NewReportRun(command: self, database: database).run().rawValue)
  }
}

/// One run of `database new`.
struct NewReportRun {
  let command: DatabaseNewCommand
  let database: CrashDatabase

  /// An input that could not be read, as opposed to the database that could not be written.
  private struct InputFailure: Error {
    let name: String
    let underlying: any Error
  }

  private struct AlreadyThere: Error {}

  private struct Made {
    let id: UUIDBytes
    let bytes: Int
  }

  func run() throws -> ExitStatus {
    do {
      let inputs = try ([("", command.file)] + command.attachment.map { ($0.name, $0.path) }).map { name, path in
        (name, path, try open(path))
      }
      if command.dryRun {
        try tellDryRun()
        return .success
      }
      let session = try DatabaseSession(database, now: TimeArgument.now)
      defer { session.close() }
      let made = try make(inputs, in: session)
      tell(made)
      return .success
    } catch let failure as InputFailure {
      let (text, status) = Sentences.failure(failure.underlying, creating: false)
      Terminal.error("\(displayName(failure.name)): error: \(text)")
      return status
    } catch is AlreadyThere {
      Terminal.error("\(command.id?.text ?? ""): error: there is a report with this id already")
      return .cannotCreate
    } catch let busy as DatabaseSession.Busy {
      Terminal.error("\(command.id?.text ?? ""): error: \(DatabaseSentences.lock(busy.state))")
      return .temporaryFailure
    } catch {
      throw DatabaseSentences.fail(error, database.path)
    }
  }

  private func open(_ path: String) throws -> SequentialInput {
    do { return try path == "-" ? .standardInput() : SequentialInput(FilePath(path)) } catch {
      throw InputFailure(name: path, underlying: error)
    }
  }

  private func make(_ inputs: [(name: String, path: String, input: SequentialInput)], in session: DatabaseSession)
    throws
    -> Made
  {
    let id = command.id ?? .random()
    let report = try NewReport(id, in: session)
    // The lock of the new report keeps others from making one of the same id from here on.
    if try database.report(id) != nil { throw AlreadyThere() }
    var bytes = 0
    for (name, path, input) in inputs {
      guard let file = name.isEmpty ? report.file : try report.addAttachment(name) else { continue }
      bytes += try copy(path, input, to: file)
      try file.sync()
    }
    try report.stage(ReportMetadata(creationTime: command.created?.seconds ?? TimeArgument.now))
    try report.sync()
    try report.publish()
    try session.syncPending()
    return Made(id: id, bytes: bytes)
  }

  private func copy(_ path: String, _ input: SequentialInput, to file: OpenFile) throws -> Int {
    do { return try input.forEachBlock { try file.write($0) } } catch let failure as FileFailure {
      throw failure
    } catch {
      throw InputFailure(name: path, underlying: error)
    }
  }

  // MARK: Telling

  private func tellDryRun() throws {
    if let id = command.id, try database.report(id) != nil { throw AlreadyThere() }
    if command.format == .json {
      writeJSON(command.id, nil)
      return
    }
    let id = command.id.map { " \($0.text)" } ?? ""
    let attachments = command.attachment.isEmpty ? "" : " with \(Wording.count(command.attachment.count, "attachment"))"
    Terminal.error("\(displayName(command.file)): would become the report\(id)\(attachments)")
  }

  private func tell(_ made: Made) {
    if command.format == .json { writeJSON(made.id, made.bytes) } else { Terminal.output(made.id.text + "\n") }
  }

  private func writeJSON(_ id: UUIDBytes?, _ bytes: Int?) {
    JSONWriter.standardOutput(.indented) { json in
      json.object { json in
        json.member("schema", "crashpadctl-database-new/1")
        json.member("database", database.path.string)
        json.member("dry_run", command.dryRun)
        json.member("id", id?.text)
        json.member("total_size", bytes)
      }
    }
  }
}
