// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import CrashpadSnapshot
import SystemPackage
import Testing
import ToolRunner

@testable import CrashpadDatabase
@testable import CrashpadFiles

@Suite("DatabaseSession: locks of reports")
struct ReportLockTests {
  private let scratch: ScratchDatabase
  private let id = UUIDBytes.random()

  init() throws { scratch = try ScratchDatabase() }

  private func lockName(_ id: UUIDBytes, _ state: String = "pending") -> String { "\(state)/\(id.text).lock" }

  /// The reason why a lock was refused.
  private func refusal(_ body: () throws -> ReportLock) -> LockState? {
    do {
      _ = try body()
      return nil
    } catch { return (error as? DatabaseSession.Busy)?.state }
  }

  @Test("A lock is a file with the time and the mark, for its owner only; it goes with the object")
  func taken() throws {
    let session = try scratch.session(now: 0x0102_0304_0506_0708)
    var lock: ReportLock? = try session.lock(id, in: .completed)
    try withExtendedLifetime(lock) {
      #expect(try scratch.bytes(of: lockName(id, "completed")) == [8, 7, 6, 5, 4, 3, 2, 1] + ScratchDatabase.mark)
      #expect(!scratch.exists(lockName(id)))
      let name = try #require(FileName(id.text + ".lock"))
      #expect(try scratch.folder("completed").status(name)?.permissions == 0o600)
      #expect(try LockFile.state(name, in: scratch.folder("completed")) == .held(since: 0x0102_0304_0506_0708))
    }
    lock = nil
    #expect(try scratch.everything() == ["new/\(try scratch.runFiles()[0])"])
    session.close()
    #expect(try scratch.everything() == [])
  }

  @Test("The owner is known for as long as the lock lives, even after the run was closed")
  func closedRun() throws {
    let session = try scratch.session(now: 7)
    let lock = try session.lock(id, in: .pending)
    session.close()
    try withExtendedLifetime(lock) {
      let other = try scratch.session()
      #expect(refusal { try other.lock(id, in: .pending) } == .held(since: 7))
      other.close()
    }
  }

  @Test("A second one is refused, by the own run and by others; other reports and the other state are free")
  func refused() throws {
    let first = try scratch.session(now: 7)
    let second = try scratch.session(now: 8)
    let lock = try first.lock(id, in: .pending)
    try withExtendedLifetime(lock) {
      #expect(refusal { try first.lock(id, in: .pending) } == .held(since: 7))
      #expect(refusal { try second.lock(id, in: .pending) } == .held(since: 7))
      let others = [try second.lock(id, in: .completed), try second.lock(.random(), in: .pending)]
      #expect(others.count == 2)
      #expect(scratch.exists(lockName(id)), "who was refused takes nothing away")
    }
    for session in [first, second] { session.close() }
  }

  @Test("Crashpad's locks and locks of unknown owners stand, however old")
  func unknownOwners() throws {
    let session = try scratch.session()
    for (bytes, expected) in [
      (ScratchDatabase.crashpadLock(5), 5), (ScratchDatabase.crashpadLock(-1), -1),
      (ScratchDatabase.crashpadLock(5) + ScratchDatabase.mark.dropLast(), 5),
    ] as [([UInt8], Int64)] {
      try scratch.write(bytes, to: lockName(id))
      scratch.setModified(lockName(id), 1_234)
      #expect(refusal { try session.lock(id, in: .pending) } == .unknown(since: expected))
      #expect(try scratch.bytes(of: lockName(id)) == bytes)
    }
    session.close()
  }

  @Test("A lock without its time stands while it may be written, and is taken over after ten minutes")
  func withoutTime() throws {
    let session = try scratch.session()
    for bytes in [[], [1, 2, 3]] as [[UInt8]] {
      let time = Int64(Date().timeIntervalSince1970)
      try scratch.write(bytes, to: lockName(id))
      scratch.setModified(lockName(id), time)
      #expect(refusal { try session.lock(id, in: .pending) } == .unknown(since: time))
      scratch.setModified(lockName(id), time - LockFile.longestWrite - 5)
      #expect(refusal { try session.lock(id, in: .pending) } == nil)
    }
    session.close()
  }

  @Test("A dead owner's lock is taken over")
  func takenOver() throws {
    let session = try scratch.session(now: 3)
    try scratch.write(ScratchDatabase.markedLock(), to: lockName(id))
    var lock: ReportLock? = try session.lock(id, in: .pending)
    #expect(try scratch.bytes(of: lockName(id)) == [3, 0, 0, 0, 0, 0, 0, 0] + ScratchDatabase.mark)
    #expect(lock != nil)
    lock = nil
    #expect(!scratch.exists(lockName(id)))
    session.close()
  }

