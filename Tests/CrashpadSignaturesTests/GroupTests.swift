// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import CrashpadJSON
import Testing
import ToolRunner

@testable import CrashpadSignatures

/// Parts of a run may be put together in any order, any number of times.
struct GroupTests {
  private static func signature(_ number: Int) -> Signature {
    ChoiceTests.signature(ChoiceTests.kind("trap"), number % 3 == 0 ? ["+0x\(number)|shop"] : ["f\(number)|shop"])
  }

  private static func facts(_ index: Int, _ generator: inout some RandomNumberGenerator) -> CrashFacts {
    var facts = CrashFacts(id: "id\(Int.random(in: 0..<1_000_000, using: &generator))", input: "dump\(index)")
    facts.time = Bool.random(using: &generator) ? Int64.random(in: 0..<100_000, using: &generator) : nil
    facts.version = ["1.0", "2.0", nil].randomElement(using: &generator) ?? nil
    facts.program = ["Shop", "Till", nil].randomElement(using: &generator) ?? nil
    facts.device = ["iPhone14,2", nil].randomElement(using: &generator) ?? nil
    facts.client = ["a", "b", nil].randomElement(using: &generator) ?? nil
    facts.isQuick = Bool.random(using: &generator)
    facts.processID = Bool.random(using: &generator) ? Int64.random(in: 1...9, using: &generator) : nil
    facts.role = CrashAccount.Role.allCases.randomElement(using: &generator)
    // On few days, so that some are of one crash.
    if facts.processID != nil { facts.time = 1_700_000_000 + Int64.random(in: 0..<1000, using: &generator) }
    if facts.role == .diagnosed { facts.periodStart = 1_700_000_000 }
    return facts
  }

  private static func text(_ groups: CrashGroups) -> [UInt8] {
    let box = Box()
    var json = JSONWriter(.indented) { span in box.bytes += unsafe span.withUnsafeBytes { unsafe Array($0) } }
    groups.write(to: &json)
    do { try json.finish() } catch { Issue.record(error) }
    return box.bytes
  }

  private final class Box { var bytes: [UInt8] = [] }

  /// `CRASHPADCTL_SEED` repeats a run.
  private static let seed: UInt64 = {
    let seed = ProcessInfo.processInfo.environment["CRASHPADCTL_SEED"].flatMap { UInt64($0) }
    let chosen = seed ?? UInt64.random(in: 0..<1_000_000)
    print("groups: CRASHPADCTL_SEED=\(chosen)")
    return chosen
  }()

  @Test(arguments: 0..<40)
  func `Any partition, merged in any order, any shard twice, is the single run`(round: Int) throws {
    var generator = SplitMix64(seed: Self.seed, area: UInt64(round))
    let total = Int.random(in: 1...9, using: &generator)
    var parts = [CrashGroups.Part](repeating: CrashGroups.Part(), count: total)
    var whole = CrashGroups.Part()
    for index in 0..<Int.random(in: 0...80, using: &generator) {
      let signature = Self.signature(Int.random(in: 0..<7, using: &generator))
      let facts = Self.facts(index, &generator)
      parts[Int.random(in: 0..<total, using: &generator)].add(signature, facts)
      whole.add(signature, facts)
    }
    let shards = parts.enumerated().map {
      CrashGroups(CrashGroups.Shard(run: "r", number: $0.offset + 1, total: total), $0.element)
    }
    let single = CrashGroups(CrashGroups.Shard(run: "r", number: 1, total: 1), whole)
    // A tree of merges: any two of what is there are put together, some of them a second time, as files or as they are.
    var waiting = (shards + shards.filter { _ in Bool.random(using: &generator) }).shuffled(using: &generator)
    while waiting.count > 1 {
      var one = waiting.removeFirst()
      let other = waiting.remove(at: Int.random(in: 0..<waiting.count, using: &generator))
      try one.merge(other)
      let bytes = Self.text(one)
      waiting.append(Bool.random(using: &generator) ? try unsafe CrashGroups(bytes.span.bytes) : one)
      if Int.random(in: 0..<6, using: &generator) == 0 { waiting.append(other) }
    }
    let merged = try #require(waiting.first)
    var inOrder = CrashGroups()
    for shard in shards { try inOrder.merge(shard) }
    #expect(Self.text(merged) == Self.text(inOrder))
    #expect(merged.missing(most: 10).count == 0)
    for order in CrashGroups.Order.allCases {
      for joins in [false, true] {
        #expect(merged.groups(by: order, joinsRaw: joins) == single.groups(by: order, joinsRaw: joins))
      }
    }
  }

