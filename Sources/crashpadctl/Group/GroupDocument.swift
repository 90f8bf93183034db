// SPDX-License-Identifier: Apache-2.0
import CrashpadSignatures

/// Groups as JSON.
struct GroupDocument {
  /// The decisions about the frames of one input.
  struct Explanation: Sendable {
    let input: String
    let signature: Signature
  }

  let table: GroupTable
  let order: CrashGroups.Order
  let explanations: [Explanation]?

  static let document = Document<GroupDocument>(
    GroupBaseline.schema, "Output of `crashpadctl group --format json`.",
    .number("rules", "The version of the rules: 1 or 2.", .always) { ($0.table.parts.rules ?? .current).rawValue },
    .word("by", of: CrashGroups.Order.allCases.map(\.rawValue), "`signature` or `raw`.", .always) {
      $0.order.rawValue
    },
    .number("crash_count", "The number of counted crashes.", .always) { $0.table.total },
    .number("twin_count", "The number of further reports of these crashes, which are not counted.", .always) {
      $0.table.twins
    },
    .number(
      "copy_count", "The number of copies of reports that are there several times, which are not counted.", .always
    ) {
      $0.table.copies
    },
    .number("failed_count", "The number of inputs that could not be read completely.", .always) {
      $0.table.parts.failed
    },
    .list("groups", group, "The groups, the largest first.") { document in
      document.table.groups.map { (document.table, $0) }
    },
    .list("explanations", explanation, "Only with `--explain-signature`: an object for each input.", .omittable) {
      $0.explanations
    })

  private static let group = Record<(table: GroupTable, group: CrashGroups.Group)>(
    .text("id", "The id of the signature.", .always) { $0.group.id },
    .text("text", "The signature.", .always) { $0.group.text },
    .texts("raw", "The raw signatures of its crashes, in byte order.") { $0.group.raw },
    .texts("flags", "As in `signature` of `crashpadctl-symbolize/1`.") { $0.group.flags },
    .number("count", "The number of crashes.", .always) { $0.group.cell.count },
    .text("share", "The share of the crashes as text: `12.5%`.", .always) { $0.table.share($0.group) },
    .time("first", "The time of the first crash; null if no crash has a time.") { $0.group.cell.first },
    .time("last", "The time of the last crash; null if no crash has a time.") { $0.group.cell.last },
    .list("versions", count, "The versions, the most frequent first.") { GroupTable.sorted($0.group.cell.versions) },
    .list("devices", count, "The devices, the most frequent first.") { GroupTable.sorted($0.group.cell.devices) },
    .list("systems", count, "The systems, the most frequent first.") { GroupTable.sorted($0.group.cell.systems) },
    .text(
      "new_in",
      "The version of its program in which the group is new, or null; see the marks of crashpadctl-group(1)."
    ) { $0.group.newIn },
    .text("gone_since", "The version since which it is gone, or null.") { $0.group.goneSince },
    .number(
      "insta_crash",
      "The number of installations that crashed three times or more within an hour, each time soon after the start.",
      .always
    ) { $0.group.cell.loopingClients },
    .number(
      "installations", "The number of installations that its crashes name; some crashes may name none.", .always
    ) { $0.group.cell.installations.count },
    .number("twins", "The number of further reports of these crashes; they are not counted.", .always) {
      $0.group.cell.twins
    },
    .number("copies", "The number of copies of these reports; they are not counted.", .always) { $0.group.cell.copies },
    .flag(
      "new",
      "Only with `--fail-on`: whether the group is missing in the baseline; left out if it is, and its symbols could not be looked up.",
      .omittable
    ) {
      $0.table.isNew($0.group)
    },
    .object("example", example, "One of its crashes, independent of the order of inputs.", .always) {
      .some($0.group.cell.example)
    })

  private static let count = Record<(name: String, count: Int)>(
    .text("name", "The name.", .always) { $0.name },
    .number("count", "The number of crashes.", .always) { $0.count })

  private static let example = Record<GroupCounts.Example?>(
    .text("id", "The id of the report.") { $0?.id },
    .text("input", "The name of the input.") { $0?.input })

  private static let explanation = Record<Explanation>(
    .text("input", "The name of the input.", .always) { $0.input },
    .object("signature", SignatureRecord.record, "The signature.") { $0.signature },
    .list("frames", step, "The decisions about frames.") { $0.signature.explanation })

  private static let step = Record<Signature.Step>(
    .number("frame", "The index of the frame.", .always) { $0.frame },
    .text("function", "The name of the function.", .always) { $0.name },
    .text("module", "The name of the module.") { $0.module },
    .word(
      "decision", of: ["skipped", "anchor", "next", "unused"], "`skipped`, `anchor`, `next` or `unused`.", .always
    ) { $0.decision.rawValue },
    .text("rule", "The rule of crashpadctl-group(5).", .always) { $0.rule },
    .text("reason", "The reason for the decision.", .always) { $0.reason })
}
