// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadSnapshot
import CrashpadText

extension ValidationPrinter {
  /// Prints JUnit XML, which CI systems read as test results: one test case per input.
  ///
  /// - Parameter start: the start of the run, in seconds since 1970.
  func printJUnit(start: Int64) {
    let inputs = results.inputs
    let failures = inputs.count { $0.failure == nil && results.isBad($0) }
    let errors = inputs.count { $0.failure != nil }
    var xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    let time = Self.seconds(inputs.reduce(Duration.zero) { $0 + $1.duration })
    let counts = "tests=\"\(inputs.count)\" failures=\"\(failures)\" errors=\"\(errors)\" time=\"\(time)\""
    xml += "<testsuites \(counts)>\n  <testsuite name=\"crashpadctl validate\" \(counts)\(Self.timestamp(start))>\n"
    for input in inputs {
      xml += "    <testcase classname=\"crashpadctl.validate\" name=\"\(Self.escaped(input.name))\" "
      xml += "time=\"\(Self.seconds(input.duration))\">\n"
      let lines = input.findings.map { Sentences.line($0, input: input.name) }
      if let failure = input.failure {
        xml += "      <error message=\"\(Self.escaped(failure.text))\"/>\n"
      } else if results.isBad(input) {
        let first = input.findings.max { $0.severity < $1.severity } ?? input.findings[0]
        xml += "      <failure type=\"\(first.rule.code)\" message=\"\(Self.escaped(Sentences.sentence(first)))\">"
        xml += Self.escaped(lines.joined(separator: "\n")) + "</failure>\n"
      } else if !lines.isEmpty {
        xml += "      <system-out>\(Self.escaped(lines.joined(separator: "\n")))</system-out>\n"
      }
      xml += "    </testcase>\n"
    }
    Terminal.output(xml + "  </testsuite>\n</testsuites>\n")
  }

  /// In UTC, without a zone, as JUnit's schema requires; empty for a year of more than four digits.
  private static func timestamp(_ seconds: Int64) -> String {
    TextFormat.rfc3339(Timestamp(seconds: seconds)).map { " timestamp=\"\($0.dropLast())\"" } ?? ""
  }

  /// Such as "0.012".
  private static func seconds(_ duration: Duration) -> String {
    let milliseconds = duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000
    return "\(milliseconds / 1000).\(decimal(Int(milliseconds % 1000), width: 3))"
  }

  /// Escapes text for XML 1.0, which does not allow most control characters.
  private static func escaped(_ text: String) -> String {
    var xml = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": xml += "&amp;"
      case "<": xml += "&lt;"
      case ">": xml += "&gt;"
      case "\"": xml += "&quot;"
      case "\n", "\t": xml.unicodeScalars.append(scalar)
      case _ where scalar.value < 0x20 || scalar.value == 0xfffe || scalar.value == 0xffff: xml += "\u{fffd}"
      default: xml.unicodeScalars.append(scalar)
      }
    }
    return xml
  }
}
