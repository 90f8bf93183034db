// SPDX-License-Identifier: Apache-2.0
/// Finds reports of one crash among the reports of all groups, so that each crash is counted once: a handler, the
/// system and MetricKit may each report the same crash.
struct TwinSearch {
  typealias Cells = KeyedTable<GroupCounts.Key, GroupCounts>

  private struct Entry {
    let account: CrashAccount
    let key: GroupCounts.Key
  }

  private struct Place: Hashable {
    let processID: Int64
    let rank: Int
  }

  /// The accounts of one rank of processes with one id, by the start of their periods.
  private struct Bucket {
    var entries: [Entry] = []
    /// The longest of their periods, in seconds.
    var longest: Int64 = 0

    mutating func add(_ entry: Entry) {
      entries.append(entry)
      let (length, overflows) = entry.account.end.subtractingReportingOverflow(entry.account.start)
      longest = max(longest, overflows ? .max : length)
    }

    /// The entries whose periods may be near enough to that of `account`: a fleet has many processes of one id.
    func near(_ account: CrashAccount) -> ArraySlice<Entry> {
      let tolerance = CrashAccount.tolerance
      let first = Self.moved(Self.moved(account.start, by: -tolerance), by: -longest)
      let last = Self.moved(account.end, by: tolerance)
      let start = index { $0.account.start >= first }
      return entries[start..<max(start, index { $0.account.start > last })]
    }

    /// The first entry of which `isReached` is true; it is false of all before, and true of all behind.
    private func index(where isReached: (Entry) -> Bool) -> Int {
      var (low, high) = (0, entries.count)
      while low < high {
        let middle = (low + high) / 2
        if isReached(entries[middle]) { high = middle } else { low = middle + 1 }
      }
      return low
    }

    private static func moved(_ time: Int64, by distance: Int64) -> Int64 {
      let (moved, overflows) = time.addingReportingOverflow(distance)
      return overflows ? (distance < 0 ? .min : .max) : moved
    }
  }

  private var buckets: [Place: Bucket] = [:]

  private init(_ cells: Cells) {
    for (key, cell) in cells {
      for account in cell.accounts { add(Entry(account: account, key: key)) }
      for report in cell.waiting.keys {
        if let account = CrashAccount(report.facts) { add(Entry(account: account, key: key)) }
      }
    }
    for place in buckets.keys { buckets[place]?.entries.sort { $0.account.start < $1.account.start } }
  }

  private mutating func add(_ entry: Entry) {
    let place = Place(processID: entry.account.processID, rank: entry.account.role.rank)
    buckets[place, default: Bucket()].add(entry)
  }

  /// The counts by signature in which each crash counts once. The other reports of a crash (its twins) are counted in
  /// `twins` of the same signature.
  static func resolved(_ cells: Cells) -> Cells {
    let waiting = cells.values.reduce(0) { $0 + $1.waiting.values.reduce(0, +) }
    let cells = waiting > 1 ? withoutOtherForms(cells) : cells
    // A crash that waits alone has no twin.
    let mayHaveTwins = waiting > 1 || waiting == 1 && cells.values.contains { !$0.accounts.isEmpty }
    let search = TwinSearch(mayHaveTwins ? cells : Cells())
    var resolved = Cells()
    for (key, cell) in cells { resolved.set(key, cell.withoutAccounts) }
    for (key, cell) in cells {
      for (report, count) in cell.waiting {
        if let account = CrashAccount(report.facts), let twin = search.twin(of: account) {
          resolved[twin, default: GroupCounts()].twins += count
        } else {
          for _ in 0..<count { resolved[key, default: GroupCounts()].count(report.facts) }
        }
      }
    }
    return resolved.filter { _, cell in cell.count > 0 }
  }

  /// A form of a crash that counts, with the signature of it.
  private typealias Form = (report: WaitingReport, key: GroupCounts.Key)

  /// The counts in which each crash that has several forms (a dump and its minidump) is kept in one: that whose signature tells
  /// most, as a form may lack symbols or memory; of several such the first input. Reports with one id that tell of other crashes are
  /// no forms of one.
  private static func withoutOtherForms(_ cells: Cells) -> Cells {
    var chosen: [ReportForm: Form] = [:]
    // Further signatures of an id are rare.
    var further: [ReportForm: [Form]] = [:]
    for (key, cell) in cells {
      for report in cell.waiting.keys {
        guard let form = ReportForm(report.facts) else { continue }
        let new = (report, key)
        guard let known = chosen[form], known.key != key else {
          if chosen[form].map({ precedes(new, $0) }) ?? true { chosen[form] = new }
          continue
        }
        // All of one signature follow each other.
        var list = further[form] ?? []
        if let last = list.last, last.key == key {
          if precedes(new, last) { list[list.count - 1] = new }
        } else {
          list.append(new)
        }
        further[form] = list
      }
    }
    var byID: [ReportForm: [String: Form]] = [:]
    for (form, list) in further {
      let sorted = (list + [chosen[form]].compactMap { $0 }).sorted(by: precedes)
      chosen[form] = sorted[0]
      byID[form] = Dictionary(sorted.map { ($0.key.id, $0) }, uniquingKeysWith: { first, _ in first })
    }
    var once = cells
    for (key, cell) in cells {
      var waiting = KeyedTable<WaitingReport, Int>()
      for (report, count) in cell.waiting {
        guard let form = ReportForm(report.facts), let best = chosen[form],
          // Any other that tells as much as the best is of a crash of its own, and all that tell less may be of the best's.
          let first = key.contradicts(best.key) ? byID[form]?[key.id] : best
        else {
          waiting.set(report, count)
          continue
        }
        let isFirst = first.key == key && first.report == report
        if isFirst { waiting.set(report, 1) }
        once[first.key, default: GroupCounts()].copies += isFirst ? count - 1 : count
      }
      once[key, default: GroupCounts()].waiting = waiting
    }
    return once
  }

  /// The same whatever the order of inputs.
  private static func precedes(_ one: Form, _ other: Form) -> Bool {
    if one.key.tellsMore(than: other.key) { return true }
    if other.key.tellsMore(than: one.key) { return false }
    let (first, second) = (one.report.facts.sortKey, other.report.facts.sortKey)
    return first == second ? (one.key.id, one.key.raw) < (other.key.id, other.key.raw) : first < second
  }

  /// The signature under which the crash of `account` is already counted; nil if this is the only report.
  private func twin(of account: CrashAccount) -> GroupCounts.Key? {
    let told = (0..<account.role.rank).flatMap { rank in
      buckets[Place(processID: account.processID, rank: rank)]?.near(account).filter {
        account.isTwin(of: $0.account)
      } ?? []
    }
    let best = told.min { Self.precedes($0, $1, account) }
    // Ranks only fall, so that this ends.
    return best.flatMap { twin(of: $0.account) ?? $0.key }
  }

  /// The same whatever the order of inputs.
  private static func precedes(_ one: Entry, _ other: Entry, _ account: CrashAccount) -> Bool {
    func order(_ entry: Entry) -> (Int, Int64, String, String, String, Int64) {
      (
        entry.account.role.rank, account.distance(to: entry.account), entry.key.id, entry.key.raw, entry.key.text,
        entry.account.start
      )
    }
    let (first, second) = (order(one), order(other))
    return first == second ? one.account.sortKey < other.account.sortKey : first < second
  }
}
