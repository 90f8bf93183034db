// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import Foundation
import CrashpadSnapshot
import SystemPackage
import Testing
import ToolRunner

@testable import CrashpadDatabase
@testable import CrashpadFiles

@Suite("DatabaseRepair")
struct DatabaseRepairTests {
  private let scratch: ScratchDatabase
  private static let pending = "pending/\(Sample.pending.text)"
  private static let completed = "completed/\(Sample.completed.text)"

  init() throws { scratch = try ScratchDatabase.healthy() }

  private func remove(_ name: String) throws { try FileManager.default.removeItem(at: scratch.url(name)) }

  private func metadata(_ name: String) throws -> ReportMetadata {
    try ReportMetadata(try scratch.bytes(of: name + ".meta"))
  }

  /// Repairs, and expects just these repairs; that a dry run told the same; and that a second run finds nothing to do.
  private func repair(_ expected: [String], leaving: [String] = []) throws {
    let before = try scratch.content()
    let dry = try scratch.repair(isDryRun: true)
    #expect(try scratch.content() == before)
    #expect(dry.done.map(Self.withoutSettingsCopy) == expected.map(Self.withoutSettingsCopy))
    #expect(try scratch.repair() == ScratchDatabase.Repair(done: expected))
    #expect(scratch.found() == leaving.sorted())
    let after = try scratch.content()
    #expect(try scratch.repair() == ScratchDatabase.Repair())
    #expect(try scratch.content() == after)
  }

  /// Only the repair itself knows under which name it keeps damaged settings.
  private static func withoutSettingsCopy(_ line: String) -> String {
    line.replacingOccurrences(of: " -> settings.dat.damaged", with: "")
  }

  @Test("A database without a fault stays as it is")
  func healthy() throws {
    let before = try scratch.content()
    try repair([])
    #expect(try scratch.content() == before)
  }

  @Test("The faults that a rule repairs are repaired; other faults stay, and nothing is lost", arguments: FaultCase.all)
  func everyFault(_ fault: FaultCase) throws {
    if fault.expected == ["attachments [not-a-directory]"] { try remove("attachments/\(Sample.pending.text)") }
    try fault.damage(scratch)
    if fault.expected == ["attachments [not-a-directory]"] {
      #expect(throws: FileFailure.self) { try scratch.repair() }
      return
    }
    let reports = try Self.reports(in: scratch.content())
    _ = try scratch.repair()
    #expect(try Self.reports(in: scratch.content()).isSuperset(of: reports))
    // A damaged lock is mended when its file is three days old.
    let codes = DatabaseRules.repairable.subtracting([DatabaseRules.damagedLock]).map(\.code)
    let left = scratch.found().filter { line in codes.contains { line.hasSuffix("[\($0)]") } }
    #expect(left == [])
    let after = try scratch.content()
    #expect(try scratch.repair() == ScratchDatabase.Repair())
    #expect(try scratch.content() == after)
  }

  /// The bytes of all reports, wherever they are.
  static func reports(in content: [String: [UInt8]]) -> Set<[UInt8]> {
    Set(content.filter { $0.key.hasSuffix(".dmp") && !$0.key.contains("/._") }.values)
  }

  // MARK: Metadata

  @Test("A report without metadata gets them with the time of its file")
  func missingMetadata() throws {
    try remove(Self.pending + ".meta")
    scratch.setModified(Self.pending + ".dmp", 1_650_000_000)
    try repair(["made-metadata \(Self.pending).dmp [missing-metadata]"])
    #expect(try metadata(Self.pending) == ReportMetadata(creationTime: 1_650_000_000))
  }

  @Test(
    "Damaged metadata are kept aside, with the reason",
    arguments: [[], [1, 0, 0], [9] + Sample.metadata().dropFirst()] as [[UInt8]])
  func damagedMetadata(_ bytes: [UInt8]) throws {
    let code = bytes.count < 32 ? "truncated-metadata" : "unknown-metadata-version"
    try scratch.write(bytes, to: Self.completed + ".meta")
    scratch.setModified(Self.completed + ".dmp", 1_650_000_000)
    let aside = "rejected/completed-\(Sample.completed.text).meta"
    try repair([
      "kept-aside \(Self.completed).meta -> \(aside) [\(code)]", "made-metadata \(Self.completed).dmp [\(code)]",
    ])
    #expect(try scratch.bytes(of: aside) == bytes)
    #expect(try scratch.bytes(of: aside + ".reason").last == 10)
    #expect(try metadata(Self.completed).creationTime == 1_650_000_000)
  }

