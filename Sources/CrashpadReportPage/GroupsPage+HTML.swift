// SPDX-License-Identifier: Apache-2.0
internal import CrashpadJSON
internal import CrashpadSignatures
internal import CrashpadSnapshot

/// Writes the parts of a page about many crashes.
struct GroupsPageWriter {
  let page: GroupsPage
  var texts = PageTexts()
  private let limit: Int
  /// The number of groups that have room.
  private(set) var shown = 0
  private var sections = PageSections()

  init(_ page: GroupsPage, limit: Int) {
    self.page = page
    self.limit = limit
  }

  mutating func document() -> [UInt8] {
    // The rows say how many groups have room.
    let (rows, data) = rowsAndData()
    sections.add("first", "Look here first", news())
    let chart = GroupsChart(page)
    sections.add("time", "Crashes over time", chart?.image ?? "")
    sections.add("groups", "Groups", groups(rows))
    sections.add("matrix", "Groups by version", matrix())
    sections.add("versions", "Versions", versions())
    let devices = counts("Device", \.devices, by: page.deviceDays)
    sections.add("devices", "Devices", "\(devices)\(chart?.devices(page, &texts) ?? "")")
    sections.add("systems", "Systems", counts("System", \.systems))
    sections.add("days", "Crashes by day", chart.map { $0.table(&texts) } ?? "")
    sections.add("gone", "Gone", gone())
    sections.add("details", "Groups in detail", details())
    sections.add("texts", "Long texts", texts.wholes)
    return Document(
      title: page.title, skipLabel: "Skip to the crashes",
      header:
        "<h1>\(texts.place(page.title))</h1>\n<p class=\"sub\">\(texts.place(page.subtitle))</p>\n\(headFacts())\(states)",
      sections: sections, footer: "Made by \(page.generator)", data: data, classes: "groups"
    ).bytes()
  }

  private func headFacts() -> HTML {
    var facts: [(HTML, String)] = []
    if page.installations.crashCount > 0 {
      let all = page.installations.crashCount == page.total
      facts.append(
        (
          "Installations",
          grouped(page.installations.count)
            + (all ? "" : ", named by \(counted(page.installations.crashCount, "crash", "crashes"))")
        ))
    }
    if let sessions = page.sessions {
      facts.append(("Sessions", grouped(sessions.total)))
      if let free = crashFree(sessions) { facts.append(("Crash-free sessions", free)) }
    }
    let (copies, twins) = page.groups.reduce((0, 0)) { ($0.0 + $1.copies, $0.1 + $1.twins) }
    if copies > 0 { facts.append(("Copies left out", grouped(copies))) }
    if twins > 0 { facts.append(("More reports of the same crashes", grouped(twins))) }
    if facts.isEmpty { return "" }
    let items = facts.map { label, value -> HTML in "<div><dt>\(label)</dt><dd>\(value)</dd></div>\n" }
    return "<dl class=\"head\">\n\(items)</dl>\n"
  }

  /// The share of sessions without a crash, of the versions or the days whose sessions are known.
  private func crashFree(_ sessions: SessionCounts) -> String? {
    var crashes = 0
    var part = ""
    if sessions.versions.isEmpty {
      let all = page.groups.flatMap(\.days)
      let known = all.filter { sessions.days[$0.day] != nil }
      crashes = known.reduce(0) { $0 + $1.count }
      if crashes < page.total { part = ", of the days in the file" }
    } else {
      let known = page.versions.filter { sessions.versions[$0.name] != nil }
      crashes = known.reduce(0) { $0 + $1.count }
      if crashes < page.total { part = ", of \(grouped(known.count)) of \(counted(page.versions.count, "version"))" }
    }
    return CrashRate(crashes: crashes, sessions: sessions.total).map { $0.free + part }
  }

  private var states: HTML {
    guard page.isCompared else { return "" }
    var parts = [GroupsPage.State.new, .grown].map { state in
      "\(grouped(page.groups.count { $0.state == state })) \(state.rawValue)"
    }
    parts.append("\(grouped(page.gone.count)) gone")
    return "<p>Compared with the earlier run: \(parts.joined(separator: ", ")).</p>\n"
  }

  // MARK: Groups

