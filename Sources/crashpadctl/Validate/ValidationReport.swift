import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import CrashpadJSON
import CrashpadSnapshot

/// One input of `validate` with its result.
struct ValidatedInput {
  let name: String
  /// The argument that names the input, or would; `-` for standard input.
  let argument: String
  let format: InputFormat?
  let findings: FindingList
  /// The reason why the input could not be read.
  let failure: InputList.Failure?
  /// The time taken.
  var duration = Duration.zero

  init(_ input: InputList.Input, format: InputFormat, findings: FindingList) {
    self.init(name: input.name, argument: input.argument, format: format, findings: findings)
  }

  init(name: String, argument: String, format: InputFormat, findings: FindingList) {
    self.name = name
    self.argument = argument
    self.format = format
    self.findings = findings
    failure = nil
  }

  init(_ failure: InputList.Failure) {
    name = failure.name
    argument = failure.argument
    format = nil
    findings = FindingList()
    self.failure = failure
  }
}

/// All inputs of one run of `validate`.
struct ValidationReport {
  let results: [ValidatedInput]
  let strict: Bool
  let maxWarnings: Int?
  let skipped: Int
  /// The time in seconds since 1970.
  let start: Int64

  func count(_ severity: Severity) -> Int { results.reduce(0) { $0 + $1.findings.count(of: severity) } }

  private var hasTooManyWarnings: Bool { maxWarnings.map { count(.warning) > $0 } ?? false }

  private var hasFailed: Bool {
    count(.error) > 0 || (strict && count(.warning) > 0) || hasTooManyWarnings
  }

  var status: ExitStatus {
    let failures = results.compactMap(\.failure)
    if results.count == 1, let failure = failures.first { return failure.status }
    return failures.isEmpty && !hasFailed ? .success : .findings
  }

  /// Whether this input alone makes the run fail.
  func isBad(_ result: ValidatedInput) -> Bool {
    result.failure != nil || result.findings.count(of: .error) > 0
      || ((strict || hasTooManyWarnings) && result.findings.count(of: .warning) > 0)
  }

  // MARK: Text

  func writeText(withNotes: Bool) {
    for result in results {
      if let failure = result.failure {
        Terminal.error("\(result.name): error: \(failure.text)")
        continue
      }
      var text = ""
      for finding in result.findings.findings where withNotes || finding.severity != .note {
        text += Sentences.line(finding, input: result.name) + "\n"
      }
      for severity in Severity.allCases.reversed() {
        if let dropped = result.findings.dropped[severity] {
          text += "\(result.name): \(severity.rawValue): \(grouped(dropped)) more findings like these\n"
        }
      }
      Terminal.output(text)
    }
    let unread = results.count { $0.failure != nil }
    let counts = [
      Wording.count(results.count - unread, "dump"), Wording.count(count(.error), "error"),
      Wording.count(count(.warning), "warning"),
      Wording.count(count(.note), "note"),
    ]
    let more =
      (unread > 0 ? ", \(unread) not readable" : "")
      + (skipped > 0 ? "; \(Wording.count(skipped, "other file")) skipped" : "")
    Terminal.error("crashpadctl: \(status == .success ? "passed" : "FAILED"): " + counts.joined(separator: ", ") + more)
  }

  // MARK: JSON

  static let schema = "crashpadctl-validate/1"

  func writeJSON() {
    for result in results {
      JSONWriter.standardOutput(results.count == 1 ? .indented : .compact) { write(result, to: &$0) }
    }
  }

  /// Writes a document for each input, into an array or object of the caller.
  func writeDocuments(to json: inout JSONWriter) {
    for result in results { write(result, to: &json) }
  }

  private func write(_ result: ValidatedInput, to json: inout JSONWriter) {
    json.object { json in
      json.member("schema", Self.schema)
      json.member("input", argument: result.argument)
      json.member("format", result.format?.rawValue)
      json.member("passed", !isBad(result))
      if let failure = result.failure { json.member("error", failure.text) }
      json.member("errors", result.findings.count(of: .error))
      json.member("warnings", result.findings.count(of: .warning))
      json.member("notes", result.findings.count(of: .note))
      FindingJSON.write(result.findings, to: &json)
    }
  }

  // MARK: JUnit

  /// Writes JUnit XML, which CI systems read as test results: one test case per input.
  func writeJUnit() {
    let failures = results.count { $0.failure == nil && isBad($0) }
    let errors = results.count { $0.failure != nil }
    var xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    let time = Self.seconds(results.reduce(Duration.zero) { $0 + $1.duration })
    let counts = "tests=\"\(results.count)\" failures=\"\(failures)\" errors=\"\(errors)\" time=\"\(time)\""
    xml += "<testsuites \(counts)>\n  <testsuite name=\"crashpadctl validate\" \(counts)\(timestamp)>\n"
    for result in results {
      xml += "    <testcase classname=\"crashpadctl.validate\" name=\"\(Self.escaped(result.name))\" "
      xml += "time=\"\(Self.seconds(result.duration))\">\n"
      let lines = result.findings.findings.map { Sentences.line($0, input: result.name) }
      if let failure = result.failure {
        xml += "      <error message=\"\(Self.escaped(failure.text))\"/>\n"
      } else if isBad(result) {
        let first = result.findings.findings.max { $0.severity < $1.severity } ?? result.findings.findings[0]
        xml += "      <failure type=\"\(first.rule.code)\" message=\"\(Self.escaped(Sentences.sentence(first)))\">"
        xml += Self.escaped(lines.joined(separator: "\n")) + "</failure>\n"
      } else if !lines.isEmpty {
        xml += "      <system-out>\(Self.escaped(lines.joined(separator: "\n")))</system-out>\n"
      }
      xml += "    </testcase>\n"
    }
    Terminal.output(xml + "  </testsuite>\n</testsuites>\n")
  }

