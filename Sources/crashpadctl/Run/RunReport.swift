import CrashpadBytes
import CrashpadDatabase
import CrashpadCore
import CrashpadFiles
import Glibc
import CrashpadJSON
import CrashpadMeaning
import CrashpadSnapshot
import CrashpadSupervision
import CrashpadSymbolication
import SystemPackage

/// The summary at the end of a program: each dump of the run, with its crash.
struct RunReport {
  /// The number of stack frames to print. With the text above them, they fill a screen.
  static let frames = 16

  /// One dump of the run.
  struct CapturedDump {
    var dump: PendingDump
    let uuid: UUIDBytes
    let path: FilePath
    /// The reason why the dump could not be read.
    var failure: String?
    var contents: Dump?
    var symbolized: SymbolizedView?
    /// The report created from the dump.
    var report: FilePath?
    var processingFailure: String?

    var processID: UInt32 { HandlerEnvironment.processID(of: uuid) }
  }

  let run: HandledRun
  let end: HandledRun.End
  private let symbols: SymbolPlaces
  private(set) var dumps: [CapturedDump] = []
  /// The number of processes of this run that are still alive.
  private(set) var running = 0
  /// The reason why the database could not be read.
  private(set) var failure: String?

  init(run: HandledRun, end: HandledRun.End, cache: SymbolCache, symbols: SymbolPlaces, processes: Bool) {
    self.run = run
    self.end = end
    self.symbols = symbols
    do {
      let database = try CrashDatabase(run.database)
      try collect(database)
      for index in dumps.indices { read(index, database, cache) }
      if processes, !dumps.isEmpty { process(database) }
    } catch {
      // If no program created the database, there is nothing to report.
      if case .noSuchFileOrDirectory? = (error as? FileFailure)?.errno { return }
      if error is CrashDatabase.NotADatabase { return }
      failure = Sentences.databaseFailure(error, run.database)
    }
  }

  /// Finds the dumps of the run. Removes empty dumps of dead processes, and unlocks their unfinished ones.
  private mutating func collect(_ database: CrashDatabase) throws {
    let own = try database.pendingDumps().dumps.compactMap { dump in
      dump.uuid.flatMap { uuid in run.environment.owns(uuid) ? (dump: dump, uuid: uuid) : nil }
    }
    for (dump, uuid) in own.sorted(by: { ($0.dump.modified, $0.dump.name) < ($1.dump.modified, $1.dump.name) }) {
      var dump = dump
      if dump.isLocked {
        let process = HandlerEnvironment.processID(of: uuid)
        // The program has ended. A child that still has its empty file open will not write to it.
        let isOver = Int32(bitPattern: process) == end.processID
        guard isOver && dump.size == 0 || !dump.isOwned && (isOver || Self.isDead(process)) else {
          running += 1
          continue
        }
        if dump.size == 0 {
          if let status = try database.open(dump)?.status() { _ = try database.remove(dump, status) }
          continue
        }
        guard let unlocked = try database.unlock(dump) else { continue }
        dump = unlocked
      }
      dumps.append(CapturedDump(dump: dump, uuid: uuid, path: database.path(of: dump)))
    }
  }

  private static func isDead(_ process: UInt32) -> Bool {
    kill(Int32(bitPattern: process), 0) != 0 && errno == ESRCH
  }

  private mutating func read(_ index: Int, _ database: CrashDatabase, _ cache: SymbolCache) {
    do {
      guard let file = try database.open(dumps[index].dump) else {
        dumps[index].failure = "another program took it already"
        return
      }
      let contents = Dump(try DumpInput(InputFile(file)))
      dumps[index].contents = contents
      guard let snapshot = contents.snapshot else { return }
      let result = Symbolization(snapshot, contents.file, cache, threads: .crashed)
      dumps[index].symbolized = SymbolizedView(view: InspectionView(contents, snapshot), result: result)
    } catch {
      dumps[index].failure = Sentences.failure(error, creating: false).text
    }
  }

  private mutating func process(_ database: CrashDatabase) {
    var options = Processing.Options()
    options.names = Set(dumps.map(\.dump.name))
    var results: [FileName: Processing.Outcome] = [:]
    do throws(FileFailure) {
      try Processing(database, options: options).run { event in
        if case .result(let result) = event { results[result.dump.name] = result.outcome }
      }
    } catch {
      failure = Sentences.databaseFailure(error, database.path)
    }
    for index in dumps.indices {
      switch results[dumps[index].dump.name] {
      case .processed(let id, _, _)?, .repeated(let id)?:
        dumps[index].report = (try? database.report(id)).flatMap { $0 }.map { database.path(of: $0) }
      case .rejected(let name)?:
        dumps[index].processingFailure = "no report can be made of it; it is in rejected/\(name.text)"
      case .failed(let error)?: dumps[index].processingFailure = Sentences.failure(error, creating: true).text
      case .busy?: dumps[index].processingFailure = "another program works on it"
      case .cleanExit?, .gone?, nil: break
      }
    }
  }

