// SPDX-License-Identifier: Apache-2.0
import CrashpadCore
import CrashpadFiles
import CrashpadText
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

  var name: String { TextFormat.printable(arguments.first ?? []) }

  /// Runs the program. If it can't be started, ends the tool as env(1) does.
  func end() -> End {
    let search = ProgramSearch()
    let candidates = search.candidates(arguments.first ?? [])
    var warnings: [String] = []
    var variables = environment.applied(to: ProgramStart.ownEnvironment)
    if let path = candidates.executable {
      let file = ProgramFile(path, search: search)
      warnings = file.obstacles.map { RunSentences.obstacle($0, file) }
      // The loader of another C library ends the program if it can't load the handler.
      if file.obstacles.contains(where: \.isOtherLoader) { variables = ProgramStart.ownEnvironment }
    }
    if let kind = hint({ try FileKind(at: database, followingLink: true) }), kind != .directory {
      warnings.append(RunSentences.noDirectory(database))
    }
    if !isQuiet { for warning in warnings { Terminal.error("crashpadctl: warning: \(warning)") } }
    let start = ProgramStart(forProgram: arguments, environment: variables, candidates: candidates)
    do throws(Errno) {
      let supervisor = try Supervisor(start)
      let processID = supervisor.processID
      return End(processID: processID, end: supervisor.wait(), warnings: warnings)
    } catch {
      Terminal.failure("\(name): \(error.description)", .noInput)
      exit(error == .noSuchFileOrDirectory || error == .notDirectory ? 127 : 126)
    }
  }
}

extension ProgramFile.Obstacle {
  var isOtherLoader: Bool {
    if case .otherLoader = self { return true }
    return false
  }
}

extension ProgramStart {
  /// A program that gets streams and signals as this tool got them.
  init(forProgram arguments: [[UInt8]], environment: [[UInt8]], candidates: ProgramSearch.Candidates) {
    self.init(arguments, environment: environment, candidates: candidates)
    closedStreams = ProcessSetup.closedStreams
    changedSignals = ProcessSetup.changedSignals
    ignoredSignals = ProcessSetup.ignoredSignals
  }
}