  /// The start of the run in UTC: a date without a zone, as JUnit's schema requires.
  private var timestamp: String {
    let time = Wording.rfc3339(Timestamp(seconds: start, microseconds: 0))
    return time.map { " timestamp=\"\($0.dropLast())\"" } ?? ""
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

  // MARK: SARIF

  /// Writes SARIF 2.1.0, which GitHub's code scanning reads.
  func writeSARIF() {
    JSONWriter.standardOutput(.indented) { json in
      json.object { json in
        json.member("$schema", "https://json.schemastore.org/sarif-2.1.0.json")
        json.member("version", "2.1.0")
        json.array("runs") { json in
          json.object { json in
            json.object("tool") { json in
              json.object("driver") { json in
                json.member("name", "crashpadctl")
                json.member("version", toolVersion)
                json.member("informationUri", "man:crashpadctl(1)")
                json.array("rules") { json in
                  for rule in Validation.rules { Self.write(rule, to: &json) }
                }
              }
            }
            json.array("results") { json in
              var fingerprints = Fingerprints()
              for result in results {
                for finding in result.findings.findings {
                  Self.write(finding, in: result, fingerprints.next(finding, in: result.name), to: &json)
                }
              }
            }
            writeInvocation(to: &json)
          }
        }
      }
    }
  }

  private func writeInvocation(to json: inout JSONWriter) {
    json.array("invocations") { json in
      json.object { json in
        json.member("executionSuccessful", results.allSatisfy { $0.failure == nil })
        json.array("toolExecutionNotifications") { json in
          for failure in results.compactMap(\.failure) {
            json.object { json in
              json.member("level", "error")
              json.object("message") { $0.member("text", "\(failure.name): \(failure.text)") }
            }
          }
        }
      }
    }
  }

  private static func write(_ rule: Rule, to json: inout JSONWriter) {
    json.object { json in
      json.member("id", rule.code)
      json.object("shortDescription") { $0.member("text", rule.summary) }
      json.object("fullDescription") { $0.member("text", rule.summary) }
      json.member("helpUri", "man:crashpadctl-validate(1)")
      json.object("help") { $0.member("text", "crashpadctl-validate(1) says what to make of \(rule.code).") }
      json.object("defaultConfiguration") { $0.member("level", rule.severity.rawValue) }
    }
  }

  /// Identifies findings across runs: by input, place and rule, and by number if several are equal.
  private struct Fingerprints {
    private var counts: [String: Int] = [:]

    mutating func next(_ finding: Finding, in input: String) -> String {
      let text = "\(input):\(finding.path):\(finding.rule.code)"
      let count = counts[text, default: 0] + 1
      counts[text] = count
      return count == 1 ? text : "\(text):\(count)"
    }
  }

  private static let ruleIndices = Dictionary(
    Validation.rules.enumerated().map { ($1.code, $0) }, uniquingKeysWith: { first, _ in first })

  private static func write(
    _ finding: Finding, in result: ValidatedInput, _ fingerprint: String, to json: inout JSONWriter
  ) {
    json.object { json in
      json.member("ruleId", finding.rule.code)
      if let index = ruleIndices[finding.rule.code] { json.member("ruleIndex", index) }
      json.member("level", finding.severity.rawValue)
      json.object("message") { $0.member("text", Sentences.sentence(finding)) }
      json.object("partialFingerprints") { $0.member("crashpadctl/v1", fingerprint) }
      json.array("locations") { json in
        json.object { json in
          json.object("physicalLocation") { json in
            json.object("artifactLocation") { $0.member("uri", percentEncoded(result)) }
            json.object("region") {
              // A dump has no lines, but code scanning displays nothing without one.
              $0.member("startLine", 1)
              if let offset = finding.offset {
                $0.member("byteOffset", offset)
                $0.member("byteLength", 0)
              }
            }
          }
          if !finding.path.isEmpty {
            json.array("logicalLocations") { json in
              json.object { $0.member("fullyQualifiedName", finding.path) }
            }
          }
        }
      }
    }
  }

  /// The path of an input as a relative URI reference (RFC 3986), byte for byte.
  private static func percentEncoded(_ result: ValidatedInput) -> String {
    var uri = ""
    for byte in result.argument == "-" ? Array(result.name.utf8) : ArgumentText.bytes(result.argument) {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"), UInt8(ascii: "/"), UInt8(ascii: "@"):
        uri.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        uri += "%" + (digits.utf8.count == 1 ? "0" : "") + digits
      }
    }
    return uri
  }
}
