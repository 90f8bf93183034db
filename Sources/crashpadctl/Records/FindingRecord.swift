// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadSymbolication
import CrashpadText
import CrashpadView

/// Findings in the form of all JSON documents of the tool; see FINDINGS in crashpadctl-json(5).
enum FindingRecord {
  /// The members `findings`, and `findings_dropped` if there were too many to keep.
  static let list = Record<FindingList>(
    .list("findings", finding, "The findings; see FINDINGS.") { Array($0) },
    .number("findings_dropped", "The number of further findings.", .omittable) {
      $0.droppedCount > 0 ? $0.droppedCount : nil
    })

  /// The same for findings about the files of a database.
  static let listOfFiles = Record<FindingList>(
    .list(
      "findings",
      record(
        .pathText("path", "The path, relative to the database; null for the database itself.") { path($0) },
        message: { TextFormat.printable(Sentences.sentence($0)) }),
      "The findings; see FINDINGS. `offset` is always null."
    ) { Array($0) },
    .number("findings_dropped", "The number of further findings.", .omittable) {
      $0.droppedCount > 0 ? $0.droppedCount : nil
    })

  static let finding = record(
    .text("path", "The place in the structure, such as `kThreads[2].kStackRegionData`; null for the whole input.") {
      path($0)
    })

  private static func path(_ finding: Finding) -> String? { finding.path.isEmpty ? nil : finding.path }

  private static func record(
    _ path: Member<Finding>, message: @escaping @Sendable (Finding) -> String = { Sentences.sentence($0) }
  ) -> Record<Finding> {
    Record(
      .text("code", "The rule; see crashpadctl-validate(1), and for symbol files crashpadctl-symbolize(1).", .always) {
        $0.rule.code
      },
      .word("severity", of: ["error", "warning", "note"], "`error`, `warning` or `note`.", .always) {
        $0.severity.rawValue
      },
      .number("offset", "The byte offset in the dump; null if the finding has no place.") { $0.offset },
      path,
      .text("message", "The finding in words.", .always) { message($0) },
      .findingValue("expected", "The expected value: a number, an address, or text.") { $0.expected },
      .findingValue("found", "The value that was found.") { $0.found })
  }

  /// A finding about a symbol file.
  static let symbolFile = Record<SymbolFileFinding>(
    .path("file", "The symbol file.", .always) { $0.file },
    .members(of: finding) { $0.finding })
}
