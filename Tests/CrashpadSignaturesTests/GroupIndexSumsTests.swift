// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import CrashpadFiles
import Foundation
import SystemPackage
import Testing
import ToolRunner

@testable import CrashpadSignatures

/// The sums of an index are those of its rows, whatever was added, changed and removed, and by whom.
@Suite("Sums of an index")
struct GroupIndexSumsTests {
  private static let seed: UInt64 = {
    let seed = ProcessInfo.processInfo.environment["CRASHPADCTL_SEED"].flatMap { UInt64($0) }
    let chosen = seed ?? UInt64.random(in: 0..<1_000_000)
    print("sums of an index: CRASHPADCTL_SEED=\(chosen)")
    return chosen
  }()

  private static func signature(_ number: Int) -> Signature {
    ChoiceTests.signature(ChoiceTests.kind("trap"), number % 3 == 0 ? ["+0x\(number)|shop"] : ["f\(number)|shop"])
  }

  /// Names of which the order of bytes is not that of characters, and some that are equal for who compares characters.
  private static let names = ["1.0", "2.0", "e\u{301}", "\u{e9}", "\u{ff5a}", "\u{10000}", "2.10 (3)"]

  private static func entry(_ path: String, _ generator: inout some RandomNumberGenerator) -> GroupIndexEntry {
    func name() -> String? { Bool.random(using: &generator) ? names.randomElement(using: &generator) : nil }
    func number(_ range: Range<Int64>) -> Int64 { Int64.random(in: range, using: &generator) }
    let identity = FileIdentity(
      number: UInt64(number(0..<1 << 40)), size: number(0..<1000), modified: number(0..<1 << 60))
    guard number(0..<8) > 0 else {
      return GroupIndexEntry(path: path, identity: identity, crash: nil, hasFailed: true)
    }
    let report = number(0..<3) > 0 ? "\(name() ?? "")\(number(0..<60))" : nil
    var facts = CrashFacts(id: report ?? path, input: path)
    facts.report = report
    facts.time =
      [nil, number(-100_000..<100_000), number(1_700_000_000..<1_700_400_000)]
      .randomElement(using: &generator) ?? nil
    (facts.program, facts.version, facts.device, facts.system) = (name(), name(), name(), name())
    facts.client = name()
    facts.isQuick = Bool.random(using: &generator)
    facts.processID = number(0..<3) > 0 ? number(1..<6) : nil
    facts.role = CrashAccount.Role.allCases.randomElement(using: &generator)
    facts.process = number(0..<4) > 0 ? "Shop" : name()
    if facts.role == .diagnosed { facts.periodStart = facts.time.map { $0 - number(0..<90_000) } }
    let crash = (Self.signature(Int(number(0..<7))), facts)
    return GroupIndexEntry(path: path, identity: identity, crash: crash, hasFailed: number(0..<5) == 0)
  }

  /// The sums of a run over `entries`.
  private static func part(_ entries: some Sequence<GroupIndexEntry>, since: Int64?) -> CrashGroups.Part {
    var part = CrashGroups.Part()
    for entry in entries {
      if entry.hasFailed { part.failed += 1 }
      guard let (signature, facts) = entry.crash else { continue }
      if let since, facts.time.map({ $0 < since }) ?? true { continue }
      part.add(signature, facts)
    }
    return part
  }