  /// Rows of the table, and the same facts as JSON, until the limit is reached.
  private mutating func rowsAndData() -> (rows: HTML, data: [UInt8]) {
    let names = GroupNames(page)
    let spark = Sparkline(page)
    var rows = HTML()
    var data: [UInt8] = []
    for group in page.groups {
      let row = self.row(group, shown < Self.sparklines ? spark : nil)
      let start = data.count
      if shown > 0 { data.append(UInt8(ascii: ",")) }
      data += Self.json { json in
        json.object { names.write(group, to: &$0) }
      }
      guard rows.bytes.count + row.bytes.count + data.count <= limit || shown == 0 else {
        data.removeSubrange(start...)
        break
      }
      rows += row
      shown += 1
    }
    let head = Self.json { json in
      json.object { json in
        json.member("schema", "crashpadctl-report-data/1")
        json.member("crash_count", page.total)
        json.member("days", names.days.map { CivilDate(daysSince1970: $0).text })
        json.member("versions", names.versions)
        json.member("devices", names.devices)
        json.member("systems", names.systems)
      }
    }
    // The groups stand in the object behind its other members.
    return (rows, head.dropLast() + Array(",\"groups\":[".utf8) + data + Array("]}".utf8))
  }

  /// One line of JSON without its line feed.
  private static func json(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
    JSONWriter.bytes(.compact, body).dropLast()
  }

  /// Groups whose sparklines are drawn here; the script draws the others.
  private static let sparklines = 1000
  /// Groups with their details on the page.
  static let detailed = 50

  private mutating func row(_ group: GroupsPage.Group, _ spark: Sparkline?) -> HTML {
    let tenths = (group.count * 2000 + page.total) / (2 * max(1, page.total))
    let parts = group.parts
    let function = texts.place(name: parts.function ?? parts.kind)
    let name: HTML = shown < Self.detailed ? "<a href=\"#e\(group.id)\">\(function)</a>" : "<b>\(function)</b>"
    let kind: HTML = parts.function == nil ? "" : "<span class=\"kind\">\(texts.place(parts.kind, limit: 80))</span> "
    let beside: HTML = parts.beside.map { " <small>\(texts.place(name: $0))</small>" } ?? ""
    let first = group.first ?? "-"
    let seen: HTML = group.last.map { $0 == first ? HTML(first) : "\(first) <br>\($0)" } ?? HTML(first)
    let lastDay = group.days.last?.day ?? 0
    let example: HTML =
      group.link.map { "<a href=\"\($0)\">\(texts.place(group.example ?? "example", limit: 80))</a>" }
      ?? texts.place(group.example ?? "-", limit: 80)
    return """
      <tr id="g\(group.id)"\(Self.classes(group))><td class="number" data-value="\(group.count)"><b>\(grouped(group.count))</b> \
      <small>\(tenths / 10).\(tenths % 10)%</small></td>\(installations(group))\
      <th scope="row">\(kind)\(name)\(beside)\(badges(group)) <small class="id">\(group.id)</small></th>\
      <td class="trend">\(spark?.html(group) ?? "")</td>\
      <td class="seen" data-value="\(lastDay)">\(seen)</td>\
      <td>\(top(group.versions))</td><td>\(top(group.devices))</td><td>\(top(group.systems))</td><td>\(example)</td></tr>

      """
  }

  private static func classes(_ group: GroupsPage.Group) -> HTML {
    if group.topics.isEmpty { return "" }
    return " class=\"\(group.topics.map { HTML($0.rawValue) }.joined(" "))\""
  }

  private func installations(_ group: GroupsPage.Group) -> HTML {
    let (count, crashes) = group.installations
    if crashes == 0 { return "<td class=\"number\" data-value=\"0\">-</td>" }
    let least: HTML = crashes < group.count ? "≥ " : ""
    return "<td class=\"number\" data-value=\"\(count)\">\(least)\(grouped(count))</td>"
  }

  private func badges(_ group: GroupsPage.Group) -> HTML {
    var html = HTML()
    func add(_ text: String, _ kind: HTML) { html += " <em class=\"\(kind)\">\(text)</em>" }
    if let version = group.newIn, !page.isCompared { add("new in \(version)", "new") }
    if group.state == .new { add("new", "new") }
    if group.topics.contains(.new), group.newIn == nil, !page.isCompared { add("new", "new") }
    if group.topics.contains(.growing) || group.state == .grown { add("growing", "growing") }
    if group.topics.contains(.back) { add("back", "back") }
    if let version = group.goneSince, !group.topics.contains(.back) { add("gone since \(version)", "gone") }
    if group.loops > 0 { add("crashes at start: \(counted(group.loops, "installation"))", "loop") }
    if !group.uncounted.isEmpty { html += " <small>\(group.uncounted)</small>" }
    return html
  }

