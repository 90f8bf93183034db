// SPDX-License-Identifier: Apache-2.0
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
  package var gone: [Earlier] = []

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
    package var state: State?
    /// Installations that crashed again and again right after their start.
    package var loops = 0
    /// More reports of the same crashes, which are not in `count`.
    package var twins = 0
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
  }

  package struct Count: Sendable {
    package var name: String
    package var count: Int

    package init(_ name: String, _ count: Int) {
      self.name = name
      self.count = count
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

  /// A group of an earlier run.
  package struct Earlier: Sendable {
    package var id: String
    package var text: String
    package var count: Int

    package init(id: String, text: String, count: Int) {
      self.id = id
      self.text = text
      self.count = count
    }
  }
}
