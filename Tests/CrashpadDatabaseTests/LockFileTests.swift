// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import CrashpadSnapshot
import SystemPackage
import Testing
import ToolRunner

@testable import CrashpadDatabase
@testable import CrashpadFiles

@Suite("LockFile")
struct LockFileTests {
  private static func temporary() -> FileName {
    FileName(".temporary-\(UInt64.random(in: .min ... .max))") ?? FileName(literal: ".temporary")
  }

  private let scratch: ScratchDatabase
  private let folder: Folder
  private let name = FileName(literal: "x.lock")
  private let file = "pending/x.lock"

  init() throws {
    scratch = try ScratchDatabase()
    folder = try scratch.folder("pending")
  }

  @Test("Nothing is not a lock, and looking at one changes nothing")
  func state() throws {
    #expect(try LockFile.state(name, in: folder) == nil)
    #expect(try LockFile.breakIfAbandoned(name, in: folder) == .gone)
    #expect(try !LockFile.removeExpired(name, in: folder, now: .max, timeToLive: 0))
    try scratch.write(ScratchDatabase.markedLock(), to: file)
    for _ in 0..<3 { #expect(try LockFile.state(name, in: folder) == .abandoned) }
    #expect(try scratch.bytes(of: file) == ScratchDatabase.markedLock())
  }

  @Test("Only a dead owner's lock is broken")
  func breaking() throws {
    try scratch.write(ScratchDatabase.crashpadLock(5), to: file)
    #expect(try LockFile.breakIfAbandoned(name, in: folder) == .stands(.unknown(since: 5)))
    do {
      let owner = try folder.open(name, .readAndWrite)
      #expect(owner.takeOwnership() == .taken)
      #expect(try LockFile.breakIfAbandoned(name, in: folder) == .stands(.held(since: 5)))
      #expect(try !LockFile.removeExpired(name, in: folder, now: .max, timeToLive: 0))
    }
    #expect(scratch.exists(file))
    try scratch.write(ScratchDatabase.markedLock(), to: file)
    #expect(try LockFile.breakIfAbandoned(name, in: folder) == .gone)
    #expect(!scratch.exists(file))
  }

  @Test(
    "A lock of an unknown owner is removed when it expired, by its own time or else by the file's",
    arguments: [
      (ScratchDatabase.crashpadLock(1_000), 1_099, false), (ScratchDatabase.crashpadLock(1_000), 1_100, true),
      // It is not being written any more.
      ([], 5_000, true), ([1], 5_000, true),
      (ScratchDatabase.crashpadLock(.max), .max, false), (ScratchDatabase.markedLock(.max), 0, true),
    ] as [([UInt8], Int64, Bool)])
  func expiry(bytes: [UInt8], now: Int64, expected: Bool) throws {
    try scratch.write(bytes, to: file)
    scratch.setModified(file, 5_000)
    #expect(try LockFile.removeExpired(name, in: folder, now: now, timeToLive: 100) == expected)
    #expect(scratch.exists(file) == !expected)
  }

  private func makeAlone(now: Int64) throws -> ReportLock? {
    let temporary = Self.temporary()
    defer { _ = try? folder.remove(temporary) }
    return try LockFile.makeAlone(name, in: folder, from: folder, temporary, now: now) {}
  }

  @Test("A lock that is made in its place, where other names of a file do not show its owner")
  func inPlace() throws {
    var lock = try LockFile.makeInPlace(name, in: folder, now: 5) {}
    #expect(lock != nil)
    #expect(try scratch.bytes(of: file) == [5, 0, 0, 0, 0, 0, 0, 0] + ScratchDatabase.mark)
    #expect(try LockFile.state(name, in: folder) == .held(since: 5))
    #expect(try LockFile.makeInPlace(name, in: folder, now: 6) {} == nil)
    lock = nil
    #expect(!scratch.exists(file))
  }

  @Test("A lock of its own, where there are no hard links: whole, owned, and only if none is there")
  func alone() throws {
    var lock = try makeAlone(now: 5)
    #expect(lock != nil)
    #expect(try scratch.bytes(of: file) == [5, 0, 0, 0, 0, 0, 0, 0] + ScratchDatabase.mark)
    #expect(try LockFile.state(name, in: folder) == .held(since: 5))
    #expect(try makeAlone(now: 6) == nil)
    #expect(try LockFile.state(name, in: folder) == .held(since: 5))
    lock = nil
    #expect(!scratch.exists(file))
    try scratch.write([], to: file)
    #expect(try makeAlone(now: 6) == nil)
    #expect(try scratch.bytes(of: file) == [])
  }

  @Test("A new lock survives when several processes break the old one")
  func breakingAtOnce() throws {
    for round in 0..<Soak.times(500, or: 100) {
      try scratch.write(ScratchDatabase.markedLock(), to: file)
      let made = Gathered<ReportLock>()
      DispatchQueue.concurrentPerform(iterations: 4) { _ in
        do {
          guard try LockFile.breakIfAbandoned(name, in: folder) == .gone else { return }
          if let lock = try makeAlone(now: 5) { made.add(lock) }
        } catch { Issue.record(error) }
      }
      try #require(made.values.count == 1, "round \(round)")
      try #require(scratch.exists(file))
      made.removeAll()
    }
  }

  @Test("A process that waits to break a lock leaves the lock of a new owner alone")
  func breakingInTurn() throws {
    try scratch.write(ScratchDatabase.markedLock(), to: file)
    var turn: OpenFile? = try folder.open(name, .readAndWrite)
    try turn?.lock(exclusive: true)
    let fate = Gathered<LockFile.BreakResult>()
    let thread = OwnThread {
      do { fate.add(try LockFile.breakIfAbandoned(name, in: folder)) } catch { Issue.record(error) }
    }
    // Long enough for one who does not wait.
    usleep(200_000)
    #expect(try scratch.bytes(of: file) == ScratchDatabase.markedLock())
    try folder.remove(name)
    let lock = try #require(try makeAlone(now: 5))
    withExtendedLifetime(turn) {}
    turn = nil
    thread.wait()
    #expect(fate.values.count == 1)
    #expect(try LockFile.state(name, in: folder) == .held(since: 5))
    withExtendedLifetime(lock) {}
  }

  @Test("A lock that may not be written is judged all the same", .enabled(if: geteuid() != 0, "root may do everything"))
  func readOnly() throws {
    try scratch.write(ScratchDatabase.markedLock(), to: file)
    try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: scratch.url(file).path)
    #expect(try LockFile.state(name, in: folder) == .abandoned)
    #expect(try LockFile.breakIfAbandoned(name, in: folder) == .gone)
    #expect(!scratch.exists(file))
  }
}
