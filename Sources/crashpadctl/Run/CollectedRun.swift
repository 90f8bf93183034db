// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadDatabase
import CrashpadCore
import CrashpadFiles
import CrashpadView
import Glibc
import CrashpadSnapshot
import CrashpadSupervision
import CrashpadSymbolication
import SystemPackage

/// The dumps of a program that has ended, each with its crash.
struct CollectedRun {
  /// One dump of the run.
  struct CapturedDump {
    var dump: PendingDump
    let uuid: UUIDBytes
    let path: FilePath
    /// The reason why the dump could not be read.
    var failure: String?
    var contents: Dump?
    var view: CrashView?
    /// The report created from the dump.
    var report: FilePath?
    var processingFailure: String?

    var processID: UInt32 { HandlerEnvironment.processID(of: uuid) }
  }

  let run: HandledRun
  let end: HandledRun.End
  private(set) var dumps: [CapturedDump] = []
  /// The number of processes of this run that are still alive.
  private(set) var running = 0
  /// The reason why the database could not be read.
  private(set) var failure: String?

  init(run: HandledRun, end: HandledRun.End, cache: SymbolCache, processes: Bool) {
    self.run = run
    self.end = end
    do {
      let database = try CrashDatabase.opened(run.database)
      try collect(database)
      for index in dumps.indices { read(index, database, cache) }
      if processes, !dumps.isEmpty { process(database) }
    } catch {
      // If no program created the database, there is nothing to report.
      if case .noSuchFileOrDirectory? = (error as? FileFailure)?.errno { return }
      if error is CrashDatabase.OpenFailure { return }
      failure = Sentences.databaseFailure(error, run.database)
    }
  }

  /// Finds the dumps of the run. Removes empty dumps of dead processes, and unlocks their unfinished ones.
  private mutating func collect(_ database: CrashDatabase) throws {
    let pending = try database.pendingDumps()
    // A dump that could not be examined may be of the run.
    failure = pending.failures.first.map { Sentences.databaseFailure($0, $0.path) }
    let own = pending.dumps.compactMap { dump in
      dump.uuid.flatMap { uuid in run.environment.owns(uuid) ? (dump: dump, uuid: uuid) : nil }
    }
    // Names have numbers of processes, which begin anew: they are no order of dumps of one second.
    func order(_ dump: PendingDump) -> (Int64, Int64, FileName) { (dump.modified, dump.modifiedNanoseconds, dump.name) }
    for (dump, uuid) in own.sorted(by: { order($0.dump) < order($1.dump) }) {
      var dump = dump
      if dump.isLocked {
        let process = HandlerEnvironment.processID(of: uuid)
        // The program has ended. A child that still has its empty file open will not write to it.
        let isOver = Int32(bitPattern: process) == end.processID
        guard isOver && dump.size == 0 || !dump.isOwned && (isOver || Self.isDead(process)) else {
          running += 1
          continue
        }
        guard let settled = try database.resolveAbandonedDump(dump, isOver: isOver) else { continue }
        dump = settled
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
      dumps[index].view = CrashView(contents, snapshot, cache, signatures: nil)
    } catch {
      dumps[index].failure = Sentences.failure(error, creating: false).text
    }
  }

  private mutating func process(_ database: CrashDatabase) {
    var options = DumpProcessor.Options()
    options.names = Set(dumps.map(\.dump.name))
    // The signals of before were the program's.
    EndSignals.begin()
    options.runEnd = EndSignals.run
    var results: [FileName: DumpProcessor.Outcome] = [:]
    do throws(FileFailure) {
      try DumpProcessor(database, options: options).run { event in
        if case .result(let result) = event { results[result.dump.name] = result.outcome }
      }
    } catch {
      failure = Sentences.databaseFailure(error, database.path)
    }
    for index in dumps.indices {
      switch results[dumps[index].dump.name] {
      case .processed(let id, _, _)?, .repeated(let id)?:
        dumps[index].report = hint { try database.report(id) }.map { database.path(of: $0) }
      case .rejected(let name)?:
        dumps[index].processingFailure = "no report can be made of it; it is in rejected/\(name.text)"
      case .failed(let error)?: dumps[index].processingFailure = Sentences.failure(error, creating: true).text
      case .busy?: dumps[index].processingFailure = "another program works on it"
      case .notTried?: dumps[index].processingFailure = "asked to end before"
      case .empty?, .gone?, nil: break
      }
    }
  }
}
