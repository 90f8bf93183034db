// SPDX-License-Identifier: Apache-2.0
internal import CrashpadSnapshot

/// Crashes over time: a bar for each period, the days on which versions were first seen, and a table that has the same numbers
/// and those of the largest groups.
///
/// The image has no box of its own units: its places are shares of the page's width, so that text in it keeps its size.
struct GroupsChart {
  /// Groups that have columns in the table.
  private static let columns = 5
  private static let mostBars = 60
  /// Versions that are marked: the largest.
  private static let mostMarks = 60

  private let names: [String]
  /// The first day of each bar.
  private let starts: [Int]
  /// Days of each bar.
  private let width: Int
  private let last: Int
  /// Crashes by bar and by name.
  private let counts: [[Int]]
  private let marks: [ReleaseMark]

  /// Nil without times on two days.
  init?(_ page: GroupsPage) {
    let groups = page.groups
    let days = groups.flatMap(\.days)
    guard let first = days.map(\.day).min(), let last = days.map(\.day).max(), last > first else { return nil }
    let span = last - first + 1
    let width = (span + Self.mostBars - 1) / Self.mostBars
    let bars = (span + width - 1) / width
    var names = groups.prefix(Self.columns).map(\.text)
    if groups.count > Self.columns { names.append("\(counted(groups.count - Self.columns, "other group"))") }
    var counts = [[Int]](repeating: [Int](repeating: 0, count: names.count), count: bars)
    for (index, group) in groups.enumerated() {
      for day in group.days { counts[(day.day - first) / width][min(index, Self.columns)] += day.count }
    }
    self.width = width
    self.last = last
    starts = (0..<bars).map { first + $0 * width }
    self.names = names
    self.counts = counts
    // A version that is there from the first day on may be older.
    let known = page.versions.sorted { ($1.count, $0.name) < ($0.count, $1.name) }.prefix(Self.mostMarks)
    marks = ReleaseMark.placed(
      known.compactMap { version in version.firstDay.flatMap { $0 > first ? ($0, version.name) : nil } },
      from: first, days: width * bars)
  }

  /// The numbers of the image.
  func table(_ texts: inout PageTexts) -> HTML {
    var rows = HTML()
    for (start, counts) in zip(starts, counts) {
      let total = counts.reduce(0, +)
      if total == 0 { continue }
      let cells = counts.map { count -> HTML in "<td class=\"number\" data-value=\"\(count)\">\(grouped(count))</td>" }
      rows += """
        <tr><th scope="row" class="whole">\(CivilDate(daysSince1970: start).text)</th>\
        <td class="number" data-value="\(total)">\(grouped(total))</td>\(cells)</tr>

        """
    }
    let heads = names.map { Page.Column(texts.place($0, limit: 120), classes: "number long") }
    let table = Page.table("Crashes over time", of: "periods", ["From", .number("All")] + heads, rows: rows)
    let seen = marks.map { "\($0.version) on \(CivilDate(daysSince1970: $0.day).text)" }.joined(separator: ", ")
    let releases: HTML =
      seen.isEmpty ? "" : "<p class=\"sub\">First crashes of versions: \(texts.place(seen, limit: 600)).</p>\n"
    return "\(releases)\(Page.fold("All days", table))\n"
  }

  // MARK: Devices