  @Test(arguments: 0..<12)
  func `Sums are those of the rows after any changes`(round: Int) throws {
    var generator = SplitMix64(seed: Self.seed, area: 0x500 + UInt64(round))
    let folder = try TemporaryFolder()
    let path = FilePath(folder.work.path).appending("index")
    var model: [String: GroupIndexEntry] = [:]
    for _ in 0..<Int.random(in: 1...8, using: &generator) {
      let index = try GroupIndex(path, inApp: [])
      let batch = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
        Self.entry("/none/\(Int.random(in: 0..<50, using: &generator))", &generator)
      }
      try index.add(batch)
      for entry in batch {
        // None of the paths is there: another file with the report of a dump takes the place of the dump.
        if let report = entry.crash?.facts.report {
          for (path, other) in model
          where other.crash?.facts.report.map({ Array($0.utf8) == Array(report.utf8) }) == true {
            model[path] = nil
          }
        }
        model[entry.path] = entry
      }
      // Another program deletes rows.
      let file = try SQLiteFile(path)
      for path in model.keys.sorted() where Int.random(in: 0..<6, using: &generator) == 0 {
        model[path] = nil
        try file.prepare("DELETE FROM dumps WHERE path = ?").run([.text(path)])
      }
      try compare(try index.part(hasDays: true, hasInstallations: true), Self.part(model.values, since: nil))
      for since: Int64 in [-1, 0, 1_700_200_000] {
        try compare(try index.part(since: since), Self.part(model.values, since: since))
      }
      #expect(try index.undatedCount() == model.values.count { $0.crash != nil && $0.crash?.facts.time == nil })
    }
  }

  @Test func `The first example is that of the first bytes, also of ids with equal characters`() {
    var ids = ["\u{e9}6", "e\u{301}6"].map { GroupCounts.Example(id: $0, input: $0.utf8.count == 3 ? "a" : "b") }
    #expect(ids[1].precedes(ids[0]) && !ids[0].precedes(ids[1]))
    ids.sort { $0.precedes($1) }
    #expect(ids.map(\.input) == ["b", "a"])
  }

  private func compare(_ kept: CrashGroups.Part, _ read: CrashGroups.Part) throws {
    #expect(kept.failed == read.failed)
    let shard = CrashGroups.Shard(run: "r", number: 1, total: 1)
    for order in CrashGroups.Order.allCases {
      for joins in [false, true] {
        #expect(
          CrashGroups(shard, kept).groups(by: order, joinsRaw: joins)
            == CrashGroups(shard, read).groups(by: order, joinsRaw: joins))
      }
    }
  }

  @Test func `Files are known by their path, number, size and time`() throws {
    var generator = SplitMix64(seed: Self.seed, area: 0x600)
    let folder = try TemporaryFolder()
    let index = try GroupIndex(FilePath(folder.work.path).appending("index"), inApp: [])
    // Members of an archive have the identity of the archive.
    let names = (0..<60).map { "/none/\(Self.names[$0 % Self.names.count])/\($0)" }
    let identities = names.map { _ in
      FileIdentity(number: UInt64.random(in: 1...12, using: &generator), size: 5, modified: 7)
    }
    try index.add(
      zip(names, identities).map { GroupIndexEntry(path: $0, identity: $1, crash: nil, hasFailed: false) })
    var candidates = zip(names, identities).map { GroupIndex.Candidate(path: $0, identity: $1) }
    // A path that is gone gives its place to another one with its identity, so that not all are there.
    let unknown = Set(try index.unknown(candidates))
    #expect(unknown.count < 60)
    let known = candidates.indices.filter { !unknown.contains($0) }
    candidates = known.map { candidates[$0] }.shuffled(using: &generator)
    #expect(try index.unknown(candidates + candidates) == [])
    for number in candidates.indices {
      let (path, identity) = (candidates[number].path, candidates[number].identity)
      guard let identity else { continue }
      for other in [
        GroupIndex.Candidate(path: path, identity: nil), GroupIndex.Candidate(path: path + "x", identity: identity),
        GroupIndex.Candidate(
          path: path,
          identity: FileIdentity(number: identity.number + 1, size: identity.size, modified: identity.modified)),
        GroupIndex.Candidate(
          path: path, identity: FileIdentity(number: identity.number, size: 6, modified: identity.modified)),
        GroupIndex.Candidate(
          path: path, identity: FileIdentity(number: identity.number, size: identity.size, modified: 8)),
      ] {
        var changed = candidates
        changed[number] = other
        #expect(try index.unknown(changed) == [number])
      }
    }
  }

  @Test func `An index of the third version loses its trigger, and counts each crash once`() throws {
    let folder = try TemporaryFolder()
    for seed in 1...2 { try folder.write(SynthDump(.tiny(seed: UInt64(seed))).bytes, to: "dumps/\(seed).idump") }
    let command = "crashpadctl group --no-system --format json -j 1 --index index dumps"
    #expect(try Tool.shell("exec \(command)", in: folder).status == 0)
    let file = try SQLiteFile(FilePath(folder.work.path).appending("index"))
    try file.run(
      """
      CREATE TRIGGER dump_added AFTER INSERT ON dumps BEGIN UPDATE sums SET count = count + 1; END;
      PRAGMA user_version = 3;
      """)
    try folder.write(SynthDump(.tiny(seed: 3)).bytes, to: "dumps/3.idump")
    let after = try Tool.shell("exec \(command)", in: folder)
    #expect(try JSONDocument(after.output)["crash_count"].int == 3, "\(after.errorText)")
    let select = try file.prepare("SELECT modified > 0 FROM dumps")
    while try select.step() { #expect(select.number(0) == 1) }
  }

  @Test func `An index of the first version keeps its crashes, and has their files read again`() throws {
    let folder = try TemporaryFolder()
    try folder.write(SynthDump(.tiny(seed: 1)).bytes, to: "dumps/1.idump")
    try folder.write(SynthDump(.tiny(seed: 2)).bytes, to: "dumps/2.idump")
    let command = "crashpadctl group --no-system --format json -j 1 --index index dumps"
    let before = try Tool.shell("exec \(command)", in: folder)
    #expect(before.status == 0, "\(before.errorText)")
    let file = try SQLiteFile(FilePath(folder.work.path).appending("index"))
    try file.run(
      """
      DROP TRIGGER dump_removed; DROP TABLE sums; DROP INDEX dumps_by_file;
      DROP INDEX dumps_by_time; DROP INDEX dumps_by_name; DROP INDEX dumps_quick; DROP INDEX dumps_failed;
      DROP INDEX dumps_by_process; DROP INDEX dumps_separate; DROP TRIGGER dump_separated;
      ALTER TABLE dumps DROP COLUMN separate; ALTER TABLE dumps DROP COLUMN since;
      ALTER TABLE dumps DROP COLUMN process; ALTER TABLE dumps DROP COLUMN role;
      CREATE INDEX dumps_by_inode ON dumps (inode); PRAGMA user_version = 1;
      """)
    // The crash of a removed dump is not lost.
    let after = try Tool.shell("rm dumps/1.idump; exec \(command)", in: folder)
    #expect(after.status == 0, "\(after.errorText)")
    #expect(after.text == before.text)
    let select = try file.prepare("SELECT modified > 0 FROM dumps ORDER BY path")
    var isRead: [Int64?] = []
    while try select.step() { isRead.append(select.number(0)) }
    #expect(isRead == [0, 1])
    try file.run("PRAGMA user_version = 99")
    let newer = try Tool.shell("exec \(command)", in: folder)
    #expect(newer.errorText == "index: error: was made by a newer version of crashpadctl\n")
  }
}
