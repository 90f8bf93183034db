import ArgumentParser
import CrashpadBytes
import CrashpadDatabase
import CrashpadCore
import CrashpadFiles
import CrashpadJSON
import CrashpadSnapshot
import SystemPackage

/// An attachment, as `NAME=PATH`.
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
    abstract: "Add a file to the database as a pending report.",
    discussion: """
      Prints the id of the report, which is written completely or not at all, and
      flushed to disk. A Linux core file is converted to a minidump; any other file
      is taken as it is, although readers of the database expect minidumps.

      Examples:
        crashpadctl database new -d DB crash.dmp
        crashpadctl database new -d DB core
        crashpadctl convert crash.idump -o - | crashpadctl database new -d DB -
        crashpadctl database new -d DB crash.dmp --attachment log.txt=app.log
      """)

  @Argument(help: "File of the report; - is standard input.", completion: .file())
  var file: String

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Attach a file; its name has letters, digits, _, - and dots. May be repeated.", valueName: "name=path"),
    completion: .file())
  var attachment: [AttachmentArgument] = []

  @Option(name: .customLong("id"), help: ArgumentHelp("Report id; by default a random one.", valueName: "uuid"))
  var id: UUIDBytes?

  @Option(name: .long, help: ArgumentHelp("Creation time of the report; by default now.", valueName: "time"))
  var created: TimeArgument?

  @Flag(name: [.customShort("n"), .long], help: "Print what would be created; change nothing.")
  var dryRun = false

  @Option(name: .shortAndLong, help: ArgumentHelp("Print the id, or a JSON document.", valueName: "form"))
  var format: OutputFormat = .text

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

  /// The input could not be read; other errors mean that the database could not be written.
  private struct InputFailure: Error {
    let name: String
    let underlying: any Error
  }

  private struct AlreadyThere: Error {}

  /// A core that can't be converted to a minidump. Its findings are printed.
  private struct Rejected: Error {}

  private struct Made {
    let id: UUIDBytes
    let bytes: Int
    /// Whether the conversion of a core had errors.
    let hasErrors: Bool
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
      return made.hasErrors ? .findings : .success
    } catch let failure as InputFailure {
      let (text, status) = Sentences.failure(failure.underlying, creating: false)
      Terminal.error("\(displayName(failure.name)): error: \(text)")
      return status
    } catch is Rejected {
      Terminal.error("\(displayName(command.file)): error: rejected; no report was made")
      return .noData
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
    do { return try path == "-" ? .standardInput() : SequentialInput(FilePath(argument: path)) } catch {
      throw InputFailure(name: path, underlying: error)
    }
  }

  private func make(_ inputs: [(name: String, path: String, input: SequentialInput)], in session: DatabaseSession)
    throws
    -> Made
  {
    let id = command.id ?? .random()
    let report = try NewReport(id, in: session)
    // From here on, the lock of the new report stops others from creating one with the same id.
    if try database.report(id) != nil { throw AlreadyThere() }
    var bytes = 0
    var hasErrors = false
    for (name, path, input) in inputs {
      guard let file = name.isEmpty ? report.file : try report.addAttachment(name) else { continue }
      if name.isEmpty, let core = try core(path) {
        (bytes, hasErrors) = try convert(core, to: file)
      } else if name.isEmpty, path == "-" {
        (bytes, hasErrors) = try copyOrConvert(input, to: file)
      } else {
        bytes += try copy(path, input, to: file)
      }
      try file.sync()
    }
    try report.stage(ReportMetadata(creationTime: command.created?.seconds ?? TimeArgument.now))
    try report.sync()
    try report.publish()
    try session.syncPending()
    return Made(id: id, bytes: bytes, hasErrors: hasErrors)
  }

  /// Copies standard input. If it is a core, as the kernel passes them to programs, converts it to a minidump.
  private func copyOrConvert(_ input: SequentialInput, to file: OpenFile) throws -> (bytes: Int, hasErrors: Bool) {
    var core: SpoolFile?
    var isFirst = true
    let count: Int
    do {
      count = try input.forEachBlock { block in
        if isFirst, block.byteCount >= InputFormat.coreStart {
          let start = block.array(in: ByteRange(offset: 0, count: InputFormat.coreStart))
          if InputFormat.isCore(start) { core = try SpoolFile() }
        }
        isFirst = false
        guard let core else { return try file.write(block) }
        try core.write(block)
      }
    } catch let failure as FileFailure {
      throw failure
    } catch {
      throw InputFailure(name: command.file, underlying: error)
    }
    guard let core else { return (count, false) }
    return try convert(DumpInput(core.input()), to: file)
  }

  private func copy(_ path: String, _ input: SequentialInput, to file: OpenFile) throws -> Int {
    do { return try input.forEachBlock { try file.write($0) } } catch let failure as FileFailure {
      throw failure
    } catch {
      throw InputFailure(name: path, underlying: error)
    }
  }

  /// Opens the report's file as a core; nil if it is not one. Standard input can't be checked in advance.
  private func core(_ path: String) throws -> DumpInput? {
    let file = FilePath(argument: path)
    guard path != "-", case .regular? = try? FileKind(at: file, followingLink: true),
      (try? InputFile.prefix(of: file, count: InputFormat.coreStart)).map(InputFormat.isCore) == true
    else { return nil }
    do { return try DumpInput(file) } catch { throw InputFailure(name: path, underlying: error) }
  }

  private func convert(_ core: DumpInput, to file: OpenFile) throws -> (bytes: Int, hasErrors: Bool) {
    let result: Conversion.Result
    do {
      result = try Conversion(to: .minidump).convert(core, to: ReportOutput(file))
    } catch let failure as FileFailure {
      throw failure
    } catch {
      throw InputFailure(name: command.file, underlying: error)
    }
    for finding in result.findings.findings {
      Terminal.error(Sentences.line(finding, input: displayName(command.file)))
    }
    if result.outcome == .rejected { throw Rejected() }
    return (result.byteCount, result.findings.count(of: .error) > 0)
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
        json.member("database", path: database.path)
        json.member("dry_run", command.dryRun)
        json.member("id", id?.text)
        json.member("total_size", bytes)
      }
    }
  }
}

/// The file of a new report as a byte output.
private final class ReportOutput: ByteOutput {
  private let file: OpenFile

  init(_ file: OpenFile) { self.file = file }

  func write(_ bytes: RawSpan) throws { try file.write(bytes) }
}
