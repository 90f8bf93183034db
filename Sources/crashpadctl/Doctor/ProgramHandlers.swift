// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadFiles
import CrashpadText
import Glibc
import CrashpadMeaning
import CrashpadSnapshot
import CrashpadSupervision
import CrashpadSymbolication
import SystemPackage

/// The handlers that a running program has for crash signals, by name, and what they do to captures.
struct ProgramHandlers {
  enum Owner: String, CaseIterable {
    /// The handler of the library, or one that it calls after the capture.
    case crashpad
    /// The program's handler. The library knows of it, and stands behind it.
    case program
    /// A handler, or the default action, that the program set without the library noticing: by a system call of its own.
    case unseen
    case ignored
    /// The default action, in a program without the library.
    case standard
  }

  struct Row {
    let signal: Int32
    let owner: Owner
    /// Nil without a handler.
    var address: UInt64?
    var function: String?
    var module: FilePath?

    /// Such as "on_fault of /usr/bin/app".
    var text: String {
      guard let address else { return "the default action" }
      let place = module.map { " of \(TextFormat.printable($0))" } ?? ""
      return (function.map { TextFormat.printable($0) } ?? "the code at \(TextFormat.hex(address))") + place
    }
  }

  let process: Int32
  let name: String
  /// Whether the process has the library in it.
  let hasLibrary: Bool
  private(set) var rows: [Row] = []

  /// Rows that differ from what the library sets by itself.
  var own: [Row] { rows.filter { $0.owner != .crashpad && $0.owner != .standard } }

  /// The names of the library's variable and functions in its own files, and in programs that it is linked into.
  private static let tables = ["crashpad_program_handlers", "given_handlers"]
  private static let callers = [["crashpad_call_program", "call_program"], ["crashpad_call_once", "call_once"]]

  /// Throws `SignalActions.Failure`.
  init(of process: Int32) throws(SignalActions.Failure) {
    let actions = try SignalActions(of: process)
    self.process = process
    name = actions.name
    var files = Files(actions)
    let library = files.library()
    hasLibrary = library != nil
    let programs = library.flatMap { library in
      library.table.flatMap { actions.words(at: $0, count: SignalActions.signals.count) }
    }
    for (index, signal) in SignalActions.signals.enumerated() {
      switch actions.actions[index] {
      case .standard: rows.append(Row(signal: signal, owner: library == nil ? .standard : .unseen))
      case .ignored: rows.append(Row(signal: signal, owner: .ignored))
      case .handler(let address):
        if let library, library.callers.contains(address), let program = programs?[index], program != 0 {
          rows.append(files.row(signal, .program, program))
        } else if let library, library.path == actions.module(at: address)?.path, library.isOwn(address, &files) {
          rows.append(Row(signal: signal, owner: .crashpad))
        } else {
          rows.append(files.row(signal, library == nil ? .program : .unseen, address))
        }
      }
    }
  }

  /// The library in a process.
  private struct Library {
    let path: FilePath
    /// Whether the file has nothing but the library.
    let isAlone: Bool
    let table: UInt64?
    let callers: [UInt64]

    func isOwn(_ address: UInt64, _ files: inout Files) -> Bool {
      isAlone || callers.contains(address) || ["handle_crash", "handle_go"].contains(files.name(address).function)
    }
  }

  /// The files in a process, opened as they are needed.
  private struct Files {
    private let actions: SignalActions
    private var symbols: [FilePath: FileSymbols] = [:]
    private var demangler = Demangler(.simplified)

    init(_ actions: SignalActions) { self.actions = actions }

    /// The path of a file as the process sees it, in its own root directory.
    private func inRoot(_ path: FilePath) -> FilePath {
      FilePath("/proc/\(actions.process)/root").pushing(path.removingRoot())
    }

    func library() -> Library? {
      var seen: Set<FilePath> = []
      var paths = actions.actions.compactMap { action -> FilePath? in
        if case .handler(let address) = action { return actions.module(at: address)?.path }
        return nil
      }
      paths += actions.mappings.map(\.path).filter { $0.lastComponent?.string.contains("libcrashpad_") == true }
      for path in paths where seen.insert(path).inserted {
        guard let base = actions.mappings.first(where: { $0.path == path && $0.offset == 0 })?.range.lowerBound,
          let file = hint({ try ElfSymbols(inRoot(path)) }), let table = file.offset(ofSymbol: ProgramHandlers.tables)
        else { continue }
        let callers = ProgramHandlers.callers.compactMap { file.offset(ofSymbol: $0).map { base &+ $0 } }
        let isAlone = file.offset(ofSymbol: Array(ProgramHandlers.tables.prefix(1))) != nil
        return Library(path: path, isAlone: isAlone, table: base &+ table, callers: callers)
      }
      return nil
    }

    mutating func name(_ address: UInt64) -> (function: String?, module: FilePath?) {
      guard let (path, base) = actions.module(at: address) else { return (nil, nil) }
      if symbols[path] == nil { symbols[path] = hint { try FileSymbols(inRoot(path)) } }
      let found = symbols[path]?.symbols.symbolize(address &- base)
      return (found?.frames.last?.function.map { demangler.name($0) }, path)
    }

    mutating func row(_ signal: Int32, _ owner: Owner, _ address: UInt64) -> Row {
      let (function, module) = name(address)
      return Row(signal: signal, owner: owner, address: address, function: function, module: module)
    }
  }

  // MARK: Programs that doctor starts