  @Test("A file that is kept aside replaces nothing")
  func asideTaken() throws {
    let aside = "rejected/pending-\(Sample.pending.text).meta"
    try scratch.write([7], to: aside)
    try scratch.write([8], to: aside + ".reason")
    try scratch.write([1], to: Self.pending + ".meta")
    scratch.setModified(Self.pending + ".dmp", 1_650_000_000)
    try repair([
      "kept-aside \(Self.pending).meta -> \(aside)-2 [truncated-metadata]",
      "made-metadata \(Self.pending).dmp [truncated-metadata]",
    ])
    #expect(try scratch.bytes(of: aside) == [7])
    #expect(try scratch.bytes(of: aside + "-2") == [1])
  }

  @Test("Metadata of an AppleDouble file are taken")
  func appleDouble() throws {
    try remove(Self.completed + ".meta")
    let prefix = "org.chromium.crashpad.database."
    let attributes = [
      (prefix + "uuid", Sample.completed.text), (prefix + "creation_time", "1612345678"), (prefix + "uploaded", "1"),
      (prefix + "id", "srv"), (prefix + "upload_count", "2"), (prefix + "last_upload_time", "1612345999"),
    ]
    try scratch.write(Sample.appleDouble(attributes), to: "completed/._\(Sample.completed.text).dmp")
    try repair(["took-attributes \(Self.completed).dmp [metadata-in-attributes]"])
    var expected = ReportMetadata(creationTime: 1_612_345_678)
    expected.isUploaded = true
    expected.serverID = Array("srv".utf8)
    expected.uploadAttempts = 2
    expected.lastUploadAttemptTime = 1_612_345_999
    #expect(try metadata(Self.completed) == expected)
  }

  @Test("Metadata without a report are kept if they have the server's id, and else removed")
  func loneMetadata() throws {
    let (a, b) = ("pending/\(Sample.other.text)", "completed/\(Sample.other.text)")
    try scratch.write(Sample.metadata(), to: a + ".meta")
    try scratch.write(Sample.metadata(attributes: 1, id: "srv"), to: b + ".meta")
    try scratch.write([1], to: "attachments/\(Sample.other.text)/log")
    let aside = "rejected/completed-\(Sample.other.text).meta"
    try repair(
      [
        "removed-metadata \(a).meta [metadata-without-report]",
        "kept-aside \(b).meta -> \(aside) [metadata-without-report]",
      ], leaving: ["attachments/\(Sample.other.text) [orphaned-attachments]"])
    #expect(try scratch.bytes(of: aside) == Sample.metadata(attributes: 1, id: "srv"))
  }

  // MARK: Names

  @Test("A report with an upper-case name gets its id's, with metadata and attachments")
  func upperCase() throws {
    try scratch.write(Sample.minidump, to: "pending/\(Sample.upper).dmp")
    try scratch.write(Sample.metadata(attempts: 3), to: "pending/\(Sample.upper).meta")
    try scratch.write([5], to: "attachments/\(Sample.upper)/log")
    let lower = "pending/\(Sample.other.text)"
    try repair([
      "renamed pending/\(Sample.upper).dmp -> \(lower).dmp [upper-case-name]",
      "renamed attachments/\(Sample.upper) -> attachments/\(Sample.other.text) [upper-case-name]",
    ])
    #expect(try scratch.bytes(of: lower + ".dmp") == Sample.minidump)
    #expect(try scratch.bytes(of: lower + ".meta") == Sample.metadata(attempts: 3))
    #expect(try scratch.bytes(of: "attachments/\(Sample.other.text)/log") == [5])
    #expect(!scratch.exists("pending/\(Sample.upper).meta"))
  }

  @Test("A report with an upper-case name takes the metadata that stand under its id")
  func upperCaseWithLowerMetadata() throws {
    try scratch.write(Sample.minidump, to: "pending/\(Sample.upper).dmp")
    try scratch.write(Sample.metadata(attempts: 3), to: "pending/\(Sample.other.text).meta")
    _ = try scratch.repair()
    #expect(try scratch.bytes(of: "pending/\(Sample.other.text).meta") == Sample.metadata(attempts: 3))
    #expect(scratch.found() == [])
  }

  @Test("A report in upper case beside one in lower case gets an id of its own, or goes if it is the same")
  func upperCaseTwin() throws {
    try scratch.write(Sample.minidump, to: "pending/\(Sample.upper).dmp")
    try scratch.write(Sample.metadata(attempts: 3), to: "pending/\(Sample.upper).meta")
    try scratch.addReport(Sample.other)
    let result = try scratch.repair()
    #expect(result.notDone == [])
    #expect(scratch.found() == [])
    let reports = try scratch.content().filter { $0.key.hasSuffix(".dmp") }
    #expect(reports.values.count { $0 == Sample.minidump } == 1)
    #expect(reports["pending/\(Sample.other.text).dmp"] == Array("MDMP".utf8))
  }

