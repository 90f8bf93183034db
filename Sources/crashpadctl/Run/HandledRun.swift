import CrashpadCore
import CrashpadFiles
import Glibc
import CrashpadSupervision
import SystemPackage

/// One run of a program with the handler, from its start to its end.
struct HandledRun {
  /// The program's arguments, its name first.
  let arguments: [[UInt8]]
  let environment: HandlerEnvironment
  let database: FilePath
  let isQuiet: Bool

  struct End {
    let processID: Int32
    let end: Supervisor.End
    /// The warnings printed before the start.
    let warnings: [String]
  }

  var name: String { Wording.printable(arguments.first ?? []) }

  /// Runs the program. If it can't be started, ends the tool as env(1) does.
  func end() -> End {
    let search = ProgramSearch()
    let candidates = search.candidates(arguments.first ?? [])
    var warnings: [String] = []
    var variables = environment.applied(to: ProgramStart.ownEnvironment)
    if let path = candidates.executable {
      let file = ProgramFile(path, search: search)
      warnings = file.obstacles.map { Self.sentence($0, file) }
      // The loader of another C library ends the program if it can't load the handler.
      if file.obstacles.contains(where: \.isOtherLoader) { variables = ProgramStart.ownEnvironment }
    }
    // If this fails, the handler can't create the database either, and reports it.
    try? createDirectories(database.removingLastComponent())
    if !isQuiet { for warning in warnings { Terminal.error("crashpadctl: warning: \(warning)") } }
    var start = ProgramStart(
      arguments, environment: variables, candidates: candidates)
    start.closedStreams = ProcessSetup.closedStreams
    start.changedSignals = ProcessSetup.changedSignals
    start.ignoredSignals = ProcessSetup.ignoredSignals
    do throws(Errno) {
      let supervisor = try Supervisor(start)
      let processID = supervisor.processID
      return End(processID: processID, end: supervisor.wait(), warnings: warnings)
    } catch {
      Terminal.error("crashpadctl: error: \(name): \(error.description)")
      exit(error == .noSuchFileOrDirectory || error == .notDirectory ? 127 : 126)
    }
  }

  private static func sentence(_ obstacle: ProgramFile.Obstacle, _ file: ProgramFile) -> String {
    let path = Wording.printable(file.path)
    let program = file.script.map { "\(Wording.printable($0)): its interpreter \(path)" } ?? "\(path): it"
    switch obstacle {
    case .isStatic: return "\(program) is linked statically, and takes no library; its crashes are not captured"
    case .otherMachine(let number):
      return
        "\(program) is for another processor (ELF machine \(number)) than the handler; its crashes are not captured"
    case .otherLoader(let loader):
      return "\(program) has another C library, of \(Wording.printable(loader)), than the handler; "
        + "its crashes are not captured"
    case .missingLoader(let loader): return "\(program) needs \(Wording.printable(loader)), which is not there"
    case .getsRights:
      return "\(program) gets rights when it is started, and then no library of others; its crashes are not captured"
    }
  }
}

extension ProgramFile.Obstacle {
  var isOtherLoader: Bool {
    if case .otherLoader = self { return true }
    return false
  }
}
