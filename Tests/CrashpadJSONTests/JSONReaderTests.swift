// SPDX-License-Identifier: Apache-2.0
import CrashpadJSON
import Testing

/// Hands a text's bytes to `body`.
func withBytes<Result>(_ array: [UInt8], _ body: (RawSpan) throws -> Result) rethrows -> Result {
  try unsafe body(array.span.bytes)
}

/// A JSON value as a tree, read with the reader under test.
indirect enum JSONValue: Equatable, Sendable {
  case null
  case bool(Bool)
  case integer(Int128)
  case string([UInt8])
  case array([JSONValue])
  case object([Member])

  struct Member: Equatable, Sendable {
    let key: String
    let value: JSONValue
  }

  static func parse(_ text: [UInt8]) throws -> JSONValue {
    try withBytes(text) { bytes in
      var reader = JSONReader()
      let value = try read(&reader, bytes)
      try reader.end(in: bytes)
      return value
    }
  }

  private static func read(_ reader: inout JSONReader, _ text: RawSpan) throws -> JSONValue {
    switch reader.peek(in: text) {
    case "{":
      try reader.open("{", in: text)
      var members: [Member] = []
      while let key = try reader.nextKey(in: text) { members.append(Member(key: key, value: try read(&reader, text))) }
      return .object(members)
    case "[":
      try reader.open("[", in: text)
      var elements: [JSONValue] = []
      while try reader.nextElement(in: text) { elements.append(try read(&reader, text)) }
      return .array(elements)
    case "\"": return .string(try reader.string(in: text))
    case "t", "f": return .bool(try reader.bool(in: text))
    default: return .integer(try reader.integer(in: text))
    }
  }
}

/// A text and what it is, or why it is nothing.
struct JSONReaderCase: Sendable, CustomTestStringConvertible {
  let text: String
  var testDescription: String { text }
  init(_ text: String) { self.text = text }
}

private func text(_ string: String) -> JSONValue { .string(Array(string.utf8)) }

