// SPDX-License-Identifier: Apache-2.0
import CrashpadMeaning

/// The output of `--list`.
enum CodeList {
  static func text(_ style: TextStyle) -> String {
    var table = TextTable([("code", .left), ("name", .left), ("meaning", .left)])
    table.elastic = ["code": .head, "name": .head, "meaning": .head]
    table.droppable = ["name"]
    table.preferred = ["meaning": 40]
    table.padding = ["code": 36, "name": 28]
    for row in MeaningTable.all {
      let isNamed = row.query.uppercased().hasSuffix(row.name.uppercased())
      table.add([row.query, isNamed ? "" : row.name, row.event])
    }
    return table.text(style)
  }

  static let document = Document<[CodeMeaning]>(
    "crashpadctl-codes/1", "Output of `crashpadctl explain --list --format json`.",
    .list("codes", row, "The codes that have a meaning.") { $0 })

  private static let row = Record<CodeMeaning>(
    .members(of: CodeDocument.queried) { $0 },
    .text("context", "The row to which it belongs.") { $0.context },
    .members(of: CodeDocument.named) { $0 },
    .list("numbers", number, "Its numbers.") { $0.numbers },
    .text("meaning", "A sentence.", .always) { $0.event },
    .members(of: CodeDocument.sourced) { $0 })

  private static let number = Record<CodeMeaning.Number>(
    .address("code", "The number.", .always) { $0.value },
    .word(
      "platform", of: ["any", "Darwin", "Linux", "arm64", "x86_64"], "`any`, `Darwin`, `Linux`, `arm64` or `x86_64`.",
      .always
    ) { $0.platform.rawValue })
}
