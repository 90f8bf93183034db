// SPDX-License-Identifier: Apache-2.0
import CrashpadFiles
import CrashpadRedaction
import SystemPackage

/// The result of `redact` for one input as JSON.
struct RedactDocument {
  let input: String
  /// The file that was written; nil for none or standard output.
  let output: FilePath?
  let result: BatchResult<RedactionReport>
  let isDryRun: Bool

  static let document = Document<RedactDocument>(
    "crashpadctl-redact/1", "Output of `crashpadctl redact --format json`: a document on one line for each input.",
    .argument("input", bytesIn: "input_name_bytes", "The name of the input.", .always) { $0.input },
    .argument("output", bytesIn: "output_name_bytes", "The path of the output.") {
      $0.result.failure == nil ? $0.output.map { ArgumentText.text($0.bytes) } : nil
    },
    .word(
      "outcome", of: ["redacted", "planned", "failed"],
      """
      The outcome.
      `redacted`: the input was redacted.
      `planned`: only with `--dry-run`.
      `failed`: the input could not be read or the output not written; the members after `status` are omitted.
      """, .always
    ) { $0.result.failure != nil ? "failed" : $0.isDryRun ? "planned" : "redacted" },
    .members(ifAny: InputRecord.failure) { $0.result.failure },
    .members(ifAny: report) { $0.result.value })

  private static let report = Record<RedactionReport>(
    .word(
      "format", of: ["intermediate-dump", "minidump", "report"], "`intermediate-dump`, `minidump` or `report`.", .always
    ) { $0.format.rawValue },
    .number("input_bytes", "The size of the input.", .always) { $0.inputByteCount },
    .number("output_bytes", "The size of the output.", .always) { $0.outputByteCount },
    .number("kept_words", "The number of memory words that were kept.", .always) { $0.keptWords },
    .list("removed", removal, "The removed data, by kind and name.") { $0.removals })

  private static let removal = Record<RedactionReport.Removal>(
    .word(
      "kind", of: RedactionReport.Kind.allCases.map(\.rawValue),
      """
      The kind of data.
      `annotation`: an annotation.
      `value`: the value of an annotation that is not text.
      `text`: a part of a text.
      `variable`: the value of an environment variable.
      `argument`: an argument of the command line.
      `word`: a word of a stack, or of memory that is treated as a stack.
      `memory`: a range of memory.
      `register`: a register, or all vector, floating point or debug registers of a thread.
      `stream`: a stream of a minidump.
      `key`: a record of an intermediate dump.
      `unread`: a sequence of unknown bytes.
      """, .always
    ) { $0.kind.rawValue },
    .text(
      "name",
      "The name of the annotation, variable, stream or key, or the location of the text; null if the kind has no names. "
        + "If there are more than 1,000 different names, they are omitted."
    ) { $0.name.isEmpty ? nil : $0.name },
    .number("count", "The number of removed items.", .always) { $0.count },
    .number("bytes", "Their size in bytes.", .always) { $0.byteCount })
}
