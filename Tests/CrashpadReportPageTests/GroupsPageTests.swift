// SPDX-License-Identifier: Apache-2.0
import Foundation
import CrashpadReportPage
import CrashpadSnapshot
import Testing
import ToolRunner

@testable import CrashpadSignatures

struct GroupsPageTests {
  /// `count` groups of five crashes each on as many days, in three versions.
  static func page(groups count: Int) -> GroupsPage {
    var page = GroupsPage(title: "Crashes", subtitle: "", generator: "crashpadctl")
    page.total = count * 5
    page.groups = (0..<count).map { index in
      let id = String(repeating: "0", count: 16 - String(index).count) + String(index)
      var group = GroupsPage.Group(id: id, text: "bad-access[null] \u{b7} Cart::total<\(index)>", count: 5)
      group.first = CivilDate(daysSince1970: 20_000).text
      group.last = CivilDate(daysSince1970: 20_004).text
      group.versions = [.init("2.\(index % 3)", 5)]
      group.example = "crash-\(index).dmp"
      group.days = (0..<5).map { .init(day: 20_000 + $0, version: "2.\(index % 3)", count: 1) }
      return group
    }
    return page
  }

  static func text(_ page: GroupsPage) -> String { String(decoding: page.html(), as: UTF8.self) }

  @Test(arguments: [(0, "1970-01-01"), (19_782, "2024-02-29"), (20_779, "2026-11-22"), (-1, "1969-12-31")])
  func `Days are those of the calendar`(day: Int, text: String) { #expect(CivilDate(daysSince1970: day).text == text) }

  @Test func `A hundred thousand crashes make a page of at most 5 MB, which says what is left out`() {
    let page = Self.page(groups: 20_000)
    #expect(page.total == 100_000)
    let text = Self.text(page)
    #expect(text.utf8.count <= 5_000_000)
    #expect(text.utf8.count > 3_000_000)
    #expect(text.contains("more; crashpadctl group --format csv lists them."))
    #expect(!Self.text(Self.page(groups: 100)).contains("lists them"))
  }

  @Test func `The data of a page is JSON that ends no script`() throws {
    var page = Self.page(groups: 2)
    page.groups[0].text = "</script><script>hit()</script>"
    let text = Self.text(page)
    let start = try #require(text.range(of: "id=\"data\">"))
    let end = try #require(text.range(of: "</script>", range: start.upperBound..<text.endIndex))
    let data = try JSONDocument(Data(text[start.upperBound..<end.lowerBound].utf8))
    #expect(data["crash_count"].int == 10)
    #expect(data["groups"][0]["text"].string == "</script><script>hit()</script>")
    #expect(data["groups"][1]["cells"].array.count == 5)
    #expect(data["days"].array.count == 5)
    #expect(text.components(separatedBy: "<script").count == 3)
  }

  @Test func `Devices have a trend, and their crashes by day`() {
    var page = Self.page(groups: 2)
    page.groups[0].devices = [.init("Phone 1", 3), .init("Phone 2", 1)]
    #expect(!Self.text(page).contains("Devices by day"))
    page.deviceDays = ["Phone 1": [20_000: 2, 20_004: 1], "Phone 2": [20_004: 1, 9: 7]]
    let day = CivilDate(daysSince1970: 20_004).text
    let text = Self.text(page)
    #expect(text.contains("<summary>Devices by day</summary>"))
    #expect(
      text.contains(
        "<tr><th scope=\"row\" class=\"whole\">\(day)</th><td class=\"number\" data-value=\"1\">1</td>"
          + "<td class=\"number\" data-value=\"1\">1</td></tr>"))
    #expect(!text.contains(CivilDate(daysSince1970: 9).text), "no group has a crash on this day")
    page.deviceDays = Dictionary(uniqueKeysWithValues: (0..<20).map { ("Phone \($0)", [20_001: 100 - $0]) })
    #expect(Self.text(page).contains("12 other devices"))
  }

  @Test func `New, grown and gone groups are marked and counted`() {
    var page = Self.page(groups: 3)
    page.isCompared = true
    page.groups[0].state = .new
    page.groups[1].state = .grown
    page.groups[2].state = .known
    page.gone = [.init(id: "feed", text: "abort", count: 7, goneSince: nil)]
    let text = Self.text(page)
    #expect(text.contains("Compared with the earlier run: 1 new, 1 grown, 1 gone."))
    #expect(text.contains("<em class=\"new\">new</em>") && text.contains("<em class=\"growing\">growing</em>"))
    #expect(text.components(separatedBy: "<em class").count == 3)
    #expect(text.contains("<small>feed</small>"))
  }

