// SPDX-License-Identifier: Apache-2.0
internal import CrashpadSignatures
internal import CrashpadSnapshot

/// Versions, devices and systems, and the details of a group.
extension GroupsPageWriter {
  // MARK: Groups by version

  /// Groups and versions of the matrix: the largest.
  private static let rows = 10
  private static let columns = 8

  private var largestVersions: [GroupsPage.Version] {
    let largest = Set(
      page.versions.sorted { ($1.count, $0.name) < ($0.count, $1.name) }.prefix(Self.columns).map(\.name))
    return page.versions.filter { largest.contains($0.name) }
  }

  /// The share that a group has of each version's crashes: what is peculiar to a version stands out.
  mutating func matrix() -> HTML {
    let versions = largestVersions
    if versions.count < 2 { return "" }
    let all = versions.reduce(0) { $0 + $1.count }
    var rows = HTML()
    for group in page.groups.prefix(Self.rows) {
      let counts = Dictionary(group.versions.map { ($0.name, $0.count) }, uniquingKeysWith: +)
      let own = versions.reduce(0) { $0 + (counts[$1.name] ?? 0) }
      if own == 0 { continue }
      var cells = HTML()
      for version in versions {
        cells += cell(counts[version.name] ?? 0, of: version, mean: Double(own) / Double(max(1, all)))
      }
      let parts = group.parts
      rows += """
        <tr><th scope="row"><a href="#g\(group.id)">\(texts.place(name: parts.function ?? parts.kind, limit: 120))</a> \
        <small>\(parts.function == nil ? "" : texts.place(parts.kind, limit: 80))</small></th>\(cells)</tr>

        """
    }
    let heads = versions.map { Page.Column(texts.place($0.name, limit: 40), classes: "number long") }
    let hasRates = versions.contains { rate(of: $0) != nil }
    let table = Page.table("Groups by version", ["Signature"] + heads, rows: rows)
    return """
      <p class="sub">Of the crashes of each version, the share of each of the largest groups\
      \(hasRates ? ", and crashes in a million sessions" : ""). Marked: at least twice the share of all versions (▲), or at most half \
      (▽), by more than chance.</p>
      \(table)
      """
  }

  private func cell(_ count: Int, of version: GroupsPage.Version, mean: Double) -> HTML {
    let expected = mean * Double(version.count)
    let difference = Double(count) - expected
    let isSure = difference * difference >= 9 * max(1, expected)
    let isHigh = isSure && Double(count) >= 2 * expected
    let isLow = isSure && Double(count) <= expected / 2
    let tenths = (count * 2000 + version.count) / (2 * max(1, version.count))
    let mark: HTML = isHigh ? "▲ " : isLow ? "▽ " : ""
    let kind: HTML = isHigh ? " high" : isLow ? " low" : ""
    // Numbers that can't belong together as a whole say nothing of a group either.
    let sessions = rate(of: version) == nil ? 0 : page.sessions?.versions[version.name] ?? 0
    let rate: HTML =
      CrashRate(crashes: count, sessions: sessions).map { "<br><small>\(grouped($0.perMillion)) ppm</small>" } ?? ""
    return """
      <td class="number\(kind)" data-value="\(tenths)">\(mark)\(tenths / 10).\(tenths % 10)%<br><small>\(grouped(count))</small>\
      \(rate)</td>
      """
  }

  private func rate(of version: GroupsPage.Version) -> CrashRate? {
    CrashRate(crashes: version.count, sessions: page.sessions?.versions[version.name] ?? 0)
  }

  // MARK: Versions

  private static let listedVersions = 100

