// SPDX-License-Identifier: Apache-2.0
import Foundation
import CrashpadSnapshot
import SystemPackage
import Testing
import ToolRunner

@testable import CrashpadDatabase
@testable import CrashpadFiles

/// The files of a run that was killed at each of its steps, and their handling by the next run.
@Suite("SessionFile: runs that died")
struct AbandonedRunTests {
  private let scratch: ScratchDatabase
  private let id = UUIDBytes.random()

  init() throws { scratch = try ScratchDatabase() }

  /// Begins a run, which cleans up, and ends it.
  private func nextRun() throws { try scratch.session().close() }

  @Test("A run has one file, with its time and the mark, for its owner only, until it is closed")
  func runFile() throws {
    let session = try scratch.session(now: 0x0102_0304_0506_0708)
    let name = try scratch.runFiles()[0]
    #expect(name.hasPrefix(".crashpadctl-"))
    #expect(try scratch.bytes(of: "new/" + name) == [8, 7, 6, 5, 4, 3, 2, 1] + ScratchDatabase.mark)
    let new = try scratch.folder("new")
    #expect(try new.status(#require(FileName(name)))?.permissions == 0o600)
    #expect(try new.open(#require(FileName(name))).ownership() == .owned)
    session.close()
    session.close()
    #expect(try scratch.everything() == [])
  }

  @Test("The next run takes away what a dead one left, and leaves what it does not know")
  func files() throws {
    let stranger = UUIDBytes.random().text + ".dmp"
    try scratch.write([1], to: "new/" + stranger)
    try scratch.write([1], to: "new/.hidden")
    try scratch.write([1], to: "new/crashpadctl-1")
    try scratch.deadRun { session, run in
      for _ in 0..<3 { _ = try session.temporaryFile() }
      #expect(try scratch.everything().filter { $0.hasPrefix("new/" + run) }.count == 4)
    }
    try nextRun()
    #expect(try scratch.everything() == ["new/.hidden", "new/" + stranger, "new/crashpadctl-1"].sorted())
  }

  @Test("A journal of 64 GiB, which no run writes, does not keep the next run from starting")
  func hugeJournal() throws {
    try scratch.deadRun { _, run in
      try scratch.write([], to: "new/\(run)-9.journal")
      #expect(unsafe truncate(scratch.url("new/\(run)-9.journal").path, 64 << 30) == 0)
    }
    try nextRun()
    #expect(try scratch.everything() == [])
  }

  @Test("Files of a live run stay when other runs begin")
  func living() throws {
    let living = try scratch.session()
    let (name, _) = try living.temporaryFile()
    try scratch.deadRun()
    try nextRun()
    #expect(scratch.exists("new/" + name.text))
    #expect(try scratch.runFiles().count == 1)
    living.close()
  }

  @Test("A run's file without a word belongs to no run, if no process holds it")
  func emptyRunFile() throws {
    try scratch.write([], to: "new/.crashpadctl-1")
    try scratch.write([1, 2, 3], to: "new/.crashpadctl-2")
    let held = try scratch.folder("new").open(FileName(literal: ".crashpadctl-3"), .create)
    #expect(held.takeOwnership() == .taken)
    try nextRun()
    #expect(try scratch.everything() == ["new/.crashpadctl-3"])
    withExtendedLifetime(held) {}
  }

