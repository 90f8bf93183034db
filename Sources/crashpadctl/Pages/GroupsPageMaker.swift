// SPDX-License-Identifier: Apache-2.0
import CrashpadCore
import CrashpadFiles
import CrashpadJSON
import CrashpadReportPage
import CrashpadSignatures
import CrashpadSnapshot
import CrashpadText
import SystemPackage

/// Makes the page about many crashes of their groups.
struct GroupsPageMaker {
  let groups: [CrashGroups.Group]
  /// The number of inputs that could not be read completely.
  let failed: Int
  var title: String?
  var baseline: GroupBaseline?

  func page() -> GroupsPage {
    let total = groups.crashCount
    let count = "\(TextFormat.count(total, "crash", "crashes")) in \(TextFormat.count(groups.count, "group"))"
    let days = groups.flatMap { [$0.cell.first, $0.cell.last] }.compactMap { $0 }
    var subtitle = title == nil ? "" : count
    if let first = days.min(), let last = days.max() {
      subtitle += (subtitle.isEmpty ? "" : ", ") + "\(Self.day(first) ?? "?") to \(Self.day(last) ?? "?")"
    }
    if failed > 0 {
      subtitle += (subtitle.isEmpty ? "" : "; ") + "\(TextFormat.count(failed, "input")) could not be read completely"
    }
    var page = GroupsPage(title: title ?? count, subtitle: subtitle, generator: CrashPageMaker.generator)
    page.total = total
    page.isCompared = baseline != nil
    page.groups = groups.map(group)
    let ids = Set(groups.map(\.id))
    page.gone = (baseline?.groups ?? []).filter { !ids.contains($0.id) }.map {
      GroupsPage.Earlier(id: TextFormat.printable($0.id), text: TextFormat.printable($0.text), count: $0.count)
    }
    return page
  }

  private func group(_ group: CrashGroups.Group) -> GroupsPage.Group {
    var made = GroupsPage.Group(id: group.id, text: TextFormat.printable(group.text), count: group.cell.count)
    made.first = group.cell.first.flatMap(Self.day)
    made.last = group.cell.last.flatMap(Self.day)
    made.versions = group.cell.versions.map { GroupsPage.Count(TextFormat.printable($0.key), $0.value) }.sorted {
      ($1.count, $0.name) < ($0.count, $1.name)
    }
    made.loops = group.cell.loopingClients
    made.twins = group.cell.twins
    made.example = group.cell.example.map { lastPathComponent($0.input) }
    made.days = group.cell.days.map { key, count in
      GroupsPage.Day(day: key.number, version: key.version.map { TextFormat.printable($0) }, count: count)
    }.sorted { ($0.day, $0.version ?? "") < ($1.day, $1.version ?? "") }
    if let baseline {
      let before = baseline.counts[group.id]
      made.state = before.map { group.cell.count > $0 ? .grown : .known } ?? .new
    }
    return made
  }

  /// "2026-11-20"; nil for a time outside of the calendar.
  private static func day(_ seconds: Int64) -> String? {
    TextFormat.rfc3339(Timestamp(seconds: seconds)).map { String($0.prefix(10)) }
  }
}

/// The groups of an earlier run, to compare with.
struct GroupBaseline {
  /// The schema of the document that `group --format json` writes.
  static let schema = "crashpadctl-group/1"

  let groups: [GroupsPage.Earlier]
  var counts: [String: Int] { Dictionary(groups.map { ($0.id, $0.count) }, uniquingKeysWith: +) }

  /// Reads what `group --format json` wrote. Throws what reading a file throws, or `FailureText`.
  init(_ argument: String) throws {
    let file = try argument == "-" ? InputFile.standardInput() : InputFile(FilePath(argument: argument))
    groups = try file.withBytes { bytes in
      let tree = JSONTree(bytes)
      guard tree.failure == nil, let root = tree.root, root["schema"]?.string == Self.schema else {
        throw FailureText("is not a \(Self.schema) document; group --format json writes one", .noData)
      }
      return (root["groups"]?.elements ?? []).compactMap { value in
        guard let id = value["id"]?.string else { return nil }
        return GroupsPage.Earlier(
          id: id, text: value["text"]?.string ?? "", count: CrashGroups.count(value["count"]) ?? 0)
      }
    }
  }
}
