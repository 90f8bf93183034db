// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import CrashpadJSON
import Testing

@Suite("JSONWriter")
struct JSONWriterTests {
  /// The text that the sink gets.
  private final class Sink {
    var bytes: [UInt8] = []
    var blocks = 0
    /// How many blocks until it fails.
    var failsAt = Int.max

    struct Full: Error {}

    func take(_ block: RawSpan) throws {
      blocks += 1
      if blocks >= failsAt { throw Full() }
      for index in 0..<block.byteCount { bytes.append(unsafe block.unsafeLoad(fromByteOffset: index, as: UInt8.self)) }
    }
  }

  private func written(_ layout: JSONWriter.Layout = .compact, _ body: (inout JSONWriter) -> Void) throws -> String {
    let sink = Sink()
    var writer = JSONWriter(layout, to: sink.take)
    body(&writer)
    try writer.finish()
    return String(decoding: sink.bytes, as: UTF8.self)
  }

  private func document(_ json: inout JSONWriter) {
    json.object {
      $0.member("text", "a\"b")
      $0.member("nothing", nil as String?)
      $0.member("number", -5)
      $0.member("no number", nil as Int?)
      $0.member("flag", true)
      $0.array("empty") { _ in }
      $0.object("also empty") { _ in }
      $0.array("list") { list in
        list.number(UInt64.max)
        list.string("x")
        list.null()
        list.bool(false)
        list.object { $0.member("a", 1) }
        list.array { $0.number(1) }
      }
    }
  }

  @Test("The compact layout is one line")
  func compact() throws {
    #expect(
      try written(.compact, document)
        == #"{"text":"a\"b","nothing":null,"number":-5,"no number":null,"flag":true,"empty":[],"also empty":{},"#
        + #""list":[18446744073709551615,"x",null,false,{"a":1},[1]]}"# + "\n")
  }

  @Test("The indented layout has two spaces for each level, and empty brackets on one line")
  func indented() throws {
    #expect(
      try written(.indented, document) == """
        {
          "text": "a\\"b",
          "nothing": null,
          "number": -5,
          "no number": null,
          "flag": true,
          "empty": [],
          "also empty": {},
          "list": [
            18446744073709551615,
            "x",
            null,
            false,
            {
              "a": 1
            },
            [
              1
            ]
          ]
        }

        """)
  }

  @Test("An inline value stays on one line, whatever the layout, and has spaces in the indented one")
  func inline() throws {
    func body(_ json: inout JSONWriter) {
      json.array {
        $0.inline { json in
          json.object {
            $0.member("a", 1)
            $0.array("b") {
              $0.number(1)
              $0.number(2)
            }
          }
        }
        $0.array { $0.null() }
      }
    }
    #expect(try written(.compact, body) == #"[{"a":1,"b":[1,2]},[null]]"# + "\n")
    #expect(try written(.indented, body) == "[\n  {\"a\": 1, \"b\": [1, 2]},\n  [\n    null\n  ]\n]\n")
  }

  @Test("Quotes, backslashes and control characters are escaped, nothing else is")
  func escapes() throws {
    #expect(
      try written { $0.string("\"\\/\u{8}\u{c}\n\r\t\u{0}\u{1f}\u{7f}é€😀\u{2028}") }
        == #""\"\\/\u0008\u000c\n\r\t\u0000\u001f\u007fé€😀"# + "\u{2028}\"\n")
    #expect(try written { json in json.object { $0.member("\"\n", 1) } } == #"{"\"\n":1}"# + "\n")
  }

  @Test("Bytes become hexadecimal digits")
  func hex() throws {
    #expect(try withBytes([0, 0x0f, 0xa0, 0xff]) { bytes in try written { $0.hex(bytes) } } == "\"000fa0ff\"\n")
    #expect(try withBytes([]) { bytes in try written { $0.hex(bytes) } } == "\"\"\n")
  }

  @Test("Long documents go to the sink in blocks, and lose nothing")
  func blocks() throws {
    let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let long = String(repeating: "é", count: 50_000)
    let sink = Sink()
    var writer = JSONWriter(.compact, to: sink.take)
    withBytes(bytes) { span in
      writer.array {
        $0.hex(span)
        $0.string(long)
        for number in 0..<20_000 { $0.array { $0.number(number) } }
      }
    }
    try writer.finish()
    #expect(sink.blocks > 3)
    let expected =
      "[\"\(Hex.digits(bytes))\",\"\(long)\"," + (0..<20_000).map { "[\($0)]" }.joined(separator: ",") + "]\n"
    #expect(sink.bytes == Array(expected.utf8))
  }

  @Test("The first failure of the sink sticks, and ends the writing", arguments: 1...3)
  func failure(_ block: Int) {
    let sink = Sink()
    sink.failsAt = block
    var writer = JSONWriter(.compact, to: sink.take)
    writer.array {
      for number in 0..<60_000 { $0.array { $0.number(number) } }
    }
    var thrown: (any Error)?
    do { try writer.finish() } catch { thrown = error }
    #expect(thrown is Sink.Full)
    #expect(sink.blocks == block, "the sink is not asked again")
  }

  // MARK: Both

  @Test("Random documents come back from the reader as they were written", arguments: [UInt64](0..<40))
  func roundTrip(_ seed: UInt64) throws {
    for layout in [JSONWriter.Layout.compact, .indented] {
      var random = SplitMix64(seed: 900 + seed)
      let value = Self.value(&random, depth: 0)
      let text = try written(layout) { Self.write(value, to: &$0) }
      #expect(try JSONValue.parse(Array(text.utf8)) == value)
    }
  }

  private static func text(_ random: inout SplitMix64) -> String {
    String(decoding: random.bytes(random.below(12)).map { random.oneIn(3) ? $0 : $0 & 0x7f }, as: UTF8.self)
  }

  private static func value(_ random: inout SplitMix64, depth: Int) -> JSONValue {
    switch random.below(depth > 4 ? 3 : 5) {
    case 0: return .bool(random.oneIn(2))
    case 1:
      return .integer(
        random.oneIn(2) ? Int128(Int64(bitPattern: random.next())) : Int128(random.next() >> UInt64(random.below(64))))
    case 2: return .string(Array(text(&random).utf8))
    case 3: return .array((0..<random.below(6)).map { _ in value(&random, depth: depth + 1) })
    default:
      return .object(
        (0..<random.below(6)).map { _ in .init(key: text(&random), value: value(&random, depth: depth + 1)) })
    }
  }

  private static func write(_ value: JSONValue, to json: inout JSONWriter) {
    switch value {
    case .null: json.null()
    case .bool(let flag): json.bool(flag)
    case .integer(let number): json.number(number)
    case .string(let bytes): json.string(String(decoding: bytes, as: UTF8.self))
    case .array(let elements): json.array { for element in elements { write(element, to: &$0) } }
    case .object(let members):
      json.object {
        for member in members {
          $0.key(member.key)
          write(member.value, to: &$0)
        }
      }
    }
  }
}