private let accepted: [(String, JSONValue)] = [
  ("0", .integer(0)), ("-0", .integer(0)), ("7", .integer(7)), ("-12", .integer(-12)), (" \t\r\n1 \t\r\n", .integer(1)),
  ("18446744073709551615", .integer(Int128(UInt64.max))), ("-9223372036854775808", .integer(Int128(Int64.min))),
  ("true", .bool(true)), ("false", .bool(false)), ("[]", .array([])), ("{}", .object([])), ("[ ]", .array([])),
  ("{ }", .object([])),
  ("[1,2]", .array([.integer(1), .integer(2)])), ("[ 1 , 2 ]", .array([.integer(1), .integer(2)])),
  ("[[],[]]", .array([.array([]), .array([])])),
  (#"{"a":1}"#, .object([.init(key: "a", value: .integer(1))])),
  (#" { "a" : 1 , "" : [ ] } "#, .object([.init(key: "a", value: .integer(1)), .init(key: "", value: .array([]))])),
  (#"{"a":1,"a":2}"#, .object([.init(key: "a", value: .integer(1)), .init(key: "a", value: .integer(2))])),
  (#""""#, text("")), (#""abc""#, text("abc")), (#""é€😀""#, text("é€😀")),
  (#""\"\\\/\b\f\n\r\t""#, text("\"\\/\u{8}\u{c}\n\r\t")),
  (#""\u0041\u00e9\u20AC""#, text("Aé€")), (#""\u0000""#, text("\u{0}")), (#""\ud83d\ude00""#, text("😀")),
  (#""\uD83D\uDE00x""#, text("😀x")),
  (#""\ud800\udc00\udbff\udfff""#, text("\u{10000}\u{10ffff}")),
  (#""\ud7ff\ue000\uffff""#, text("\u{d7ff}\u{e000}\u{ffff}")),
  ("\"\u{7f}\u{2028}\"", text("\u{7f}\u{2028}")), (#"{"\u0061":[]}"#, .object([.init(key: "a", value: .array([]))])),
]

private let refused: [String] = [
  "", " ", "[", "{", "]", "}", "[1", "[1,", "[1,]", "[,]", "[,1]", "[1 2]", "[1}", "[}", "{]", "[1]]", "{}}", "[] []",
  "1 2", "{1:1}", "{a:1}",
  #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{,}"#, #"{"a" 1}"#, #"{"a":1 "b":2}"#, #"{"a"::1}"#, #"{"a":1]"#,
  "+1", "01", "-01", "00", "-", "--1", ".5", "1.", "1e", "0x10", "1a", "NaN", "Infinity", "-Infinity",
  "True", "tru", "truee", "fals", "nul",
  #"""#, #""a"#, #""\"#, #""\x""#, #""\u""#, #""\u12""#, #""\u12g4""#, #""\u 123""#, #""\U0041""#, #""\'""#, #"'a'"#,
  #""\ud800""#, #""\udc00""#, #""\ud800\ud800""#, #""\ud800x""#, #""\ud800\n""#, #""\ud800\u0041""#, #""\udc00\ud800""#,
  #""\ud83d\ude""#,
  "\"\n\"", "\"\t\"", "\"\u{0}\"", "\"\u{1f}\"", "\u{feff}1", "\u{a0}1", "1\u{c}", "/**/1", "// 1",
]

/// JSON, but no integer of 64 bits.
private let unsupported = [
  "1.0", "1.5", "1e5", "1E+2", "-0.0", "18446744073709551616", "-9223372036854775809",
  "99999999999999999999999999999999999999999999",
]

@Suite("JSONReader")
struct JSONReaderTests {
  @Test("Text that RFC 8259 allows is read", arguments: accepted)
  func accept(_ text: String, _ value: JSONValue) throws { #expect(try JSONValue.parse(Array(text.utf8)) == value) }

  @Test(
    "Text that RFC 8259 does not allow is refused, at a place in the text", arguments: refused.map(JSONReaderCase.init))
  func refuse(_ example: JSONReaderCase) throws {
    let error = #expect(throws: JSONReader.Failure.self) { try JSONValue.parse(Array(example.text.utf8)) }
    #expect((0...example.text.utf8.count).contains(try #require(error).offset))
  }

  @Test("Fractions, exponents and integers of more than 64 bits are refused where they begin", arguments: unsupported)
  func unsupportedNumbers(_ text: String) {
    let failure = failure("[" + text + "]")
    #expect(failure?.reason == .badNumber)
    #expect(failure?.offset == 1)
  }

  private func failure(_ text: String) -> JSONReader.Failure? {
    do {
      _ = try JSONValue.parse(Array(text.utf8))
      return nil
    } catch { return error as? JSONReader.Failure }
  }

  @Test("A failure has its reason and offset")
  func reasons() {
    #expect(failure("[1 2]")?.reason == .expected("','"))
    #expect(failure("[1 2]")?.offset == 3)
    #expect(failure(#"{"a" 1}"#)?.reason == .expected("':'"))
    #expect(failure(#"{"a" 1}"#)?.offset == 5)
    #expect(failure("{1:1}")?.reason == .expected("a string"))
    #expect(failure("[x]")?.reason == .expected("a number"))
    #expect(failure("[x]")?.offset == 1)
    #expect(failure("[ 1.5]")?.reason == .badNumber)
    #expect(failure("[ 1.5]")?.offset == 2)
    #expect(failure("[trux]")?.reason == .expected("true"))
    #expect(failure("[] x")?.reason == .trailingText)
    #expect(failure("[] x")?.offset == 3)
    #expect(failure("\"a\n\"")?.reason == .badString)
  }

  @Test("Sixty-four levels may be nested, no more", arguments: [1, 63, 64, 65, 1000])
  func depth(_ levels: Int) {
    let arrays = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
    #expect(failure(arrays)?.reason == (levels > 64 ? .tooDeep : nil))
    let objects = String(repeating: #"{"a":"#, count: levels - 1) + "{}" + String(repeating: "}", count: levels - 1)
    #expect(failure(objects)?.reason == (levels > 64 ? .tooDeep : nil))
    // Depth is what is open, not how many there were.
    #expect(failure("[" + Array(repeating: "[]", count: 200).joined(separator: ",") + "]") == nil)
  }

  @Test("Hexadecimal digits become bytes, in pairs and of either case")
  func hex() throws {
    func read(_ text: String) throws -> [UInt8] {
      try withBytes(Array(text.utf8)) { bytes in
        var reader = JSONReader()
        let value = try reader.hex(in: bytes)
        try reader.end(in: bytes)
        return value
      }
    }
    #expect(try read(#""""#) == [])
    #expect(try read(#" "00ffAb9C" "#) == [0, 255, 0xab, 0x9c])
    for text in [
      "", "1", #"""#, #""0"#, #""0""#, #""00"#, #""000""#, #""0g""#, #""g0""#, #""0 0""#, #""\u0030\u0030""#,
    ] {
      #expect(throws: JSONReader.Failure.self, "\(text)") { try read(text) }
    }
  }

  @Test("Bytes that are no UTF-8 come through as they are in a string")
  func rawBytes() throws {
    #expect(try JSONValue.parse([0x22, 0xff, 0xc3, 0x22]) == .string([0xff, 0xc3]))
  }
}
