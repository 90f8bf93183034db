import CrashpadBytes
import CrashpadFiles
import CrashpadJSON
import CrashpadReportPage
import CrashpadSignatures
import CrashpadSnapshot
import SystemPackage

/// What `group` prints or writes at its end.
struct GroupOutput {
  struct Explanation: Sendable {
    let input: String
    let signature: Signature
  }

  let command: GroupCommand
  let groups: CrashGroups
  let explanations: [Explanation]
  /// Nil where no dumps were read.
  var examples: GroupExamples?

  /// - Returns: `status`, or that of a group that is not in the baseline.
  func write(_ status: ExitStatus) throws -> ExitStatus {
    if let partial = command.partial {
      do { try writePartial(to: partial) } catch {
        return Terminal.failure(error, of: displayName(partial), creating: true)
      }
      return status
    }
    var known: Set<String>?
    if let failOn = command.failOn {
      do { known = Set(try GroupBaseline(failOn.baseline).groups.map(\.id)) } catch {
        return Terminal.failure(error, of: displayName(failOn.baseline), creating: false)
      }
    }
    let list = groups.groups(by: command.by, joinsRaw: command.join == .raw)
    let table = GroupTable(groups: list, parts: groups, known: known)
    switch command.format {
    case .text:
      if command.explainSignature { Terminal.output(explanations.map(Self.text).joined(separator: "\n") + "\n") }
      Terminal.output(table.text(.output))
    case .csv: Terminal.output(table.csv)
    case .json:
      JSONWriter.standardOutput(.indented) {
        table.write(by: command.by, explanations: command.explainSignature ? explanations : nil, to: &$0)
      }
    }
    let isNew = report(list, known)
    if let html = command.page.html, let failure = writePage(list, to: html) { return failure }
    return isNew ? .findings : status
  }

  /// Returns why there is no page; nil of a written one.
  private func writePage(_ list: [CrashGroups.Group], to html: String) -> ExitStatus? {
    var maker = GroupsPageMaker(groups: list, failed: groups.parts.values.reduce(0) { $0 + $1.failed })
    maker.baseline = command.failOn.flatMap { try? GroupBaseline($0.baseline) }
    var page = maker.page()
    examples?.add(to: &page, list)
    do { try PageFile.write(page.html(), to: html) } catch {
      Terminal.error(error.text)
      return error.status
    }
    return nil
  }

  /// Names the groups that are not in the baseline; false if there are none.
  private func report(_ list: [CrashGroups.Group], _ known: Set<String>?) -> Bool {
    guard let known else { return false }
    let new = list.filter { !known.contains($0.id) }
    for group in new {
      Terminal.error(
        "crashpadctl: new group \(group.id): \(group.text) (\(Wording.count(group.cell.count, "crash", "crashes")))")
    }
    return !new.isEmpty
  }

  // MARK: Files

  private func writePartial(to argument: String) throws {
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

  private static func text(_ explanation: Explanation) -> String {
    let signature = explanation.signature
    var text =
      "\(explanation.input)\n  \(signature.id)  \(Wording.printable(signature.text))\n  raw  \(Wording.printable(signature.raw))\n"
    var table = TextTable([
      ("frame", .right), ("function", .left), ("module", .left), ("decision", .left), ("rule", .left),
      ("reason", .left),
    ])
    table.elastic = ["function": .head, "module": .tail, "reason": .head]
    table.droppable = ["reason", "module"]
    for step in signature.explanation {
      table.add([
        String(step.frame), Wording.printable(step.name), step.module.map { Wording.printable($0) } ?? "",
        step.decision.rawValue,
        step.rule, step.reason,
      ])
    }
    if !signature.explanation.isEmpty { text += table.text(.output) }
    return text
  }
}
