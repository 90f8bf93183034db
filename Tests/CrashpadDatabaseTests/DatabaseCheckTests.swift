// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import Foundation
import CrashpadSnapshot
import SystemPackage
import Testing
import ToolRunner

@testable import CrashpadDatabase
@testable import CrashpadFiles

/// One fault, and what check says of it.
struct FaultCase: Sendable, CustomTestStringConvertible {
  let code: String
  /// "path [code]", all of them.
  let expected: [String]
  let damage: @Sendable (ScratchDatabase) throws -> Void

  /// - Parameters:
  ///   - path: where the fault is, relative to the database.
  ///   - others: what is found besides.
  init(
    _ code: String, at path: String, _ others: [String] = [],
    _ damage: @escaping @Sendable (ScratchDatabase) throws -> Void
  ) {
    self.code = code
    expected = (["\(path) [\(code)]"] + others).sorted()
    self.damage = damage
  }

  var testDescription: String { "\(code): \(expected[0])" }

  private static let pending = "pending/\(Sample.pending.text)"
  private static let completed = "completed/\(Sample.completed.text)"
  private static let other = "pending/\(Sample.other.text)"
  private static let dumps = "pending-serialized-ios-dump/"

  static let all = root + settings + reports + metadata + locks + rest

  private static let root = [
    FaultCase("missing-directory", at: "new") { try FileManager.default.removeItem(at: $0.url("new")) },
    FaultCase("missing-directory", at: "attachments", []) {
      try FileManager.default.removeItem(at: $0.url("attachments"))
    },
    FaultCase("not-a-directory", at: "attachments") {
      try FileManager.default.removeItem(at: $0.url("attachments"))
      try $0.write([1], to: "attachments")
    },
    FaultCase("not-a-directory", at: "rejected") {
      try FileManager.default.removeItem(at: $0.url("rejected"))
      try $0.makeLink("rejected", to: "/")
    },
    FaultCase("unknown-entry", at: "notes.txt") { try $0.write([1], to: "notes.txt") },
    FaultCase("unknown-entry", at: ArgumentText.text([0xff, 0x0a])) { scratch in
      let name = try #require(FileName(bytes: [0xff, 0x0a]))
      _ = try Folder(scratch.path).open(name, .create)
    },
    FaultCase("readable-by-others", at: "") { $0.setPermissions("", 0o740) },
    FaultCase("writable-by-others", at: "") { $0.setPermissions("", 0o720) },
    FaultCase("readable-by-others", at: "pending", [" [readable-by-others]"]) { scratch in
      for name in try scratch.everything() { scratch.setPermissions(name, name.hasSuffix("/") ? 0o700 : 0o600) }
      scratch.setPermissions("", 0o755)
      for name in ["new", "completed", "attachments", "pending-serialized-ios-dump"] {
        scratch.setPermissions(name, 0o700)
      }
      scratch.setPermissions("pending", 0o750)
    },
    FaultCase("writable-by-others", at: pending + ".meta") { scratch in
      for name in try scratch.everything() { scratch.setPermissions(name, name.hasSuffix("/") ? 0o700 : 0o600) }
      scratch.setPermissions("", 0o711)
      for name in ["new", "completed", "attachments", "pending-serialized-ios-dump"] {
        scratch.setPermissions(name, 0o700)
      }
      scratch.setPermissions("pending", 0o711)
      scratch.setPermissions(pending + ".meta", 0o602)
    },
    FaultCase("orphaned-apple-double", at: "._notes") { try $0.write([1], to: "._notes") },
  ]