  @Test("A lock whose owner is another process is taken over when that is killed, and not before")
  func killedOwner() throws {
    let session = try scratch.session()
    let name = try #require(FileName(id.text + ".lock"))
    let process = Process()
    do {
      let file = try scratch.folder("pending").open(name, .create)
      #expect(file.takeOwnership() == .taken)
      try file.write(ScratchDatabase.markedLock(11))
      process.executableURL = URL(fileURLWithPath: "/bin/sh")
      process.arguments = ["-c", "while :; do sleep 1 <&-; done"]
      process.standardInput = FileHandle(
        fileDescriptor: fcntl(file.descriptor, F_DUPFD_CLOEXEC, 3), closeOnDealloc: true)
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      try process.run()
      try? (process.standardInput as? FileHandle)?.close()
    }
    for _ in 0..<3 { #expect(refusal { try session.lock(id, in: .pending) } == .held(since: 11)) }
    #expect(kill(process.processIdentifier, SIGKILL) == 0)
    process.waitUntilExit()
    let file = try scratch.folder("pending").open(name)
    waitUntil { file.ownership() == .free }
    let lock = try session.lock(id, in: .pending)
    let taken = try scratch.folder("pending").open(name)
    #expect(try !taken.status().isSameFile(as: file.status()))
    withExtendedLifetime(lock) {}
    session.close()
  }

  @Test("Many threads that try get one lock, with a dead owner's in the way or not")
  func race() throws {
    let sessions = try (0..<4).map { _ in try scratch.session() }
    for round in 0..<Soak.times(1_000, or: 80) {
      let id = UUIDBytes.random()
      if round.isMultiple(of: 2) { try scratch.write(ScratchDatabase.markedLock(), to: lockName(id)) }
      let won = Gathered<ReportLock>()
      let refused = Gathered<Void>()
      DispatchQueue.concurrentPerform(iterations: 4) { index in
        do { won.add(try sessions[index].lock(id, in: .pending)) } catch is DatabaseSession.Busy {
          refused.add(())
        } catch { Issue.record(error) }
      }
      try #require(won.values.count == 1, "round \(round)")
      try #require(refused.values.count == 3)
      #expect(try LockContent(scratch.bytes(of: lockName(id)))?.time == 1_700_000_000)
      won.removeAll()
      try #require(!scratch.exists(lockName(id)))
    }
    for session in sessions { session.close() }
    #expect(try scratch.everything() == [])
  }

  @Test("The threads of one run keep each other out as well")
  func raceInOneRun() throws {
    let session = try scratch.session()
    for _ in 0..<Soak.times(300, or: 60) {
      let won = Gathered<ReportLock>()
      DispatchQueue.concurrentPerform(iterations: 4) { _ in
        if let lock = try? session.lock(id, in: .pending) { won.add(lock) }
      }
      #expect(won.values.count == 1)
    }
    session.close()
  }

  @Test("Runs that take, hold and release one lock are never two in it")
  func handOver() throws {
    let inside = Gathered<Bool>()
    let overlap = Gathered<Void>()
    let rounds = Gathered<Void>()
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      guard let session = try? scratch.session() else {
        Issue.record("no run")
        return
      }
      for _ in 0..<Soak.times(500, or: 150) {
        guard let lock = try? session.lock(id, in: .pending) else { continue }
        withExtendedLifetime(lock) {
          inside.add(true)
          if inside.values.count > 1 { overlap.add(()) }
          rounds.add(())
          inside.removeAll()
        }
      }
      session.close()
    }
    #expect(overlap.values.isEmpty)
    #expect(!rounds.values.isEmpty)
    #expect(try scratch.everything() == [])
  }

  @Test("The many locks of one dead run are taken over by several at once: each of them, by the one who asks")
  func manyLocksOfOneRun() throws {
    let sessions = try (0..<6).map { _ in try scratch.session() }
    for round in 0..<Soak.times(100, or: 25) {
      let ids = (0..<6).map { _ in UUIDBytes.random() }
      try scratch.write(ScratchDatabase.markedLock(), to: "dead")
      for id in ids { try scratch.hardLink("dead", as: lockName(id)) }
      let refused = Gathered<LockState>()
      DispatchQueue.concurrentPerform(iterations: 6) { index in
        do { _ = try sessions[index].lock(ids[index], in: .pending) } catch let error as DatabaseSession.Busy {
          refused.add(error.state)
        } catch { Issue.record(error) }
      }
      try #require(refused.values.isEmpty, "round \(round)")
      try FileManager.default.removeItem(at: scratch.url("dead"))
    }
    for session in sessions { session.close() }
  }

  @Test("Runs that begin at once, after one died, take one lock of the dead")
  func raceOfBeginners() throws {
    for round in 0..<Soak.times(60, or: 20) {
      try scratch.deadRun { _, run in try scratch.leaveLock(of: run, "pending", id) }
      let won = Gathered<ReportLock>()
      let sessions = Gathered<DatabaseSession>()
      DispatchQueue.concurrentPerform(iterations: 4) { _ in
        do {
          let session = try scratch.session()
          sessions.add(session)
          won.add(try session.lock(id, in: .pending))
        } catch is DatabaseSession.Busy {} catch { Issue.record(error) }
      }
      try #require(won.values.count <= 1, "round \(round)")
      won.removeAll()
      for session in sessions.values { session.close() }
    }
    let last = try scratch.session()
    #expect(try scratch.everything() == ["new/\(try scratch.runFiles()[0])"])
    last.close()
  }

