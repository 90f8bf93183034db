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
  var sessions: SessionCounts?

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
    page.fill(groups, earlier: baseline?.groups, sessions: sessions)
    return page
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

  let groups: [GroupNews.Earlier]

  /// Reads what `group --format json` wrote. Throws what reading a file throws, or `FailureText`.
  ///
  /// - Parameters:
  ///   - order: that of the groups to compare. Ids of another one, or by other rules, are those of no group.
  ///   - rules: the version of the rules that made these.
  init(_ argument: String, by order: CrashGroups.Order, rules: RuleVersion) throws {
    let file = try argument == "-" ? InputFile.standardInput() : InputFile(FilePath(argument: argument))
    groups = try file.withBytes { bytes in
      let tree = JSONTree(bytes)
      guard tree.failure == nil, let root = tree.root, root["schema"]?.string == Self.schema else {
        throw FailureText("is not a \(Self.schema) document; group --format json writes one", .noData)
      }
      if let own = root["by"]?.string, own != order.rawValue {
        throw FailureText(
          "has groups by \(TextFormat.printable(own)), and can't be compared with groups by \(order.rawValue)", .noData)
      }
      if let own = root["rules"]?.int64, own != Int64(rules.rawValue) {
        throw FailureText(
          "has groups by version \(own) of the rules, and can't be compared with groups by version \(rules.rawValue)",
          .noData)
      }
      return (root["groups"]?.elements ?? []).compactMap { value in
        guard let id = value["id"]?.string else { return nil }
        return GroupNews.Earlier(
          id: TextFormat.printable(id), text: TextFormat.printable(value["text"]?.string ?? ""),
          count: CrashGroups.count(value["count"]) ?? 0, goneSince: value["gone_since"]?.string)
      }
    }
  }
}

extension SessionCounts {
  /// Reads a file of counts. Throws what reading a file throws, or `FailureText`.
  init(argument: String) throws {
    let file = try argument == "-" ? InputFile.standardInput() : InputFile(FilePath(argument: argument))
    let text = file.withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) } }
    try self.init(text)
  }

  /// Reads a file of counts, or ends the command with the reason why it can't be read.
  static func opened(_ argument: String) throws -> SessionCounts {
    do { return try SessionCounts(argument: argument) } catch {
      throw Terminal.failure(error, of: displayName(argument), creating: false)
    }
  }
}

extension SessionCounts.Failure: ExplainedError {
  var explanation: FailureText { FailureText("line \(grouped(line)) \(reason)", .noData) }
}
