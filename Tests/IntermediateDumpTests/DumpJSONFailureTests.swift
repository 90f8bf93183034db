// SPDX-License-Identifier: Apache-2.0
import IntermediateDump
import CrashpadJSON
import Testing

/// A text that is no dump, and why.
struct JSONFailureCase: Sendable, CustomTestStringConvertible {
  let text: String
  let reason: DumpJSON.Failure.Reason
  /// Behind this part of the text the failure is found; nil if any place will do.
  var behind: String?
  var testDescription: String { "\(text) is \(reason)" }

  init(_ text: String, _ reason: DumpJSON.Failure.Reason, behind: String? = nil) {
    self.text = text
    self.reason = reason
    self.behind = behind
  }

  /// A failure within the records of the root.
  init(root: String, _ reason: DumpJSON.Failure.Reason, behind: String? = nil) {
    self.init(DumpJSONFormTests.head + root + "]}", reason, behind: behind.map { DumpJSONFormTests.head + $0 })
  }
}

private let head = #"{"format":"crashpad-intermediate-dump","version":1"#

private let failures: [JSONFailureCase] = [
  JSONFailureCase("", .json(.expected("'{'")), behind: ""),
  JSONFailureCase("[]", .json(.expected("'{'")), behind: ""),
  JSONFailureCase("{}", .notADump),
  JSONFailureCase(#"{"version":1}"#, .notADump),
  JSONFailureCase(#"{"format":"minidump","version":1,"root":[]}"#, .notADump),
  JSONFailureCase(#"{"format":1}"#, .json(.expected("a string")), behind: #"{"format":"#),
  JSONFailureCase(#"{"format":"crashpad-intermediate-dump"}"#, .unsupportedVersion),
  JSONFailureCase(#"{"format":"crashpad-intermediate-dump","version":2,"root":[]}"#, .unsupportedVersion),
  JSONFailureCase(#"{"format":"crashpad-intermediate-dump","root":[]}"#, .unsupportedVersion),
  JSONFailureCase(#"{"format":"crashpad-intermediate-dump","version":"1"}"#, .json(.expected("a number"))),
  JSONFailureCase(head + "}", .notADump),
  JSONFailureCase(head + #","roots":[]}"#, .notADump),
  JSONFailureCase(head + #","root":{}}"#, .json(.expected("'['")), behind: head + #","root":"#),
  JSONFailureCase(head + #","root":[]"#, .json(.expected("','")), behind: head + #","root":[]"#),
  JSONFailureCase(head + #","root":[],"more":1}"#, .trailing),
  JSONFailureCase(head + #","root":[]}x"#, .json(.trailingText), behind: head + #","root":[]}"#),
  JSONFailureCase(root: "1", .json(.expected("'{'")), behind: ""),
  JSONFailureCase(root: "{}", .keyFirst),
  JSONFailureCase(root: #"{"value":1,"key":"kPID"}"#, .keyFirst),
  JSONFailureCase(root: #"{"key":"kPid","value":1}"#, .unknownKey("kPid"), behind: #"{"key":"kPid""#),
  JSONFailureCase(root: #"{"key":"","value":1}"#, .unknownKey("")),
  JSONFailureCase(root: #"{"key":0,"hex":""}"#, .unknownKey("0")),
  JSONFailureCase(root: #"{"key":-1,"hex":""}"#, .unknownKey("-1")),
  JSONFailureCase(root: #"{"key":65536,"hex":""}"#, .unknownKey("65536")),
  JSONFailureCase(root: #"{"key":null,"hex":""}"#, .json(.expected("a number"))),
  JSONFailureCase(root: #"{"key":"kPID"}"#, .badValue(key: "kPID")),
  JSONFailureCase(root: #"{"key":"kPID","values":1}"#, .unknownMember("values")),
  JSONFailureCase(root: #"{"key":"kPID","value":1,"hex":""}"#, .unknownMember("hex")),
  JSONFailureCase(root: #"{"key":"kPID","value":1,"key":"kPID"}"#, .unknownMember("key")),
  JSONFailureCase(root: #"{"key":"kPID","value":4294967296}"#, .badValue(key: "kPID")),
  JSONFailureCase(root: #"{"key":"kPID","value":-2147483649}"#, .badValue(key: "kPID")),
  JSONFailureCase(root: #"{"key":"kPID","value":"16"}"#, .badValue(key: "kPID")),
  JSONFailureCase(root: #"{"key":"kPID","value":"0x"}"#, .badValue(key: "kPID")),
  JSONFailureCase(root: #"{"key":"kPID","value":"0xg"}"#, .badValue(key: "kPID")),
  JSONFailureCase(root: #"{"key":"kPID","value":"0x+5"}"#, .badValue(key: "kPID")),
  JSONFailureCase(root: #"{"key":"kPID","value":"0x-0"}"#, .badValue(key: "kPID")),
  JSONFailureCase(root: #"{"key":"kAddressMask","value":"0x10000000000000000"}"#, .badValue(key: "kAddressMask")),
  JSONFailureCase(root: #"{"key":"kAddressMask","value":18446744073709551616}"#, .json(.badNumber)),
  JSONFailureCase(root: #"{"key":"kPID","value":1.5}"#, .json(.badNumber)),
  JSONFailureCase(root: #"{"key":"kPID","value":1e3}"#, .json(.badNumber)),
  JSONFailureCase(root: #"{"key":"kPID","value":true}"#, .json(.expected("a number"))),
  JSONFailureCase(root: #"{"key":"kVersion","value":256}"#, .badValue(key: "kVersion")),
  JSONFailureCase(root: #"{"key":"kVersion","value":-129}"#, .badValue(key: "kVersion")),
  JSONFailureCase(root: #"{"key":"kAnnotationType","value":65536}"#, .badValue(key: "kAnnotationType")),
  JSONFailureCase(root: #"{"key":"kIsDaylightSavingTime","value":1}"#, .json(.expected("true or false"))),
  JSONFailureCase(root: #"{"key":"kThreadName","value":1}"#, .json(.expected("a string"))),
  JSONFailureCase(root: #"{"key":"kThreadName","value":"\ud800"}"#, .json(.badString)),
  JSONFailureCase(root: #"{"key":"kThreadName","hex":"0"}"#, .json(.expected("two hexadecimal digits"))),
  JSONFailureCase(root: #"{"key":"kThreadName","hex":"0g"}"#, .json(.expected("two hexadecimal digits"))),
  JSONFailureCase(root: #"{"key":"kThreadName","hex":7}"#, .json(.expected("a string of hexadecimal digits"))),
  JSONFailureCase(root: #"{"key":"kUUID","value":"00"}"#, .badValue(key: "kUUID")),
  JSONFailureCase(root: #"{"key":"kUserTime","value":{"seconds":1}}"#, .badValue(key: "kUserTime")),
  JSONFailureCase(root: #"{"key":"kUserTime","value":{"microseconds":1}}"#, .badValue(key: "kUserTime")),
  JSONFailureCase(
    root: #"{"key":"kUserTime","value":{"seconds":1,"microseconds":1,"padding":0}}"#, .unknownMember("padding")),
  JSONFailureCase(
    root: #"{"key":"kUserTime","value":{"seconds":2147483648000,"microseconds":1}}"#, .badValue(key: "kUserTime")),
  JSONFailureCase(root: #"{"key":"kStartTime","value":{"seconds":1,"minutes":1}}"#, .unknownMember("minutes")),
  JSONFailureCase(root: #"{"key":"kCodes","value":[1,]}"#, .json(.expected("a number"))),
  JSONFailureCase(root: #"{"key":"kCodes","value":["x"]}"#, .badValue(key: "kCodes")),
  JSONFailureCase(root: #"{"key":"kThreads","value":[]}"#, .badValue(key: "kThreads")),
  JSONFailureCase(root: #"{"key":"kProcessInfo","value":1}"#, .badValue(key: "kProcessInfo")),
  JSONFailureCase(root: #"{"key":"kThreadState","value":"00"}"#, .badValue(key: "kThreadState")),
  JSONFailureCase(root: #"{"key":9999,"value":1}"#, .badValue(key: "9999")),
  JSONFailureCase(root: #"{"key":"kThreads","array":[{}]}"#, .json(.expected("'['"))),
  JSONFailureCase(root: #"{"key":"kThreads","map":[[]]}"#, .json(.expected("'{'"))),
]

@Suite("DumpJSON: failures")
struct DumpJSONFailureTests {
  private func failure(_ text: String) throws -> DumpJSON.Failure? {
    do {
      _ = try dump(fromJSON: Array(text.utf8))
      return nil
    } catch let failure as DumpJSON.Failure {
      return failure
    }
  }

  @Test("A text that is no dump is refused with its reason and place", arguments: failures)
  func refused(_ example: JSONFailureCase) throws {
    let failure = try #require(try failure(example.text))
    #expect(failure.reason == example.reason)
    #expect(failure.offset <= example.text.utf8.count)
    if let behind = example.behind { #expect(failure.offset == behind.utf8.count) }
  }

  @Test("Nesting without end is refused")
  func tooDeep() throws {
    for levels in [12, 100, 100_000] {
      let maps = String(repeating: #"{"key":8000,"map":["#, count: levels) + String(repeating: "]}", count: levels)
      #expect(try failure(DumpJSONFormTests.head + maps + "]}")?.reason == .tooDeep)
      let arrays = String(repeating: #"{"key":6000,"array":[["#, count: levels)
      #expect(try failure(DumpJSONFormTests.head + arrays)?.reason == .tooDeep)
    }
  }

  @Test("Every prefix of a text is refused")
  func prefixes() throws {
    let text =
      DumpJSONFormTests.head
      + #"{"key":"kProcessInfo","map":[{"key":"kPID","value":-12},{"key":"kStartTime","value":{"seconds":1,"microseconds":2}}]},"#
      + #"{"key":"kThreads","array":[[{"key":"kThreadName","value":"\ud83d\ude00"},{"key":9999,"hex":"00ff"}]]}]}"#
    #expect(try failure(text) == nil)
    for count in 0..<text.utf8.count {
      #expect(try failure(String(decoding: text.utf8.prefix(count), as: UTF8.self)) != nil, "prefix of \(count)")
    }
  }
}
