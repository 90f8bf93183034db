// SPDX-License-Identifier: Apache-2.0
import Foundation
import CrashpadSnapshot
import SystemPackage
import Testing

@testable import CrashpadDatabase
@testable import CrashpadFiles

@Suite("NewReport")
struct NewReportTests {
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

  @Test(
    "A report appears with bytes, metadata and attachments when it is published, and not before",
    arguments: [
      false, true,
    ])
  func publish(durable: Bool) throws {
    do {
      let report = try NewReport(id, in: session)
      try report.file?.write([1, 2])
      try report.addAttachment("a.log").write([7])
      #expect(try scratch.database.report(id) == nil)
      #expect(scratch.exists("pending/\(id.text).lock"))
      #expect(!scratch.exists("pending/\(id.text).dmp"))
      try report.publish(ReportMetadata(creationTime: 0x0102), durable: durable)
      #expect(scratch.exists("pending/\(id.text).lock"), "it stays locked until the object goes")
    }
    #expect(
      try left() == [
        "attachments/\(id.text)/", "attachments/\(id.text)/a.log", "pending/\(id.text).dmp", "pending/\(id.text).meta",
      ])
    #expect(try scratch.bytes(of: "pending/\(id.text).dmp") == [1, 2])
    #expect(try scratch.bytes(of: "pending/\(id.text).meta") == ScratchDatabase.metadata(creation: 0x0102))
    let report = try #require(try scratch.database.report(id))
    #expect(report.totalSize == 3)
    #expect(report.state == .pending)
  }

  @Test("One that goes away before leaves nothing")
  func giveUp() throws {
    do {
      let report = try NewReport(id, in: session)
      try report.file?.write([1])
      _ = try report.addAttachment("a")
      _ = try report.addAttachment("b")
      #expect(try left().count == 5)
    }
    #expect(try left() == [])
  }

  @Test("Attachments that were there before stay when a new report goes away")
  func foreignAttachments() throws {
    try scratch.write([9], to: "attachments/\(id.text)/old")
    do {
      let report = try NewReport(id, in: session)
      #expect(failureCode { _ = try report.addAttachment("old") } == .fileExists)
      _ = try report.addAttachment("new")
    }
    #expect(try left() == ["attachments/\(id.text)/", "attachments/\(id.text)/old"])
    #expect(try scratch.bytes(of: "attachments/\(id.text)/old") == [9])
  }

  @Test("An id is claimed once")
  func claimed() throws {
    let report = try NewReport(id, in: session)
    #expect(throws: DatabaseSession.Busy.self) { _ = try NewReport(id, in: session) }
    let other = try scratch.session()
    #expect(throws: DatabaseSession.Busy.self) { _ = try NewReport(id, in: other) }
    #expect(try left().count == 2, "who was refused leaves nothing")
    withExtendedLifetime(report) {}
    other.close()
  }

  @Test("Several threads that claim one id make one report")
  func race() throws {
    for _ in 0..<100 {
      let id = UUIDBytes.random()
      let made = Gathered<Int>()
      DispatchQueue.concurrentPerform(iterations: 4) { index in
        guard let report = try? NewReport(id, in: session) else { return }
        // A thread that comes when the first is done finds the report.
        guard (try? scratch.database.report(id)) == .some(nil) else { return }
        do {
          try report.file?.write([UInt8(index)])
          try report.publish(ReportMetadata(creationTime: 1))
          made.add(index)
        } catch { Issue.record(error) }
      }
      try #require(made.values.count == 1)
      #expect(try scratch.bytes(of: "pending/\(id.text).dmp") == [UInt8(made.values[0])])
    }
  }

  @Test(
    "Names that Crashpad refuses for attachments",
    arguments: ["", ".", "..", "a/b", "/", "a b", "ä", "a\n", "a\0", "a:b", "a+b", "@", "[", "`", "{", "~", "a\\b"])
  func badNames(name: String) throws {
    do {
      let report = try NewReport(id, in: session)
      #expect(throws: NewReport.BadAttachmentName.self) { _ = try report.addAttachment(name) }
    }
    #expect(try left() == [])
  }

  @Test(
    "Names that it takes",
    arguments: ["a", "Z", "0", "9", "-", "_", "...", ".hidden", "a.b-c_d", String(repeating: "x", count: 255)])
  func goodNames(name: String) throws {
    let report = try NewReport(id, in: session)
    try report.addAttachment(name).write([1])
    try report.publish(ReportMetadata(creationTime: 1))
    #expect(try scratch.database.report(id)?.attachments.map(\.name.text) == [name])
  }

  @Test("An attachment that can't be made leaves no empty directory")
  func attachmentThatFails() throws {
    do {
      let report = try NewReport(id, in: session)
      #expect(failureCode { _ = try report.addAttachment(String(repeating: "x", count: 256)) } == .fileNameTooLong)
    }
    #expect(try left() == [])
  }

  @Test("A link in the place of the attachments' directory is not followed", arguments: [false, true])
  func linkedAttachments(inner: Bool) throws {
    try scratch.makeDirectory("target")
    if inner {
      try scratch.makeLink("attachments/\(id.text)", to: "../target")
    } else {
      try FileManager.default.removeItem(at: scratch.url("attachments"))
      try scratch.makeLink("attachments", to: "target")
    }
    do {
      let report = try NewReport(id, in: session)
      let failure = failureCode { _ = try report.addAttachment("a") }
      #expect([.notDirectory, .tooManySymbolicLinkLevels].contains(failure))
    }
    #expect(try scratch.folder("target").names() == [])
  }

  @Test("A report that could not be published leaves no metadata")
  func publishingFails() throws {
    do {
      let report = try NewReport(id, in: session)
      for name in try scratch.folder("new").names() where name.text.contains(#/-[0-9]+$/#) {
        try scratch.folder("new").remove(name)
      }
      #expect(failureCode { try report.publish(ReportMetadata(creationTime: 1)) } == .noSuchFileOrDirectory)
    }
    #expect(try left() == [])
  }
}
