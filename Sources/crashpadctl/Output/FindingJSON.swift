import CrashpadBytes
import CrashpadCore
import CrashpadJSON
import CrashpadSymbolication
import CrashpadText

/// Writes findings in the form used in all JSON documents of the tool.
enum FindingJSON {
  /// Writes the member `"findings"`, and `"findings_dropped"` if there were too many to keep.
  static func write(_ findings: FindingList, to json: inout JSONWriter) {
    json.array("findings") { json in
      for finding in findings.findings { write(finding, to: &json) }
    }
    if findings.droppedCount > 0 { json.member("findings_dropped", findings.droppedCount) }
  }

  /// Writes a finding about a symbol file, with the file's name first.
  static func write(_ finding: SymbolFileFinding, to json: inout JSONWriter) {
    json.object { json in
      json.member("file", Wording.printable(finding.file))
      writeMembers(finding.finding, to: &json)
    }
  }

  private static func write(_ finding: Finding, to json: inout JSONWriter) {
    json.object { writeMembers(finding, to: &$0) }
  }

  private static func writeMembers(_ finding: Finding, to json: inout JSONWriter) {
    json.member("code", finding.rule.code)
    json.member("severity", finding.severity.rawValue)
    json.member("offset", finding.offset)
    json.member("path", finding.path.isEmpty ? nil : finding.path)
    json.member("message", Sentences.sentence(finding))
    if let expected = finding.expected { write("expected", expected, to: &json) }
    if let found = finding.found { write("found", found, to: &json) }
  }

  private static func write(_ key: String, _ value: Finding.Value, to json: inout JSONWriter) {
    switch value {
    case .number(let number), .byteCount(let number): json.member(key, number)
    case .address(let value), .code(let value): json.member(key, "0x" + String(value, radix: 16))
    case .text(let text): json.member(key, text)
    }
  }
}

extension FailureText {
  /// Writes the members of a document about an input that failed.
  func write(to json: inout JSONWriter) {
    json.member("outcome", "failed")
    json.member("error", text)
    json.member("status", status.rawValue)
  }
}
