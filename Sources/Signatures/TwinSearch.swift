/// Finds, for reports that may tell of a crash that is counted already, that crash.
struct TwinSearch {
  private struct Entry {
    let account: CrashAccount
    let key: GroupCell.Key
  }

  private var entries: [Int64: [Entry]] = [:]

  private init(_ cells: [GroupCell.Key: GroupCell]) {
    for (key, cell) in cells {
      for account in cell.accounts { entries[account.processID, default: []].append(Entry(account: account, key: key)) }
      for facts in cell.waiting.keys {
        guard let account = CrashAccount(facts) else { continue }
        entries[account.processID, default: []].append(Entry(account: account, key: key))
      }
    }
  }

  /// The cells in which each crash counts once; of each twin its crash's cell has the number.
  static func resolved(_ cells: [GroupCell.Key: GroupCell]) -> [GroupCell.Key: GroupCell] {
    let isWaiting = cells.values.contains { !$0.waiting.isEmpty }
    let search = TwinSearch(isWaiting ? cells : [:])
    var resolved = cells.mapValues { $0.withoutAccounts }
    for (key, cell) in cells {
      for (facts, count) in cell.waiting {
        if let account = CrashAccount(facts), let twin = search.twin(of: account) {
          resolved[twin]?.twins += count
        } else {
          for _ in 0..<count { resolved[key]?.count(facts) }
        }
      }
    }
    return resolved.filter { $0.value.count > 0 }
  }

  /// The signature under which the crash counts that `account` is a second account of; nil if there is none.
  private func twin(of account: CrashAccount) -> GroupCell.Key? {
    let best = entries[account.processID]?.filter { account.isTwin(of: $0.account) }.min {
      Self.precedes($0, $1, account)
    }
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
