// SPDX-License-Identifier: Apache-2.0
import Foundation
import CrashpadReportPage
import CrashpadSnapshot
import Testing
import ToolRunner

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

  @Test func `New, grown and gone groups are marked and counted`() {
    var page = Self.page(groups: 3)
    page.isCompared = true
    page.groups[0].state = .new
    page.groups[1].state = .grown
    page.groups[2].state = .known
    page.gone = [.init(id: "feed", text: "abort", count: 7)]
    let text = Self.text(page)
    #expect(text.contains("Compared with the earlier run: 1 new, 1 grown, 1 gone."))
    #expect(text.contains("<td>new</td>") && text.contains("<td>grown</td>") && !text.contains("<td>known</td>"))
    #expect(text.contains("<small>feed</small>"))
  }

  @Test func `A chart has the same numbers as the table below it`() {
    let text = Self.text(Self.page(groups: 7))
    #expect(
      text.contains(
        "Crashes per day from \(CivilDate(daysSince1970: 20_000).text) to \(CivilDate(daysSince1970: 20_004).text), at most 7"
      ))
    #expect(
      text.contains(
        "<tr><th scope=\"row\" class=\"whole\">\(CivilDate(daysSince1970: 20_002).text)</th><td class=\"number\" data-value=\"7\">7</td>"
      ))
    #expect(text.contains("2 other groups"))
  }
}
