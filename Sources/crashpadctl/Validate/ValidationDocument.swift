// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadCore

/// The result of `validate` for one input as JSON.
struct ValidationDocument {
  let results: ValidationResults
  let input: ValidatedInput

  static let document = Document<ValidationDocument>(
    "crashpadctl-validate/1", "Output of `crashpadctl validate --format json`.",
    .argument("input", "The name of the input.") { $0.input.argument },
    .word(
      "format", of: InputRecord.formats, "As in `crashpadctl-inspect/1`; null if the input cannot be read."
    ) { $0.input.format?.rawValue },
    .flag(
      "passed",
      "Whether the input passes: it can be read, and there is no error, or with `--strict` no warning either."
    ) { !$0.results.isBad($0.input) },
    .text("error", "The reason why the input cannot be read.", .omittable) { $0.input.failure?.text },
    .number("errors", "The number of errors, including dropped ones.", .always) {
      $0.input.findings.count(of: .error)
    },
    .number("warnings", "The number of warnings, including dropped ones.", .always) {
      $0.input.findings.count(of: .warning)
    },
    .number("notes", "The number of notes, including dropped ones.", .always) { $0.input.findings.count(of: .note) },
    .members(of: FindingRecord.list) { $0.input.findings })

  static let rules = Document<[Rule]>(
    "crashpadctl-rules/1", "Output of `crashpadctl validate --rules --format json`.",
    .list("rules", rule, "The rules.") { $0 })

  private static let rule = Record<Rule>(
    .text("code", "The rule's code in findings.", .always) { $0.code },
    .word("severity", of: Severity.allCases.map(\.rawValue), "`error`, `warning` or `note`.", .always) {
      $0.severity.rawValue
    },
    .text("summary", "The fault in words.", .always) { $0.summary })
}