  mutating func versions() -> HTML {
    if page.versions.isEmpty { return "" }
    let most = max(1, page.versions.map(\.count).max() ?? 1)
    let hasSessions = page.sessions?.versions.isEmpty == false
    let new = Dictionary(page.groups.compactMap(\.newIn).map { ($0, 1) }, uniquingKeysWith: +)
    var rows = HTML()
    for version in page.versions.reversed().prefix(Self.listedVersions) {
      let rates: HTML =
        hasSessions
        ? """
        <td class="number">\(page.sessions?.versions[version.name].map { grouped($0) } ?? "not known")</td>\
        <td class="number">\(rate(of: version)?.free ?? "not known")</td>
        """ : ""
      rows += """
        <tr><th scope="row">\(texts.place(version.name, limit: 80))</th>\
        <td class="whole" data-value="\(version.firstDay ?? 0)">\(version.firstDay.map { CivilDate(daysSince1970: $0).text } ?? "-")</td>\
        <td class="number" data-value="\(version.count)">\(grouped(version.count))</td><td>\(Self.bar(version.count, of: most))</td>\
        <td class="number">\(grouped(new[version.name] ?? 0))</td>\(rates)</tr>

        """
    }
    let more: HTML =
      page.versions.count > Self.listedVersions
      ? "<p>\(counted(page.versions.count - Self.listedVersions, "older version")).</p>\n" : ""
    let rateHeads: [Page.Column] = hasSessions ? [.number("Sessions"), .number("Crash-free")] : []
    let table = Page.table(
      "Versions", of: "versions",
      ["Version", "First crash", .number("Crashes"), "Share", .number("Only here")] + rateHeads, rows: rows)
    return "\(table)\(more)"
  }

  static func bar(_ count: Int, of most: Int) -> HTML {
    """
    <svg viewBox="0 0 200 10" class="bar" preserveAspectRatio="none" aria-hidden="true"><rect height="10" \
    width="\(max(1, count * 200 / max(1, most)))" class="c0"/></svg>
    """
  }

  // MARK: Devices and systems

  private static let listedCounts = 50

