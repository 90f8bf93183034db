import CrashpadSnapshot
import CrashpadBytes
import CrashpadCore
import CrashpadJSON
import CrashpadText

/// Prints the results of `validate`. `ValidationPrinter+JUnit` and `+SARIF` have the forms that other programs read.
struct ValidationPrinter {
  let results: ValidationResults

  // MARK: Text

  /// - Parameter skippedNote: "; 3 other files skipped", or empty.
  func printText(withNotes: Bool, skippedNote: String) {
    for input in results.inputs {
      if let failure = input.failure {
        Terminal.error("\(input.name): error: \(failure.text)")
        continue
      }
      var text = ""
      for finding in input.findings.findings where withNotes || finding.severity != .note {
        text += Sentences.line(finding, input: input.name) + "\n"
      }
      for severity in Severity.allCases.reversed() {
        if let dropped = input.findings.dropped[severity] {
          text += "\(input.name): \(severity.rawValue): \(grouped(dropped)) more findings like these\n"
        }
      }
      Terminal.output(text)
    }
    let unread = results.inputs.count { $0.failure != nil }
    let counts = [
      Wording.count(results.inputs.count - unread, "dump"), Wording.count(results.count(.error), "error"),
      Wording.count(results.count(.warning), "warning"), Wording.count(results.count(.note), "note"),
    ]
    Terminal.error(
      "crashpadctl: \(results.status == .success ? "passed" : "FAILED"): " + counts.joined(separator: ", ")
        + (unread > 0 ? ", \(unread) not readable" : "") + skippedNote)
  }

  // MARK: JSON

  func printJSON() {
    for input in results.inputs {
      JSONWriter.standardOutput(results.inputs.count == 1 ? .indented : .compact) { write(input, to: &$0) }
    }
  }

  /// Writes the schema crashpadctl-validate/1 of crashpadctl-json(5).
  func write(_ input: ValidatedInput, to json: inout JSONWriter) {
    json.object { json in
      json.member("schema", "crashpadctl-validate/1")
      json.member("input", argument: input.argument)
      json.member("format", input.format?.rawValue)
      json.member("passed", !results.isBad(input))
      if let failure = input.failure { json.member("error", failure.text) }
      json.member("errors", input.findings.count(of: .error))
      json.member("warnings", input.findings.count(of: .warning))
      json.member("notes", input.findings.count(of: .note))
      FindingJSON.write(input.findings, to: &json)
    }
  }

  // MARK: Rules

  /// Prints all rules.
  static func printRules(_ format: ValidationFormat) {
    guard format != .json else {
      JSONWriter.standardOutput(.indented) { json in
        json.object { json in
          json.member("schema", "crashpadctl-rules/1")
          json.array("rules") { json in
            for rule in Validation.rules {
              json.object {
                $0.member("code", rule.code)
                $0.member("severity", rule.severity.rawValue)
                $0.member("summary", rule.summary)
              }
            }
          }
        }
      }
      return
    }
    var table = TextTable([("code", .left), ("severity", .left), ("what is wrong", .left)])
    table.elastic = ["what is wrong": .head]
    table.droppable = ["severity"]
    for rule in Validation.rules { table.add([rule.code, rule.severity.rawValue, rule.summary]) }
    Terminal.output(table.text(.output))
  }
}