  private static let settings = [
    FaultCase("settings-missing", at: "settings.dat") {
      try FileManager.default.removeItem(at: $0.url("settings.dat"))
    },
    FaultCase("settings-missing", at: "settings.dat") { try $0.write([], to: "settings.dat") },
    FaultCase("settings-damaged", at: "settings.dat") { try $0.write([1, 2, 3], to: "settings.dat") },
    FaultCase("settings-damaged", at: "settings.dat") {
      try $0.write([UInt8](repeating: 9, count: 40), to: "settings.dat")
    },
    FaultCase("settings-damaged", at: "settings.dat") {
      var bytes = Sample.settings()
      bytes[4] = 2
      try $0.write(bytes, to: "settings.dat")
    },
    FaultCase("settings-extra-bytes", at: "settings.dat") {
      try $0.write(Sample.settings() + [0], to: "settings.dat")
    },
    FaultCase("settings-kept-aside", at: "settings.dat.damaged-2") { try $0.write([1], to: "settings.dat.damaged-2") },
    FaultCase("zero-client-id", at: "settings.dat") { try $0.write(Sample.settings(clientID: 0), to: "settings.dat") },
    FaultCase("future-time", at: "settings.dat") {
      try $0.write(Sample.settings(attempt: Sample.now + 100), to: "settings.dat")
    },
    FaultCase("not-a-file", at: "settings.dat") {
      try FileManager.default.removeItem(at: $0.url("settings.dat"))
      try $0.makeDirectory("settings.dat")
    },
  ]

  private static let reports = [
    FaultCase("missing-metadata", at: pending + ".dmp") {
      try FileManager.default.removeItem(at: $0.url(pending + ".meta"))
    },
    FaultCase("missing-metadata", at: completed + ".dmp", [completed + ".meta [not-a-file]"]) {
      try FileManager.default.removeItem(at: $0.url(completed + ".meta"))
      $0.makeFIFO(completed + ".meta")
    },
    FaultCase("not-a-file", at: other + ".dmp") { try $0.makeLink(other + ".dmp", to: "/etc/passwd") },
    FaultCase("not-a-file", at: other + ".lock") { try $0.makeDirectory(other + ".lock") },
    FaultCase("truncated-metadata", at: pending + ".meta") {
      try $0.write(Array(Sample.metadata().prefix(31)), to: pending + ".meta")
    },
    FaultCase("truncated-metadata", at: pending + ".meta") { try $0.write([], to: pending + ".meta") },
    FaultCase("unknown-metadata-version", at: completed + ".meta") {
      try $0.write([2] + Sample.metadata().dropFirst(), to: completed + ".meta")
    },
    FaultCase("oversized-metadata", at: pending + ".meta", [pending + ".meta [id-without-upload]"]) {
      try $0.write(Sample.metadata() + [UInt8](repeating: 65, count: 1 << 20), to: pending + ".meta")
    },
    FaultCase("metadata-without-report", at: other + ".meta") { try $0.write(Sample.metadata(), to: other + ".meta") },
    FaultCase("metadata-in-attributes", at: pending + ".dmp") {
      try FileManager.default.removeItem(at: $0.url(pending + ".meta"))
      let attributes = [
        ("org.chromium.crashpad.database.uuid", Sample.pending.text),
        ("org.chromium.crashpad.database.creation_time", "1600000000"),
      ]
      try $0.write(Sample.appleDouble(attributes), to: "pending/._\(Sample.pending.text).dmp")
    },
    FaultCase("orphaned-apple-double", at: "pending/._\(Sample.other.text).dmp") {
      try $0.write([1], to: "pending/._\(Sample.other.text).dmp")
    },
    FaultCase("duplicate-report", at: "completed/\(Sample.pending.text).dmp") {
      try $0.addReport(Sample.pending, in: "completed")
    },
    FaultCase("upper-case-name", at: "pending/\(Sample.upper).dmp") {
      try $0.write(Sample.minidump, to: "pending/\(Sample.upper).dmp")
      try $0.write(Sample.metadata(), to: "pending/\(Sample.upper).meta")
    },
    FaultCase("bad-report-name", at: "completed/crash.dmp") {
      try $0.write(Sample.minidump, to: "completed/crash.dmp")
    },
    FaultCase("empty-report", at: pending + ".dmp") { try $0.write([], to: pending + ".dmp") },
    FaultCase("not-a-minidump", at: pending + ".dmp") { try $0.write(Array("MDM".utf8), to: pending + ".dmp") },
    FaultCase("foreign-entry", at: "pending/notes") { try $0.write([1], to: "pending/notes") },
    FaultCase("foreign-entry", at: "completed/link.dmp") { try $0.makeLink("completed/link.dmp", to: "/") },
    FaultCase("foreign-entry", at: "pending/pipe") { $0.makeFIFO("pending/pipe") },
    FaultCase("foreign-entry", at: "new/folder") { try $0.makeDirectory("new/folder") },
  ]

