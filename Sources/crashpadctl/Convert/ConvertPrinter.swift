// SPDX-License-Identifier: Apache-2.0
import CrashpadJSON
import CrashpadSnapshot
import CrashpadBytes
import CrashpadCore
import CrashpadText
import SystemPackage

/// Prints the results of `convert`: text on standard error, or a line of JSON for each input on standard output.
struct ConvertPrinter: Sendable {
  let target: Conversion.Target
  let format: OutputFormat
  /// Whether only errors are printed.
  let isQuiet: Bool

  var showsProgress: Bool { format == .text && !isQuiet }

  /// - Parameter isSingle: whether there is only one input, of which more is printed.
  func print(_ input: InputList.Input, _ result: BatchResult<Conversion.Summary>, output: FilePath?, isSingle: Bool) {
    switch format {
    case .json:
      let document = ConvertDocument(
        input: input.argument, output: result.hasOutput ? output : nil, result: result)
      ConvertDocument.document.print(document, .compact)
    case .text:
      if let failure = result.failure { Terminal.error("\(input.name): error: \(failure.text)") }
      if let value = result.value { printText(input, value, output: output, isSingle: isSingle) }
    }
  }

  private func printText(_ input: InputList.Input, _ result: Conversion.Summary, output: FilePath?, isSingle: Bool) {
    for finding in result.findings where !isQuiet || finding.severity == .error {
      Terminal.error(Sentences.line(finding, input: input.name))
    }
    if result.outcome == .rejected {
      Terminal.error("\(input.name): error: rejected; no \(target.rawValue) was written")
    } else if let output, !isQuiet, isSingle {
      let how = result.outcome == .incomplete ? "what could be read was converted to" : "converted to"
      Terminal.error("\(input.name): \(how) \(TextFormat.printable(output)) (\(grouped(result.byteCount)) bytes)")
    }
  }

  /// Prints the number of inputs for each outcome, if there may be several inputs.
  func summarize(_ counts: [Conversion.Outcome: Int], _ failures: Int, _ list: InputList) {
    guard showsProgress, !list.isSingle else { return }
    var parts = ["\(grouped(counts[.converted, default: 0])) converted"]
    if let incomplete = counts[.incomplete] { parts.append("\(grouped(incomplete)) incomplete") }
    if let rejected = counts[.rejected] { parts.append("\(grouped(rejected)) rejected") }
    list.printSummary(parts, done: counts.values.reduce(0, +), failures: failures)
  }

}
