// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import CrashpadSnapshot
import SystemPackage
import Testing
import ToolRunner

@testable import CrashpadDatabase
@testable import CrashpadFiles

@Suite("CrashDatabase")
struct CrashDatabaseTests {
  private let scratch: ScratchDatabase
  private let id = UUIDBytes.random()

  init() throws { scratch = try ScratchDatabase() }

  private let parts = ["attachments", "completed", "new", "pending", "pending-serialized-ios-dump"]

  // MARK: Opening and making

  @Test("A database is made with its directories, for its owner only, once")
  func create() throws {
    let path = FilePath(scratch.temporary.work.path).appending("fresh")
    let (database, isNew) = try CrashDatabase.create(path)
    #expect(isNew)
    #expect(database.path == path)
    #expect(try scratch.temporary.names(in: "fresh") == parts)
    for name in ["fresh"] + parts.map({ "fresh/" + $0 }) {
      let attributes = try FileManager.default.attributesOfItem(atPath: scratch.temporary.url(name).path)
      #expect(attributes[.posixPermissions] as? Int == 0o700, "\(name)")
    }
    #expect(try !CrashDatabase.create(path).isNew)
    try FileManager.default.removeItem(at: scratch.temporary.url("fresh/completed"))
    #expect(try CrashDatabase.create(path).isNew)
    #expect(try scratch.temporary.names(in: "fresh") == parts)
  }

  @Test("Directories above are not made, and nothing is made through a link that leads nowhere")
  func createNot() throws {
    let work = FilePath(scratch.temporary.work.path)
    #expect(failureCode { _ = try CrashDatabase.create(work.appending("a/b")) } == .noSuchFileOrDirectory)
    try FileManager.default.createSymbolicLink(
      atPath: scratch.temporary.url("link").path, withDestinationPath: "nowhere")
    #expect(failureCode { _ = try CrashDatabase.create(work.appending("link")) } != nil)
    try scratch.temporary.write([], to: "file")
    #expect(failureCode { _ = try CrashDatabase.create(work.appending("file")) } == .notDirectory)
    #expect(try scratch.temporary.names() == ["db", "file", "link"])
  }