  /// Crashes of the most frequent devices by the same periods; empty if no crash names a device and a day.
  func devices(_ page: GroupsPage, _ texts: inout PageTexts) -> HTML {
    let totals = page.deviceDays.mapValues { $0.values.reduce(0, +) }.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    if totals.isEmpty { return "" }
    let largest = totals.prefix(Self.deviceColumns).map(\.key)
    var counts = [[Int]](repeating: [Int](repeating: 0, count: largest.count + 1), count: starts.count)
    for (name, days) in page.deviceDays {
      let column = largest.firstIndex(of: name) ?? largest.count
      for (day, count) in days {
        if let period = period(of: day) { counts[period][column] += count }
      }
    }
    let others = totals.count - largest.count
    var heads = largest.map { Page.Column(texts.place($0, limit: 60), classes: "number long") }
    if others > 0 { heads.append(.number(HTML("\(counted(others, "other device"))"))) }
    var rows = HTML()
    for (start, counts) in zip(starts, counts) where counts.contains(where: { $0 > 0 }) {
      let cells = counts.prefix(heads.count).map { count -> HTML in
        "<td class=\"number\" data-value=\"\(count)\">\(grouped(count))</td>"
      }
      rows += """
        <tr><th scope="row" class="whole">\(CivilDate(daysSince1970: start).text)</th>\(cells)</tr>

        """
    }
    return Page.fold("Devices by day", Page.table("Devices by day", of: "periods", ["From"] + heads, rows: rows))
  }

  private static let deviceColumns = 8

  /// The bar of a day; nil of a day of which no group has a crash.
  private func period(of day: Int) -> Int? {
    guard let first = starts.first, day >= first, day <= last else { return nil }
    return (day - first) / width
  }

  // MARK: Image

  private var most: Int { max(1, counts.map { $0.reduce(0, +) }.max() ?? 1) }

  /// Thousandths of the image as a percentage: "12.5%".
  private static func percent(_ value: Int, of all: Int) -> String {
    let tenths = value * 1000 / max(1, all)
    return "\(tenths / 10).\(tenths % 10)%"
  }

  /// The share of the image that bars may fill: above them are the names of versions.
  private static let top = 30

  var image: HTML {
    let unit = width == 1 ? "a day" : "\(width) days"
    let first = CivilDate(daysSince1970: starts.first ?? 0).text
    let last = CivilDate(daysSince1970: self.last).text
    return """
      <p class="axis">\(grouped(most)) at most, \(grouped(most / 2)) at the line, crashes in \(unit)</p>
      <svg class="chart" role="img" data-width="\(width)" data-most="\(most)" aria-label="Crashes in \(unit) from \(first) to \(last), at most \(grouped(most)); the table below has \
      the numbers"><line class="grid" x1="0" x2="100%" y1="\(Self.top + (100 - Self.top) / 2)%" y2="\(Self.top + (100 - Self.top) / 2)%"/>\
      <g class="all">\(bars())</g><g class="one"></g>\(releases())</svg>
      <p class="axis"><span>\(first)</span><span>\(last)</span></p>

      """
  }

  private func bars() -> HTML {
    var bars = HTML()
    for (bar, counts) in counts.enumerated() {
      let count = counts.reduce(0, +)
      if count == 0 { continue }
      let height = max(10, count * (100 - Self.top) * 10 / most)
      bars += """
        <rect x="\(Self.percent(bar, of: starts.count))" y="\(Self.percent(1000 - height, of: 1000))" \
        width="\(Self.percent(9, of: starts.count * 10))" height="\(Self.percent(height, of: 1000))" data-day="\(starts[bar])">\
        <title>\(CivilDate(daysSince1970: starts[bar]).text): \(grouped(count))</title></rect>
        """
    }
    return bars
  }

  private func releases() -> HTML {
    let first = starts.first ?? 0
    let span = width * starts.count
    var html = HTML()
    for mark in marks {
      let x = Self.percent(mark.day - first, of: span)
      html += """
        <line class="mark" x1="\(x)" x2="\(x)" y1="0" y2="100%"><title>\(mark.version), first on \
        \(CivilDate(daysSince1970: mark.day).text)</title></line>
        """
      guard let label = mark.label else { continue }
      let end: HTML = label.isAtEnd ? " end" : ""
      let wide: HTML = label.isWide ? " wide" : ""
      html += "<text class=\"mark\(end)\(wide)\" x=\"\(x)\" y=\"\(12 + label.row * 13)\">\(mark.name)</text>"
    }
    return html
  }
}
