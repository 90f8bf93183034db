// SPDX-License-Identifier: Apache-2.0
import Testing
import ToolRunner

@testable import CrashpadDatabase

@Suite("AppleDouble")
struct AppleDoubleTests {
  private let attributes: [(name: String, value: [UInt8])] = [
    ("com.apple.quarantine", Array("0081;5f".utf8)), ("a", []), ("ab", [0]), ("abc", [1, 2, 3]), ("abcd", [255]),
    ("org.chromium.crashpad.database.uuid", Array("0123".utf8)), (String(repeating: "n", count: 127), [9, 9]),
  ]

  private var expected: [String: [UInt8]] { Dictionary(uniqueKeysWithValues: attributes.map { ($0.name, $0.value) }) }

  @Test("All attributes are found, with names of each length and empty values", arguments: [true, false])
  func whole(hasResourceFork: Bool) {
    let bytes = AppleDoubleFile(attributes: attributes, hasResourceFork: hasResourceFork).bytes
    #expect(AppleDouble.attributes(in: bytes) == expected)
  }

  @Test("The bytes of a file that macOS wrote, spelled out")
  func literal() {
    var bytes: [UInt8] = [
      0x00, 0x05, 0x16, 0x07, 0x00, 0x02, 0x00, 0x00, 0x4d, 0x61, 0x63, 0x20, 0x4f, 0x53, 0x20, 0x58, 0x20, 0x20, 0x20,
      0x20, 0x20, 0x20, 0x20, 0x20, 0x00, 0x02, 0x00, 0x00, 0x00, 0x09, 0x00, 0x00, 0x00, 0x32, 0x00, 0x00, 0x00, 0x5a,
      0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x8c, 0x00, 0x00, 0x00, 0x00,
    ]
    bytes += [UInt8](repeating: 0, count: 34)
    bytes += [
      0x41, 0x54, 0x54, 0x52, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x8c, 0x00, 0x00, 0x00, 0x88, 0x00, 0x00, 0x00,
      0x04, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01,
      // At 120: offset 136, length 4, flags, four bytes of name.
      0x00, 0x00, 0x00, 0x88, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x04, 0x61, 0x2e, 0x62, 0x00, 0x00,
      0x77, 0x78, 0x79, 0x7a,
    ]
    #expect(bytes.count == 140)
    #expect(AppleDouble.attributes(in: bytes) == ["a.b": [0x77, 0x78, 0x79, 0x7a]])
  }

  @Test("Cut off at each byte, it gives attributes that are whole, and no others")
  func truncated() {
    let bytes = AppleDoubleFile(attributes: attributes).bytes
    var counts: Set<Int> = []
    for count in 0..<bytes.count {
      let found = AppleDouble.attributes(in: Array(bytes.prefix(count)))
      for (name, value) in found { #expect(expected[name] == value, "\(count)") }
      counts.insert(found.count)
    }
    #expect(counts.isSuperset(of: [0, attributes.count]))
  }

  @Test("A file that is not an AppleDouble file has no attributes")
  func others() {
    let bytes = AppleDoubleFile(attributes: attributes).bytes
    #expect(AppleDouble.attributes(in: []).isEmpty)
    for index in 0..<8 {
      var wrong = bytes
      wrong[index] ^= 1
      #expect(AppleDouble.attributes(in: wrong).isEmpty, "\(index)")
    }
    for index in 84..<88 {
      var wrong = bytes
      wrong[index] ^= 1
      #expect(AppleDouble.attributes(in: wrong).isEmpty, "without ATTR: \(index)")
    }
    var resourceFork = bytes
    resourceFork[29] = 8
    #expect(AppleDouble.attributes(in: resourceFork).isEmpty, "no Finder's entry")
  }

  @Test("The Finder's entry may come second")
  func order() {
    var bytes = AppleDoubleFile(attributes: attributes).bytes
    let first = Array(bytes[26..<38])
    bytes.replaceSubrange(26..<38, with: bytes[38..<50])
    bytes.replaceSubrange(38..<50, with: first)
    #expect(AppleDouble.attributes(in: bytes) == expected)
  }

  @Test(
    "Offsets and lengths of up to 2^32 - 1 anywhere are outside of the file, and nothing more",
    arguments: [
      UInt8(0xff), 0x7f, 0x80,
    ])
  func extremes(byte: UInt8) {
    let bytes = AppleDoubleFile(attributes: attributes).bytes
    for index in 0..<(bytes.count - 4) {
      var wrong = bytes
      wrong.replaceSubrange(index..<(index + 4), with: [byte, 0xff, 0xff, 0xff])
      let found = AppleDouble.attributes(in: wrong)
      #expect(found.count <= 7 || index >= 84, "\(index)")
    }
  }

  @Test("Random changes of bytes are survived")
  func mutations() {
    let seed = UInt64.random(in: .min ... .max)
    var random = Numbers(state: seed)
    let bytes = AppleDoubleFile(attributes: attributes).bytes
    for _ in 0..<Soak.times(5_000, or: 1_000) {
      var wrong = bytes
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        wrong[Int.random(in: 0..<wrong.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      if Bool.random(using: &random) { wrong.removeLast(Int.random(in: 0..<wrong.count, using: &random)) }
      let found = AppleDouble.attributes(in: wrong)
      #expect(found.values.allSatisfy { $0.count <= wrong.count }, "seed \(seed)")
    }
  }

  @Test("A second Finder's entry is not looked at: thousands of them would each be read")
  func secondEntry() {
    var bytes = AppleDoubleFile(attributes: [("first", [1, 1])], hasResourceFork: false).bytes
    let start = bytes.count
    #expect(start % 4 == 50 % 4, "attributes begin at multiples of 4")
    let second = AppleDoubleFile(attributes: [("second", [2])], hasResourceFork: false).bytes
    bytes += second[50...]
    bytes.replaceSubrange(38..<50, with: [0, 0, 0, 9, 0, 0, UInt8(start >> 8), UInt8(start & 255), 0, 0, 0, 90])
    // Its data is where the first file's were: any value would do.
    #expect(AppleDouble.attributes(in: bytes) == ["first": [1, 1]])
  }

  @Test("Attributes that all name the same bytes do not grow to more than the file has")
  func overlapping() {
    let names = (0..<300).map { "attribute-\($0)" }
    var bytes = AppleDoubleFile(attributes: names.map { ($0, [1, 2, 3]) }, hasResourceFork: false).bytes
    var offset = 120
    for name in names {
      // From the start of the file to its end.
      let count = bytes.count
      bytes.replaceSubrange(
        offset..<(offset + 8),
        with: [0, 0, 0, 0, 0, UInt8(count >> 16), UInt8(count >> 8 & 255), UInt8(count & 255)])
      offset += (11 + name.utf8.count + 1 + 3) / 4 * 4
    }
    let found = AppleDouble.attributes(in: bytes)
    #expect(found.values.reduce(0) { $0 + $1.count } <= bytes.count)
  }

  /// Numbers from a seed.
  private struct Numbers: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ state >> 29
    }
  }
}
