// SPDX-License-Identifier: Apache-2.0
/// A small image of crashes over the time of the page, which every image of it has.
struct Sparkline {
  /// The number of bars, and the height of the largest.
  static let bars = 30
  private static let height = 10

  private let first: Int
  private let width: Int

  /// Nil without crashes on two days.
  init?(_ page: GroupsPage) {
    let days = page.groups.lazy.flatMap { $0.days.lazy.map(\.day) }
    guard let first = days.min(), let last = days.max(), last > first else { return nil }
    width = (last - first + Self.bars) / Self.bars
    self.first = last - width * Self.bars + 1
  }

  func html(_ group: GroupsPage.Group) -> HTML { html(group.days.lazy.map { ($0.day, $0.count) }) }

  /// The largest bar of each image has the same height. The tables of days have the numbers.
  func html(_ days: some Sequence<(day: Int, count: Int)>) -> HTML {
    var counts = [Int](repeating: 0, count: Self.bars)
    // A part that was written by hand may have other days of devices than of groups.
    for (day, count) in days where (first..<first + Self.bars * width).contains(day) {
      counts[(day - first) / width] += count
    }
    guard let most = counts.max(), most > 0 else { return "" }
    var path = "M0 \(Self.height)"
    var level = Self.height
    for count in counts {
      let top = count == 0 ? Self.height : Self.height - max(1, count * Self.height / most)
      if top != level { path += "V\(top)" }
      path += "h1"
      level = top
    }
    path += "V\(Self.height)"
    return
      "<svg class=\"spark\" viewBox=\"0 0 30 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><path d=\"\(path)\"/></svg>"
  }
}

/// Crashes among sessions.
struct CrashRate {
  private let crashes: Int
  private let sessions: Int

  /// Nil where the numbers can't be of the same program: without sessions, or with more crashes than sessions.
  init?(crashes: Int, sessions: Int) {
    guard sessions > 0, crashes <= sessions else { return nil }
    (self.crashes, self.sessions) = (crashes, sessions)
  }

  /// "99.87 %", rounded down: 100 % has no crash.
  var free: String {
    let hundredths = (sessions - crashes) * 10_000 / sessions
    let digits = hundredths % 100
    return "\(hundredths / 100).\(digits < 10 ? "0" : "")\(digits) %"
  }

  /// Crashes of a million sessions.
  var perMillion: Int { (crashes * 1_000_000 + sessions / 2) / sessions }
}
