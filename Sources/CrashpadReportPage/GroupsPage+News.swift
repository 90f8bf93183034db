// SPDX-License-Identifier: Apache-2.0
internal import CrashpadSignatures
internal import CrashpadSnapshot

/// The list that a person on call reads first.
extension GroupsPageWriter {
  /// Groups that each list has; the filter of the table shows all.
  private static let listed = 3

  mutating func news() -> HTML {
    guard let news = page.news, !page.groups.isEmpty else { return "" }
    var html: HTML = "<div class=\"news\">\n"
    for (topic, title) in [(GroupNews.Topic.new, "New" as HTML), (.growing, "Growing"), (.back, "Back")] {
      html += "<div class=\"\(HTML(topic.rawValue))\">\n"
      switch news[topic] {
      case .notExamined(let reason):
        html += "<h3>\(title): not known</h3>\n<p class=\"sub\">Not examined: \(texts.place(reason)).</p>\n"
      case .examined(let items): html += list(items, title)
      }
      html += "</div>\n"
    }
    html += startLoops()
    html += "</div>\n"
    return html
  }

  private mutating func list(_ items: [GroupNews.Item], _ title: HTML) -> HTML {
    if items.isEmpty { return "<h3>\(title): none</h3>\n" }
    var html: HTML = "<h3>\(title): \(grouped(items.count))</h3>\n<ol>\n"
    let groups = Dictionary(page.groups.prefix(shown).map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    for item in items.prefix(Self.listed) {
      guard let group = groups[item.id] else { continue }
      html += "<li>\(link(group)) <span>\(texts.place(item.reason, limit: 160))</span></li>\n"
    }
    html += "</ol>\n"
    if items.count > Self.listed { html += "<p class=\"sub\">and \(grouped(items.count - Self.listed)) more</p>\n" }
    return html
  }

  private mutating func link(_ group: GroupsPage.Group) -> HTML {
    let parts = group.parts
    return """
      <a href="#g\(group.id)">\(texts.place(name: parts.function ?? parts.kind, limit: 120))</a> \
      <small>\(parts.function == nil ? "" : texts.place(parts.kind, limit: 80)), \(counted(group.count, "crash", "crashes"))</small>
      """
  }

  /// Groups that let an installation not start at all.
  private mutating func startLoops() -> HTML {
    let groups = page.groups.prefix(shown).filter { $0.loops > 0 }.sorted { ($1.loops, $0.id) < ($0.loops, $1.id) }
    if groups.isEmpty { return "" }
    var html: HTML = "<div class=\"loop\">\n<h3>Crash at start: \(grouped(groups.count))</h3>\n<ol>\n"
    for group in groups.prefix(Self.listed) {
      html += "<li>\(link(group)) <span>again and again on \(counted(group.loops, "installation"))</span></li>\n"
    }
    html += "</ol>\n"
    if groups.count > Self.listed { html += "<p class=\"sub\">and \(grouped(groups.count - Self.listed)) more</p>\n" }
    html += "</div>\n"
    return html
  }
}
