// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadBytes
import CrashpadFiles
import CrashpadJSON
import CrashpadReportPage
import CrashpadSignatures
import CrashpadSnapshot
import CrashpadText
import SystemPackage

enum GroupFormat: String, ExpressibleByArgument, CaseIterable {
  case text
  case json
  case csv
}

/// Prints the groups at the end of `group`, or writes them to a file.
struct GroupPrinter {
  let format: GroupFormat
  let order: CrashGroups.Order
  /// Whether crashes without names go to the group that has their raw signature.
  let joinsRaw: Bool
  let explains: Bool
  /// The file of a partial result, which is written instead of the groups; `-` for standard output.
  let partial: String?
  /// The JSON of an earlier run; a group that it does not have makes the exit status `findings`.
  let baseline: String?
  /// The file of a page to write as well.
  let html: String?
  /// The sessions by which the page divides crashes.
  let sessions: SessionCounts?

  /// - Parameter mayGetNames: whether symbols could not be looked up, so that groups may be others than they should be.
  /// - Returns: `status`, or that of a group that is not in the baseline.
  func print(
    _ groups: CrashGroups, _ status: ExitStatus, explanations: [GroupDocument.Explanation] = [],
    examples: GroupExamples? = nil, mayGetNames: Bool = false
  ) -> ExitStatus {
    if let partial {
      do { try writePartial(groups, to: partial) } catch {
        return Terminal.failure(error, of: displayName(partial), creating: true)
      }
      return status
    }
    var earlier: GroupBaseline?
    if let baseline {
      do { earlier = try GroupBaseline(baseline, by: order, rules: groups.rules ?? .current) } catch {
        return Terminal.failure(error, of: displayName(baseline), creating: false)
      }
    }
    let known = earlier.map { Set($0.groups.map(\.id)) }
    let list = groups.groups(by: order, joinsRaw: joinsRaw)
    // The signature of a raw group has no names.
    let isDoubtful = mayGetNames && order == .signature
    let table = GroupTable(groups: list, parts: groups, known: known, isDoubtful: isDoubtful)
    switch format {
    case .text:
      if explains { Terminal.output(explanations.map(Self.text).joined(separator: "\n") + "\n") }
      Terminal.output(table.text(.output))
    case .csv: Terminal.output(table.csv)
    case .json:
      GroupDocument.document.print(
        GroupDocument(table: table, order: order, explanations: explains ? explanations : nil))
    }
    let status = report(list, known, isDoubtful: isDoubtful) ?? status
    if let html {
      var page = GroupsPageMaker(groups: list, failed: groups.failed, baseline: earlier, sessions: sessions).page()
      examples?.add(to: &page, list)
      return PageFile.write(page.html(), to: html, status)
    }
    return status
  }

  /// Names the groups that are not in the baseline. Returns the exit status if there are some.
  private func report(_ list: [CrashGroups.Group], _ known: Set<String>?, isDoubtful: Bool) -> ExitStatus? {
    guard let known else { return nil }
    let new = list.filter { !known.contains($0.id) }
    for group in new {
      let count = TextFormat.count(group.cell.count, "crash", "crashes")
      let sentence = isDoubtful ? "group not in the baseline, perhaps for lack of names" : "new group"
      Terminal.error("crashpadctl: \(sentence) \(group.id): \(group.text) (\(count))")
    }
    if new.isEmpty { return nil }
    if isDoubtful {
      return Terminal.failure(
        "symbols could not be looked up, so that it is not known whether these groups are new", .temporaryFailure)
    }
    return .findings
  }

  // MARK: Files

  private func writePartial(_ groups: CrashGroups, to argument: String) throws {
    if argument == "-" {
      JSONWriter.standardOutput(.indented) { groups.write(to: &$0) }
      return
    }
    let file = try OutputFile(FilePath(argument: argument))
    var json = JSONWriter(.indented) { try file.write($0) }
    groups.write(to: &json)
    try json.finish()
    try file.commit(durable: true)
  }

  // MARK: Explanations

  private static func text(_ explanation: GroupDocument.Explanation) -> String {
    let signature = explanation.signature
    var text =
      "\(explanation.input)\n  \(signature.id)  \(TextFormat.printable(signature.text))\n  raw  \(TextFormat.printable(signature.raw))\n"
    var table = TextTable([
      ("frame", .right), ("function", .left), ("module", .left), ("decision", .left), ("rule", .left),
      ("reason", .left),
    ])
    table.elastic = ["function": .head, "module": .tail, "reason": .head]
    table.droppable = ["reason", "module"]
    for step in signature.explanation {
      table.add([
        String(step.frame), TextFormat.printable(step.name), step.module.map { TextFormat.printable($0) } ?? "",
        step.decision.rawValue,
        step.rule, step.reason,
      ])
    }
    if !signature.explanation.isEmpty { text += table.text(.output) }
    return text
  }
}