  @Test("A run that died while it renamed a report leaves its attachments to the next")
  func deadRenaming() throws {
    try scratch.write(Sample.minidump, to: "pending/\(Sample.upper).dmp")
    try scratch.write(Sample.metadata(attempts: 3), to: "pending/\(Sample.upper).meta")
    try scratch.write([5], to: "attachments/\(Sample.other.text)/log")
    try scratch.deadRun { _, run in try scratch.leaveLock(of: run, "pending", Sample.other) }
    try scratch.write(Sample.metadata(attempts: 3), to: "pending/\(Sample.other.text).meta")
    _ = try scratch.repair()
    #expect(scratch.found() == [])
    #expect(try scratch.bytes(of: "attachments/\(Sample.other.text)/log") == [5])
    #expect(try scratch.bytes(of: "pending/\(Sample.other.text).meta") == Sample.metadata(attempts: 3))
  }

  @Test("Metadata that a report has under its new name already are not kept twice")
  func copiedMetadata() throws {
    let upper = "completed/\(Sample.upper).meta"
    try scratch.addReport(Sample.other, in: "completed", metadata: Sample.metadata(attributes: 1, id: "srv"))
    try scratch.write(Sample.metadata(attributes: 1, id: "srv"), to: upper)
    try repair(["removed-metadata \(upper) [metadata-without-report]"])
    try scratch.write(Sample.metadata(attributes: 1, id: "another"), to: upper)
    try repair([
      "kept-aside \(upper) -> rejected/completed-\(Sample.upper).meta [metadata-without-report]"
    ])
  }

  // MARK: Twice

