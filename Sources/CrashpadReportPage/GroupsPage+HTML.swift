// SPDX-License-Identifier: Apache-2.0
internal import CrashpadJSON
internal import CrashpadSnapshot

/// Writes the parts of a page about many crashes.
struct GroupsPageWriter {
  let page: GroupsPage
  var texts = PageTexts()
  private let limit: Int
  /// The number of groups that have room.
  private var shown = 0
  private var sections = PageSections()

  init(_ page: GroupsPage, limit: Int) {
    self.page = page
    self.limit = limit
  }

  mutating func document() -> [UInt8] {
    // The rows say how many groups have room.
    let (rows, data) = rowsAndData()
    let time = GroupsChart(page.groups)
    sections.add("time", "Crashes over time", time.map { $0.html(&texts) } ?? "")
    sections.add("versions", "Crashes by version", versions())
    sections.add("groups", "Groups", groups(rows))
    sections.add("gone", "Gone", gone())
    sections.add("examples", "Examples", examples())
    sections.add("texts", "Long texts", texts.wholes)
    return Document(
      title: page.title, skipLabel: "Skip to the crashes",
      header: "<h1>\(texts.place(page.title))</h1>\n<p class=\"sub\">\(texts.place(page.subtitle))</p>\n\(states)",
      sections: sections, footer: "Made by \(page.generator)", data: data
    ).bytes()
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
    let days = Set(page.groups.flatMap { $0.days.map(\.day) }).sorted()
    let versions = Self.names(page.groups.flatMap(\.versions))
    let dayNumbers = Dictionary(uniqueKeysWithValues: days.enumerated().map { ($0.element, $0.offset) })
    let versionNumbers = Dictionary(uniqueKeysWithValues: versions.enumerated().map { ($0.element, $0.offset) })
    var rows = HTML()
    var data: [UInt8] = []
    for group in page.groups {
      let row = self.row(group)
      let start = data.count
      if shown > 0 { data.append(UInt8(ascii: ",")) }
      data += Self.json { json in
        json.object { Self.write(group, dayNumbers, versionNumbers, to: &$0) }
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
        json.member("days", days.map { CivilDate(daysSince1970: $0).text })
        json.member("versions", versions)
      }
    }
    // The groups stand in the object behind its other members.
    return (rows, head.dropLast() + Array(",\"groups\":[".utf8) + data + Array("]}".utf8))
  }

  /// One line of JSON without its line feed.
  private static func json(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
    JSONWriter.bytes(.compact, body).dropLast()
  }