  @Test("A lock that was removed and taken again is not removed a second time")
  func stolen() throws {
    let first = try scratch.session()
    let second = try scratch.session()
    var lock: ReportLock? = try first.lock(id, in: .pending)
    #expect(lock != nil)
    try FileManager.default.removeItem(at: scratch.url(lockName(id)))
    let other = try second.lock(id, in: .pending)
    lock = nil
    withExtendedLifetime(other) { #expect(scratch.exists(lockName(id))) }
    for session in [first, second] { session.close() }
  }

  @Test("An entry that is not a file, in the lock's place, is not followed, waited for or removed", arguments: 0..<4)
  func strangeLocks(kind: Int) throws {
    let session = try scratch.session()
    let name = lockName(id)
    switch kind {
    case 0: try scratch.makeDirectory(name)
    case 1: scratch.makeFIFO(name)
    case 2: try scratch.makeLink(name, to: "../target")
    default: try scratch.makeLink(name, to: "nowhere")
    }
    try scratch.write(ScratchDatabase.markedLock(), to: "target")
    let before = try scratch.everything()
    let expected: Errno = kind < 2 ? .invalidArgument : .tooManySymbolicLinkLevels
    #expect(failureCode { _ = try session.lock(id, in: .pending) } == expected)
    #expect(try scratch.everything() == before)
    session.close()
  }

  @Test("A run whose session file was removed continues with another")
  func removedRunFile() throws {
    let session = try scratch.session(now: 9)
    let first = try session.lock(id, in: .pending)
    let old = try scratch.runFiles()
    #expect(old.count == 1)
    try FileManager.default.removeItem(at: scratch.url("new/" + old[0]))
    let second = try session.lock(.random(), in: .pending)
    #expect(try scratch.runFiles().count == 1)
    #expect(try scratch.runFiles() != old)
    try withExtendedLifetime((first, second)) {
      let other = try scratch.session()
      #expect(refusal { try other.lock(id, in: .pending) } == .held(since: 9))
      other.close()
    }
    session.close()
    #expect(try scratch.runFiles() == [])
  }

  @Test("Many threads whose run's file was removed take their locks, and leave one file")
  func removedRunFileAtOnce() throws {
    for _ in 0..<Soak.times(100, or: 25) {
      let session = try scratch.session()
      for name in try scratch.runFiles() { try FileManager.default.removeItem(at: scratch.url("new/" + name)) }
      let locks = Gathered<ReportLock>()
      DispatchQueue.concurrentPerform(iterations: 4) { _ in
        do { locks.add(try session.lock(.random(), in: .pending)) } catch { Issue.record(error) }
      }
      #expect(locks.values.count == 4)
      try #require(try scratch.runFiles().count == 1)
      locks.removeAll()
      session.close()
      try #require(try scratch.everything() == [])
    }
  }

  @Test(
    "More locks than a file may have links",
    .enabled(if: ScratchDatabase.maximumLinks != nil, "the file system has no known limit of links"))
  func tooManyLinks() throws {
    let scratch = try ScratchDatabase(in: ScratchDatabase.disk)
    let session = try scratch.session(now: 9)
    let run = try scratch.runFiles()[0]
    try scratch.makeDirectory("links")
    let folder = try scratch.folder("links")
    let new = try scratch.folder("new")
    let name = try #require(FileName(run))
    // All but two of the links that the file may have.
    for number in 0..<(try #require(ScratchDatabase.maximumLinks) - 3) {
      try new.link(name, to: folder, as: #require(FileName("\(number)")))
    }
    let locks = try (0..<5).map { _ in try session.lock(.random(), in: .pending) }
    try withExtendedLifetime(locks) {
      let pending = try scratch.folder("pending")
      let names = try pending.names()
      #expect(names.count == 5)
      for name in names { #expect(try LockFile.state(name, in: pending) == .held(since: 9)) }
      #expect(Set(try names.map { try pending.status($0)?.number }).count == 2)
    }
    session.close()
    #expect(try scratch.runFiles() == [], "neither file is left")
  }

  @Test("A missing directory is an error, and nothing is made in the wrong place")
  func missingDirectory() throws {
    let session = try scratch.session()
    try FileManager.default.removeItem(at: scratch.url("completed"))
    #expect(failureCode { _ = try session.lock(id, in: .completed) } == .noSuchFileOrDirectory)
    session.close()
    #expect(try scratch.everything() == [])
  }
}

extension ScratchDatabase {
  /// A directory that is on a disk: files in memory have no limit of links.
  static let disk = URL(fileURLWithPath: "/var/tmp")

  /// How many links a file on that disk may have, if it is little enough to try: ext4 ends at 65,000.
  static let maximumLinks: Int? = {
    // _PC_LINK_MAX
    let count = unsafe pathconf(disk.path, 0)
    return (8...70_000).contains(count) ? Int(count) : nil
  }()
}