  @Test("An entry that is not a file, under a run's name, is left alone and disturbs no run")
  func strangeRunFiles() throws {
    scratch.makeFIFO("new/.crashpadctl-1")
    try scratch.makeDirectory("new/.crashpadctl-2/x")
    try scratch.makeLink("new/.crashpadctl-3", to: "../settings.dat")
    try scratch.makeLink("new/.crashpadctl-4", to: "nowhere")
    try scratch.write([1], to: "new/.crashpadctl-1-1")
    try scratch.deadRun()
    try nextRun()
    #expect(
      try scratch.everything() == [
        "new/.crashpadctl-1", "new/.crashpadctl-1-1", "new/.crashpadctl-2/", "new/.crashpadctl-2/x/",
        "new/.crashpadctl-3", "new/.crashpadctl-4",
      ])
  }

  @Test("Files of a run whose own file is gone stay: the run may live")
  func orphans() throws {
    try scratch.write([1], to: "new/.crashpadctl-abc-1")
    try scratch.write([1], to: "new/.crashpadctl-abc-27")
    try nextRun()
    #expect(try scratch.everything() == ["new/.crashpadctl-abc-1", "new/.crashpadctl-abc-27"])
  }

  @Test("Files that a run is writing stay its own after its session file was removed and another run began")
  func removedRunFile() throws {
    let session = try scratch.session()
    let report = try NewReport(id, in: session)
    try report.file?.write([1, 2, 3])
    for name in try scratch.runFiles() { try FileManager.default.removeItem(at: scratch.url("new/" + name)) }
    try nextRun()
    try report.publish(ReportMetadata(creationTime: 1))
    #expect(try scratch.bytes(of: "pending/\(id.text).dmp") == [1, 2, 3])
    session.close()
  }

  @Test("Files that a run is writing stay its own after it needed a second session file")
  func renewedRun() throws {
    let session = try scratch.session()
    let report = try NewReport(id, in: session)
    try report.file?.write([1, 2, 3])
    for name in try scratch.runFiles() { try FileManager.default.removeItem(at: scratch.url("new/" + name)) }
    let lock = try session.lock(.random(), in: .pending)
    try nextRun()
    try report.publish(ReportMetadata(creationTime: 1))
    #expect(try scratch.bytes(of: "pending/\(id.text).dmp") == [1, 2, 3])
    withExtendedLifetime(lock) {}
    session.close()
  }

  // MARK: Changes that were not finished

  private func files(_ state: String) -> [String] { [".dmp", ".meta"].map { "\(state)/\(id.text)\($0)" } }

  /// All files of the database but the run's own, after the next run.
  private func leftAfter(_ step: (String) throws -> Void) throws -> [String] {
    try scratch.deadRun { _, run in try step(run) }
    try nextRun()
    return try scratch.everything()
  }

  @Test("A lock beside a whole report only goes", arguments: ["pending", "completed"])
  func lockBesideReport(state: String) throws {
    try scratch.addReport(id, in: state, attachments: ["log"])
    let left = try leftAfter { try scratch.leaveLock(of: $0, state, id) }
    #expect(left == (files(state) + ["attachments/\(id.text)/", "attachments/\(id.text)/log"]).sorted())
  }

  @Test("A lock alone goes", arguments: ["pending", "completed"])
  func lockAlone(state: String) throws {
    #expect(try leftAfter { try scratch.leaveLock(of: $0, state, id) } == [])
  }

  @Test("A report that was being deleted is deleted wholly", arguments: ["pending", "completed"], [0, 1, 2])
  func deleting(state: String, step: Int) throws {
    try scratch.addReport(id, in: state, attachments: ["log", "screenshot"])
    let left = try leftAfter { run in
      try scratch.leaveLock(of: run, state, id)
      try FileManager.default.removeItem(at: scratch.url(files(state)[0]))
      if step > 0 { try FileManager.default.removeItem(at: scratch.url(files(state)[1])) }
      if step > 1 { try FileManager.default.removeItem(at: scratch.url("attachments/\(id.text)/log")) }
    }
    #expect(left == [])
  }

  @Test("A report that was being published, but was not there yet, is as if it had never been", arguments: [0, 1])
  func publishing(step: Int) throws {
    let left = try leftAfter { run in
      try scratch.leaveLock(of: run, "pending", id)
      try scratch.write([1], to: "new/\(run)-1")
      try scratch.write([1], to: "attachments/\(id.text)/log")
      if step > 0 { try scratch.write(ScratchDatabase.metadata(), to: files("pending")[1]) }
    }
    #expect(left == [])
  }

  @Test("A report that was being moved is in one place, whole", arguments: [0, 1, 2])
  func moving(step: Int) throws {
    try scratch.addReport(id, in: "completed", attachments: ["log"])
    let left = try leftAfter { run in
      try scratch.leaveLock(of: run, "completed", id)
      try scratch.leaveLock(of: run, "pending", id)
      if step > 0 { try scratch.write(ScratchDatabase.metadata(attributes: 2), to: files("pending")[1]) }
      if step > 1 {
        try FileManager.default.moveItem(at: scratch.url(files("completed")[0]), to: scratch.url(files("pending")[0]))
      }
    }
    let place = step > 1 ? "pending" : "completed"
    #expect(left == (files(place) + ["attachments/\(id.text)/", "attachments/\(id.text)/log"]).sorted())
  }

  @Test("Locks of Crashpad, and what is beside them, are left")
  func foreignLocks() throws {
    let left = try leftAfter { _ in
      try scratch.write(ScratchDatabase.crashpadLock(), to: "pending/\(id.text).lock")
      try scratch.write(ScratchDatabase.metadata(), to: files("pending")[1])
    }
    #expect(left == ["pending/\(id.text).lock", files("pending")[1]])
  }

  @Test("Locks of a run that lives, and what is beside them, are left")
  func locksOfTheLiving() throws {
    let session = try scratch.session()
    let lock = try session.lock(id, in: .pending)
    let left = try leftAfter { _ in try scratch.write(ScratchDatabase.metadata(), to: files("pending")[1]) }
    #expect(left == ["new/\(try scratch.runFiles()[0])", "pending/\(id.text).lock", files("pending")[1]].sorted())
    withExtendedLifetime(lock) {}
    session.close()
  }

  @Test("Locks with names that we do not give are nothing of ours")
  func strangeLockNames() throws {
    let upper = id.text.uppercased()
    let left = try leftAfter { run in
      for name in ["x", upper, id.text.filter { $0 != "-" }] {
        try scratch.hardLink("new/" + run, as: "pending/\(name).lock")
        try scratch.write(ScratchDatabase.metadata(), to: "pending/\(name).meta")
      }
    }
    #expect(left.count == 6, "\(left)")
  }

  @Test("A lock that is no file does not stand in the way of the next run", arguments: 0..<4)
  func strangeLocks(kind: Int) throws {
    let name = "pending/\(id.text).lock"
    switch kind {
    case 0: try scratch.makeDirectory(name)
    case 1: scratch.makeFIFO(name)
    case 2: try scratch.makeLink(name, to: "../target")
    default: try scratch.makeLink(name, to: "nowhere")
    }
    try scratch.write(ScratchDatabase.markedLock(), to: "target")
    try scratch.deadRun { _, run in try scratch.leaveLock(of: run, "completed", id) }
    try nextRun()
    #expect(try scratch.everything() == ["pending/\(id.text).lock" + (kind == 0 ? "/" : ""), "target"].sorted())
  }

  @Test("Metadata and attachments that are no files do not stand in the way of the next run", arguments: 0..<3)
  func strangeRemains(kind: Int) throws {
    let other = UUIDBytes.random()
    try scratch.deadRun { _, run in
      try scratch.leaveLock(of: run, "pending", id)
      try scratch.leaveLock(of: run, "completed", other)
      switch kind {
      case 0: try scratch.makeDirectory("pending/\(id.text).meta/x")
      case 1:
        try scratch.write([1], to: "target/file")
        try scratch.makeLink("attachments/\(id.text)", to: "../target")
      default: try scratch.makeDirectory("attachments/\(id.text)/x")
      }
      try scratch.write(ScratchDatabase.metadata(), to: "completed/\(other.text).meta")
    }
    try nextRun()
    let left = try scratch.everything()
    #expect(left.filter { $0.hasPrefix("new/") || $0.hasPrefix("completed/") || $0.hasSuffix(".lock") } == [])
    #expect(left.contains("target/file") == (kind == 1))
  }

  @Test("Several runs that begin at once clean up after the dead, and none fails")
  func cleaningAtOnce() throws {
    for round in 0..<Soak.times(40, or: 10) {
      let ids = (0..<4).map { _ in UUIDBytes.random() }
      try scratch.deadRun { session, run in
        for id in ids {
          try scratch.leaveLock(of: run, "pending", id)
          try scratch.write(ScratchDatabase.metadata(), to: "pending/\(id.text).meta")
          try scratch.write([1], to: "attachments/\(id.text)/log")
          _ = try session.temporaryFile()
        }
      }
      DispatchQueue.concurrentPerform(iterations: 4) { _ in
        do { try scratch.session().close() } catch { Issue.record(error) }
      }
      try nextRun()
      try #require(try scratch.everything() == [], "round \(round)")
    }
  }

  @Test("A run that begins during a cleanup has its file, even if the cleanup took it for a dead one's at first")
  func beginningAmongCleaners() throws {
    let new = try scratch.folder("new")
    let done = Gathered<Void>()
    let nameless = Gathered<FileName>()
    let cleaners = (0..<2).map { _ in
      OwnThread {
        while done.values.isEmpty {
          for run in (try? SessionFile.dead(in: new)) ?? [] { SessionFile.remove(run, in: new) }
        }
      }
    }
    let count = Soak.times(1_500, or: 400)
    DispatchQueue.concurrentPerform(iterations: 2) { _ in
      for number in 0..<count {
        do {
          let run = try SessionFile.make(in: new, now: Int64(number))
          if try new.status(run.name) == nil { nameless.add(run.name) }
          run.remove()
        } catch { Issue.record(error) }
      }
    }
    done.add(())
    for cleaner in cleaners { cleaner.wait() }
    #expect(nameless.values.isEmpty, "\(nameless.values.count) of \(2 * count)")
  }

  @Test("Runs that begin while others end find no dead among them")
  func noDeadAmongTheLiving() throws {
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      for _ in 0..<Soak.times(60, or: 20) {
        do {
          let session = try scratch.session()
          let (name, file) = try session.temporaryFile()
          try file.write([1])
          try session.new.move(name, to: session.new, as: name.appending("x"))
          #expect(try session.new.remove(name.appending("x")))
          session.close()
        } catch { Issue.record(error) }
      }
    }
    #expect(try scratch.everything() == [])
  }
}
