// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CCrashpadLinux
internal import CrashpadDatabase
internal import CrashpadFiles
internal import Glibc
internal import CrashpadSnapshot
internal import SystemPackage

/// The runs of a program: a hidden file `.<program-id>.runs` beside the pending dumps, with a line `<uuid> <seconds
/// since 1970> <process>` for each start, the latest one last. The UUID is that of the file for a crash.
///
/// The database shows the end of a run: its file is there with `.locked` and held (it runs), with `.locked` and not
/// held (it was killed), without `.locked`, as a report or rejected (it crashed), or gone (it ended normally). So
/// nothing has to be written when a run ends, and any program may process a dump.
struct RunHistory {
  /// The number of runs that are kept.
  static let limit = 64
  private static let lineSize = 96

  private let database: CrashDatabase
  private let folder: Folder
  private let programID: String
  private let fileName: FileName?

  init(_ database: CrashDatabase, _ pendingDumps: Folder, programID: String) {
    self.database = database
    self.folder = pendingDumps
    self.programID = programID
    fileName = FileName(".\(programID)" + DatabaseLayout.runsExtension)
  }

  struct Run: Equatable {
    let id: UUIDBytes
    /// In seconds since 1970.
    let start: Int64
    /// As `ownProcess()` has it; nil if it is not known.
    var process: String?
  }

  // MARK: Reading

  /// An unreadable file counts as missing: it must not keep a program from starting.
  func previousRun(startCrashInterval: Int64) -> PreviousRun {
    let hangs = DeadRunCleanup(database, folder, programID: programID).dumpsOfDead(except: [])
    guard let runs = recordedRuns() else { return PreviousRun.unknown }
    var last: (end: PreviousRun.End, uptime: Int64?)?
    var startCrashes = 0
    let process = ownProcess()
    for run in runs.reversed() {
      let end: PreviousRun.End
      var uptime: Int64?
      switch state(of: run) {
      case .running: continue
      case .unknown: return PreviousRun.unknown
      case .gone: end = .exited
      // This process goes on, as another program: it replaced itself (exec).
      case .killed: end = process != nil && run.process == process ? .exited : .killed
      case .crashed(let time):
        end = .crashed
        uptime = time.map { max($0.saturatingDifference(run.start), 0) }
      }
      if last == nil { last = (end, uptime) }
      guard end == .crashed, let uptime, uptime <= startCrashInterval else { break }
      startCrashes += 1
    }
    let own = Set(runs.map(\.id))
    return PreviousRun(
      end: last?.end ?? .none, uptime: last?.uptime, startCrashes: startCrashes,
      hangs: hangs.count { dump in dump.uuid.map { !own.contains($0) } ?? true })
  }

  /// The ids of the recorded runs, the latest one last; empty if they can't be read.
  func ids() -> [UUIDBytes] { recordedRuns()?.map(\.id) ?? [] }

  private func recordedRuns() -> [Run]? {
    guard let fileName else { return nil }
    do {
      guard let file = try folder.openIfPresent(fileName) else { return nil }
      return Self.parse(try file.prefix(2 * Self.limit * Self.lineSize))
    } catch {
      // Unknown, as without a file: nothing is concluded from that.
      return nil
    }
  }

  static func parse(_ bytes: [UInt8]) -> [Run] {
    let lines = bytes.split(separator: UInt8(ascii: "\n"))
    return lines.compactMap { line in
      let parts = line.split(separator: UInt8(ascii: " "))
      guard 2...3 ~= parts.count, let id = UUIDBytes(text: String(decoding: parts[0], as: UTF8.self)),
        let start = Int64(String(decoding: parts[1], as: UTF8.self)), parts.count == 2 || parts[2].contains(0x3a)
      else { return nil }
      return Run(id: id, start: start, process: parts.count == 2 ? nil : String(decoding: parts[2], as: UTF8.self))
    }
  }

  enum State: Equatable {
    case running
    case gone
    /// Its dump could not be looked for.
    case unknown
    case killed
    /// The time in seconds since 1970; nil if it is not known.
    case crashed(at: Int64?)
  }

  private func state(of run: Run) -> State {
    guard let name = FileName("\(programID)@\(run.id.text)") else { return .gone }
    let locked = name.appending(DatabaseLayout.lockedExtension)
    do {
      if let file = try folder.openIfPresent(locked) {
        guard file.ownership() == .free else { return .running }
        // The process ended while it wrote the dump.
        let status = try file.status()
        return status.size > 0 ? .crashed(at: status.modified) : .killed
      }
      if let dump = try folder.status(name) { return .crashed(at: dump.modified) }
      // Tried twice, as the report may be moving from one state to the other.
      if let report = try database.reportForClaim(run.id) ?? database.reportForClaim(run.id) {
        return .crashed(at: try Self.time(of: database.open(report)))
      }
      let rejected = try Folder(database.path).folderIfPresent(DatabaseLayout.rejected)?.status(name)
      if let rejected { return .crashed(at: rejected.modified) }
    } catch { return .unknown }
    return .gone
  }

  /// The time in a minidump's header, which is that of the crash.
  private static func time(of report: OpenFile) throws(FileFailure) -> Int64? {
    let start = try report.prefix(24)
    guard start.count == 24, start.starts(with: Array("MDMP".utf8)) else { return nil }
    return Int64(unsafe start.span.bytes.uint32(at: 20))
  }

  // MARK: Writing

  private static func line(_ run: Run) -> String {
    "\(run.id.text) \(run.start)\(run.process.map { " \($0)" } ?? "")\n"
  }

  /// Adds this run. If that fails, the run is not recorded.
  func append(_ dump: FileName) {
    let own = PendingDump(name: dump, size: 0, modified: 0, isOwned: true)
    guard let id = own.uuid else { return }
    let run = Run(id: id, start: Int64(Glibc.time(nil)), process: ownProcess())
    for _ in 0..<16 {
      do { if try append(run) { return } } catch { return }
      // Another process of the program is starting too. A process that holds the lock for longer is stopped, so the
      // wait is short.
      usleep(500)
    }
  }

  /// Returns false if another process is updating the file.
  private func append(_ run: Run) throws(FileFailure) -> Bool {
    guard let fileName else { return true }
    let file = try folder.open(fileName, .readWriteOrCreate)
    guard file.takeOwnership() != .busy else { return false }
    // The previous holder of the lock replaced the file.
    guard let status = try folder.status(fileName), try status.isSameFile(as: file.status()) else { return false }
    let runs = Self.parse(try file.prefix(2 * Self.limit * Self.lineSize)) + [run]
    let text = runs.suffix(Self.limit).map(Self.line).joined()
    let temporary = fileName.appending(".new")
    _ = try folder.remove(temporary)
    let new = try folder.open(temporary, .create)
    do {
      try new.write(Array(text.utf8))
      try folder.move(temporary, to: folder, as: fileName)
    } catch {
      _ = try? folder.remove(temporary)
      throw error
    }
    return true
  }
}