  /// "5.2: 100, 5.1: 20, 3 more": the most frequent first.
  private mutating func top(_ counts: [GroupsPage.Count]) -> HTML {
    if counts.isEmpty { return "-" }
    let shown = counts.prefix(2).map { "\($0.name): \(grouped($0.count))" }.joined(separator: ", ")
    return texts.place(shown + (counts.count > 2 ? ", \(counts.count - 2) more" : ""), limit: 120)
  }

  private func groups(_ rows: HTML) -> HTML {
    if page.groups.isEmpty { return "<p>No crashes.</p>\n" }
    let table = Page.table(
      "Groups", of: "groups",
      [
        .number("Crashes"), .number("Installations"), "Signature", "Trend", "First and last", "Versions", "Devices",
        "Systems",
        "Example",
      ], rows: rows, classes: "cards")
    let left = page.groups.dropFirst(shown)
    let more: HTML =
      left.isEmpty
      ? ""
      : """
      <p>\(counted(left.count, "smaller group")) with \(counted(left.reduce(0) { $0 + $1.count }, "crash", "crashes")) \
      more; crashpadctl group --format csv lists them.</p>

      """
    return "\(table)\(more)"
  }

  private mutating func gone() -> HTML {
    if page.gone.isEmpty { return "" }
    var rows = HTML()
    for group in page.gone.prefix(500) {
      rows += """
        <tr><td class="number" data-value="\(group.count)">\(grouped(group.count))</td><th scope="row">\
        \(texts.place(name: group.text)) <small>\(group.id)</small></th></tr>

        """
    }
    let more: HTML = page.gone.count > 500 ? "<p>\(grouped(page.gone.count - 500)) more.</p>\n" : ""
    let table = Page.table(
      "Groups of the earlier run that are gone", of: "gone groups", [.number("Crashes before"), "Signature"], rows: rows
    )
    return "\(table)\(more)"
  }
}

extension GroupsPage {
  /// The page: the same bytes for the same values. The largest groups are in it, as far as they have room.
  ///
  /// - Parameter limit: bytes of the groups' rows and data; the rest of the page is small.
  package func html(limit: Int = 4_600_000) -> [UInt8] {
    var writer = GroupsPageWriter(self, limit: limit)
    return writer.document()
  }
}

/// Names that the data of a page has once, and by their numbers in groups.
struct GroupNames {
  let days: [Int]
  let versions: [String]
  let devices: [String]
  let systems: [String]
  private let dayNumbers: [Int: Int]
  private let versionNumbers: [String: Int]
  private let deviceNumbers: [String: Int]
  private let systemNumbers: [String: Int]

  init(_ page: GroupsPage) {
    days = Set(page.groups.flatMap { $0.days.map(\.day) }).sorted()
    versions = Self.names(page.groups.flatMap(\.versions))
    devices = Self.names(page.groups.flatMap(\.devices))
    systems = Self.names(page.groups.flatMap(\.systems))
    dayNumbers = Self.numbers(days)
    versionNumbers = Self.numbers(versions)
    deviceNumbers = Self.numbers(devices)
    systemNumbers = Self.numbers(systems)
  }

  private static func numbers<Value: Hashable>(_ values: [Value]) -> [Value: Int] {
    Dictionary(uniqueKeysWithValues: values.enumerated().map { ($0.element, $0.offset) })
  }

  private static func names(_ counts: [GroupsPage.Count]) -> [String] {
    var totals: [String: Int] = [:]
    for count in counts { totals[count.name, default: 0] += count.count }
    return totals.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key)
  }

  func write(_ group: GroupsPage.Group, to json: inout JSONWriter) {
    json.member("id", group.id)
    json.member("text", group.text)
    json.member("count", group.count)
    if !group.uncounted.isEmpty { json.member("uncounted", group.uncounted) }
    json.member("first", group.first)
    json.member("last", group.last)
    json.member("state", group.state?.rawValue)
    json.member("example", group.example)
    json.array("cells") { json in
      for day in group.days {
        json.array { json in
          json.number(dayNumbers[day.day] ?? -1)
          json.number(day.version.flatMap { versionNumbers[$0] } ?? -1)
          json.number(day.count)
        }
      }
    }
    for (name, counts, numbers) in [
      ("versions", group.versions, versionNumbers), ("devices", group.devices, deviceNumbers),
      ("systems", group.systems, systemNumbers),
    ] {
      json.array(name) { json in
        for count in counts {
          json.array { json in
            json.number(numbers[count.name] ?? -1)
            json.number(count.count)
          }
        }
      }
    }
  }
}
