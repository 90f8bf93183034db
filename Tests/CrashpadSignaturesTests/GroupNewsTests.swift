// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import CrashpadSignatures

/// Groups that are new, growing or back, and the reasons.
struct GroupNewsTests {
  /// Groups of one program by their functions: for each the crashes by version and day.
  private static func groups(_ crashes: [String: [(version: String?, day: Int, count: Int)]]) -> [CrashGroups.Group] {
    var part = CrashGroups.Part()
    var number = 0
    for (function, cells) in crashes.sorted(by: { $0.key < $1.key }) {
      let signature = ChoiceTests.signature(ChoiceTests.kind("trap"), ["\(function)|shop"])
      for cell in cells {
        for _ in 0..<cell.count {
          number += 1
          var facts = CrashFacts(id: "\(number)", input: "\(number).dmp")
          facts.program = "shop"
          facts.version = cell.version
          facts.time = Int64(cell.day) * 86400
          part.add(signature, facts)
        }
      }
    }
    return CrashGroups(CrashGroups.Shard(run: "", number: 1, total: 1), part).groups(by: .signature)
  }

  private static func said(_ finding: GroupNews.Finding, _ groups: [CrashGroups.Group]) -> [String: String] {
    let names = Dictionary(uniqueKeysWithValues: groups.map { ($0.id, SignatureParts($0.text).function ?? "") })
    return Dictionary(uniqueKeysWithValues: finding.items.map { (names[$0.id] ?? "", $0.reason) })
  }

  @Test func `A group is new if the earlier run does not have it`() {
    let groups = Self.groups(["a": [("1", 20_000, 3)], "b": [("1", 20_000, 1)]])
    let earlier = groups.filter { $0.cell.count == 3 }.map {
      GroupNews.Earlier(id: $0.id, text: "", count: 2, goneSince: nil)
    }
    let news = GroupNews(groups, earlier: earlier)
    #expect(Self.said(news[.new], groups) == ["b": "not in the earlier run"])
    #expect(Self.said(news[.growing], groups) == ["a": "1 more than in the earlier run (2)"])
    #expect(news[.back] == .examined([]))
  }

  @Test func `Without an earlier run the newest version says what is new, and without versions the last days do`() {
    let groups = Self.groups(["a": [("1", 20_000, 3), ("2", 20_001, 1)], "b": [("2", 20_001, 2)]])
    #expect(Self.said(GroupNews(groups)[.new], groups) == ["b": "only in 2, the newest version"])
    let days = Self.groups(["a": [(nil, 20_000, 3), (nil, 20_020, 1)], "b": [(nil, 20_019, 2)]])
    #expect(Self.said(GroupNews(days)[.new], days) == ["b": "first on 2024-10-23"])
  }

  @Test func `Nothing is known of crashes that can not be compared, which is not the same as none`() {
    let groups = Self.groups(["a": [("1", 20_000, 3)]])
    let news = GroupNews(groups)
    for topic in GroupNews.Topic.allCases {
      guard case .notExamined = news[topic] else {
        Issue.record("\(topic) is taken for examined")
        continue
      }
    }
  }

  @Test(arguments: [
    (before: 3, now: 30, grows: true), (10, 12, false), (3, 7, false), (100, 210, true), (100, 190, false),
  ])
  func `A group grows if it doubles by more than chance`(before: Int, now: Int, grows: Bool) {
    let groups = Self.groups([
      "a": [("1", 20_000, 1), ("1", 20_008, before), ("1", 20_015, now)], "b": [("1", 20_017, 1)],
    ])
    // The last seven days begin at 20,011.
    let said = Self.said(GroupNews(groups)[.growing], groups)
    #expect(said == (grows ? ["a": "\(now) in the 7 days to 2024-10-21, \(before) in as many before"] : [:]))
  }

  @Test func `As many times more sessions explain as many times more crashes`() throws {
    let groups = Self.groups(["a": [("1", 20_000, 30), ("1", 20_001, 90)]])
    #expect(Self.said(GroupNews(groups)[.growing], groups).count == 1)
    let sessions = try SessionCounts("day,sessions\n2024-10-04,1000\n2024-10-05,3000\n")
    #expect(GroupNews(groups, sessions: sessions)[.growing] == .examined([]))
  }

  @Test func `With sessions the newest version is compared with the one before it`() throws {
    let groups = Self.groups([
      "a": [("1.9", 20_000, 10), ("1.10", 20_000, 30)], "b": [("1.9", 20_000, 100), ("1.10", 20_000, 10)],
    ])
    let sessions = try SessionCounts("sessions;version\n100000;1.9\n10000;1.10\n")
    #expect(
      Self.said(GroupNews(groups, sessions: sessions)[.growing], groups)
        == ["a": "30 in 10,000 sessions of 1.10, 10 in 100,000 of 1.9"])
  }

  @Test func `A group is back if versions between are without it by more than chance`() {
    let other = [("1", 20_000, 90), ("2", 20_000, 90), ("3", 20_000, 90)] as [(String?, Int, Int)]
    let groups = Self.groups([
      "a": [("1", 20_000, 10), ("3", 20_000, 5)], "b": other, "c": [("1", 20_000, 2), ("3", 20_000, 1)],
    ])
    #expect(
      Self.said(GroupNews(groups)[.back], groups) == ["a": "in 3 again; not in 2, where about 9 were to be expected"])
  }

  @Test func `A group that was gone in the earlier run is back`() {
    let groups = Self.groups(["a": [("1", 20_000, 1), ("3", 20_000, 1)]])
    let earlier = groups.map { GroupNews.Earlier(id: $0.id, text: "", count: 2, goneSince: "2") }
    #expect(
      Self.said(GroupNews(groups, earlier: earlier)[.back], groups)
        == ["a": "gone since 2 in the earlier run, and in 3 now"])
  }
}

struct SessionCountsTests {
  @Test func `Columns may be in any order, quoted, and between tabs`() throws {
    let counts = try SessionCounts(
      "\u{feff}Day\tsessions\tVersion\tother\r\n2026-11-20\t5\t\"2.1 (\"\"3\"\")\"\tx\r\n\r\n2026-11-21\t7\t2.0\t\r\n")
    #expect(counts.total == 12)
    #expect(counts.versions == ["2.1 (\"3\")": 5, "2.0": 7])
    #expect(counts.days.count == 2 && counts.sessions(20_777..<20_779) == 12)
    #expect(counts.sessions(20_776..<20_779) == nil)
  }

  @Test(
    arguments: [
      ("", 1, "is empty"), ("a,b\n", 1, "names no columns: sessions, and version or day or both"),
      ("version,sessions\n2,many\n", 2, "has no number of sessions"), ("version,sessions\n,3\n", 2, "has no version"),
      ("version,sessions\n2,-1\n", 2, "has no number of sessions"),
      ("day,sessions\n\n2026-02-30,3\n", 3, "has no day such as 2026-11-20"),
    ])
  func `A file that has no counts names its line`(text: String, line: Int, reason: String) {
    func read() throws(SessionCounts.Failure) { _ = try SessionCounts(text) }
    do throws(SessionCounts.Failure) {
      try read()
      Issue.record("was read")
    } catch {
      #expect(error.line == line && error.reason == reason)
    }
  }
}
