// SPDX-License-Identifier: Apache-2.0
internal import CrashpadDatabase
internal import CrashpadCore
internal import CrashpadFiles
internal import Glibc
internal import CrashpadSnapshot
public import SystemPackage

extension CrashpadClient {
  /// The results for dumps.
  public struct ProcessingSummary: Sendable, Equatable {
    /// The ids of the new reports: UUIDs in lower case.
    public internal(set) var reports: [String] = []
    /// The names in `rejected/` of dumps that can't be converted to a report.
    public internal(set) var rejected: [String] = []
    /// The names of dumps that stay for another attempt: another program is using them, or the disk failed.
    public internal(set) var remaining: [String] = []

    package init() {}
  }

  /// Crashpad's limit for one call, so that a flood of dumps can't keep a program from starting.
  static let dumpLimit = 20

  /// Makes reports from at most 20 pending dumps: first those of this program, then those of other programs. Each dump
  /// becomes one
  /// report, however many programs process it.
  ///
  /// Waits for the disk, and takes milliseconds for each dump: not for the main thread.
  ///
  /// - Parameter annotations: texts to add to the reports, such as facts that are known only after the crash. They
  ///   override annotations of a dump with the same name.
  @discardableResult
  public static func processIntermediateDumps(annotations: [String: String] = [:]) throws(Failure) -> ProcessingSummary
  {
    try process(running(), annotations: annotations, only: nil)
  }

  /// Makes a report from one dump that ``dumpWithoutCrashAndDeferProcessing(atPath:)`` wrote. The dump moves into the
  /// database first; so it leaves its path even if the report has to wait.
  ///
  /// - Parameters:
  ///   - file: the dump.
  ///   - annotations: texts to add to the report.
  @discardableResult
  public static func processIntermediateDump(_ file: FilePath, annotations: [String: String] = [:]) throws(Failure)
    -> ProcessingSummary
  {
    let running = try running()
    let name: FileName
    do { name = try adopt(file, running) } catch { throw .processing(error.path, error.errno) }
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
      // On another file system: copied there completely under a temporary name first.
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

  static func process(_ running: Running, annotations: [String: String], only names: Set<FileName>?) throws(Failure)
    -> ProcessingSummary
  {
    var options = DumpProcessor.Options()
    options.bundleIDs = [running.programID]
    options.limit = Self.dumpLimit
    options.annotations = annotations.map { (name: $0.key, value: $0.value) }
    // One thread, to leave the processors to the program.
    options.jobs = 1
    options.names = names
    // On a file system without locks, this process's own file would look as if it had been abandoned a day ago.
    if let own = running.ownDump { options.exceptNames = [own.appending(DatabaseLayout.lockedExtension)] }
    var summary = ProcessingSummary()
    do {
      try DumpProcessor(running.database, options: options).run { event in
        guard case .result(let result) = event else { return }
        switch result.outcome {
        case .processed(let id, _, _), .repeated(let id): summary.reports.append(id.text)
        case .rejected(let name): summary.rejected.append(name.text)
        case .busy, .failed, .notTried: summary.remaining.append(result.dump.name.text)
        case .empty, .gone: break
        }
      }
    } catch { throw .processing(error.path, error.errno) }
    return summary
  }
}
