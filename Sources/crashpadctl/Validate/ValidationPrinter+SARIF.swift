// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import CrashpadJSON
import CrashpadSnapshot

extension ValidationPrinter {
  /// Prints SARIF 2.1.0, which GitHub's code scanning reads.
  func printSARIF() {
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
              for input in results.inputs {
                for finding in input.findings {
                  Self.write(finding, in: input, fingerprints.next(finding, in: input.name), to: &json)
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
        json.member("executionSuccessful", results.inputs.allSatisfy { $0.failure == nil })
        json.array("toolExecutionNotifications") { json in
          for input in results.inputs {
            guard let failure = input.failure else { continue }
            json.object { json in
              json.member("level", "error")
              json.object("message") { $0.member("text", "\(input.name): \(failure.text)") }
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
    _ finding: Finding, in input: ValidatedInput, _ fingerprint: String, to json: inout JSONWriter
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
            json.object("artifactLocation") { $0.member("uri", Self.uri(input)) }
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

  /// The path of an input as a relative URI reference, byte for byte.
  private static func uri(_ input: ValidatedInput) -> String {
    percentEncoded(
      input.argument == "-" ? Array(input.name.utf8) : ArgumentText.bytes(input.argument), keeping: "-._~/@")
  }
}