  @Test func `The tool prints byte for byte the same of shards as of the single run`() throws {
    var generator = SplitMix64(seed: Self.seed, area: 99)
    let folder = try TemporaryFolder()
    for number in 0..<9 {
      var parameters = SynthParameters.tiny(seed: UInt64(number % 4))
      parameters.threadCount = 1 + number % 3
      try folder.write(SynthDump(parameters).bytes, to: "dumps/\(number).idump")
    }
    for total in [1, 2, 5, 12] {
      for format in ["text", "csv", "json"] {
        let single = try Tool.shell("exec crashpadctl group --no-system --format \(format) dumps", in: folder)
        #expect(single.status == 0, "\(single.errorText)")
        var order = (1...total).shuffled(using: &generator)
        order += order.filter { _ in Bool.random(using: &generator) }
        let parts = (1...total).map {
          "crashpadctl group --no-system --shard \($0)/\(total) --partial \($0).json dumps"
        }
        let names = order.map { "\($0).json" }.joined(separator: " ")
        let merged = try Tool.shell(
          (parts + [
            "crashpadctl group --merge --partial half.json \(order[0]).json 2>/dev/null",
            "crashpadctl group --merge --format \(format) half.json \(names)",
          ]).joined(separator: "; "), in: folder)
        #expect(merged.output == single.output, "\(total) shards, \(names)")
      }
    }
  }

  @Test func `A part with two contents is refused, and one that is missing is known`() throws {
    var part = CrashGroups.Part()
    let shard = CrashGroups.Shard(run: "r", number: 2, total: 3)
    var groups = CrashGroups(shard, part)
    part.add(Self.signature(1), CrashFacts(id: "x", input: "x"))
    #expect(throws: CrashGroups.Conflict.self) { try groups.merge(CrashGroups(shard, part)) }
    #expect(groups.missing(most: 10).first.map(\.number) == [1, 3])
    #expect(groups.missing(most: 1).first.map(\.number) == [1])
    #expect(groups.missing(most: 1).count == 2)
  }

  @Test(arguments: [
    "", "{", "[]", "{\"schema\":\"crashpadctl-group/1\"}", "{\"schema\":\"crashpadctl-group-part/1\",\"rules\":3}",
    "{\"schema\":\"crashpadctl-group-part/1\",\"rules\":1,\"shards\":[{}]}",
  ])
  func `A file that is not a part is refused`(text: String) {
    let bytes = Array(text.utf8)
    #expect(throws: CrashGroups.NotAPart.self) { try unsafe CrashGroups(bytes.span.bytes) }
  }

