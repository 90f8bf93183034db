// SPDX-License-Identifier: Apache-2.0
internal import CrashpadSnapshot

/// Crashes over time: a bar for each period, in it the largest groups, with a table that has the same numbers.
struct GroupsChart {
  /// Groups with a color of their own; the others share the last.
  private static let colors = 5
  private static let mostBars = 60

  private let names: [String]
  /// The first day of each bar.
  private let starts: [Int]
  /// Days of each bar.
  private let width: Int
  private let last: Int
  /// Crashes by bar and by name.
  private let counts: [[Int]]

  /// Nil without times on two days.
  init?(_ groups: [GroupsPage.Group]) {
    let days = groups.flatMap(\.days)
    guard let first = days.map(\.day).min(), let last = days.map(\.day).max(), last > first else { return nil }
    let span = last - first + 1
    let width = (span + Self.mostBars - 1) / Self.mostBars
    let bars = (span + width - 1) / width
    var names = groups.prefix(Self.colors).map(\.text)
    if groups.count > Self.colors { names.append("\(counted(groups.count - Self.colors, "other group"))") }
    var counts = [[Int]](repeating: [Int](repeating: 0, count: names.count), count: bars)
    for (index, group) in groups.enumerated() {
      for day in group.days { counts[(day.day - first) / width][min(index, Self.colors)] += day.count }
    }
    self.width = width
    self.last = last
    starts = (0..<bars).map { first + $0 * width }
    self.names = names
    self.counts = counts
  }

  func html(_ texts: inout PageTexts) -> HTML {
    let period = width == 1 ? "day" : "\(width) days"
    var legend = HTML()
    for (index, name) in names.enumerated() {
      legend += "<li><svg class=\"key\" viewBox=\"0 0 10 10\" aria-hidden=\"true\">"
      legend += "<rect width=\"10\" height=\"10\" class=\"\(Self.color(index))\"/></svg>\(texts.place(name))</li>\n"
    }
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
    let heads = names.map { Page.Column(texts.place($0, limit: 40), classes: "number long") }
    let table = Page.table("Crashes over time", of: "periods", ["From", .number("All")] + heads, rows: rows)
    return """
      \(bars(period))<ul class="legend">\(legend)</ul>
      \(Page.fold("The same as a table", table))
      """
  }

  private static func color(_ index: Int) -> HTML {
    switch index {
    case 0: "c0"
    case 1: "c2"
    case 2: "c3"
    case 3: "c4"
    case 4: "c1"
    default: "c5"
    }
  }

  /// The numbers of the axes are text beside the image, which is as wide as the page and would shrink them on a phone.
  private func bars(_ period: String) -> HTML {
    let most = max(1, counts.map { $0.reduce(0, +) }.max() ?? 1)
    let step = 1000 / counts.count
    var bars = HTML()
    for (bar, counts) in counts.enumerated() {
      var top = 200
      for (index, count) in counts.enumerated() where count > 0 {
        let height = max(1, count * 200 / most)
        top -= height
        bars += "<rect x=\"\(bar * step)\" y=\"\(max(0, top))\" width=\"\(max(1, step - 2))\" height=\"\(height)\" "
        bars +=
          "class=\"\(Self.color(index))\"><title>\(CivilDate(daysSince1970: starts[bar]).text): \(grouped(count))</title></rect>"
      }
    }
    let first = CivilDate(daysSince1970: starts.first ?? 0).text
    let last = CivilDate(daysSince1970: self.last).text
    let unit = width == 1 ? "a day" : "\(width) days"
    return """
      <p class="axis">At most \(counted(most, "crash", "crashes")) in \(unit)</p>
      <svg class="chart" viewBox="0 0 \(step * counts.count) 200" preserveAspectRatio="none" role="img" aria-label="Crashes \
      per \(period) from \(first) to \(last), at most \(grouped(most)); the table below has the numbers">\(bars)</svg>
      <p class="axis"><span>\(first)</span><span>\(last)</span></p>

      """
  }
}
