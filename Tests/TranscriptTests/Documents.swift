// SPDX-License-Identifier: Apache-2.0
/// The JSON form of a dump, right and wrong in each way that the reader has a sentence for.
extension Samples {
  private static func document(_ records: String) -> [UInt8] {
    Array(
      """
      {
        "format": "crashpad-intermediate-dump",
        "version": 1,
        "root": [
          {"key": "kVersion", "value": 1},
          {"key": "kProcessInfo", "map": [{"key": "kPID", "value": 42}]},
          {"key": "kSystemInfo", "map": [{"key": "kMachineDescription", "value": "iPhone14,2"}]}\(records)
        ]
      }

      """.utf8)
  }

  static let documents: [String: [UInt8]] = [
    "dump.json": document(#", {"key": 12345, "hex": "00ff"}"#),
    "broken-expected.json": Array(#"{"format": "crashpad-intermediate-dump", "version": 1, "root": ["#.utf8),
    "broken-string.json": document(#", {"key": "kThre\ads", "hex": ""}"#),
    "broken-number.json": document(#", {"key": 3.5, "hex": ""}"#),
    "broken-too-deep.json": Array(
      (#"{"format": "crashpad-intermediate-dump", "version": 1, "root": "#
        + String(repeating: #"[{"key": 9000, "map": "#, count: 12) + "[]").utf8),
    "broken-trailing.json": document("") + Array("{}".utf8),
    "broken-format.json": Array(#"{"name": "package", "version": "1.0.0"}"#.utf8),
    "broken-no-root.json": Array(#"{"format": "crashpad-intermediate-dump", "version": 1, "threads": []}"#.utf8),
    "broken-version.json": Array(#"{"format": "crashpad-intermediate-dump", "version": 2, "root": []}"#.utf8),
    "broken-key-first.json": document(#", {"value": 1, "key": "kVersion"}"#),
    "broken-unknown-key.json": document(#", {"key": "kThread", "array": []}"#),
    "broken-key-number.json": document(#", {"key": 70000, "hex": ""}"#),
    "broken-unknown-member.json": document(#", {"key": "kThreads", "list": []}"#),
    "broken-extra-member.json": document(#", {"key": "kThreads", "array": [], "comment": "none"}"#),
    "broken-value.json": document(#", {"key": "kMachException", "map": [{"key": "kException", "value": 5000000000}]}"#),
    "broken-no-value.json": document(#", {"key": "kThreads"}"#),
    "broken-hex.json": document(#", {"key": 12345, "hex": "0g"}"#),
    "broken-boolean.json": document(#", {"key": "kHasDaylightSavingTime", "value": 1}"#),
    "broken-member-behind.json": Array(
      #"{"format": "crashpad-intermediate-dump", "version": 1, "root": [], "more": 1}"#.utf8),
    "not-even.json": Array("{ this is no JSON".utf8),
  ]
}