  private static func with(_ metadata: [UInt8], in name: String = pending) -> @Sendable (ScratchDatabase) throws -> Void
  {
    { try $0.write(metadata, to: name + ".meta") }
  }

  private static let metadata = [
    FaultCase("negative-attempts", at: pending + ".meta", [], with(Sample.metadata(attempts: -1))),
    FaultCase("negative-time", at: pending + ".meta", [], with(Sample.metadata(creation: -5))),
    FaultCase("negative-time", at: pending + ".meta", [], with(Sample.metadata(attempt: .min))),
    FaultCase("future-time", at: pending + ".meta", [], with(Sample.metadata(creation: Sample.now + 61))),
    FaultCase("future-time", at: pending + ".meta", [], with(Sample.metadata(attempt: .max))),
    FaultCase("uploaded-in-pending", at: pending + ".meta", [], with(Sample.metadata(attributes: 1, id: "x"))),
    FaultCase(
      "requested-in-completed", at: completed + ".meta", [], with(Sample.metadata(attributes: 2), in: completed)),
    FaultCase("uploaded-without-id", at: completed + ".meta", [], with(Sample.metadata(attributes: 1), in: completed)),
    FaultCase("id-without-upload", at: completed + ".meta", [], with(Sample.metadata(id: "x"), in: completed)),
  ]

  private static func lock(_ bytes: [UInt8], modified: Int64 = Sample.now) -> @Sendable (ScratchDatabase) throws -> Void
  {
    {
      try $0.write(bytes, to: pending + ".lock")
      $0.setModified(pending + ".lock", modified)
    }
  }

  private static let locks = [
    FaultCase("abandoned-lock", at: pending + ".lock", [], lock(ScratchDatabase.markedLock(Sample.now))),
    FaultCase(
      "expired-lock", at: pending + ".lock", [], lock(ScratchDatabase.crashpadLock(Sample.now - 3 * Sample.day))),
    FaultCase(
      "lock-of-unknown", at: pending + ".lock", [], lock(ScratchDatabase.crashpadLock(Sample.now - 3 * Sample.day + 1))),
    FaultCase("future-lock", at: pending + ".lock", [], lock(ScratchDatabase.crashpadLock(Sample.now + 61))),
    FaultCase("damaged-lock", at: pending + ".lock", [], lock([1, 2, 3], modified: Int64(Glibc.time(nil)))),
    FaultCase("abandoned-lock", at: pending + ".lock", [], lock([], modified: Sample.now - 3 * Sample.day)),
  ]

