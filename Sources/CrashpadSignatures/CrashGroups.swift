// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// The crashes of some inputs by their signatures: counted in parts that may be put together in any order.
package struct CrashGroups: Sendable, Hashable {
  /// A part of the inputs: every shard of one run has other inputs.
  package struct Shard: Sendable, Hashable {
    /// A digest of the names of all inputs, by which runs over different inputs differ.
    package let run: String
    /// From 1.
    package let number: Int
    package let total: Int

    package init(run: String, number: Int, total: Int) {
      self.run = run
      self.number = number
      self.total = total
    }

    func precedes(_ other: Shard) -> Bool { (run, total, number) < (other.run, other.total, other.number) }
  }

  package struct Part: Sendable, Hashable {
    /// The number of inputs without a crash.
    package var failed = 0
    package internal(set) var cells = KeyedTable<GroupCounts.Key, GroupCounts>()

    package init() {}

    package mutating func add(_ signature: Signature, _ facts: CrashFacts) {
      cells[GroupCounts.Key(signature), default: GroupCounts()].add(facts)
    }
  }

  package internal(set) var parts = KeyedTable<Shard, Part>()
  /// The version of the rules that made the signatures; nil if there are none yet.
  package internal(set) var rules: RuleVersion?

  package init() {}

  package init(_ shard: Shard, _ part: Part, _ rules: RuleVersion = .current) {
    parts.set(shard, part)
    self.rules = rules
  }

  /// Why shards are not of one run.
  package enum Conflict: Error {
    /// A shard has two contents, as it was made of different files.
    case content(Shard)
    /// Two shards were made by different rules.
    case rules
  }

  /// Adds the shards of `other`; one that is there already counts once.
  package mutating func merge(_ other: CrashGroups) throws(Conflict) {
    if let rules, let theirs = other.rules, rules != theirs { throw .rules }
    rules = rules ?? other.rules
    for (shard, part) in other.parts {
      if let known = parts[shard], known != part { throw .content(shard) }
      parts.set(shard, part)
    }
  }

  package var shards: [Shard] { parts.keys.sorted { $0.precedes($1) } }

  /// The number of shards of the runs that are not there, and the first of them, at most `most`: a hostile part may
  /// claim any number.
  package func missing(most: Int) -> (first: [Shard], count: Int) {
    let runs = Dictionary(grouping: parts.keys) { Shard(run: $0.run, number: 1, total: $0.total) }
    var first: [Shard] = []
    var count = 0
    for run in runs.keys.sorted(by: { $0.precedes($1) }) {
      count += run.total - (runs[run]?.count ?? 0)
      for number in 1...run.total {
        if first.count == most { break }
        let shard = Shard(run: run.run, number: number, total: run.total)
        if parts[shard] == nil { first.append(shard) }
      }
    }
    return (first, count)
  }

  package static func digest(_ names: [String]) -> String { SignatureDigest.text(names.joined(separator: "\n")) }

  // MARK: Groups

  package enum Order: String, Sendable, CaseIterable {
    case signature
    case raw
  }

  package struct Group: Sendable, Hashable {
    package let id: String
    package let text: String
    package let flags: [String]
    /// The raw signatures of its crashes, in the order of their bytes.
    package let raw: [String]
    package let cell: GroupCounts
    /// Set if all its crashes are of the newest version of their program, and others are of older ones.
    package var newIn: String?
    /// The first version of its program in which it does not occur any more.
    package var goneSince: String?
  }

  /// - Parameters:
  ///   - order: what crashes of one group have in common.
  ///   - joinsRaw: whether crashes without names go to the group that has their raw signature, if just one with names does.
  /// - Returns: the largest first, then by id.
  package func groups(by order: Order, joinsRaw: Bool = false) -> [Group] {
    var cells = KeyedTable<GroupCounts.Key, GroupCounts>()
    for part in parts.values { for (key, cell) in part.cells { cells[key, default: GroupCounts()].add(cell) } }
    cells = TwinSearch.resolved(cells)
    let named = joinsRaw ? Self.namedByRaw(cells.keys) : [:]
    var groups: [String: (key: GroupCounts.Key, raw: Set<String>, cell: GroupCounts)] = [:]
    for (key, cell) in cells {
      let target = key.isNamed ? key : named[key.raw].flatMap { $0.count == 1 ? $0.first?.value : nil } ?? key
      let id =
        order == .raw ? SignatureDigest.text("crashpadctl-raw/\((rules ?? .current).rawValue)\n" + key.raw) : target.id
      var group = groups[id] ?? (target, [], GroupCounts())
      // Two raw signatures may lead to one group, and have other flags.
      if (target.text, target.raw) < (group.key.text, group.key.raw) { group.key = target }
      group.raw.insert(key.raw)
      group.cell.add(cell)
      groups[id] = group
    }
    let releases = Releases(groups.values.map(\.cell))
    return groups.map { id, group in
      Group(
        id: id, text: order == .raw ? group.raw.min() ?? "" : group.key.text, flags: group.key.flags,
        raw: group.raw.sorted(), cell: group.cell, newIn: releases.newIn(group.cell),
        goneSince: releases.goneSince(group.cell))
    }.sorted { ($1.cell.count, $0.id) < ($0.cell.count, $1.id) }
  }

  /// The groups with names that have a raw signature, by their ids.
  private static func namedByRaw(_ keys: some Sequence<GroupCounts.Key>) -> [String: [String: GroupCounts.Key]] {
    var named: [String: [String: GroupCounts.Key]] = [:]
    for key in keys where key.isNamed {
      let old = named[key.raw]?[key.id]
      if old.map({ key.text < $0.text }) ?? true { named[key.raw, default: [:]][key.id] = key }
    }
    return named
  }
}

extension [CrashGroups.Group] {
  package var crashCount: Int { reduce(0) { $0 + $1.cell.count } }
}
