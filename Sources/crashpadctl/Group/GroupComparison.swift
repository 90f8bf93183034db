// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadCore
import CrashpadSignatures
import CrashpadSymbolication
import CrashpadText

/// One run of `group --compare`: each crash has a signature by either version of the rules.
struct GroupComparisonRun {
  let reading: GroupReading
  /// The version to compare with.
  let other: RuleVersion
  let format: GroupFormat

  func run() throws -> ExitStatus {
    let list = reading.list
    if let status = list.refusal() { return status }
    let reader = try reading.reader(try reading.places.search(), since: reading.since, comparing: other)
    var comparison = GroupComparison()
    let status = BatchRun(list, list.inputs, jobs: reading.jobs, showsProgress: reading.showsProgress).run(
      work: { reader.read($0) },
      report: { _, result in
        if let crash = result.value, let before = crash.compared { comparison.add(before, crash.signature) }
        return true
      })
    reader.reportFaults()
    list.reportSkipped()
    switch format {
    case .text: Terminal.output(comparison.text(.output, from: other, to: reading.rules))
    case .csv: Terminal.output(comparison.csv)
    case .json:
      GroupComparisonDocument.document.print(
        GroupComparisonDocument(rules: reading.rules, other: other, comparison: comparison))
    }
    return status
  }
}

/// Counts how the crashes of groups by one version of the rules are distributed by another.
struct GroupComparison: Sendable {
  struct Move: Sendable, Hashable {
    struct Group: Sendable, Hashable {
      let id: String
      let text: String
    }
    let before: Group
    let after: Group
  }

  /// The change of a group.
  enum Change: String, CaseIterable {
    /// Its crashes are one group, which has no others.
    case same
    /// Its crashes are several groups.
    case split
    /// Its crashes are in a group with others.
    case joined
    case splitAndJoined = "split-and-joined"
  }

  private var counts: [Move: Int] = [:]

  mutating func add(_ before: Signature, _ after: Signature) {
    let move = Move(
      before: Move.Group(id: before.id, text: before.text), after: Move.Group(id: after.id, text: after.text))
    counts[move, default: 0] += 1
  }

  /// By the size of the group before, and by ids.
  var moves: [(move: Move, count: Int, change: Change)] {
    let sizes = counts.reduce(into: [String: Int]()) { $0[$1.key.before.id, default: 0] += $1.value }
    let targets = counts.keys.reduce(into: [String: Set<String>]()) {
      $0[$1.before.id, default: []].insert($1.after.id)
    }
    let sources = counts.keys.reduce(into: [String: Set<String>]()) {
      $0[$1.after.id, default: []].insert($1.before.id)
    }
    return counts.map { move, count in
      let isSplit = targets[move.before.id].map { $0.count > 1 } ?? false
      let isJoined = sources[move.after.id].map { $0.count > 1 } ?? false
      let change: Change = isSplit ? (isJoined ? .splitAndJoined : .split) : isJoined ? .joined : .same
      return (move, count, change)
    }.sorted {
      (sizes[$1.move.before.id] ?? 0, $0.move.before.id, $1.count, $0.move.after.id)
        < (sizes[$0.move.before.id] ?? 0, $1.move.before.id, $0.count, $1.move.after.id)
    }
  }

  func text(_ style: TextStyle, from before: RuleVersion, to after: RuleVersion) -> String {
    let moves = moves
    var table = TextTable([
      ("count", .right), ("change", .left), ("rules \(before.rawValue)", .left), ("signature", .left),
      ("rules \(after.rawValue)", .left), ("becomes", .left),
    ])
    table.elastic = ["signature": .head, "becomes": .head]
    for (move, count, change) in moves {
      table.add([
        grouped(count), change.rawValue, move.before.id, TextFormat.printable(move.before.text), move.after.id,
        TextFormat.printable(move.after.text),
      ])
    }
    let groups = Set(moves.map(\.move.before.id)).count
    let same = moves.count { $0.change == .same }
    return (moves.isEmpty ? "" : table.text(style))
      + "\(TextFormat.count(groups, "group")) by rules \(before.rawValue), \(grouped(Set(moves.map(\.move.after.id)).count)) by rules "
      + "\(after.rawValue); \(grouped(same)) have the same crashes\n"
  }

  var csv: String {
    let rows = moves.map { move, count, change in
      [String(count), change.rawValue, move.before.id, move.before.text, move.after.id, move.after.text]
        .map(GroupTable.quoted).joined(separator: ",") + "\n"
    }
    return "count,change,before_id,before,after_id,after\n" + rows.joined()
  }
}

/// The comparison as JSON.
struct GroupComparisonDocument {
  let rules: RuleVersion
  let other: RuleVersion
  let comparison: GroupComparison

  static let document = Document<GroupComparisonDocument>(
    "crashpadctl-group-comparison/1", "Output of `crashpadctl group --compare --format json`.",
    .number("rules", "The version of the rules.", .always) { $0.rules.rawValue },
    .number("compared_rules", "The version with which it is compared.", .always) { $0.other.rawValue },
    .list("moves", move, "The groups of either version that have crashes in common.") { $0.comparison.moves })

  private static let move = Record<(move: GroupComparison.Move, count: Int, change: GroupComparison.Change)>(
    .number("count", "The number of crashes in both groups.", .always) { $0.count },
    .word(
      "change", of: GroupComparison.Change.allCases.map(\.rawValue),
      "`same`: both groups have the same crashes; `split`, `joined` or `split-and-joined` by `rules`.", .always
    ) { $0.change.rawValue },
    .object("before", group, "The group by `compared_rules`.", .always) { .some($0.move.before) },
    .object("after", group, "The group by `rules`.", .always) { .some($0.move.after) })

  private static let group = Record<GroupComparison.Move.Group>(
    .text("id", "The id of the signature.", .always) { $0.id },
    .text("text", "The signature.", .always) { $0.text })
}