  @Test("A path that is not UTF-8 names just that directory")
  func createBytes() throws {
    let name = try #require(FileName(bytes: [0x64, 0xff]))
    let work = FilePath(scratch.temporary.work.path)
    let database = try CrashDatabase.create(work.appending(name)).database
    #expect(try Folder(work).names().sorted().last == name)
    #expect(database.path == work.appending(name))
    #expect(try CrashDatabase(work.appending(name)).path == work.appending(name))
    // The runner's way to clean up knows only text.
    for part in parts { try Folder(work.appending(name)).removeFolder(#require(FileName(part))) }
    try Folder(work).removeFolder(name)
  }

  @Test("Several make one database at once")
  func createAtOnce() throws {
    for round in 0..<Soak.times(30, or: 10) {
      let path = FilePath(scratch.temporary.work.path).appending("d\(round)")
      DispatchQueue.concurrentPerform(iterations: 4) { _ in
        do { _ = try CrashDatabase.create(path) } catch { Issue.record(error) }
      }
      #expect(try scratch.temporary.names(in: "d\(round)") == parts)
    }
  }

  @Test("Any part makes a directory a database; without one it is none")
  func open() throws {
    let work = FilePath(scratch.temporary.work.path)
    try scratch.temporary.write([], to: "other/file")
    let other = work.appending("other")
    #expect(throws: CrashDatabase.OpenFailure.notADatabase(other)) { _ = try CrashDatabase(other) }
    for (index, part) in (parts + ["settings.dat", "rejected"]).enumerated() {
      try scratch.temporary.write([], to: "p\(index)/\(part)/.x")
      let database = try CrashDatabase(work.appending("p\(index)"))
      if part != "pending" { #expect(try database.listing(of: .pending).reports.isEmpty) }
      #expect(try scratch.temporary.names(in: "p\(index)") == [part], "reading makes nothing")
    }
    #expect(failureCode { _ = try CrashDatabase(work.appending("missing")) } == .noSuchFileOrDirectory)
    try FileManager.default.createSymbolicLink(atPath: scratch.temporary.url("link").path, withDestinationPath: "db")
    #expect(try CrashDatabase(work.appending("link")).path == work.appending("link"))
  }

  @Test(
    "A directory with entries of another program, and none of a database, is none",
    arguments: ["new", "pending", "completed", "attachments", "rejected"])
  func openOther(_ part: String) throws {
    let work = FilePath(scratch.temporary.work.path)
    try scratch.temporary.write([], to: "mail/\(part)/1700000000.host")
    try scratch.temporary.write([], to: "mail/cur/1600000000.host")
    let (mail, entry) = (work.appending("mail"), work.appending("mail/\(part)/1700000000.host"))
    #expect(throws: CrashDatabase.OpenFailure.otherProgram(mail, entry: entry)) { _ = try CrashDatabase(mail) }
    let own = part == "rejected" ? "rejected/a.reason" : "\(part)/\(id.text).dmp"
    for own in [own, "settings.dat", "pending-serialized-ios-dump/a"] {
      try scratch.temporary.write(own == "settings.dat" ? Sample.settings() : [], to: "mail/\(own)")
      _ = try CrashDatabase(mail)
      try FileManager.default.removeItem(at: scratch.temporary.url("mail/\(own)"))
      try? FileManager.default.removeItem(at: scratch.temporary.url("mail/pending-serialized-ios-dump"))
    }
    #expect(throws: CrashDatabase.OpenFailure.self) { _ = try CrashDatabase(mail) }
  }

  // MARK: Reports

  @Test("Reports are found with what is known of them", arguments: [ReportState.pending, .completed])
  func reports(state: ReportState) throws {
    let other = UUIDBytes.random()
    try scratch.addReport(
      id, in: state.rawValue, metadata: ScratchDatabase.metadata(creation: 5, attributes: 3, serverID: "s"),
      attachments: ["b", "a"])
    try scratch.addReport(other, in: state.rawValue, metadata: nil)
    scratch.setModified("\(state.rawValue)/\(other.text).dmp", 1_234)
    let reports = try scratch.database.listing(of: state).reports
    #expect(Set(reports.map(\.id)) == [id, other])
    for report in reports { #expect(try scratch.database.report(report.id) == report) }
    let report = try #require(reports.first { $0.id == id })
    var metadata = ReportMetadata(creationTime: 5)
    metadata.isUploaded = true
    metadata.isUploadExplicitlyRequested = true
    metadata.serverID = [0x73]
    #expect(report.metadata == .file(metadata))
    #expect(report.state == state)
    #expect(report.size == 4)
    #expect(report.totalSize == 10)
    #expect(report.attachments.map(\.name.text) == ["a", "b"])
    #expect(report.attachments.map(\.size) == [3, 3])
    #expect(report.creationTime == 5)
    #expect(scratch.database.path(of: report) == scratch.path.appending("\(state.rawValue)/\(id.text).dmp"))
    #expect(try scratch.database.open(report).prefix(9) == Array("MDMP".utf8))
    let bare = try #require(reports.first { $0.id == other })
    #expect(bare.metadata == .missing)
    #expect(bare.creationTime == 1_234)
    #expect(bare.attachments.isEmpty)
    #expect(try scratch.database.listing(of: state == .pending ? .completed : .pending).reports.isEmpty)
    #expect(try scratch.database.report(.random()) == nil)
  }

  @Test("Only files that are named by a UUID are reports")
  func strangeNames() throws {
    for name in [
      ".dmp", "x.dmp", "\(id.text)", "\(id.text).DMP", "\(id.text).dmp.bak", "x\(id.text).dmp", "\(id.text)x.dmp",
      "\(id.text.filter { $0 != "-" }).dmp", "._\(id.text).dmp", "\(id.text.dropLast())g.dmp", "\(id.text).meta",
    ] { try scratch.write([1], to: "pending/" + name) }
    _ = try scratch.folder("pending").open(#require(FileName(bytes: [0xff] + Array(".dmp".utf8))), .create)
    #expect(try scratch.database.listing(of: .pending).reports.isEmpty)
  }

  @Test("An entry that is not a file is not a report, and is not followed or waited for", arguments: 0..<3)
  func strangeReports(kind: Int) throws {
    let name = "pending/\(id.text).dmp"
    try scratch.write([1], to: "target")
    switch kind {
    case 0: try scratch.makeDirectory(name)
    case 1: scratch.makeFIFO(name)
    default: try scratch.makeLink(name, to: "../target")
    }
    try scratch.write(ScratchDatabase.metadata(), to: "pending/\(id.text).meta")
    #expect(try scratch.database.listing(of: .pending).reports.isEmpty)
    #expect(try scratch.database.report(id) == nil)
  }

  @Test("An entry that is not a file, in the metadata's place, is missing metadata", arguments: 0..<4)
  func strangeMetadata(kind: Int) throws {
    try scratch.addReport(id, metadata: nil)
    try scratch.write(ScratchDatabase.metadata(), to: "target")
    let name = "pending/\(id.text).meta"
    switch kind {
    case 0: try scratch.makeDirectory(name)
    case 1: scratch.makeFIFO(name)
    case 2: try scratch.makeLink(name, to: "../target")
    default: try scratch.makeLink(name, to: "nowhere")
    }
    #expect(try scratch.database.report(id)?.metadata == .missing)
    #expect(try scratch.database.listing(of: .pending).reports.map(\.metadata) == [.missing])
  }

  @Test("Damaged metadata is told; a long id of the server is read wholly")
  func metadata() throws {
    for (bytes, damage) in [
      ([], .truncated(byteCount: 0)), ([UInt8](repeating: 1, count: 31), .truncated(byteCount: 31)),
      ([2] + ScratchDatabase.metadata().dropFirst(), .unknownVersion(2)),
    ] as [([UInt8], ReportMetadata.Damage)] {
      try scratch.addReport(id, metadata: bytes)
      #expect(try scratch.database.report(id)?.metadata == .damaged(damage))
    }
    for count in [0, 1, 223, 224, 225, 5_000] {
      let serverID = String(repeating: "s", count: count)
      try scratch.addReport(id, metadata: ScratchDatabase.metadata(serverID: serverID))
      #expect(try scratch.database.report(id)?.metadata.value?.serverID.count == count)
    }
  }

  @Test("Only files are attachments, whatever they are called; links are not followed")
  func attachments() throws {
    try scratch.addReport(id, attachments: ["a"])
    let folder = "attachments/\(id.text)/"
    try scratch.makeDirectory(folder + "directory")
    scratch.makeFIFO(folder + "fifo")
    try scratch.makeLink(folder + "link", to: "a")
    _ = try scratch.folder(folder).open(#require(FileName(bytes: [0xff])), .create)
    let report = try #require(try scratch.database.report(id))
    #expect(report.attachments.map(\.name.bytes) == [[0x61], [0xff]])
    #expect(try scratch.database.listing(of: .pending).reports == [report])
  }

  @Test("A file or a link in the place of a report's attachments is none of them", arguments: 0..<2)
  func strangeAttachments(kind: Int) throws {
    try scratch.addReport(id)
    try scratch.write([1], to: "target/file")
    if kind == 0 {
      try scratch.write([1], to: "attachments/\(id.text)")
    } else {
      try scratch.makeLink("attachments/\(id.text)", to: "../target")
    }
    #expect(try scratch.database.report(id)?.attachments == [])
    #expect(try scratch.database.listing(of: .pending).reports.map(\.attachments) == [[]])
  }

  @Test("A link in the place of a part of the database is an error, and is not followed")
  func linkedParts() throws {
    try scratch.addReport(id)
    try FileManager.default.moveItem(at: scratch.url("pending"), to: scratch.url("elsewhere"))
    try scratch.makeLink("pending", to: "elsewhere")
    let failures = [
      failureCode { _ = try scratch.database.listing(of: .pending).reports },
      failureCode { _ = try scratch.database.report(id) },
    ]
    for failure in failures { #expect([.notDirectory, .tooManySymbolicLinkLevels].contains(failure)) }
  }

  @Test("A database without a part has nothing there", arguments: ["pending", "completed", "attachments"])
  func missingParts(part: String) throws {
    try scratch.addReport(id, in: part == "pending" ? "completed" : "pending")
    try FileManager.default.removeItem(at: scratch.url(part))
    #expect(try scratch.database.report(id) != nil)
    #expect(try ReportState.allCases.flatMap { try scratch.database.listing(of: $0).reports }.count == 1)
  }

  @Test("Reading changes nothing, not even what looks abandoned")
  func readOnly() throws {
    try scratch.addReport(id, metadata: [1])
    try scratch.write(ScratchDatabase.markedLock(), to: "pending/\(id.text).lock")
    try scratch.write(ScratchDatabase.metadata(), to: "pending/\(UUIDBytes.random().text).meta")
    try scratch.write(ScratchDatabase.markedLock(), to: "new/.crashpadctl-1")
    try scratch.write([1, 2], to: "settings.dat")
    try scratch.write([1], to: "pending-serialized-ios-dump/x.locked")
    let before = try scratch.everything()
    let database = try CrashDatabase(scratch.path)
    _ = try database.listing(of: .pending).reports
    _ = try database.report(id)
    _ = try database.settings()
    _ = try database.pendingDumps()
    #expect(try scratch.everything() == before)
  }

  @Test(
    "Metadata that may not be read is not missing: it is an error that says where",
    .enabled(if: !Machine.isRoot, "root may do everything"))
  func unreadable() throws {
    try scratch.addReport(id)
    let path = scratch.path.appending("pending/\(id.text).meta")
    #expect(unsafe chmod(scratch.url("pending/\(id.text).meta").path, 0) == 0)
    #expect(throws: FileFailure(path, .permissionDenied)) { _ = try scratch.database.report(id) }
    // In a list it does not hide the others.
    let other = UUIDBytes.random()
    try scratch.addReport(other)
    let listing = try scratch.database.listing(of: .pending)
    #expect(listing.failures == [FileFailure(path, .permissionDenied)])
    #expect(listing.reports.map(\.id) == [other])
  }

  @Test(
    "A run in a database that may not be changed is an error that says where",
    .enabled(if: !Machine.isRoot, "root may do everything"))
  func notWritable() throws {
    #expect(unsafe chmod(scratch.url("new").path, 0o500) == 0)
    #expect(failureCode { _ = try scratch.session() } == .permissionDenied)
    #expect(unsafe chmod(scratch.url("new").path, 0o700) == 0)
    #expect(try scratch.everything() == [])
  }
}