  @Test func `A chart has the same numbers as the table below it`() {
    let text = Self.text(Self.page(groups: 7))
    #expect(
      text.contains(
        "Crashes in a day from \(CivilDate(daysSince1970: 20_000).text) to \(CivilDate(daysSince1970: 20_004).text), at most 7"
      ))
    #expect(
      text.contains(
        "<tr><th scope=\"row\" class=\"whole\">\(CivilDate(daysSince1970: 20_002).text)</th><td class=\"number\" data-value=\"7\">7</td>"
      ))
    #expect(text.contains("2 other groups"))
  }

  @Test func `New, growing and returned groups stand first, with the reason, and marks the row`() throws {
    let text = Self.text(try GroupsPageSamples.releases())
    let first = try #require(text.range(of: "<section id=\"first\""))
    #expect(first.lowerBound < (try #require(text.range(of: "<section id=\"groups\""))).lowerBound)
    #expect(text.contains("<h3>New: 1</h3>") && text.contains("<span>only in 3, the newest version</span>"))
    #expect(
      text.contains("<h3>Back: 1</h3>") && text.contains("in 3 again; not in 2, where about 9 were to be expected"))
    #expect(text.contains("<em class=\"new\">new in 3</em>") && text.contains("<em class=\"back\">back</em>"))
  }

  @Test func `Versions have the share of sessions without a crash, and groups their share of each version`() throws {
    let text = Self.text(try GroupsPageSamples.releases(sessions: "version,sessions\n1,10000\n3,200\n4,5\n"))
    #expect(text.contains("<td class=\"number\">10,000</td><td class=\"number\">99.00 %</td>"))
    #expect(text.contains("<td class=\"number\">not known</td><td class=\"number\">not known</td>"))
    // Versions 1 and 3 alone have sessions that are known.
    #expect(text.contains("<dt>Crash-free sessions</dt><dd>98.04 %, of 2 of 3 versions</dd>"))
    // Ten of a hundred crashes of version 1, in ten thousand sessions.
    #expect(text.contains("10.0%<br><small>10</small><br><small>1,000 ppm</small>"))
  }

  @Test func `More crashes than sessions give no rate`() throws {
    let text = Self.text(try GroupsPageSamples.releases(sessions: "version,sessions\n1,10\n"))
    #expect(text.contains("<td class=\"number\">10</td><td class=\"number\">not known</td>"))
    #expect(!text.contains("Crash-free sessions") && !text.contains("ppm"))
  }

  @Test func `Copies and further reports are counted beside the crashes`() {
    var page = Self.page(groups: 2)
    #expect(!Self.text(page).contains("left out"))
    page.groups[0].copies = 1234
    (page.groups[1].copies, page.groups[1].twins) = (1, 2)
    let text = Self.text(page)
    #expect(text.contains("<dt>Copies left out</dt><dd>1,235</dd>"))
    #expect(text.contains("<dt>More reports of the same crashes</dt><dd>2</dd>"))
    #expect(text.contains("<small>1,234 copies left out</small>"))
    #expect(text.contains("5 crashes, 1 copy left out, 2 more reports of the same crashes; signature"))
    #expect(text.contains("\"uncounted\":\"1,234 copies left out\""))
  }

  @Test func `A chart marks all versions, and names those that have room`() {
    var page = Self.page(groups: 1)
    page.groups[0].days = (0..<100).map { .init(day: 20_000 + $0, version: nil, count: 1) }
    page.versions = (0..<40).map { .init(name: "1.\($0)", count: 100 - $0, firstDay: 20_000 + 2 * $0) }
    let text = Self.text(page)
    // The first may be older than the crashes.
    #expect(text.components(separatedBy: "<line class=\"mark\"").count == 40)
    #expect(text.contains("<title>1.39, first on \(CivilDate(daysSince1970: 20_078).text)</title>"))
    let names = text.matches(of: #/<text class="mark(?: end)?( wide)?" x="([\d.]+)%" y="(\d+)">([^<]+)</#)
    #expect((10..<39).contains(names.count))
    #expect(names.contains { $0.1 != nil } && names.contains { $0.1 == nil })
    // Names of one row do not overlap: each has room for its characters.
    for row in Set(names.map(\.3)) {
      let places = names.filter { $0.3 == row }.compactMap { Double($0.2) }.sorted()
      #expect(zip(places, places.dropFirst()).allSatisfy { $0.0 == $0.1 || $0.1 - $0.0 >= 2 }, "\(places)")
    }
    #expect(text.contains("First crashes of versions: 1.1 on"))
  }

  @Test func `Installations that some crashes do not name are a lower bound`() throws {
    let text = Self.text(try GroupsPageSamples.releases())
    #expect(text.contains("<td class=\"number\" data-value=\"2\">≥ 2</td>"))
    #expect(text.contains("<td class=\"number\" data-value=\"0\">-</td>"))
    #expect(text.contains("<dt>Installations</dt><dd>2, named by 5 crashes</dd>"))
  }
}

enum GroupsPageSamples {
  /// Version 2 is without one of the faults of versions 1 and 3, and another fault is in 3 alone.
  static func releases(sessions: String? = nil) throws -> GroupsPage {
    var part = CrashGroups.Part()
    let crashes: [(function: String, version: String, count: Int)] = [
      ("back", "1", 10), ("back", "3", 5), ("always", "1", 90), ("always", "2", 90), ("always", "3", 90),
      ("new", "3", 4),
    ]
    var number = 0
    for (function, version, count) in crashes {
      for index in 0..<count {
        number += 1
        var facts = CrashFacts(id: "\(number)", input: "\(number).dmp")
        (facts.program, facts.version, facts.device) = ("shop", version, "iPhone14,2")
        facts.time = 1_700_000_000 + Int64(version == "1" ? index % 3 : version == "2" ? 7 : 12) * 86400
        if function == "back", version == "3" { facts.client = "client \(index % 2)" }
        part.add(
          Signature(
            id: "\(function)", text: "trap · \(function)", raw: function, isNamed: true, flags: [], explanation: []),
          facts)
      }
    }
    let groups = CrashGroups(CrashGroups.Shard(run: "", number: 1, total: 1), part).groups(by: .signature)
    var page = GroupsPage(title: "Crashes", subtitle: "", generator: "crashpadctl")
    page.fill(groups, sessions: try sessions.map { try SessionCounts($0) })
    return page
  }
}
