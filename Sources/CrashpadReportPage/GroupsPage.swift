// SPDX-License-Identifier: Apache-2.0
package import CrashpadSignatures
internal import CrashpadSnapshot
internal import CrashpadText

/// The content of a page about many crashes: their groups, largest first.
package struct GroupsPage: Sendable {
  package var title: String
  package var subtitle: String
  package var generator: String
  package var groups: [Group] = []
  /// The number of crashes in all groups.
  package var total = 0
  /// Whether the groups are compared with those of an earlier run.
  package var isCompared = false
  /// Groups of the earlier run that are there no more.
  package var gone: [GroupNews.Earlier] = []
  /// The groups to look at first; nil if nothing was looked for.
  package var news: GroupNews?
  /// Installations that crashes name, in all groups.
  package var installations = Installations()
  /// Versions, the oldest first.
  package var versions: [Version] = []
  /// Crashes by device and day from 1970.
  package var deviceDays: [String: [Int: Int]] = [:]
  /// The sessions that crashes are divided by; nil if they are not known.
  package var sessions: SessionCounts?

  package init(title: String, subtitle: String, generator: String) {
    self.title = title
    self.subtitle = subtitle
    self.generator = generator
  }

  package enum State: String, Sendable, CaseIterable {
    case new
    case grown
    /// As many as before, or fewer.
    case known
  }

  package struct Group: Sendable {
    package var id: String
    /// "bad-access[null] · Cart::total"
    package var text: String
    package var count: Int
    /// "2026-11-20"; nil without a time.
    package var first: String?
    package var last: String?
    /// Names with their counts, the most frequent first.
    package var versions: [Count] = []
    package var devices: [Count] = []
    package var systems: [Count] = []
    package var state: State?
    /// Installations that its crashes name, and the number of these crashes.
    package var installations: (count: Int, crashes: Int) = (0, 0)
    /// Installations that crashed again and again right after their start.
    package var loops = 0
    /// More reports of the same crashes, which are not in `count`.
    package var twins = 0
    /// Copies of reports, which are not in `count` either.
    package var copies = 0
    /// The newest version, if all crashes are of it.
    package var newIn: String?
    /// The first version without it.
    package var goneSince: String?
    package var topics: [GroupNews.Topic] = []
    package var example: String?
    /// A page beside this one with the example; nil without one. Letters, digits, `-`, `.` and `/`.
    package var link: String?
    package var days: [Day] = []
    package var crash: Example?

    package init(id: String, text: String, count: Int) {
      self.id = id
      self.text = text
      self.count = count
    }

    var parts: SignatureParts { SignatureParts(text) }

    /// "3 copies left out, 1 more report of the same crashes"; empty if each crash has one report.
    var uncounted: String {
      let copied = copies > 0 ? "\(counted(copies, "copy", "copies")) left out" : ""
      let told = twins > 0 ? "\(counted(twins, "more report")) of the same crashes" : ""
      return [copied, told].filter { !$0.isEmpty }.joined(separator: ", ")
    }
  }

  package struct Count: Sendable, Hashable {
    package var name: String
    package var count: Int

    package init(_ name: String, _ count: Int) {
      self.name = name
      self.count = count
    }
  }

  package struct Version: Sendable, Hashable {
    package var name: String
    package var count: Int
    /// The day of its first crash, from 1970; nil without times.
    package var firstDay: Int?

    package init(name: String, count: Int, firstDay: Int? = nil) {
      (self.name, self.count, self.firstDay) = (name, count, firstDay)
    }
  }

  /// Crashes of one day with one version.
  package struct Day: Sendable {
    /// Days since 1970.
    package var day: Int
    /// Nil if it is not known.
    package var version: String?
    package var count: Int

    package init(day: Int, version: String?, count: Int) {
      self.day = day
      self.version = version
      self.count = count
    }
  }

  package struct Example: Sendable {
    package var summary: String
    package var frames: [CrashPage.Frame]

    package init(summary: String, frames: [CrashPage.Frame]) {
      self.summary = summary
      self.frames = frames
    }
  }
}

// MARK: Of groups

extension GroupsPage {
  /// - Parameters:
  ///   - groups: the largest first.
  ///   - earlier: the groups of an earlier run; nil for no comparison.
  package mutating func fill(
    _ groups: [CrashGroups.Group], earlier: [GroupNews.Earlier]? = nil, sessions: SessionCounts? = nil
  ) {
    let news = GroupNews(groups, earlier: earlier, sessions: sessions)
    self.news = news
    self.sessions = sessions
    total = groups.crashCount
    isCompared = earlier != nil
    let topics = news.topicsByID
    let before = earlier.map { Dictionary($0.map { ($0.id, $0.count) }, uniquingKeysWith: +) }
    self.groups = groups.map { group in
      var made = Group(group)
      made.topics = topics[group.id] ?? []
      if let before { made.state = before[group.id].map { group.cell.count > $0 ? .grown : .known } ?? .new }
      installations.add(group.cell.installations)
      return made
    }
    let ids = Set(groups.map(\.id))
    gone = (earlier ?? []).filter { !ids.contains($0.id) }
    versions = Self.versions(groups)
    for group in groups {
      for (day, count) in group.cell.deviceDays {
        deviceDays[TextFormat.printable(day.device), default: [:]][day.number, default: 0] += count
      }
    }
  }

  private static func versions(_ groups: [CrashGroups.Group]) -> [Version] {
    var versions: [String: Version] = [:]
    for group in groups {
      for (name, count) in group.cell.versions {
        versions[name, default: Version(name: TextFormat.printable(name), count: 0)].count += count
      }
      for day in group.cell.days.keys {
        guard let name = day.version, let known = versions[name] else { continue }
        versions[name]?.firstDay = min(known.firstDay ?? day.number, day.number)
      }
    }
    return versions.values.sorted { Releases.precedes($0.name, $1.name) }
  }
}

extension GroupsPage.Group {
  fileprivate init(_ group: CrashGroups.Group) {
    let cell = group.cell
    self.init(id: group.id, text: TextFormat.printable(group.text), count: cell.count)
    first = cell.first.flatMap(Self.day)
    last = cell.last.flatMap(Self.day)
    versions = Self.sorted(cell.versions)
    devices = Self.sorted(cell.devices)
    systems = Self.sorted(cell.systems)
    installations = (cell.installations.count, cell.installations.crashCount)
    loops = cell.loopingClients
    (twins, copies) = (cell.twins, cell.copies)
    newIn = group.newIn.map { TextFormat.printable($0) }
    goneSince = group.goneSince.map { TextFormat.printable($0) }
    example = cell.example.map { lastPathComponent($0.input) }
    days = cell.days.map { key, count in
      GroupsPage.Day(day: key.number, version: key.version.map { TextFormat.printable($0) }, count: count)
    }.sorted { ($0.day, $0.version ?? "") < ($1.day, $1.version ?? "") }
  }

  private static func sorted(_ counts: [String: Int]) -> [GroupsPage.Count] {
    counts.map { GroupsPage.Count(TextFormat.printable($0.key), $0.value) }.sorted {
      ($1.count, $0.name) < ($0.count, $1.name)
    }
  }

  /// "2026-11-20"; nil for a time outside of the calendar.
  private static func day(_ seconds: Int64) -> String? { TextFormat.rfc3339(seconds).map { String($0.prefix(10)) } }
}