  private static func names(_ counts: [GroupsPage.Count]) -> [String] {
    var totals: [String: Int] = [:]
    for count in counts { totals[count.name, default: 0] += count.count }
    return totals.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key)
  }

  private static func write(
    _ group: GroupsPage.Group, _ days: [Int: Int], _ versions: [String: Int], to json: inout JSONWriter
  ) {
    json.member("id", group.id)
    json.member("text", group.text)
    json.member("count", group.count)
    json.member("first", group.first)
    json.member("last", group.last)
    json.member("state", group.state?.rawValue)
    json.member("example", group.example)
    json.array("cells") { json in
      for day in group.days {
        json.array { json in
          json.number(days[day.day] ?? -1)
          json.number(day.version.flatMap { versions[$0] } ?? -1)
          json.number(day.count)
        }
      }
    }
  }

  private mutating func row(_ group: GroupsPage.Group) -> HTML {
    let tenths = (group.count * 2000 + page.total) / (2 * max(1, page.total))
    let versions = group.versions.prefix(3).map { "\($0.name) (\(grouped($0.count)))" }.joined(separator: ", ")
    let more = group.versions.count > 3 ? " and \(group.versions.count - 3) more" : ""
    let state: HTML = page.isCompared ? "<td>\(group.state == .known ? "" : group.state?.rawValue ?? "")</td>" : ""
    let loops: HTML =
      group.loops > 0 ? " <strong>crashes at start: \(counted(group.loops, "installation"))</strong>" : ""
    let twins: HTML =
      group.twins > 0 ? " <small>\(counted(group.twins, "more report")) of the same crashes</small>" : ""
    let example: HTML =
      group.link.map { "<a href=\"\($0)\">\(texts.place(group.example ?? "example", limit: 80))</a>" }
      ?? (group.crash == nil
        ? texts.place(group.example ?? "-", limit: 80)
        : "<a href=\"#e\(group.id)\">\(texts.place(group.example ?? "example", limit: 80))</a>")
    return """
      <tr id="g\(group.id)"><td class="number" data-value="\(group.count)">\(grouped(group.count))</td>\
      <td class="number" data-value="\(tenths)">\(tenths / 10).\(tenths % 10)%</td>\(state)\
      <th scope="row">\(texts.place(group.text))\(loops)\(twins) <small>\(group.id)</small></th>\
      <td class="whole">\(group.first ?? "-")</td><td class="whole">\(group.last ?? "-")</td>\
      <td>\(versions.isEmpty ? "-" : texts.place(versions + more, limit: 120))</td>\
      <td>\(example)</td></tr>

      """
  }

  private func groups(_ rows: HTML) -> HTML {
    if page.groups.isEmpty { return "<p>No crashes.</p>\n" }
    let state: [Page.Column] = page.isCompared ? ["Since before"] : []
    let table = Page.table(
      "Groups", of: "groups",
      [.number("Crashes"), .number("Share")] + state + ["Signature", "First", "Last", "Versions", "Example"], rows: rows
    )
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
        \(texts.place(group.text)) <small>\(group.id)</small></th></tr>

        """
    }
    let more: HTML = page.gone.count > 500 ? "<p>\(grouped(page.gone.count - 500)) more.</p>\n" : ""
    let table = Page.table(
      "Groups of the earlier run that are gone", of: "gone groups", [.number("Crashes before"), "Signature"], rows: rows
    )
    return "\(table)\(more)"
  }

  private mutating func examples() -> HTML {
    var html = HTML()
    for group in page.groups.prefix(shown) {
      guard let crash = group.crash else { continue }
      let name: HTML = group.example.map { " in \(texts.place($0, limit: 120))" } ?? ""
      html += """
        <details open data-fold id="e\(group.id)"><summary>\(texts.place(group.text))</summary>
        <p>\(texts.place(crash.summary, limit: 2000))</p><p class="sub">\(counted(group.count, "crash", "crashes")); \
        the stack\(name):</p>

        """
      var writer = FrameWriter(texts: texts)
      html += writer.stack(crash.frames, id: "s\(group.id)f")
      texts = writer.texts
      html += "</details>\n"
    }
    return html
  }

  // MARK: Versions

  private mutating func versions() -> HTML {
    var totals: [String: (count: Int, top: GroupsPage.Group?, most: Int)] = [:]
    for group in page.groups {
      for version in group.versions {
        var total = totals[version.name] ?? (0, nil, 0)
        total.count += version.count
        if version.count > total.most { (total.top, total.most) = (group, version.count) }
        totals[version.name] = total
      }
    }
    if totals.isEmpty { return "" }
    let sorted = totals.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }
    let most = max(1, sorted.first?.value.count ?? 1)
    var rows = HTML()
    for (name, total) in sorted.prefix(100) {
      rows += """
        <tr><th scope="row">\(texts.place(name, limit: 80))</th><td class="number" data-value="\(total.count)">\
        \(grouped(total.count))</td><td><svg viewBox="0 0 200 10" class="bar" aria-hidden="true">\
        <rect x="0" y="0" height="10" width="\(max(1, total.count * 200 / most))" class="c0"/></svg></td>\
        <td>\(texts.place(total.top?.text ?? "", limit: 200)) (\(grouped(total.most)))</td></tr>

        """
    }
    let more: HTML = sorted.count > 100 ? "<p>\(grouped(sorted.count - 100)) more versions.</p>\n" : ""
    let table = Page.table(
      "Crashes by version", of: "versions", ["Version", .number("Crashes"), "Share", "Largest group"], rows: rows)
    return "\(table)\(more)"
  }
}

extension GroupsPage {
  /// The page: the same bytes for the same values. The largest groups are in it, as far as they have room.
  ///
  /// - Parameter limit: bytes of the groups' rows and data; the rest of the page is small.
  package func html(limit: Int = 4_300_000) -> [UInt8] {
    var writer = GroupsPageWriter(self, limit: limit)
    return writer.document()
  }
}
