// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadBytes
import CrashpadCore
import CrashpadJSON
import CrashpadSnapshot
import CrashpadText

enum ValidationFormat: String, ExpressibleByArgument, CaseIterable {
  case text
  case json
  case junit
  case sarif
}

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
      for finding in input.findings where withNotes || finding.severity != .note {
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
      TextFormat.count(results.inputs.count - unread, "dump"), TextFormat.count(results.count(.error), "error"),
      TextFormat.count(results.count(.warning), "warning"), TextFormat.count(results.count(.note), "note"),
    ]
    Terminal.error(
      "crashpadctl: \(results.status == .success ? "passed" : "FAILED"): " + counts.joined(separator: ", ")
        + (unread > 0 ? ", \(unread) not readable" : "") + skippedNote)
  }

  // MARK: JSON

  func printJSON() {
    for input in results.inputs {
      ValidationDocument.document.print(
        ValidationDocument(results: results, input: input), results.inputs.count == 1 ? .indented : .compact)
    }
  }

  // MARK: Rules

  /// Prints all rules.
  static func printRules(_ format: ValidationFormat) {
    if format == .json { return ValidationDocument.rules.print(Validation.rules) }
    var table = TextTable([("code", .left), ("severity", .left), ("what is wrong", .left)])
    table.elastic = ["what is wrong": .head]
    table.droppable = ["severity"]
    for rule in Validation.rules { table.add([rule.code, rule.severity.rawValue, rule.summary]) }
    Terminal.output(table.text(.output))
  }
}
