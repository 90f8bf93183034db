internal import CrashDatabase
internal import CrashpadCore
internal import FileSystem
internal import Glibc
internal import Snapshot
public import SystemPackage

extension CrashpadClient {
  /// Why nothing was processed.
  public struct ProcessingFailure: Error, Sendable, Equatable {
    public let path: FilePath
    public let errno: Errno
  }

  /// What became of dumps.
  public struct ProcessingSummary: Sendable, Equatable {
    /// The ids of the reports that were made: UUIDs in lower case.
    public internal(set) var reports: [String] = []
    /// The names in `rejected/` of dumps of which no report can be made.
    public internal(set) var rejected: [String] = []
    /// The names of dumps that stay, to be tried again: another program is about them, or the disk failed.
    public internal(set) var remaining: [String] = []

    public init() {}
  }

  /// Crashpad takes so many dumps at once, so that nobody can keep a program from starting by many.
  static let dumpLimit = 20

  /// Makes reports of pending dumps: those of this program, then those of others; at most 20. Each dump becomes one report,
  /// however many programs are at it.
  ///
  /// Waits for the disk, and takes milliseconds for each dump: not for the main thread.
  ///
  /// - Parameter annotations: texts that the reports get, what is known only after the crash. Where a dump has the same name,
  ///   these win.
  /// - Throws: `NotStarted`, or `ProcessingFailure` if the database can't be used.
  @discardableResult
  public static func processIntermediateDumps(annotations: [String: String] = [:]) throws -> ProcessingSummary {
    try process(running(), annotations: annotations, only: nil)
  }

  /// Makes a report of one dump that ``dumpWithoutCrashAndDeferProcessing(atPath:)`` wrote. The dump moves into the database
  /// first; so it goes from its path even if the report has to wait.
  ///
  /// - Parameters:
  ///   - file: the dump.
  ///   - annotations: texts that the report gets.
  /// - Throws: `NotStarted` or `ProcessingFailure`.
  @discardableResult
  public static func processIntermediateDump(_ file: FilePath, annotations: [String: String] = [:]) throws
    -> ProcessingSummary
  {
    let running = try running()
    let name: FileName
    do { name = try adopt(file, running) } catch { throw ProcessingFailure(path: error.path, errno: error.errno) }
    return try process(running, annotations: annotations, only: [name])
  }

  /// Moves a dump to the pending ones.
  private static func adopt(_ file: FilePath, _ running: Running) throws(FileFailure) -> FileName {
    guard let source = file.lastComponent.flatMap({ FileName($0) }) else { throw FileFailure(file, .invalidArgument) }
    let folder = try Folder(file.removingLastComponent())
    let target = running.pendingDumps
    if try folder.status().isSameFile(as: target.status()) { return source }
    guard let name = FileName("\(running.programID)@\(UUIDBytes.random().text)") else {
      throw FileFailure(file, .invalidArgument)
    }
    do { try folder.moveWithoutReplacing(source, to: target, as: name) } catch {
      guard error.errno == .improperLink else { throw error }
      // Another file system: it appears whole here before it goes there.
      let from = try folder.open(source)
      let path = target.path.appending(name)
      do {
        let output = try OutputFile(path, permissions: .ownerReadWrite)
        let input = try InputFile(from)
        try input.withBytes { try output.write($0) }
        try output.commit(durable: true)
      } catch { throw FileFailure(path, error as? Errno ?? .ioError) }
      try folder.remove(source)
    }
    return name
  }

  static func process(_ running: Running, annotations: [String: String], only names: Set<FileName>?) throws
    -> ProcessingSummary
  {
    let now = Int64(time(nil))
    var options = Processing.Options(now: now, lockTime: now)
    options.bundleIDs = [running.programID]
    options.limit = Self.dumpLimit
    options.annotations = annotations.map { (name: $0.key, value: $0.value) }
    // The program has other things to do at its start.
    options.jobs = 1
    options.names = names
    // Where nobody can see that this process holds its file, it would look like one that was left a day ago.
    if let own = running.ownDump { options.exceptNames = [own.appending(DatabaseLayout.lockedExtension)] }
    var summary = ProcessingSummary()
    do {
      try Processing(running.database, options: options).run { event in
        guard case .result(let result) = event else { return }
        switch result.outcome {
        case .processed(let id, _, _), .repeated(let id): summary.reports.append(id.text)
        case .rejected(let name): summary.rejected.append(name.text)
        case .busy, .failed: summary.remaining.append(result.dump.name.text)
        case .cleanExit, .gone: break
        }
      }
    } catch { throw ProcessingFailure(path: error.path, errno: error.errno) }
    return summary
  }
}