  @Test("The completed one of two copies of a report stays, with the more complete metadata")
  func sameTwice() throws {
    try scratch.addReport(
      Sample.completed, metadata: Sample.metadata(attempts: 2, attempt: 1_600_000_999, attributes: 3, id: "newer"))
    let aside = "rejected/completed-\(Sample.completed.text).meta"
    try repair([
      "kept-aside \(Self.completed).meta -> \(aside) [duplicate-report]",
      "removed-duplicate pending/\(Sample.completed.text).dmp -> \(Self.completed).dmp [duplicate-report]",
    ])
    #expect(
      try scratch.bytes(of: Self.completed + ".meta")
        == Sample.metadata(attempts: 2, attempt: 1_600_000_999, attributes: 1, id: "newer"))
    #expect(
      try scratch.bytes(of: aside) == Sample.metadata(attempts: 1, attempt: 1_600_000_100, attributes: 1, id: "server"))
    #expect(!scratch.exists("pending/\(Sample.completed.text).meta"))
  }

  @Test("A pending report that was never uploaded does not change the completed one")
  func sameTwiceUnknown() throws {
    let before = try scratch.bytes(of: Self.completed + ".meta")
    try scratch.addReport(Sample.completed, attachments: ["log"])
    try repair([
      "removed-duplicate pending/\(Sample.completed.text).dmp -> \(Self.completed).dmp [duplicate-report]"
    ])
    #expect(try scratch.bytes(of: Self.completed + ".meta") == before)
    #expect(try scratch.bytes(of: "attachments/\(Sample.completed.text)/log") == [1, 2, 3])
  }

  @Test("The pending one of two reports with one id gets another id, and keeps bytes and metadata")
  func differentTwice() throws {
    // As many bytes, but others.
    try scratch.write(Sample.minidump.reversed(), to: Self.completed + ".dmp")
    try scratch.write(Sample.minidump, to: "pending/\(Sample.completed.text).dmp")
    try scratch.write(Sample.metadata(attempts: 4), to: "pending/\(Sample.completed.text).meta")
    let text = "\(Sample.completed.text)\(String(decoding: Sample.minidump, as: UTF8.self))"
    let digest = Array(unsafe SHA256.digest(Array(text.utf8).span.bytes).prefix(16))
    let hex = digest.map { String(format: "%02x", $0) }.joined()
    let newID = try #require(UUIDBytes(text: hex)).withVersion(8)
    try repair(
      [
        "gave-new-id pending/\(Sample.completed.text).dmp -> pending/\(newID.text).dmp [duplicate-report]"
      ], leaving: [Self.completed + ".dmp [not-a-minidump]"])
    #expect(try scratch.bytes(of: "pending/\(newID.text).dmp") == Sample.minidump)
    #expect(try scratch.bytes(of: "pending/\(newID.text).meta") == Sample.metadata(attempts: 4))
    // Copied back from a backup, it is the same again.
    try scratch.write(Sample.minidump, to: "pending/\(Sample.completed.text).dmp")
    try scratch.write(Sample.metadata(), to: "pending/\(Sample.completed.text).meta")
    try repair(
      [
        "removed-duplicate pending/\(Sample.completed.text).dmp -> pending/\(newID.text).dmp [duplicate-report]"
      ], leaving: [Self.completed + ".dmp [not-a-minidump]"])
  }

  // MARK: Uploaded, and still pending

  @Test("A pending report that was uploaded is completed, and keeps its metadata and attachments")
  func uploadedInPending() throws {
    let uploaded = Sample.metadata(attempts: 1, attempt: 1_600_000_100, attributes: 1, id: "server-id")
    try scratch.addReport(Sample.other, metadata: uploaded, attachments: ["log"])
    let name = Sample.other.text
    try repair(["completed-report pending/\(name).dmp -> completed/\(name).dmp [uploaded-in-pending]"])
    #expect(try scratch.bytes(of: "completed/\(name).meta") == uploaded)
    #expect(try scratch.bytes(of: "attachments/\(name)/log") == [1, 2, 3])
    #expect(!scratch.exists("pending/\(name).meta"))
  }

  @Test("A report follows its metadata after an upload that died between the two moves")
  func uploadedHalfway() throws {
    let uploaded = Sample.metadata(attempts: 1, attempt: 1_600_000_100, attributes: 1, id: "server-id")
    try scratch.addReport(Sample.other, metadata: uploaded)
    let name = Sample.other.text
    try scratch.write(uploaded, to: "completed/\(name).meta")
    try repair(["completed-report pending/\(name).dmp -> completed/\(name).dmp [uploaded-in-pending]"])
    #expect(try scratch.bytes(of: "completed/\(name).meta") == uploaded)
  }

  @Test("Metadata with another id of the server, where an uploaded report comes, are kept aside")
  func uploadedTwice() throws {
    let other = Sample.metadata(attributes: 1, id: "first")
    try scratch.addReport(Sample.other, metadata: Sample.metadata(attributes: 1, id: "second"))
    let name = Sample.other.text
    try scratch.write(other, to: "completed/\(name).meta")
    let aside = "rejected/completed-\(name).meta"
    try repair([
      "kept-aside completed/\(name).meta -> \(aside) [uploaded-in-pending]",
      "completed-report pending/\(name).dmp -> completed/\(name).dmp [uploaded-in-pending]",
    ])
    #expect(try scratch.bytes(of: aside) == other)
    #expect(try metadata("completed/\(name)").serverID == Array("second".utf8))
  }

  @Test("A report with an upper-case name that was uploaded gets its name first")
  func uploadedUpperCase() throws {
    try scratch.write(Sample.minidump, to: "pending/\(Sample.upper).dmp")
    try scratch.write(Sample.metadata(attributes: 1, id: "srv"), to: "pending/\(Sample.upper).meta")
    let name = Sample.other.text
    try repair([
      "renamed pending/\(Sample.upper).dmp -> pending/\(name).dmp [upper-case-name]",
      "completed-report pending/\(name).dmp -> completed/\(name).dmp [uploaded-in-pending]",
    ])
    #expect(try scratch.bytes(of: "completed/\(name).dmp") == Sample.minidump)
  }

  @Test("A pending report that takes the metadata of its uploaded double is completed")
  func uploadedDouble() throws {
    try scratch.write(Sample.minidump, to: "pending/\(Sample.upper).dmp")
    try scratch.write(Sample.metadata(attributes: 1, id: "srv"), to: "pending/\(Sample.upper).meta")
    try scratch.write(Sample.minidump, to: "pending/\(Sample.other.text).dmp")
    try scratch.write(Sample.metadata(attempts: 3), to: "pending/\(Sample.other.text).meta")
    let name = Sample.other.text
    try repair([
      "removed-duplicate pending/\(Sample.upper).dmp -> pending/\(name).dmp [upper-case-name]",
      "completed-report pending/\(name).dmp -> completed/\(name).dmp [uploaded-in-pending]",
    ])
    #expect(try metadata("completed/\(name)").serverID == Array("srv".utf8))
  }

  @Test("An uploaded report that a program holds stays")
  func uploadedBusy() throws {
    try scratch.addReport(Sample.other, metadata: Sample.metadata(attributes: 1, id: "srv"))
    try scratch.write(ScratchDatabase.crashpadLock(Sample.now - 5), to: "pending/\(Sample.other.text).lock")
    let expected = ScratchDatabase.Repair(notDone: ["pending/\(Sample.other.text).dmp busy"])
    #expect(try scratch.repair(isDryRun: true) == expected)
    #expect(try scratch.repair() == expected)
  }

  // MARK: Locks, settings, directories, permissions

  @Test("Abandoned and expired locks go, and what is not mended for them is told as busy")
  func locks() throws {
    try remove(Self.pending + ".meta")
    scratch.setModified(Self.pending + ".dmp", 1_650_000_000)
    try scratch.write(ScratchDatabase.crashpadLock(Sample.now - 5), to: Self.pending + ".lock")
    #expect(try scratch.repair() == ScratchDatabase.Repair(notDone: ["\(Self.pending).dmp busy"]))
    try scratch.write(ScratchDatabase.crashpadLock(Sample.now - 4 * Sample.day), to: Self.pending + ".lock")
    try scratch.write(ScratchDatabase.markedLock(), to: Self.completed + ".lock")
    try repair([
      "removed-lock \(Self.pending).lock [expired-lock]", "removed-lock \(Self.completed).lock [abandoned-lock]",
      "made-metadata \(Self.pending).dmp [missing-metadata]",
    ])
  }

  @Test("Damaged settings are kept, and replaced by new ones")
  func settings() throws {
    try scratch.write([1, 2, 3], to: "settings.dat")
    try repair(
      ["replaced-settings settings.dat -> settings.dat.damaged [settings-damaged]"],
      leaving: ["settings.dat.damaged [settings-kept-aside]"])
    #expect(try scratch.bytes(of: "settings.dat.damaged") == [1, 2, 3])
    #expect(
      try scratch.bytes(of: "settings.dat").suffix(16)
        == [UInt8]([0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0x4c, 0x8c, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc])[
          ...])
  }

  @Test("Missing directories are made, for the owner alone")
  func directories() throws {
    for name in ["new", "pending", "completed"] { try remove(name) }
    try remove("attachments")
    try repair(["new", "pending", "completed", "attachments"].map { "made-directory \($0) [missing-directory]" })
    for name in ["new", "pending", "completed", "attachments"] {
      #expect(try scratch.folder(name).status().permissions == 0o700)
    }
  }

  @Test("The leftovers of dead runs go")
  func deadRuns() throws {
    let run = try scratch.deadRun()
    try scratch.write([1], to: "new/\(run)-1")
    try repair(["ended-run new/\(run) [dead-run]", "ended-run new/\(run)-1 [dead-run]"])
  }

  @Test("Permissions go to the owner alone, of files before their directories")
  func permissions() throws {
    for name in try scratch.everything() where name.hasSuffix("/") { scratch.setPermissions(name, 0o755) }
    for name in try scratch.everything() where !name.hasSuffix("/") { scratch.setPermissions(name, 0o666) }
    for name in ["", "new", "pending", "completed", "attachments", "pending-serialized-ios-dump"] {
      scratch.setPermissions(name, 0o755)
    }
    try scratch.write([1], to: "pending/notes")
    scratch.setPermissions("pending/notes", 0o644)
    let result = try scratch.repair()
    #expect(result.done.last == "set-permissions  [readable-by-others]")
    #expect(result.done.contains("set-permissions \(Self.pending).meta [writable-by-others]"))
    for name in try scratch.everything() where name != "pending/notes" {
      let status = try #require(
        try FileManager.default.attributesOfItem(atPath: scratch.url(name).path)[.posixPermissions] as? Int)
      #expect(status == (name.hasSuffix("/") ? 0o700 : 0o600), "\(name)")
    }
    #expect(try scratch.folder("pending").status(FileName(literal: "notes"))?.permissions == 0o644)
    #expect(try scratch.repair() == ScratchDatabase.Repair())
  }

  @Test("A rule that is ignored is not mended")
  func ignored() throws {
    try remove(Self.pending + ".meta")
    scratch.setPermissions("", 0o750)
    let before = try scratch.content()
    #expect(try scratch.repair(ignoring: ["missing-metadata", "readable-by-others"]) == ScratchDatabase.Repair())
    #expect(try scratch.content() == before)
    #expect(try FileManager.default.attributesOfItem(atPath: scratch.path.string)[.posixPermissions] as? Int == 0o750)
  }
}
