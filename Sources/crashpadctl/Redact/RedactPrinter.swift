// SPDX-License-Identifier: Apache-2.0
import CrashpadJSON
import CrashpadSnapshot
import CrashpadBytes
import CrashpadRedaction
import CrashpadText
import SystemPackage

/// Prints the results of `redact`: text on standard error, or a line of JSON for each input on standard output.
struct RedactPrinter: Sendable {
  let format: OutputFormat
  /// Whether only errors are printed.
  let isQuiet: Bool
  let isDryRun: Bool

  var showsProgress: Bool { format == .text && !isQuiet }

  /// - Parameter output: the file that was written; nil for none or standard output.
  func print(_ input: InputList.Input, _ result: BatchResult<RedactionReport>, output: FilePath?) {
    switch format {
    case .json:
      RedactDocument.document.print(
        RedactDocument(input: input.argument, output: output, result: result, isDryRun: isDryRun), .compact)
    case .text:
      if let failure = result.failure { Terminal.error("\(input.name): error: \(failure.text)") }
      if let report = result.value, !isQuiet { printText(input, report, output: output) }
    }
  }

  private func printText(_ input: InputList.Input, _ report: RedactionReport, output: FilePath?) {
    let sizes = "(\(grouped(report.outputByteCount)) of \(grouped(report.inputByteCount)) bytes)"
    let place = output.map { " to \(TextFormat.printable($0))" } ?? ""
    Terminal.error("\(input.name): \(redacted)\(place) \(sizes)")
    for line in RedactionText.lines(report) { Terminal.error("  " + line) }
  }

  private var redacted: String { isDryRun ? "would be redacted" : "redacted" }

  /// Prints the number of redacted inputs, if there may be several inputs.
  func summarize(_ done: Int, _ failures: Int, _ list: InputList) {
    guard showsProgress, !list.isSingle else { return }
    list.printSummary(["\(grouped(done)) \(redacted)"], done: done, failures: failures)
  }
}