  private static let rest = [
    FaultCase("unfinished-report", at: "new/\(Sample.other.text).dmp") {
      try $0.write([1], to: "new/\(Sample.other.text).dmp")
      $0.setModified("new/\(Sample.other.text).dmp", Sample.now - 3 * Sample.day + 1)
    },
    FaultCase("stale-report", at: "new/\(Sample.other.text).dmp") {
      try $0.write([1], to: "new/\(Sample.other.text).dmp")
      $0.setModified("new/\(Sample.other.text).dmp", Sample.now - 3 * Sample.day)
    },
    FaultCase("dead-run", at: "new/.crashpadctl-1") {
      try $0.write(ScratchDatabase.markedLock(), to: "new/.crashpadctl-1")
    },
    FaultCase("dead-run", at: "new/.crashpadctl-1-2", ["new/.crashpadctl-1 [dead-run]"]) {
      try $0.write(ScratchDatabase.markedLock(), to: "new/.crashpadctl-1")
      try $0.write([1], to: "new/.crashpadctl-1-2")
    },
    FaultCase("orphaned-attachments", at: "attachments/\(Sample.other.text)") {
      try $0.write([1], to: "attachments/\(Sample.other.text)/log")
    },
    FaultCase(
      "upper-case-name", at: "attachments/\(Sample.upper)", ["attachments/\(Sample.upper) [orphaned-attachments]"]
    ) {
      try $0.makeDirectory("attachments/\(Sample.upper)")
    },
    FaultCase("foreign-entry", at: "attachments/notes") { try $0.makeDirectory("attachments/notes") },
    FaultCase("foreign-entry", at: "attachments/\(Sample.pending.text)/folder") {
      try $0.makeDirectory("attachments/\(Sample.pending.text)/folder")
    },
    FaultCase("bad-attachment-name", at: "attachments/\(Sample.pending.text)/a b") {
      try $0.write([1], to: "attachments/\(Sample.pending.text)/a b")
    },
    FaultCase("dump-without-uuid", at: dumps + "crash.idump") { try $0.write([6], to: dumps + "crash.idump") },
    FaultCase("duplicate-dump", at: dumps + "org.example@99999999-9999-4999-8999-999999999991") {
      try $0.write([6], to: dumps + "org.example@99999999-9999-4999-8999-999999999991")
    },
    FaultCase("future-dump", at: dumps + "a@\(Sample.other.text).locked") {
      try $0.write([6], to: dumps + "a@\(Sample.other.text).locked")
      $0.setModified(dumps + "a@\(Sample.other.text).locked", Sample.now + 61)
    },
    FaultCase("expired-dump-lock", at: dumps + "a@\(Sample.other.text).locked") {
      try $0.write([6], to: dumps + "a@\(Sample.other.text).locked")
      $0.setModified(dumps + "a@\(Sample.other.text).locked", Sample.now - 60 * Sample.day)
    },
    FaultCase("empty-pending-dump", at: dumps + "a@\(Sample.other.text)") {
      try $0.write([], to: dumps + "a@\(Sample.other.text)")
    },
    FaultCase("foreign-entry", at: dumps + ".DS_Store") { try $0.write([1], to: dumps + ".DS_Store") },
    FaultCase("rejected-without-reason", at: "rejected/x") { try $0.write([1], to: "rejected/x") },
    FaultCase("reason-without-dump", at: "rejected/x.reason") { try $0.write([1], to: "rejected/x.reason") },
    FaultCase("foreign-entry", at: "rejected/folder") { try $0.makeDirectory("rejected/folder") },
  ]
}

@Suite("DatabaseCheck")
struct DatabaseCheckTests {
  @Test("A database without a fault gives no finding")
  func healthy() throws {
    let scratch = try ScratchDatabase.healthy()
    #expect(scratch.found() == [])
    let result = DatabaseCheck(scratch.database, now: Sample.now).run()
    #expect(result.pendingReports == 1)
    #expect(result.completedReports == 1)
    #expect(result.pendingDumps == 2)
  }

  @Test("Each fault gives its finding and no other, and looking changes nothing", arguments: FaultCase.all)
  func fault(_ fault: FaultCase) throws {
    let scratch = try ScratchDatabase.healthy()
    if fault.expected[0].hasPrefix("attachments [") || fault.expected == ["attachments [not-a-directory]"] {
      try FileManager.default.removeItem(at: scratch.url("attachments/\(Sample.pending.text)"))
    }
    try fault.damage(scratch)
    let before = try scratch.content()
    #expect(scratch.found() == fault.expected)
    #expect(try scratch.content() == before)
    #expect(!scratch.found(ignoring: [fault.code]).contains { $0.hasSuffix("[\(fault.code)]") })
  }

  @Test("Every rule has a fault here, but for those that need a living program, missing rights or other files")
  func everyRule() {
    let codes = Set(FaultCase.all.map(\.code)).union(["lock-held", "unreadable", "hard-link"])
    #expect(codes == Set(DatabaseRules.all.map(\.code)))
    #expect(Set(DatabaseRules.all.map(\.code)).count == DatabaseRules.all.count)
  }

  @Test("A lock that a living program holds is a note")
  func heldLock() throws {
    let scratch = try ScratchDatabase.healthy()
    let session = try scratch.session()
    defer { session.close() }
    let lock = try session.lock(Sample.pending, in: .pending)
    withExtendedLifetime(lock) {
      #expect(scratch.found() == ["pending/\(Sample.pending.text).lock [lock-held]"])
    }
  }

