// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import CrashpadSnapshot
import Synchronization
import SystemPackage
import Testing
import ToolRunner

@testable import CrashpadDatabase
@testable import CrashpadFiles

/// A database directory of one test, and what its files have in them, byte by byte.
struct ScratchDatabase {
  let temporary: TemporaryFolder
  let database: CrashDatabase
  var path: FilePath { database.path }

  init(in place: URL = FileManager.default.temporaryDirectory) throws {
    temporary = try TemporaryFolder(in: place)
    database = try CrashDatabase.create(FilePath(temporary.work.path).appending("db")).database
  }

  func session(now: Int64 = 1_700_000_000) throws -> DatabaseSession { try DatabaseSession(database, now: now) }

  // MARK: Files

  func url(_ name: String) -> URL { temporary.url("db/" + name) }
  func folder(_ name: String) throws -> Folder { try Folder(path.appending(name)) }
  func exists(_ name: String) -> Bool { (try? FileKind(at: path.appending(name))) != nil }
  func bytes(of name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: url(name))) }
  func write(_ bytes: [UInt8], to name: String) throws { try temporary.write(bytes, to: "db/" + name) }

  func makeDirectory(_ name: String) throws {
    try FileManager.default.createDirectory(at: url(name), withIntermediateDirectories: true)
  }
  func makeLink(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(atPath: url(name).path, withDestinationPath: target)
  }
  func makeFIFO(_ name: String) { #expect(unsafe mkfifo(url(name).path, 0o600) == 0) }
  func setModified(_ name: String, _ seconds: Int64) {
    let times = [timespec(tv_sec: Int(seconds), tv_nsec: 0), timespec(tv_sec: Int(seconds), tv_nsec: 0)]
    #expect(unsafe utimensat(AT_FDCWD, url(name).path, times, 0) == 0)
  }
  func hardLink(_ name: String, as newName: String) throws {
    try FileManager.default.linkItem(at: url(name), to: url(newName))
  }

  /// All files below the database, with `/` behind directories, sorted. The directories that are always there are left out.
  func everything() throws -> [String] {
    let always: Set = ["new/", "pending/", "completed/", "attachments/", "pending-serialized-ios-dump/"]
    func list(_ folder: Folder, _ prefix: String) throws -> [String] {
      var found: [String] = []
      for name in try folder.names() {
        guard try folder.status(name)?.kind == .directory else {
          found.append(prefix + name.text)
          continue
        }
        found.append(prefix + name.text + "/")
        found += try list(folder.folder(name), prefix + name.text + "/")
      }
      return found
    }
    return try list(Folder(path), "").filter { !always.contains($0) }.sorted()
  }

  // MARK: Content

  static func little(_ value: some FixedWidthInteger, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: Int64(truncatingIfNeeded: value) >> (8 * Int64($0))) }
  }

  static func metadata(creation: Int64 = 1_600_000_000, attributes: UInt8 = 0, serverID: String = "") -> [UInt8] {
    [1, 0, 0, 0, 0, 0, 0, 0] + little(0, 8) + little(creation, 8) + [attributes, 0, 0, 0, 0, 0, 0, 0]
      + Array(serverID.utf8)
  }

  /// `c`, `r`, `a`, … `\n`
  static let mark: [UInt8] = [0x63, 0x72, 0x61, 0x73, 0x68, 0x70, 0x61, 0x64, 0x63, 0x74, 0x6c, 0x0a]

  /// A lock that some run of ours made.
  static func markedLock(_ time: Int64 = 1_600_000_000) -> [UInt8] { little(time, 8) + mark }
  /// One of Crashpad.
  static func crashpadLock(_ time: Int64 = 1_600_000_000) -> [UInt8] { little(time, 8) }

  func addReport(
    _ id: UUIDBytes, in state: String = "pending", metadata: [UInt8]? = Self.metadata(), attachments: [String] = []
  ) throws {
    try write(Array("MDMP".utf8), to: "\(state)/\(id.text).dmp")
    if let metadata { try write(metadata, to: "\(state)/\(id.text).meta") }
    for name in attachments { try write([1, 2, 3], to: "attachments/\(id.text)/\(name)") }
  }

  // MARK: Runs that die

  /// The files of runs, not what they wrote.
  func runFiles() throws -> [String] {
    try folder("new").names().map(\.text).filter { $0.hasPrefix(".crashpadctl-") && !$0.dropFirst(13).contains("-") }
      .sorted()
  }

  /// A run that does `body` and then ends as a killed one does: nothing is taken away, only the kernel closes its files.
  ///
  /// - Returns: the name of its file.
  @discardableResult
  func deadRun(_ body: (DatabaseSession, _ runFile: String) throws -> Void = { _, _ in }) throws -> String {
    let before = Set(try runFiles())
    var session: DatabaseSession? = try session()
    let name = try #require(try runFiles().first { !before.contains($0) })
    if let session { try body(session, name) }
    session = nil
    let fileName = try #require(FileName(name))
    let file = try folder("new").open(fileName)
    // A process that is just being started by another test has our files for a moment.
    waitUntil { file.ownership() == .free }
    return name
  }

  /// The lock file of a run, as a dead one leaves it: `name` is a link of the run's file.
  func leaveLock(of runFile: String, _ state: String, _ id: UUIDBytes) throws {
    try hardLink("new/" + runFile, as: "\(state)/\(id.text).lock")
  }
}

/// Waits for what comes by itself.
func waitUntil(_ condition: () -> Bool) {
  for _ in 0..<30_000 {
    if condition() { return }
    usleep(1_000)
  }
  Issue.record("it did not come")
}

/// A thread that begins at once: those of queues may wait for other tests.
struct OwnThread {
  private let group = DispatchGroup()

  init(_ body: @escaping @Sendable () -> Void) {
    group.enter()
    Thread.detachNewThread { [group] in
      body()
      group.leave()
    }
  }

  func wait() { group.wait() }
}

/// Values that several threads collect.
final class Gathered<Value: Sendable>: Sendable {
  private let list = Mutex<[Value]>([])
  var values: [Value] { list.withLock { $0 } }
  func add(_ value: Value) { list.withLock { $0.append(value) } }
  func removeAll() { list.withLock { $0.removeAll() } }
}

/// The code of a failure of the file system; nil if there was none.
func failureCode(_ body: () throws -> Void) -> Errno? {
  do {
    try body()
    return nil
  } catch {
    let cause = (error as? CrashDatabase.OpenFailure)?.cause ?? (error as? ReportChangeFailure)?.cause ?? error
    return (cause as? FileFailure)?.errno
  }
}

extension NewReport {
  /// All steps in one.
  func publish(_ metadata: ReportMetadata, durable: Bool = false) throws(FileFailure) {
    try stage(metadata)
    if durable { try sync() }
    try publish()
  }
}