  // MARK: Text

  /// Prints to standard error.
  func print(_ format: OutputFormat) {
    Terminal.errorPart(format == .json ? String(decoding: json, as: UTF8.self) : text(.error))
  }

  func write(to path: FilePath, _ format: OutputFormat) {
    do {
      let file = try OutputFile(path)
      let bytes = format == .json ? json : Array(text(.plain).utf8)
      try unsafe file.write(bytes.span.bytes)
      try file.commit(durable: false)
    } catch {
      Terminal.error("\(Wording.printable(path)): error: \(Sentences.failure(error, creating: true).text)")
    }
  }

  private func text(_ style: TextStyle) -> String {
    var text = failure.map { $0 + "\n" } ?? ""
    for dump in dumps { text += "\n" + self.text(dump, style) }
    if dumps.isEmpty, let sentence = missing { text += "crashpadctl: \(sentence)\n" }
    return text
  }

  private func text(_ dump: CapturedDump, _ style: TextStyle) -> String {
    // If there is a report, the dump no longer exists.
    let file = dump.report ?? dump.path
    let path = Wording.printable(file)
    var text = ""
    if let symbolized = dump.symbolized {
      let stack = StackText(
        symbolized: symbolized, limit: Self.frames, style: style, hint: "crashpadctl symbolize prints them")
      text += OverviewText.head(symbolized.view, name: path, style: style)
      for thread in symbolized.result.threads.prefix(1) { text += "\n" + stack.text(thread) }
      text += "\n"
    } else if let failure = dump.failure {
      text += "\(path): error: \(failure)\n"
    } else {
      for finding in dump.contents?.findings.findings ?? [] where finding.severity > .note {
        text += Sentences.line(finding, input: path) + "\n"
      }
    }
    if let failure = dump.processingFailure { text += "\(path): error: \(failure)\n" }
    return text + "crashpadctl: for all threads: \(command(file))\n"
  }

  /// A command that prints all stacks with the same symbols, quoted for a shell.
  private func command(_ file: FilePath) -> String {
    var words = ["crashpadctl", "symbolize", "--threads", "all"]
    for path in symbols.symbols { words += ["-s", ShellWord.quoted(path)] }
    if symbols.noSystem { words.append("--no-system") }
    if symbols.debuginfod { words.append("--debuginfod") }
    return (words + [ShellWord.quoted(file)]).joined(separator: " ")
  }

  /// The sentence about a program that was killed without leaving a dump.
  private var missing: String? {
    guard case .killed(let signal) = end.end else { return nil }
    let name = linuxSignalName(signal)
    if [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS].contains(signal) {
      return
        "\(run.name) was killed by \(name) and left no dump; \"crashpadctl doctor -- \(run.name)\" lists possible causes"
    }
    return signal == SIGKILL ? "\(run.name) was killed by SIGKILL, which leaves no dump" : nil
  }

  // MARK: JSON

  private var json: [UInt8] {
    let output = MemoryOutput()
    var json = JSONWriter(.indented) { output.write($0) }
    json.object { json in
      json.member("schema", "crashpadctl-run/1")
      json.array("command") { json in for word in run.arguments { json.string(Wording.printable(word)) } }
      json.member("pid", end.processID)
      switch end.end {
      case .exited(let status):
        json.member("exit_status", status)
        json.member("signal", nil as String?)
      case .killed(let signal):
        json.member("exit_status", nil as Int32?)
        json.member("signal", linuxSignalName(signal))
      }
      json.member("run", run.environment.run.text)
      json.member("database", path: run.database)
      json.member("error", failure)
      json.array("warnings") { json in for warning in end.warnings { json.string(warning) } }
      json.member("running", running)
      json.array("dumps") { json in for dump in dumps { write(dump, to: &json) } }
    }
    do { try json.finish() } catch { preconditionFailure("memory takes everything") }
    return output.bytes
  }

  private func write(_ dump: CapturedDump, to json: inout JSONWriter) {
    json.object { json in
      json.member("path", path: dump.path)
      json.member("id", dump.uuid.text)
      json.member("pid", dump.processID)
      json.member("bytes", dump.dump.size)
      json.member("report", path: dump.report)
      json.member("error", dump.failure ?? dump.processingFailure)
      guard let contents = dump.contents else { return }
      json.key("stack")
      SymbolizationJSON.write(
        contents, dump.symbolized, input: ArgumentText.text(dump.path.bytes), part: .stacks, to: &json)
    }
  }
}