  @Test(
    "An entry without permission to read is an error, and the rest is checked all the same",
    .enabled(if: !Machine.isRoot || Machine.hasSetpriv, "root may do everything, and setpriv is not installed"))
  func unreadable() throws {
    let scratch = try ScratchDatabase.healthy()
    try scratch.write([1], to: "notes.txt")
    for name in ["", "attachments", "completed", "new"] { scratch.setPermissions(name, 0o755) }
    scratch.setPermissions("pending", 0)
    let result = try Tool.shell("as-nobody crashpadctl database check -d db --now 1700000000", in: scratch.temporary)
    #expect(result.text.contains("db/pending: error: This can't be read"))
    #expect(result.text.contains("[unreadable]"))
    #expect(result.text.contains("db/notes.txt: note: "))
    #expect(result.status == 1)
    scratch.setPermissions("pending", 0o700)
  }

  @Test("A report that is changed in place under a lock is not a finding", arguments: ["pending", "completed"])
  func underLock(_ state: String) throws {
    let scratch = try ScratchDatabase.healthy()
    let lock = "\(state)/\(Sample.pending.text).lock"
    try scratch.write(ScratchDatabase.crashpadLock(Sample.now), to: lock)
    try scratch.write([1], to: "pending/\(Sample.pending.text).meta")
    #expect(scratch.found() == ["\(lock) [lock-of-unknown]"])
    try FileManager.default.removeItem(at: scratch.url("pending/\(Sample.pending.text).meta"))
    #expect(scratch.found() == ["\(lock) [lock-of-unknown]"])
    try FileManager.default.removeItem(at: scratch.url("pending/\(Sample.pending.text).dmp"))
    try scratch.write(Sample.metadata(), to: "pending/\(Sample.pending.text).meta")
    #expect(scratch.found() == ["\(lock) [lock-of-unknown]"])
  }

  @Test("While reports come, move and go, nothing is amiss")
  func concurrent() throws {
    let scratch = try ScratchDatabase()
    try scratch.write(Sample.settings(), to: "settings.dat")
    let ids = (0..<8).map { Sample.id("44444444-4444-4444-8444-4444444444" + String(10 + $0)) }
    for id in ids { try scratch.addReport(id, attachments: ["log"]) }
    let isDone = Gathered<Bool>()
    let failures = Gathered<String>()
    let thread = Thread {
      defer { isDone.add(true) }
      do {
        let session = try scratch.session()
        defer { session.close() }
        for _ in 0..<4 {
          for id in ids {
            let (report, lock) = try session.checkOut(id)
            let metadata = try #require(report.metadata.value)
            try session.change(report, lock, to: .completed, metadata)
          }
          for id in ids { try session.requestUpload(id) }
        }
        for id in ids { try session.delete(id) }
      } catch { failures.add("\(error)") }
    }
    thread.start()
    repeat {
      let findings = DatabaseCheck(scratch.database, now: Sample.now).run().findings
      #expect(findings.filter { $0.severity > .note }.map { "\($0.path) [\($0.rule.code)]" } == [])
    } while isDone.values.isEmpty
    #expect(failures.values == [])
    #expect(scratch.found() == [])
  }

  @Test("Findings are kept up to the limit")
  func many() throws {
    let scratch = try ScratchDatabase.healthy()
    for number in 0..<1100 { try scratch.write([], to: "pending/note-\(number)") }
    let findings = DatabaseCheck(scratch.database, now: Sample.now).run().findings
    #expect(findings.count == 1000)
    #expect(findings.count(of: .note) == 1100)
  }

  @Test("A directory that has one thing of a database is checked")
  func halfMissing() throws {
    let temporary = try TemporaryFolder()
    try temporary.write(Sample.minidump, to: "half/pending/\(Sample.pending.text).dmp")
    let path = FilePath(temporary.url("half").path)
    for name in ["", "/pending"] { _ = try Folder(FilePath(path.string + name)).setPermissions(0o700) }
    let findings = DatabaseCheck(try CrashDatabase(path), now: Sample.now).run().findings
    #expect(
      findings.map(\.rule.code).sorted() == [
        "missing-directory", "missing-directory", "missing-directory", "missing-metadata", "settings-missing",
      ])
  }
}
