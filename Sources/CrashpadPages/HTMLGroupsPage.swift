// SPDX-License-Identifier: Apache-2.0
public import CrashpadGroups
internal import CrashpadReportPage

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
    page.fill(groups.map(\.source))
    return page.html()
  }
}
