// SPDX-License-Identifier: Apache-2.0
internal import CrashpadSnapshot

/// The groups to look at first: those that are new, that grow, and that are back. Each says what it is concluded from.
package struct GroupNews: Sendable, Hashable {
  package enum Topic: String, Sendable, CaseIterable {
    case new
    case growing
    case back
  }

  package struct Item: Sendable, Hashable {
    /// The group's.
    package let id: String
    /// Such as "only in 5.2, the newest version".
    package let reason: String
    fileprivate let weight: Double
  }

  /// The items of a topic, or why nothing is known of it.
  package enum Finding: Sendable, Hashable {
    case examined([Item])
    case notExamined(String)

    package var items: [Item] { if case .examined(let items) = self { items } else { [] } }
  }

  /// A group of an earlier run.
  package struct Earlier: Sendable, Hashable {
    package let id: String
    package let text: String
    package let count: Int
    /// The version since which it was gone then; nil if it was not.
    package let goneSince: String?

    package init(id: String, text: String, count: Int, goneSince: String?) {
      (self.id, self.text, self.count, self.goneSince) = (id, text, count, goneSince)
    }
  }

  package let findings: [Topic: Finding]

  package init(_ groups: [CrashGroups.Group], earlier: [Earlier]? = nil, sessions: SessionCounts? = nil) {
    let search = NewsSearch(groups, earlier, sessions)
    findings = [.new: search.new, .growing: search.growing, .back: search.back]
  }

  package subscript(_ topic: Topic) -> Finding { findings[topic] ?? .examined([]) }

  /// The topics that a group is of.
  package func topics(of id: String) -> [Topic] {
    Topic.allCases.filter { topic in self[topic].items.contains { $0.id == id } }
  }

  /// The same for all groups that are of one.
  package var topicsByID: [String: [Topic]] {
    var topics: [String: [Topic]] = [:]
    for topic in Topic.allCases { for item in self[topic].items { topics[item.id, default: []].append(topic) } }
    return topics
  }
}

/// Looks for the news of groups.
private struct NewsSearch {
  typealias Finding = GroupNews.Finding
  typealias Item = GroupNews.Item

  let groups: [CrashGroups.Group]
  let earlier: [String: GroupNews.Earlier]?
  let sessions: SessionCounts?
  let releases: Releases
  /// The last day with a crash, and the number of days from the first to it.
  let last: Int
  let span: Int