  /// - Parameter days: the crashes of each by day, if they are known.
  mutating func counts(
    _ noun: HTML, _ member: (GroupsPage.Group) -> [GroupsPage.Count], by days: [String: [Int: Int]] = [:]
  ) -> HTML {
    var totals: [String: (count: Int, groups: Int)] = [:]
    for group in page.groups {
      for count in member(group) {
        totals[count.name, default: (0, 0)].count += count.count
        totals[count.name, default: (0, 0)].groups += 1
      }
    }
    if totals.isEmpty { return "" }
    let sorted = totals.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }
    let most = sorted[0].value.count
    let spark = days.isEmpty ? nil : Sparkline(page)
    var rows = HTML()
    for (name, total) in sorted.prefix(Self.listedCounts) {
      let trend: HTML = spark.map { "<td class=\"trend\">\($0.html((days[name] ?? [:]).map { ($0, $1) }))</td>" } ?? ""
      let tenths = (total.count * 2000 + page.total) / (2 * max(1, page.total))
      rows += """
        <tr><th scope="row">\(texts.place(name, limit: 80))</th><td class="number" data-value="\(total.count)">\
        \(grouped(total.count))</td><td class="number" data-value="\(tenths)">\(tenths / 10).\(tenths % 10)%</td>\
        <td>\(Self.bar(total.count, of: most))</td>\(trend)<td class="number">\(grouped(total.groups))</td></tr>

        """
    }
    let known = totals.values.reduce(0) { $0 + $1.count }
    let more: HTML =
      sorted.count > Self.listedCounts ? "<p>\(grouped(sorted.count - Self.listedCounts)) more.</p>\n" : ""
    let unknown: HTML =
      known < page.total
      ? "<p class=\"sub\">Not known of \(counted(page.total - known, "crash", "crashes")).</p>\n" : ""
    let trend: [Page.Column] = spark == nil ? [] : ["Trend"]
    let table = Page.table(
      "\(noun)s", of: "\(noun)s",
      [Page.Column(noun), .number("Crashes"), .number("Share"), "Bar"] + trend + [.number("Groups")], rows: rows)
    return Page.fold("\(counted(sorted.count, noun == "Device" ? "device" : "system"))", "\(table)\(more)\(unknown)")
  }

  // MARK: Details

  private static let listedBars = 6

  mutating func details() -> HTML {
    var html = HTML()
    let functions = Dictionary(grouping: page.groups.prefix(shown).indices) { page.groups[$0].parts.function ?? "" }
    for group in page.groups.prefix(min(shown, Self.detailed)) {
      html += """
        <details open data-fold id="e\(group.id)"><summary>\(HTML(name: PageTexts.cut(group.text, to: PageTexts.limit)))</summary>
        \(details(group))\(similar(group, functions))</details>

        """
    }
    return html
  }

  /// Groups of one function that a group lists.
  private static let listedSimilar = 6

  /// The groups of the same function: other kinds, or other callees, of what may be one fault.
  private mutating func similar(_ group: GroupsPage.Group, _ functions: [String: [Int]]) -> HTML {
    guard let function = group.parts.function else { return "" }
    let others = (functions[function] ?? []).map { page.groups[$0] }.filter { $0.id != group.id }
    if others.isEmpty { return "" }
    var items: [HTML] = []
    for other in others.prefix(Self.listedSimilar) {
      let parts = other.parts
      let beside: HTML = parts.beside.map { " · \(texts.place(name: $0, limit: 120))" } ?? ""
      items.append(
        """
        <a href="#g\(other.id)">\(texts.place(parts.kind, limit: 80))\(beside)</a> \
        <small>\(counted(other.count, "crash", "crashes"))</small>
        """)
    }
    if others.count > Self.listedSimilar { items.append("\(grouped(others.count - Self.listedSimilar)) more") }
    return "<p class=\"sub\">Other groups of this function:</p>\n\(Page.list(items))"
  }

  private mutating func details(_ group: GroupsPage.Group) -> HTML {
    var html = HTML()
    for topic in group.topics {
      guard let item = page.news?[topic].items.first(where: { $0.id == group.id }) else { continue }
      html += "<p class=\"note\">\(texts.place(item.reason, limit: 300))</p>\n"
    }
    if let crash = group.crash { html += "<p>\(texts.place(crash.summary, limit: 2000))</p>\n" }
    html += """
      <p class="sub">\(counted(group.count, "crash", "crashes"))\
      \(group.uncounted.isEmpty ? "" : ", \(group.uncounted)"); signature \(group.id)</p>
      <div class="bars">
      \(bars("Versions", group.versions, of: group.count))\(bars("Devices", group.devices, of: group.count))\
      \(bars("Systems", group.systems, of: group.count))</div>

      """
    guard let crash = group.crash else { return html }
    let name: HTML = group.example.map { " in \(texts.place($0, limit: 120))" } ?? ""
    html += "<p class=\"sub\">The stack\(name):</p>\n"
    var writer = FrameWriter(texts: texts)
    html += writer.stack(crash.frames, id: "s\(group.id)f")
    texts = writer.texts
    return html
  }

  private mutating func bars(_ title: HTML, _ counts: [GroupsPage.Count], of total: Int) -> HTML {
    if counts.isEmpty { return "" }
    var rows = HTML()
    for count in counts.prefix(Self.listedBars) {
      rows += """
        <tr><th scope="row">\(texts.place(count.name, limit: 60))</th><td>\(Self.bar(count.count, of: total))</td>\
        <td class="number">\(grouped(count.count))</td></tr>

        """
    }
    let rest = counts.dropFirst(Self.listedBars)
    if !rest.isEmpty {
      rows += """
        <tr><th scope="row">\(grouped(rest.count)) more</th><td></td>\
        <td class="number">\(grouped(rest.reduce(0) { $0 + $1.count }))</td></tr>

        """
    }
    return "<table class=\"bars\"><caption>\(title)</caption><tbody>\n\(rows)</tbody></table>\n"
  }
}
