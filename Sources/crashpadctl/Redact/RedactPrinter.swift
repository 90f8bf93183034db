import CrashpadSnapshot
import CrashpadBytes
import CrashpadJSON
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
      JSONWriter.standardOutput(.compact) { json in
        if let failure = result.failure { RedactionJSON.write(failure, input: input.argument, to: &json) }
        if let report = result.value {
          RedactionJSON.write(report, input: input.argument, output: output, isDryRun: isDryRun, to: &json)
        }
      }
    case .text:
      if let failure = result.failure { Terminal.error("\(input.name): error: \(failure.text)") }
      if let report = result.value, !isQuiet { printText(input, report, output: output) }
    }
  }

  private func printText(_ input: InputList.Input, _ report: RedactionReport, output: FilePath?) {
    let sizes = "(\(grouped(report.outputByteCount)) of \(grouped(report.inputByteCount)) bytes)"
    let place = output.map { " to \(Wording.printable($0))" } ?? ""
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

/// Writes the schema crashpadctl-redact/1 of crashpadctl-json(5).
enum RedactionJSON {
  static func write(
    _ report: RedactionReport, input: String, output: FilePath?, isDryRun: Bool, to json: inout JSONWriter
  ) {
    json.object { json in
      json.member("schema", "crashpadctl-redact/1")
      json.member("input", argument: input)
      json.member("output", path: output)
      json.member("outcome", isDryRun ? "planned" : "redacted")
      json.member("format", report.format.rawValue)
      json.member("input_bytes", report.inputByteCount)
      json.member("output_bytes", report.outputByteCount)
      json.member("kept_words", report.keptWords)
      json.array("removed") { json in
        for removal in report.removals {
          json.object { json in
            json.member("kind", removal.kind.rawValue)
            json.member("name", removal.name.isEmpty ? nil : removal.name)
            json.member("count", removal.count)
            json.member("bytes", removal.byteCount)
          }
        }
      }
    }
  }

  static func write(_ failure: FailureText, input: String, to json: inout JSONWriter) {
    json.object { json in
      json.member("schema", "crashpadctl-redact/1")
      json.member("input", argument: input)
      json.member("output", path: nil)
      failure.write(to: &json)
    }
  }
}
