// SPDX-License-Identifier: Apache-2.0
public import CrashpadGroups
internal import CrashpadReportPage
internal import CrashpadSnapshot

/// One self-contained HTML page about many crashes: their groups, with a chart by day. The page needs no other file and no
/// network, and texts of the inputs are escaped.
public struct HTMLGroupsPage: Sendable {
  /// The title of the window, and the first heading.
  public var title: String
  /// The line below the title.
  public var subtitle = ""
  /// The groups, the largest first.
  public var groups: [CrashGrouping.Group]
  /// The name of the program that makes the page, for its last line.
  public var generator = "crashpadctl"

  /// A page about these groups.
  public init(title: String, _ groups: [CrashGrouping.Group]) {
    self.title = title
    self.groups = groups
  }

  /// The page in UTF-8: the same bytes for the same values. The largest groups are in it, as far as they have room.
  public func html() -> [UInt8] {
    var page = GroupsPage(title: title, subtitle: subtitle, generator: generator)
    page.total = groups.reduce(0) { $0 + $1.count }
    page.groups = groups.map(Self.group)
    return page.html()
  }

  private static func group(_ group: CrashGrouping.Group) -> GroupsPage.Group {
    var made = GroupsPage.Group(id: group.id, text: group.text, count: group.count)
    made.first = group.first.flatMap(day)
    made.last = group.last.flatMap(day)
    made.versions = group.versions.map { GroupsPage.Count($0.key, $0.value) }.sorted {
      ($1.count, $0.name) < ($0.count, $1.name)
    }
    made.loops = group.loopingClients
    made.twins = group.repeatedReports
    made.example = group.example.map { lastPathComponent($0) }
    made.days = group.days.map { GroupsPage.Day(day: $0.number, version: $0.version, count: $0.count) }.sorted {
      ($0.day, $0.version ?? "") < ($1.day, $1.version ?? "")
    }
    return made
  }

  /// Such as "2026-11-20"; nil for a time whose year has more than four digits.
  private static func day(_ seconds: Int64) -> String? {
    guard seconds > -62_135_596_800, seconds < 253_402_300_800 else { return nil }
    return CivilDate(daysSince1970: Int((seconds >= 0 ? seconds : seconds - 86399) / 86400)).text
  }
}