  @Test func `Counts of a part have a limit, up to which they are added without a trap`() throws {
    var part = CrashGroups.Part()
    part.add(Self.signature(1), CrashFacts(id: "x", input: "x"))
    var all = CrashGroups()
    for number in 1...50 {
      let text = String(
        decoding: Self.text(CrashGroups(CrashGroups.Shard(run: "r", number: number, total: 50), part)), as: UTF8.self)
      #expect(text.contains("\"count\":1,") || text.contains("\"count\": 1,"))
      let large = Array(text.replacing(#/"count": ?1,/#, with: "\"count\":68719476735,").utf8)
      try all.merge(unsafe CrashGroups(large.span.bytes))
      let tooLarge = Array(text.replacing(#/"count": ?1,/#, with: "\"count\":68719476736,").utf8)
      #expect(throws: CrashGroups.NotAPart.self) { try unsafe CrashGroups(tooLarge.span.bytes) }
    }
    #expect(all.groups(by: .signature).map(\.cell.count) == [50 * 68_719_476_735])
  }

  /// A day of a fleet has as many: 80,000 reports are more values than a dump may have. They take eight seconds.
  @Test func `A part with many reports is read in whole`() throws {
    var part = CrashGroups.Part()
    let signature = Self.signature(1)
    for number in 0..<Soak.times(80_000, or: 5_000) {
      var facts = CrashFacts(id: "\(number)", input: "\(number)")
      (facts.role, facts.processID, facts.time) = (.hang, Int64(number), 1_700_000_000 + Int64(number))
      part.add(signature, facts)
    }
    let groups = CrashGroups(CrashGroups.Shard(run: "r", number: 1, total: 1), part)
    let text = Self.text(groups)
    let again = try unsafe CrashGroups(text.span.bytes)
    #expect(Self.text(again) == text)
  }

  @Test func `Groups are new in a version, or gone since one`() throws {
    func facts(_ program: String?, _ version: String?) -> CrashFacts {
      var facts = CrashFacts(id: "x", input: "x")
      (facts.program, facts.version) = (program, version)
      return facts
    }
    var part = CrashGroups.Part()
    let named = { (name: String) in ChoiceTests.signature(ChoiceTests.kind("trap"), ["\(name)|shop"]) }
    for version in ["2.9 (3)", "2.10 (1)", "2.11 (1)"] { part.add(named("always"), facts("Shop", version)) }
    part.add(named("early"), facts("Shop", "2.9 (3)"))
    part.add(named("middle"), facts("Shop", "2.10 (1)"))
    part.add(named("late"), facts("Shop", "2.11 (1)"))
    part.add(named("other"), facts("Till", "7"))
    part.add(named("unknown"), facts("Shop", nil))
    let groups = CrashGroups(CrashGroups.Shard(run: "r", number: 1, total: 1), part).groups(by: .signature)
    let found = Dictionary(uniqueKeysWithValues: groups.map { (String($0.text.dropFirst("trap · ".count)), $0) })
    #expect(found["late"]?.newIn == "2.11 (1)")
    #expect(groups.filter { $0.newIn != nil }.count == 1)
    #expect(found["early"]?.goneSince == "2.10 (1)")
    #expect(found["middle"]?.goneSince == "2.11 (1)")
    #expect(groups.filter { $0.goneSince != nil }.count == 2)
  }

  @Test(arguments: [
    ("2.9", "2.10"), ("1.0 (9)", "1.0 (10)"), ("1.0", "1.0.1"), ("2.0-beta", "2.0"), ("2.0-beta.2", "2.0-beta.10"),
    ("9", "10"), ("1.0", "2"),
  ])
  func `Versions have an order`(older: String, newer: String) {
    #expect(Releases.precedes(older, newer))
    #expect(!Releases.precedes(newer, older))
    #expect(!Releases.precedes(older, older))
  }

  @Test func `Three crashes soon after a start within an hour are a loop`() {
    func looping(_ times: [Int64], quick: Bool = true) -> Int {
      var cell = GroupCounts()
      for time in times.shuffled() {
        var facts = CrashFacts(id: "\(time)", input: "x")
        (facts.time, facts.client, facts.isQuick) = (time, "a", quick)
        cell.add(facts)
      }
      return cell.loopingClients
    }
    #expect(looping([0, 1800, 3600]) == 1)
    #expect(looping([0, 1800, 3601]) == 0)
    #expect(looping([0, 10]) == 0)
    #expect(looping([0, 10, 20], quick: false) == 0)
    #expect(looping([0, 5000, 9000, 9001, 9002]) == 1)
    // Damaged times.
    #expect(looping([.min, 0, .max]) == 0)
  }

  @Test func `Crashes without names go to the one group with names that has their raw signature`() {
    let kind = ChoiceTests.kind("trap", fault: true)
    let bare = ChoiceTests.signature(kind, ["+0x100|shop"])
    // The same frame with symbols: its offset is that of its number in the stack.
    let named = ChoiceTests.signature(kind, ["Cart::total()|shop"])
    #expect(bare.raw == named.raw)
    #expect(bare.id != named.id)
    var part = CrashGroups.Part()
    part.add(bare, CrashFacts(id: "1", input: "1"))
    part.add(named, CrashFacts(id: "2", input: "2"))
    let groups = CrashGroups(CrashGroups.Shard(run: "r", number: 1, total: 1), part)
    #expect(groups.groups(by: .signature).count == 2)
    let joined = groups.groups(by: .signature, joinsRaw: true)
    #expect(joined.map(\.id) == [named.id])
    #expect(joined.first?.cell.count == 2)
    #expect(groups.groups(by: .raw).count == 1)
    // With a second name for the place, it is not known which one.
    part.add(ChoiceTests.signature(kind, ["Cart::sum()|shop"]), CrashFacts(id: "3", input: "3"))
    #expect(
      CrashGroups(CrashGroups.Shard(run: "r", number: 1, total: 1), part).groups(by: .signature, joinsRaw: true).count
        == 3)
  }
}
