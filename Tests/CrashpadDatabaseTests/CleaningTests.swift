// SPDX-License-Identifier: Apache-2.0
import CrashpadFiles
import Foundation
import CrashpadSnapshot
import SystemPackage
import Testing
import ToolRunner

@testable import CrashpadDatabase

@Suite("Cleaning a database")
struct CleaningTests {
  private static let now = 1_795_262_400
  private static let days = 86400
  private static let limit = now - 3 * days
  private static let id = "1b4e28ba-2fa1-41d2-883f-0016d3cca427"
  private let files: DatabaseFiles

  init() throws { files = try DatabaseFiles() }

  private func found(_ rules: CleaningRules = CleaningRules()) -> [String] {
    let leftovers = files.database.leftovers(rules, now: Int64(Self.now))
    #expect(leftovers.failures == [])
    return leftovers.found.map(described)
  }

  private func described(_ leftover: Leftover) -> String {
    "\(leftover.kind.rawValue) \(leftover.folder.map { $0.text + "/" } ?? "")\(leftover.name.text)"
  }

  /// Removes all that is found, and checks that the dry run said it, that nothing else went, and that nothing is left.
  private func clean(_ rules: CleaningRules = CleaningRules(), expecting expected: [String]) throws {
    let before = try files.all()
    #expect(found(rules) == expected)
    #expect(try files.all() == before, "looking changed something")
    let leftovers = files.database.leftovers(rules, now: Int64(Self.now)).found
    let session = try DatabaseSession(files.database, now: Int64(Self.now))
    for leftover in leftovers { #expect(session.clean(leftover, rules, now: Int64(Self.now)) == .removed) }
    session.close()
    var gone = Set(leftovers.map { ($0.folder.map { $0.text + "/" } ?? "") + $0.name.text })
    for leftover in leftovers where leftover.kind == .rejectedDump {
      gone.insert("rejected/\(leftover.name.text).reason")
    }
    let expectedRest = before.filter { file in
      !gone.contains(file) && !gone.contains { $0.hasPrefix("attachments/") && file.hasPrefix($0 + "/") }
    }
    #expect(try files.all() == expectedRest)
    #expect(found(rules) == [])
  }

  // MARK: new/

  @Test("Files in new/ go when they are three days old, to the second")
  func newFiles() throws {
    let names = (1...3).map { "\($0)b4e28ba-2fa1-41d2-883f-0016d3cca427" }
    for (name, age) in [("\(names[0]).dmp", 0), ("\(names[1]).lock", -1), ("\(names[2]).dmp", 1)] {
      try files.write("new/\(name)", bytes: 3, modified: Self.limit + age)
    }
    try FileManager.default.createSymbolicLink(
      atPath: files.url("new/\(names[2]).lock").path, withDestinationPath: "/nowhere/at/all")
    // Files of other programs stay: a directory of mail has its messages in new/.
    for name in ["1700000000.host", "old.dmp", "\(names[0]).txt"] {
      try files.write("new/\(name)", bytes: 3, modified: 1)
    }
    try FileManager.default.createSymbolicLink(
      atPath: files.url("new/link").path, withDestinationPath: "/nowhere/at/all")
    try FileManager.default.createDirectory(at: files.url("new/folder"), withIntermediateDirectories: false)
    try files.touch("new/folder", 1000)
    try clean(expecting: ["new-file new/\(names[0]).dmp", "new-file new/\(names[1]).lock"])
  }

  @Test("The files of a run that lives stay, however old they are; those of an ended one go")
  func runs() throws {
    let session = try DatabaseSession(files.database, now: 0)
    defer { session.close() }
    for name in try files.all() where name.hasPrefix("new/.") { try files.touch(name, 1000) }
    try files.write("new/.crashpadctl-dead", LockContent(time: 0, isMarked: true).bytes)
    try files.write("new/.crashpadctl-dead-1", bytes: 5)
    // A run whose own file is gone is unknown: age decides.
    for name in ["new/.crashpadctl-lost-7", "new/.crashpadctl-late-7"] { try files.write(name, bytes: 5) }
    try files.touch("new/.crashpadctl-lost-7", 1000)
    try clean(expecting: [
      "ended-run new/.crashpadctl-dead", "ended-run new/.crashpadctl-dead-1", "new-file new/.crashpadctl-lost-7",
    ])
  }

  @Test("Files that a live run writes stay, even if the run's own file was removed")
  func runWithoutFile() throws {
    let session = try DatabaseSession(files.database, now: 0)
    defer { session.close() }
    let report = try NewReport(try #require(UUIDBytes(text: Self.id)), in: session)
    let own = try files.all().filter { $0.hasPrefix("new/.") && !$0.contains("-", after: "new/.crashpadctl-") }
    #expect(own.count == 1)
    for name in own { try FileManager.default.removeItem(at: files.url(name)) }
    try withExtendedLifetime(report) { try clean(expecting: []) }
  }

  // MARK: Locks

  @Test("Locks go when they expired, to the second, and cost the report nothing", arguments: ["pending", "completed"])
  func locks(_ state: String) throws {
    for number in 1...4 {
      try files.report("\(number)b4e28ba-2fa1-41d2-883f-0016d3cca427", in: state, created: 0, modified: 1000)
    }
    try files.lock("\(state)/1b4e28ba-2fa1-41d2-883f-0016d3cca427.lock", time: Int64(Self.limit))
    try files.lock("\(state)/2b4e28ba-2fa1-41d2-883f-0016d3cca427.lock", time: Int64(Self.limit + 1))
    // Fewer than eight bytes: they are not being written any more.
    try files.write("\(state)/3b4e28ba-2fa1-41d2-883f-0016d3cca427.lock", bytes: 7, modified: Self.limit)
    try files.write("\(state)/4b4e28ba-2fa1-41d2-883f-0016d3cca427.lock", bytes: 0, modified: Self.limit + 1)
    try files.write("\(state)/other.lock", bytes: 0, modified: 1000)
    try clean(expecting: [
      "expired-lock \(state)/1b4e28ba-2fa1-41d2-883f-0016d3cca427.lock",
      "abandoned-lock \(state)/3b4e28ba-2fa1-41d2-883f-0016d3cca427.lock",
      "abandoned-lock \(state)/4b4e28ba-2fa1-41d2-883f-0016d3cca427.lock",
    ])
  }

  @Test("A lock whose owner is gone goes at once; one whose owner lives stays")
  func ownedLocks() throws {
    try files.report(Self.id, in: "pending", created: 0)
    let other = "2b4e28ba-2fa1-41d2-883f-0016d3cca427"
    try files.report(other, in: "pending", created: 0)
    try files.write("pending/\(Self.id).lock", LockContent(time: Int64(Self.now), isMarked: true).bytes)
    let session = try DatabaseSession(files.database, now: 0)
    defer { session.close() }
    let lock = try session.lock(try #require(UUIDBytes(text: other)), in: .pending)
    try withExtendedLifetime(lock) { try clean(expecting: ["abandoned-lock pending/\(Self.id).lock"]) }
  }

  @Test("The lock of the settings goes when it expired")
  func settingsLock() throws {
    try files.lock("settings.dat.__lock__", time: Int64(Self.limit + 1))
    #expect(found() == [])
    try files.lock("settings.dat.__lock__", time: Int64(Self.limit))
    try clean(expecting: ["settings-lock settings.dat.__lock__"])
  }

  // MARK: Reports

  @Test("A report without metadata goes when it is three days old, with its attachments")
  func reportWithoutMetadata() throws {
    try files.write("completed/\(Self.id).dmp", bytes: 5, modified: Self.limit + 1)
    try files.write("attachments/\(Self.id)/log", bytes: 7)
    #expect(found() == [])
    try files.touch("completed/\(Self.id).dmp", Self.limit)
    let leftover = try #require(files.database.leftovers(now: Int64(Self.now)).found.first)
    #expect(leftover.kind == .reportWithoutMetadata)
    #expect(leftover.size == 12)
    let session = try DatabaseSession(files.database, now: Int64(Self.now))
    #expect(session.clean(leftover, now: Int64(Self.now)) == .removed)
    session.close()
    #expect(try files.all() == ["attachments", "completed", "new", "pending"])
  }

  @Test(
    "An old report stays with metadata of whatever kind",
    arguments: [
      "meta", "damaged", "link", "folder", "lock", "AppleDouble", "damaged AppleDouble", "unknown name",
    ])
  func reportsThatStay(_ kind: String) throws {
    let name = kind == "unknown name" ? "dump" : Self.id
    try files.write("pending/\(name).dmp", bytes: 5, modified: 1000)
    let meta = "pending/\(name).meta"
    switch kind {
    case "meta": try files.write(meta, ReportMetadata(creationTime: 0).bytes)
    case "damaged": try files.write(meta, bytes: 1)
    case "link":
      try FileManager.default.createSymbolicLink(atPath: files.url(meta).path, withDestinationPath: "nowhere")
    case "folder": try FileManager.default.createDirectory(at: files.url(meta), withIntermediateDirectories: false)
    case "lock": try files.lock("pending/\(name).lock", time: Int64(Self.limit + 1))
    case "AppleDouble":
      try files.write(
        "pending/._\(name).dmp",
        Self.appleDouble(["uuid": Self.id, "creation_time": "1000"]))
    case "damaged AppleDouble": try files.write("pending/._\(name).dmp", Self.appleDouble(["uuid": "none"]))
    default: break
    }
    try clean(expecting: [])
  }

  @Test("A file beside a report that has nothing of Crashpad's goes with it")
  func foreignAttributes() throws {
    try files.write("pending/\(Self.id).dmp", bytes: 5, modified: 1000)
    try files.write("pending/._\(Self.id).dmp", bytes: 100)
    #expect(found() == ["report-without-metadata pending/\(Self.id).dmp"])
    let session = try DatabaseSession(files.database, now: 0)
    let leftover = try #require(files.database.leftovers(now: Int64(Self.now)).found.first)
    #expect(session.clean(leftover, now: Int64(Self.now)) == .removed)
    session.close()
    #expect(try files.all() == ["attachments", "completed", "new", "pending"])
  }

  @Test("Metadata without a report goes at once, if its lock is free", arguments: ["pending", "completed"])
  func metadataWithoutReport(_ state: String) throws {
    try files.write("\(state)/\(Self.id).meta", ReportMetadata(creationTime: 0).bytes)
    try files.write("\(state)/other.meta", bytes: 3)
    try files.lock("\(state)/\(Self.id).lock", time: Int64(Self.limit + 1))
    #expect(found() == [])
    try files.lock("\(state)/\(Self.id).lock", time: Int64(Self.limit))
    try clean(expecting: [
      "expired-lock \(state)/\(Self.id).lock", "metadata-without-report \(state)/\(Self.id).meta",
    ])
  }

  // MARK: Attachments

  @Test("Attachments stay where there is a report of theirs", arguments: ["new", "pending", "completed"])
  func attachmentsWithReport(_ place: String) throws {
    try files.write("attachments/\(Self.id)/log", bytes: 3)
    try files.write("\(place)/\(Self.id).dmp", bytes: 3)
    try files.write("attachments/file", bytes: 3)
    try files.write("attachments/other/log", bytes: 3)
    try clean(expecting: [])
  }

  @Test("Attachments without a report go at once, if their lock is free", arguments: ["pending", "completed"])
  func attachmentsWithoutReport(_ state: String) throws {
    try files.write("attachments/\(Self.id)/log", bytes: 3)
    try files.write("attachments/\(Self.id)/more", bytes: 4)
    try files.lock("\(state)/\(Self.id).lock", time: Int64(Self.limit + 1))
    #expect(found() == [])
    try FileManager.default.removeItem(at: files.url("\(state)/\(Self.id).lock"))
    #expect(files.database.leftovers(now: Int64(Self.now)).found.map(\.size) == [7])
    try clean(expecting: ["attachments-without-report attachments/\(Self.id)"])
  }

  @Test("A directory among attachments is kept, and said to be in the way")
  func attachmentsWithFolder() throws {
    try files.write("attachments/\(Self.id)/folder/log", bytes: 3)
    let leftover = try #require(files.database.leftovers(now: 0).found.first)
    let session = try DatabaseSession(files.database, now: 0)
    defer { session.close() }
    let path = files.database.path(of: leftover)
    #expect(session.clean(leftover, now: 0) == .failed(FileFailure(path, .directoryNotEmpty)))
    #expect(files.folder.exists("db/attachments/\(Self.id)/folder/log"))
  }

  @Test("Attachments of a report that is just being made stay")
  func attachmentsOfNewReport() throws {
    let maker = try DatabaseSession(files.database, now: 0)
    let id = try #require(UUIDBytes(text: Self.id))
    var report: NewReport? = try NewReport(id, in: maker)
    try report?.addAttachment("log").write([1, 2, 3])
    #expect(found() == [])
    // As if the search had been before: the lock keeps it.
    let early = Leftover(
      kind: .attachmentsWithoutReport, folder: DatabaseLayout.attachments, name: DatabaseLayout.attachments(of: id),
      size: 3, since: 0)
    let cleaner = try DatabaseSession(files.database, now: 0)
    guard case .busy = cleaner.clean(early, now: 0) else {
      Issue.record("attachments of a report under way were removed")
      return
    }
    try report?.stage(ReportMetadata(creationTime: 0))
    try report?.publish()
    report = nil
    #expect(cleaner.clean(early, now: 0) == .changed)
    cleaner.close()
    maker.close()
    #expect(files.folder.exists("db/attachments/\(Self.id)/log"))
  }

  // MARK: Rejected dumps

  @Test("Rejected dumps go with their reasons, 60 days after they were rejected")
  func rejected() throws {
    let limit = Self.now - 60 * Self.days
    func reject(_ name: String, _ dump: Int?, _ reason: Int?) throws {
      if let dump { try files.write("rejected/\(name)", bytes: 10, modified: dump) }
      if let reason { try files.write("rejected/\(name).reason", bytes: 3, modified: reason) }
    }
    try reject("old", 1000, limit)
    try reject("young", 1000, limit + 1)
    try reject("bare", limit, nil)
    try reject("lone", nil, limit)
    try reject("young-lone", nil, limit + 1)
    try FileManager.default.createDirectory(at: files.url("rejected/folder"), withIntermediateDirectories: false)
    #expect(found(CleaningRules(rejectedAge: nil)) == [])
    #expect(files.database.leftovers(now: Int64(Self.now)).found.map(\.size) == [10, 3, 13])
    try clean(expecting: [
      "rejected-dump rejected/bare", "rejected-dump rejected/lone.reason", "rejected-dump rejected/old",
    ])
    try clean(
      CleaningRules(rejectedAge: 0),
      expecting: ["rejected-dump rejected/young", "rejected-dump rejected/young-lone.reason"])
  }

  // MARK: What changes meanwhile

  @Test("An entry that is no longer a leftover stays")
  func changed() throws {
    try files.write("new/3b4e28ba-2fa1-41d2-883f-0016d3cca427.dmp", bytes: 3, modified: 1000)
    try files.write("pending/\(Self.id).dmp", bytes: 3, modified: 1000)
    try files.write("completed/\(Self.id).meta", bytes: 3)
    let other = "2b4e28ba-2fa1-41d2-883f-0016d3cca427"
    try files.write("attachments/\(other)/log", bytes: 3)
    let leftovers = files.database.leftovers(now: Int64(Self.now)).found
    #expect(
      leftovers.map(\.kind) == [.newFile, .reportWithoutMetadata, .metadataWithoutReport, .attachmentsWithoutReport])
    try files.touch("new/3b4e28ba-2fa1-41d2-883f-0016d3cca427.dmp", Self.now)
    try files.write("pending/\(Self.id).meta", bytes: 3)
    try files.write("completed/\(Self.id).dmp", bytes: 3)
    try files.write("completed/\(other).dmp", bytes: 3)
    let before = try files.all()
    let session = try DatabaseSession(files.database, now: Int64(Self.now))
    for leftover in leftovers { #expect(session.clean(leftover, now: Int64(Self.now)) == .changed) }
    session.close()
    #expect(try files.all() == before)
  }

  @Test("An entry that can't be examined is reported, and the rest is found all the same")
  func failures() throws {
    try files.write("pending/\(Self.id).meta", bytes: 3)
    // A lock that is a directory.
    try FileManager.default.createDirectory(
      at: files.url("pending/\(Self.id).lock"), withIntermediateDirectories: false)
    try files.write("completed/\(Self.id).meta", bytes: 3)
    let leftovers = files.database.leftovers(now: Int64(Self.now))
    #expect(leftovers.found.map(described) == ["metadata-without-report completed/\(Self.id).meta"])
    #expect(leftovers.failures.map(\.path.lastComponent?.string) == ["\(Self.id).lock"])
  }

  /// An AppleDouble file with attributes of Crashpad's.
  private static func appleDouble(_ attributes: [String: String]) -> [UInt8] {
    func big(_ value: Int, _ bytes: Int) -> [UInt8] {
      (0..<bytes).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
    var table: [UInt8] = []
    var data: [UInt8] = []
    let named = attributes.sorted { $0.key < $1.key }.map {
      ("org.chromium.crashpad.database." + $0.key, Array($0.value.utf8))
    }
    let tableSize = named.reduce(0) { $0 + (11 + $1.0.utf8.count + 1 + 3) & ~3 }
    let start = 120
    for (name, value) in named {
      table += big(start + tableSize + data.count, 4) + big(value.count, 4) + big(0, 2) + [UInt8(name.utf8.count + 1)]
      table += Array(name.utf8) + [0]
      while table.count % 4 != 0 { table.append(0) }
      data += value
    }
    var bytes = big(0x51607, 4) + big(0x20000, 4) + [UInt8](repeating: 0, count: 16) + big(1, 2)
    bytes += big(9, 4) + big(50, 4) + big(start + tableSize + data.count - 50, 4)
    bytes += [UInt8](repeating: 0, count: 50 - bytes.count) + [UInt8](repeating: 0, count: 34)
    bytes += big(0x4154_5452, 4) + big(0, 4) + big(0, 4) + big(start + tableSize, 4) + big(data.count, 4)
    bytes += [UInt8](repeating: 0, count: 12) + big(0, 2) + big(named.count, 2)
    return bytes + table + data
  }
}

extension String {
  /// Whether `text` is behind `prefix`.
  fileprivate func contains(_ text: String, after prefix: String) -> Bool {
    hasPrefix(prefix) && dropFirst(prefix.count).contains(text)
  }
}