  enum Outcome {
    case found(ProgramHandlers)
    case failed(SignalActions.Failure)
    /// The program ended before it was examined.
    case ended(Supervisor.End)
    case notStarted(Errno)
    /// The handler can't be preloaded into the program.
    case obstacle(ProgramFile.Obstacle, ProgramFile)
    /// The library, or a place for the dumps, is missing.
    case notTried
  }

  /// Starts a program as `crashpadctl run` does, with its dumps in `folder`, looks at it, and ends it.
  static func starting(
    _ program: [[UInt8]], _ library: FilePath, _ folder: TrialFolder, milliseconds: Int64
  ) -> Outcome {
    let place = folder.folder.path.absolute
    let environment = HandlerEnvironment(library: library, database: place.appending("program"), run: .random())
    let search = ProgramSearch()
    let candidates = search.candidates(program[0])
    if let path = candidates.executable, case let file = ProgramFile(path, search: search),
      let obstacle = file.obstacles.first
    {
      return .obstacle(obstacle, file)
    }
    var start = ProgramStart(
      forProgram: program, environment: environment.applied(to: ProgramStart.ownEnvironment), candidates: candidates)
    start.standardOutput = .standardError
    var found: Outcome?
    do throws(Errno) {
      let end = try Supervisor(start).wait(milliseconds: milliseconds) { process in
        do throws(SignalActions.Failure) { found = .found(try ProgramHandlers(of: process)) } catch {
          // An earlier look is better than one at a program that just ends.
          if found == nil { found = .failed(error) }
        }
      }
      return found ?? end.map { .ended($0) } ?? .failed(.ended)
    } catch {
      return .notStarted(error)
    }
  }

}

extension DoctorChecks {
  /// - Parameter program: the name of the program for messages.
  mutating func addProgram(_ outcome: ProgramHandlers.Outcome, _ program: String) {
    let unknown = "whether its handlers let crashes be captured is not known"
    func names(_ caught: [Int32]) -> String {
      caught.isEmpty
        ? "it has no handlers" : "it has handlers for " + caught.map { linuxSignalName($0) }.joined(separator: ", ")
    }
    switch outcome {
    case .found(let handlers): add(handlers)
    // The command reports these as errors.
    case .failed(.ended), .notStarted: break
    case .failed(.refused(.resourceBusy, let caught)):
      add(
        "handlers", .limited, "\(program) is stopped, so it was not examined; \(names(caught))", unknown,
        "let it go on (kill -CONT)")
    case .failed(.refused(let errno, let caught)):
      add(
        "handlers", .limited, "\(program) can't be examined: \(errno.description); \(names(caught))", unknown,
        "run doctor as root, or let it start the program: crashpadctl doctor -- PROGRAM")
    case .failed(.filtered(let caught)):
      add(
        "handlers", .limited, "\(program) has a filter of system calls, so it was not examined; \(names(caught))",
        unknown,
        "examine it without the filter")
    case .ended(let end):
      let how =
        switch end {
        case .exited(let status): "with status \(status)"
        case .killed(let signal): "by \(linuxSignalName(signal))"
        }
      add(
        "handlers", .note, "\(program) ended \(how) before it could be examined", unknown,
        "use a program that keeps running")
    case .obstacle(let obstacle, let file):
      add("handlers", .missing, RunSentences.obstacle(obstacle, file), nil, RunSentences.remedy(obstacle))
    case .notTried: add("handlers", .note, "\(program) was not started, as the checks above failed", unknown)
    }
  }

  private mutating func add(_ handlers: ProgramHandlers) {
    let program = "\(TextFormat.printable(handlers.name)) (process \(handlers.process))"
    let own = handlers.own
    let found =
      own.isEmpty ? "no handlers of its own" : "handlers of its own for \(TextFormat.count(own.count, "signal"))"
    if handlers.hasLibrary {
      add("handlers", .ok, "\(program): \(found)", nil)
    } else {
      add(
        "handlers", .missing, "\(program): \(found), and not the handler's library", "its crashes are not captured",
        "start it with crashpadctl run")
    }
    // One handler often serves several signals.
    var shown: Set<Int32> = []
    for row in own where !shown.contains(row.signal) {
      let same = own.filter { $0.owner == row.owner && $0.address == row.address }.map(\.signal)
      shown.formUnion(same)
      add(row, same.dropFirst().map { linuxSignalName($0) }, handlers.hasLibrary)
    }
  }

  /// - Parameter others: the other signals with the same handler.
  private mutating func add(_ row: ProgramHandlers.Row, _ others: [String], _ hasLibrary: Bool) {
    let name = linuxSignalName(row.signal)
    let also = others.isEmpty ? "" : "; also for \(others.joined(separator: ", "))"
    switch row.owner {
    case .unseen:
      add(
        name, .limited, "\(row.text), set by a system call of the program's own\(also)",
        row.address == nil
          ? "such a crash leaves no dump"
          : "only it is called: such a crash leaves a dump if it calls the handler before it, or ends by abort(3)",
        "let the program set it by sigaction(3)")
    case .ignored:
      add(
        name, .note, "ignored by the program\(also)",
        "a signal that is sent does nothing; a fault ends the program without a dump")
    default:
      add(
        name, .note, row.text + also,
        hasLibrary
          ? "called first; a dump is written when it sets the default action again, or calls the handler before it"
          : "under crashpadctl run it is called first, and a dump is written when it sets the default action again")
    }
  }
}
