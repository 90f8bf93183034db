import CrashpadCore
import CrashpadJSON

/// The beginning of documents about one input with the status OK or ERROR; crashpadctl-json(5) has their schemas.
enum InputDocument {
  /// Writes the members up to the findings.
  ///
  /// - Parameter saysComplete: whether it has the member `"complete"`.
  static func writeHead(
    _ schema: String, _ dump: Dump, input: String, saysComplete: Bool = false, to json: inout JSONWriter
  ) {
    json.member("schema", schema)
    json.member("input", argument: input)
    json.member("status", dump.snapshot == nil ? "ERROR" : "OK")
    json.member("format", dump.format.rawValue)
    if saysComplete { json.member("complete", dump.isWhole) }
    FindingJSON.write(dump.findings, to: &json)
  }

  /// Writes the document of an input that could not be read.
  static func writeFailure(
    _ schema: String, _ input: String, _ failure: FailureText, to json: inout JSONWriter
  ) {
    json.object { json in
      json.member("schema", schema)
      json.member("input", argument: input)
      json.member("status", "ERROR")
      json.member("format", nil as String?)
      json.member("error", failure.text)
      json.member("exit_status", failure.status.rawValue)
    }
  }
}