  init(_ groups: [CrashGroups.Group], _ earlier: [GroupNews.Earlier]?, _ sessions: SessionCounts?) {
    self.groups = groups
    self.earlier = earlier.map { Dictionary($0.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first }) }
    self.sessions = sessions
    releases = Releases(groups.map(\.cell))
    let days = groups.lazy.flatMap { $0.cell.days.keys.lazy.map(\.number) }
    let last = days.max() ?? 0
    self.last = last
    span = days.min().map { last - $0 + 1 } ?? 0
  }

  /// The greatest first.
  private func found(_ items: [Item?]) -> Finding {
    .examined(items.compactMap { $0 }.sorted { ($1.weight, $0.id) < ($0.weight, $1.id) })
  }

  /// The days that are compared with as many before; 0 if there are too few.
  private var window: Int { span >= 14 ? 7 : span / 2 }
  private var isVersioned: Bool { releases.versions.values.contains { $0.count > 1 } }

  // MARK: New

  var new: Finding {
    if let earlier {
      return found(
        groups.map { group in
          earlier[group.id] == nil
            ? Item(id: group.id, reason: "not in the earlier run", weight: Double(group.cell.count)) : nil
        })
    }
    if !isVersioned, window == 0 {
      return .notExamined("the crashes are of one version and of one day; --baseline compares them with an earlier run")
    }
    return found(
      groups.map { group in
        reasonOfNew(group).map { Item(id: group.id, reason: $0, weight: Double(group.cell.count)) }
      })
  }

  private func reasonOfNew(_ group: CrashGroups.Group) -> String? {
    if let version = group.newIn { return "only in \(version), the newest version" }
    // Days say it, if versions are not known.
    guard group.cell.versions.isEmpty, window > 0, let first = group.cell.days.keys.map(\.number).min(),
      first > last - window
    else { return nil }
    return "first on \(CivilDate(daysSince1970: first).text)"
  }

  // MARK: Growing

  var growing: Finding {
    if let earlier {
      return found(
        groups.map { group in
          guard let before = earlier[group.id]?.count, group.cell.count > before else { return nil }
          return Item(
            id: group.id,
            reason: "\(grouped(group.cell.count - before)) more than in the earlier run (\(grouped(before)))",
            weight: Double(group.cell.count - before))
        })
    }
    if window == 0, newestRates == nil {
      return .notExamined("the crashes are of one day; --baseline compares them with an earlier run")
    }
    return found(groups.map { inTime($0) ?? inVersion($0) })
  }

  /// Whether so many more are no chance: three standard deviations of counts, and twice as many.
  private static func isMore(_ count: Int, than expected: Double) -> Bool {
    let excess = Double(count) - expected
    return Double(count) >= 2 * expected && excess > 0 && excess * excess >= 9 * (Double(count) + expected)
  }

  private func inTime(_ group: CrashGroups.Group) -> Item? {
    guard window > 0 else { return nil }
    let recent = last - window + 1..<last + 1
    let earlier = last - 2 * window + 1..<last - window + 1
    var (now, before) = (0, 0)
    for (day, count) in group.cell.days {
      if recent.contains(day.number) { now += count }
      if earlier.contains(day.number) { before += count }
    }
    // A group that was not there before is new, or had no chance to be.
    guard let first = group.cell.days.keys.map(\.number).min(), first < recent.lowerBound else { return nil }
    var expected = Double(before)
    var among = ""
    if let one = sessions?.sessions(recent), let other = sessions?.sessions(earlier), one > 0, other > 0 {
      expected *= Double(one) / Double(other)
      among = ", of \(grouped(one)) and \(grouped(other)) sessions"
    }
    guard Self.isMore(now, than: expected) else { return nil }
    let days =
      window == 1
      ? "on \(CivilDate(daysSince1970: last).text)" : "in the \(window) days to \(CivilDate(daysSince1970: last).text)"
    return Item(
      id: group.id, reason: "\(grouped(now)) \(days), \(grouped(before)) in as many before\(among)",
      weight: Double(now) - expected)
  }

  /// The newest version with sessions and the one before it.
  private var newestRates: (version: String, sessions: Int, before: String, sessionsBefore: Int)? {
    guard let sessions else { return nil }
    let known = sessions.versions.filter { $0.value > 0 }.keys.sorted(by: Releases.precedes)
    guard let version = known.last, let before = known.dropLast().last else { return nil }
    return (version, sessions.versions[version] ?? 0, before, sessions.versions[before] ?? 0)
  }

  private func inVersion(_ group: CrashGroups.Group) -> Item? {
    guard let rates = newestRates else { return nil }
    let (now, before) = (group.cell.versions[rates.version] ?? 0, group.cell.versions[rates.before] ?? 0)
    let expected = Double(before) * Double(rates.sessions) / Double(rates.sessionsBefore)
    guard before > 0, Self.isMore(now, than: expected) else { return nil }
    return Item(
      id: group.id,
      reason: "\(grouped(now)) in \(grouped(rates.sessions)) sessions of \(rates.version), "
        + "\(grouped(before)) in \(grouped(rates.sessionsBefore)) of \(rates.before)",
      weight: Double(now) - expected)
  }

  // MARK: Back

  var back: Finding {
    let returned = groups.map { group in returnedSinceEarlier(group) ?? returnedInVersions(group) }
    if earlier == nil, !releases.versions.values.contains(where: { $0.count > 2 }) {
      return .notExamined("no program has crashes of three versions")
    }
    return found(returned)
  }

  private func returnedSinceEarlier(_ group: CrashGroups.Group) -> Item? {
    guard let version = earlier?[group.id]?.goneSince else { return nil }
    let later = group.cell.versions.keys.filter { $0 == version || Releases.precedes(version, $0) }
    guard let first = later.sorted(by: Releases.precedes).first else { return nil }
    return Item(
      id: group.id, reason: "gone since \(version) in the earlier run, and in \(first) now",
      weight: Double(group.cell.count))
  }

  private func returnedInVersions(_ group: CrashGroups.Group) -> Item? {
    releases.gap(group.cell).map { gap in
      let versions = gap.first == gap.last ? gap.first : "\(gap.first) to \(gap.last)"
      return Item(
        id: group.id,
        reason:
          "in \(gap.back) again; not in \(versions), where about \(grouped(Int(gap.expected.rounded()))) were to be expected",
        weight: Double(group.cell.count))
    }
  }
}
