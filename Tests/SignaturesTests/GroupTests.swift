import JSONFormat
import Testing

@testable import Signatures

/// Parts of a run may be put together in any order, any number of times.
struct GroupTests {
  private static func signature(_ number: Int) -> Signature {
    ChoiceTests.signature(ChoiceTests.kind("trap"), number % 3 == 0 ? ["+0x\(number)|shop"] : ["f\(number)|shop"])
  }

  private static func facts(_ index: Int, _ generator: inout some RandomNumberGenerator) -> CrashFacts {
    var facts = CrashFacts(id: "id\(Int.random(in: 0..<1_000_000, using: &generator))", input: "dump\(index)")
    facts.time = Bool.random(using: &generator) ? Int64.random(in: 0..<100_000, using: &generator) : nil
    facts.version = ["1.0", "2.0", nil].randomElement(using: &generator) ?? nil
    facts.device = ["iPhone14,2", nil].randomElement(using: &generator) ?? nil
    facts.client = ["a", "b", nil].randomElement(using: &generator) ?? nil
    facts.isQuick = Bool.random(using: &generator)
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

  @Test func `Merging is associative, commutative and idempotent`() throws {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<20 {
      let total = 4
      var parts = [CrashGroups.Part](repeating: CrashGroups.Part(), count: total)
      var whole = CrashGroups.Part()
      for index in 0..<60 {
        let signature = Self.signature(Int.random(in: 0..<7, using: &generator))
        let facts = Self.facts(index, &generator)
        parts[index % total].add(signature, facts)
        whole.add(signature, facts)
      }
      let shards = parts.enumerated().map {
        CrashGroups(CrashGroups.Shard(run: "r", number: $0.offset + 1, total: total), $0.element)
      }
      let single = CrashGroups(CrashGroups.Shard(run: "r", number: 1, total: 1), whole)
      var merged = CrashGroups()
      for shard in (shards + shards).shuffled(using: &generator) { try merged.merge(shard) }
      var left = shards[0]
      try left.merge(shards[1])
      var right = shards[2]
      try right.merge(shards[3])
      try right.merge(left)
      #expect(right == merged)
      #expect(Self.text(right) == Self.text(merged))
      for order in CrashGroups.Order.allCases {
        #expect(merged.groups(by: order) == single.groups(by: order))
        #expect(merged.groups(by: order, joinsRaw: true) == single.groups(by: order, joinsRaw: true))
      }
      let bytes = Self.text(merged)
      #expect(try unsafe CrashGroups(bytes.span.bytes) == merged)
      #expect(merged.missing.isEmpty)
    }
  }

  @Test func `A part with two contents is refused, and one that is missing is known`() throws {
    var part = CrashGroups.Part()
    let shard = CrashGroups.Shard(run: "r", number: 2, total: 3)
    var groups = CrashGroups(shard, part)
    part.add(Self.signature(1), CrashFacts(id: "x", input: "x"))
    #expect(throws: CrashGroups.Conflict.self) { try groups.merge(CrashGroups(shard, part)) }
    #expect(groups.missing.map(\.number) == [1, 3])
  }

  @Test(arguments: [
    "", "{", "[]", "{\"schema\":\"crashpadctl-group/1\"}", "{\"schema\":\"crashpadctl-group-part/1\",\"rules\":2}",
    "{\"schema\":\"crashpadctl-group-part/1\",\"rules\":1,\"shards\":[{}]}",
  ])
  func `What is no part is refused`(text: String) {
    let bytes = Array(text.utf8)
    #expect(throws: CrashGroups.NotAPart.self) { try unsafe CrashGroups(bytes.span.bytes) }
  }

  @Test func `Three crashes soon after a start within an hour are a loop`() {
    func looping(_ times: [Int64], quick: Bool = true) -> Int {
      var cell = GroupCell()
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
