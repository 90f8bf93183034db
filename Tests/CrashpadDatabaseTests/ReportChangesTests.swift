// SPDX-License-Identifier: Apache-2.0
import Foundation
import CrashpadSnapshot
import SystemPackage
import Testing
import ToolRunner

@testable import CrashpadDatabase
@testable import CrashpadFiles

@Suite("DatabaseSession: changes of reports")
struct ReportChangesTests {
  private let scratch: ScratchDatabase
  private let session: DatabaseSession
  private let id = UUIDBytes.random()

  init() throws {
    scratch = try ScratchDatabase()
    session = try scratch.session()
  }

  /// All files but the run's own.
  private func left() throws -> [String] {
    let own = try scratch.runFiles().map { "new/" + $0 }
    return try scratch.everything().filter { !own.contains($0) }
  }

  private func failure(_ body: () throws -> Void) -> ReportChangeFailure? {
    do {
      try body()
      return nil
    } catch { return error as? ReportChangeFailure }
  }

  @Test("A deleted report is gone with all that is its own", arguments: ["pending", "completed"])
  func delete(state: String) throws {
    let other = UUIDBytes.random()
    for id in [id, other] {
      try scratch.addReport(id, in: state, attachments: ["a", "b"])
      try scratch.write([1], to: "\(state)/._\(id.text).dmp")
    }
    try session.delete(id)
    #expect(
      try left()
        == [
          "attachments/\(other.text)/", "attachments/\(other.text)/a", "attachments/\(other.text)/b",
          "\(state)/._\(other.text).dmp", "\(state)/\(other.text).dmp", "\(state)/\(other.text).meta",
        ].sorted())
    #expect(failure { try session.delete(id) } == .notFound)
  }

  @Test("Foreign files among the attachments stay; links there are removed, not followed")
  func deleteStrangeAttachments() throws {
    try scratch.addReport(id, attachments: ["a"])
    try scratch.makeDirectory("attachments/\(id.text)/directory")
    scratch.makeFIFO("attachments/\(id.text)/fifo")
    try scratch.write([1], to: "target/file")
    try scratch.makeLink("attachments/\(id.text)/link", to: "../../target/file")
    try scratch.makeLink("attachments/\(id.text)/link2", to: "../../target")
    try session.delete(id)
    #expect(try left() == ["attachments/\(id.text)/", "attachments/\(id.text)/directory/", "target/", "target/file"])
  }

  @Test("A report is deleted whatever stands in the place of its attachments", arguments: 0..<3)
  func deleteWithoutAttachments(kind: Int) throws {
    try scratch.addReport(id)
    switch kind {
    case 0: try scratch.write([1], to: "attachments/\(id.text)")
    case 1:
      try scratch.write([1], to: "target/file")
      try scratch.makeLink("attachments/\(id.text)", to: "../target")
    default: try FileManager.default.removeItem(at: scratch.url("attachments"))
    }
    try session.delete(id)
    #expect(try left().filter { $0.hasPrefix("pending/") } == [])
    #expect(scratch.exists("target/file") == (kind == 1))
  }

  @Test("A report that another process has locked is not changed, and the owner is named")
  func busy() throws {
    try scratch.addReport(id, attachments: ["a"])
    let before = try left()
    try scratch.write(ScratchDatabase.crashpadLock(77), to: "pending/\(id.text).lock")
    #expect(failure { try session.delete(id) } == .busy(.unknown(since: 77)))
    #expect(failure { try session.requestUpload(id) } == .busy(.unknown(since: 77)))
    #expect(try left() == (before + ["pending/\(id.text).lock"]).sorted())
    try FileManager.default.removeItem(at: scratch.url("pending/\(id.text).lock"))
    let other = try scratch.session(now: 88)
    let lock = try other.lock(id, in: .pending)
    #expect(failure { try session.delete(id) } == .busy(.held(since: 88)))
    withExtendedLifetime(lock) {}
    other.close()
  }

  @Test("A stray lock in the other state does not stand in the way")
  func strayLock() throws {
    try scratch.addReport(id, in: "completed")
    try scratch.write(ScratchDatabase.crashpadLock(), to: "pending/\(id.text).lock")
    try session.delete(id)
    #expect(try left() == ["pending/\(id.text).lock"])
  }

  @Test("A request for upload marks a pending report and changes nothing else of it")
  func requestPending() throws {
    try scratch.addReport(id, metadata: ScratchDatabase.metadata(creation: 5, serverID: "s"), attachments: ["a"])
    let before = try left()
    try session.requestUpload(id)
    #expect(
      try scratch.bytes(of: "pending/\(id.text).meta")
        == ScratchDatabase.metadata(creation: 5, attributes: 2, serverID: "s"))
    #expect(try left() == before)
  }

  @Test("A request for upload brings a completed report back to pending")
  func requestCompleted() throws {
    try scratch.addReport(id, in: "completed", attachments: ["a"])
    try session.requestUpload(id)
    #expect(
      try left() == [
        "attachments/\(id.text)/", "attachments/\(id.text)/a", "pending/\(id.text).dmp", "pending/\(id.text).meta",
      ])
    #expect(try scratch.bytes(of: "pending/\(id.text).meta") == ScratchDatabase.metadata(attributes: 2))
    #expect(try scratch.database.report(id)?.state == .pending)
  }

  @Test("A skipped report is completed without an upload; a completed one can't be skipped")
  func skip() throws {
    try scratch.addReport(id, metadata: ScratchDatabase.metadata(creation: 5, attributes: 2), attachments: ["a"])
    try session.skipUpload(id)
    #expect(try scratch.database.report(id)?.state == .completed)
    #expect(try scratch.bytes(of: "completed/\(id.text).meta") == ScratchDatabase.metadata(creation: 5))
    #expect(failure { try session.skipUpload(id) } == .notFound)
  }

  @Test(
    "A report that was uploaded, may have been uploaded, or is gone can't be requested",
    arguments: ["pending", "completed"])
  func requestRefused(state: String) throws {
    #expect(failure { try session.requestUpload(id) } == .notFound)
    try scratch.addReport(id, in: state, metadata: ScratchDatabase.metadata(attributes: 1))
    #expect(failure { try session.requestUpload(id) } == .alreadyUploaded)
    try scratch.addReport(id, in: state, metadata: [1, 0, 0, 0])
    #expect(failure { try session.requestUpload(id) } == .damagedMetadata)
    #expect(try scratch.bytes(of: "\(state)/\(id.text).meta") == [1, 0, 0, 0])
    try FileManager.default.removeItem(at: scratch.url("\(state)/\(id.text).meta"))
    #expect(failure { try session.requestUpload(id) } == .damagedMetadata)
    #expect(try left() == ["\(state)/\(id.text).dmp"])
  }

  @Test("A locked place in pending keeps a completed report where it is")
  func requestBusy() throws {
    try scratch.addReport(id, in: "completed")
    try scratch.write(ScratchDatabase.crashpadLock(3), to: "pending/\(id.text).lock")
    #expect(failure { try session.requestUpload(id) } == .busy(.unknown(since: 3)))
    #expect(try left() == ["completed/\(id.text).dmp", "completed/\(id.text).meta", "pending/\(id.text).lock"])
    #expect(try scratch.bytes(of: "completed/\(id.text).meta") == ScratchDatabase.metadata())
  }

  @Test("Metadata of a Mac's attributes becomes a file where the report is changed, and leaves nothing behind")
  func requestOfAMac() throws {
    try scratch.addReport(id, in: "completed", metadata: nil)
    try scratch.write(
      AppleDoubleFile(attributes: [
        ("org.chromium.crashpad.database.uuid", Array(id.text.utf8)),
        ("org.chromium.crashpad.database.creation_time", Array("1234".utf8)),
      ]).bytes, to: "completed/._\(id.text).dmp")
    try session.requestUpload(id)
    #expect(
      try scratch.bytes(of: "pending/\(id.text).meta") == ScratchDatabase.metadata(creation: 1234, attributes: 2))
    #expect(try left() == ["pending/\(id.text).dmp", "pending/\(id.text).meta"])
  }

  @Test("At no moment a report that is moved is without metadata, or a deleted one half there")
  func watched() throws {
    try scratch.addReport(id, in: "completed")
    let done = Gathered<Void>()
    let missing = Gathered<Report.Metadata>()
    DispatchQueue.concurrentPerform(iterations: 2) { index in
      if index == 0 {
        for _ in 0..<Soak.times(300, or: 50) {
          do {
            for state in [ReportState.pending, .completed] {
              let (report, lock) = try session.checkOut(id)
              try session.change(report, lock, to: state, ReportMetadata(creationTime: 1))
            }
          } catch { Issue.record(error) }
        }
        done.add(())
      } else {
        while done.values.isEmpty {
          guard let found = try? scratch.database.report(id) else { continue }
          if found.metadata.value == nil { missing.add(found.metadata) }
          for state in ReportState.allCases {
            for report in (try? scratch.database.listing(of: state).reports) ?? [] where report.metadata.value == nil {
              missing.add(report.metadata)
            }
          }
        }
      }
    }
    #expect(missing.values.isEmpty, "\(missing.values.count) times")
  }

  @Test("A report that another moves is found all the same, or it is busy")
  func foundWhileMoved() throws {
    try scratch.addReport(id, in: "completed")
    let done = Gathered<Void>()
    let other = try scratch.session()
    DispatchQueue.concurrentPerform(iterations: 2) { index in
      if index == 0 {
        while done.values.isEmpty {
          guard let (report, lock) = try? other.checkOut(id) else { continue }
          try? other.change(
            report, lock, to: report.state == .pending ? .completed : .pending, ReportMetadata(creationTime: 1))
        }
      } else {
        for _ in 0..<Soak.times(200, or: 60) {
          if failure({ _ = try session.checkOut(id) }) == .notFound {
            Issue.record("not found")
            break
          }
        }
        done.add(())
      }
    }
    other.close()
  }

  @Test("Changers and deleters at once: each report is deleted by one")
  func deleteAtOnce() throws {
    for _ in 0..<Soak.times(60, or: 20) {
      let id = UUIDBytes.random()
      try scratch.addReport(id, attachments: ["a"])
      let deleted = Gathered<Void>()
      DispatchQueue.concurrentPerform(iterations: 4) { _ in
        do {
          try session.delete(id)
          deleted.add(())
        } catch ReportChangeFailure.notFound {} catch ReportChangeFailure.busy {} catch { Issue.record(error) }
      }
      #expect(deleted.values.count == 1)
      try #require(try left() == [])
    }
  }
}
