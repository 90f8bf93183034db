// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpSynth
@testable import CrashpadMinidump
import Testing

/// Hands an array's bytes to `body`.
func withBytes<Result>(_ array: [UInt8], _ body: (RawSpan) throws -> Result) rethrows -> Result {
  try unsafe body(array.span.bytes)
}

/// Table 3-7 of the Unicode standard, row by row: the well-formed sequences.
private let wellFormed: [[ClosedRange<UInt8>]] = [
  [0x00...0x7f], [0xc2...0xdf, 0x80...0xbf], [0xe0...0xe0, 0xa0...0xbf, 0x80...0xbf],
  [0xe1...0xec, 0x80...0xbf, 0x80...0xbf], [0xed...0xed, 0x80...0x9f, 0x80...0xbf],
  [0xee...0xef, 0x80...0xbf, 0x80...0xbf],
  [0xf0...0xf0, 0x90...0xbf, 0x80...0xbf, 0x80...0xbf], [0xf1...0xf3, 0x80...0xbf, 0x80...0xbf, 0x80...0xbf],
  [0xf4...0xf4, 0x80...0x8f, 0x80...0xbf, 0x80...0xbf],
]

/// UTF-16 by that table: the longest start of a row that is there is either the whole row or an ill-formed part.
private func model(_ bytes: [UInt8]) -> [UInt16] {
  var units: [UInt16] = []
  var index = 0
  while index < bytes.count {
    var longest = 0
    var isWhole = false
    for row in wellFormed {
      let length = zip(row, bytes[index...]).prefix { $0.0.contains($0.1) }.count
      if length > longest { (longest, isWhole) = (length, length == row.count) }
    }
    guard isWhole else {
      units.append(0xfffd)
      index += max(1, longest)
      continue
    }
    let lead = UInt32(bytes[index]) & [0x7f, 0x1f, 0x0f, 0x07][longest - 1]
    let scalar = bytes[index + 1..<index + longest].reduce(lead) { $0 << 6 | UInt32($1 & 0x3f) }
    if scalar >= 0x10000 {
      units += [UInt16(0xd7c0 + scalar >> 10), UInt16(0xdc00 + scalar & 0x3ff)]
    } else {
      units.append(UInt16(scalar))
    }
    index += longest
  }
  return units
}

@Suite("UTF-8 to UTF-16")
struct UTF16TranslationTests {
  private func translated(_ bytes: [UInt8]) -> [UInt16] {
    withBytes(bytes) { text in
      var units: [UInt16] = []
      UTF16Translation.forEachUnit(text) {
        units.append($0)
        return true
      }
      #expect(UTF16Translation.unitCount(text) == units.count)
      return units
    }
  }

  private func expectRight(_ bytes: [UInt8]) {
    let units = translated(bytes)
    #expect(units == model(bytes), "\(bytes)")
    #expect(units == Array(String(decoding: bytes, as: UTF8.self).utf16), "\(bytes)")
  }

  @Test("Well-formed text of one to four bytes is translated")
  func wellFormedText() {
    #expect(
      translated(Array("aé€😀\u{0}\u{10ffff}\u{ffff}".utf8)) == [
        0x61, 0xe9, 0x20ac, 0xd83d, 0xde00, 0, 0xdbff, 0xdfff, 0xffff,
      ])
    #expect(translated([]) == [])
  }

  @Test("Each maximal ill-formed part becomes one U+FFFD")
  func illFormed() {
    // The standard's own example, table 3-8.
    let example: [UInt8] = [0x61, 0xf1, 0x80, 0x80, 0xe1, 0x80, 0xc2, 0x62, 0x80, 0x63, 0x80, 0xbf, 0x64]
    #expect(translated(example) == [0x61, 0xfffd, 0xfffd, 0xfffd, 0x62, 0xfffd, 0x63, 0xfffd, 0xfffd, 0x64])
    #expect(translated([0xed, 0xa0, 0x80]) == [0xfffd, 0xfffd, 0xfffd], "a surrogate")
    #expect(translated([0xc0, 0x80]) == [0xfffd, 0xfffd], "too long a form")
    #expect(translated([0xf4, 0x90, 0x80, 0x80]) == [0xfffd, 0xfffd, 0xfffd, 0xfffd], "beyond U+10FFFF")
    #expect(translated([0xf0, 0x9f, 0x98]) == [0xfffd], "cut off")
  }

  @Test("All sequences of one and two bytes are right")
  func allPairs() {
    for first in UInt8.min...UInt8.max {
      expectRight([first])
      for second: UInt8 in [0, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xe1, 0xff] {
        expectRight([first, second])
        expectRight([first, second, 0x80])
        expectRight([first, second, 0x80, 0xbf, 0x41])
      }
    }
  }

  @Test("Random bytes are right, long runs of ASCII too")
  func random() {
    var random = SplitMix64(seed: 0x16)
    let edges: [UInt8] = [
      0x41, 0x7f, 0x80, 0xbf, 0xc2, 0xdf, 0xe0, 0xa0, 0xed, 0x9f, 0xef, 0xf0, 0x90, 0xf4, 0x8f, 0xff,
    ]
    for round in 0..<2000 {
      let count = random.below(24)
      switch round % 3 {
      case 0: expectRight(random.bytes(count))
      case 1: expectRight((0..<count).map { _ in edges[random.below(edges.count)] })
      default:
        expectRight(
          [UInt8](repeating: 0x61, count: random.below(20)) + random.bytes(2) + [UInt8](repeating: 0x62, count: 9))
      }
    }
  }

  @Test("A callback that returns false ends the translation")
  func stops() {
    for text in ["abc", "😀bc"] {
      withBytes(Array(text.utf8)) { bytes in
        var count = 0
        UTF16Translation.forEachUnit(bytes) { _ in
          count += 1
          return false
        }
        #expect(count == 1)
      }
    }
  }

  // MARK: Strings of the format

  private func written(_ body: (inout ByteWriter) -> Void) throws -> [UInt8] {
    let output = MemoryOutput()
    var writer = ByteWriter(to: output)
    body(&writer)
    try writer.finish()
    return output.bytes
  }

  @Test("A UTF-16 string has its byte count, its units and a NUL that does not count")
  func utf16String() throws {
    let text = Array("é😀".utf8)
    let bytes = try withBytes(text) { span in try written { $0.utf16String(span) } }
    #expect(bytes == [6, 0, 0, 0, 0xe9, 0, 0x3d, 0xd8, 0x00, 0xde, 0, 0])
    #expect(withBytes(text) { ByteWriter.utf16StringSize($0) } == bytes.count)
  }

  @Test("UTF-16 strings of every length and place of the first other character are right")
  func utf16Strings() throws {
    for count in 0..<40 {
      for place in 0...count {
        let text = String(repeating: "a", count: place) + "é" + String(repeating: "b", count: count - place)
        let bytes = try withBytes(Array(text.utf8)) { span in try written { $0.utf16String(span) } }
        let units = Array(text.utf16).flatMap { Bytes.of($0) }
        #expect(bytes == Bytes.of(UInt32(units.count)) + units + [0, 0])
        let measured = withBytes(Array(text.utf8)) { span in ByteWriter.measure { $0.utf16String(span) } }
        #expect(measured == bytes.count)
      }
    }
  }

  @Test("A UTF-8 string has its bytes as they are, NULs and ill-formed ones too")
  func utf8String() throws {
    let text: [UInt8] = [0x61, 0, 0xff]
    let bytes = try withBytes(text) { span in
      try written {
        $0.uint8(9)
        $0.utf8String(span)
      }
    }
    #expect(bytes == [9, 0, 0, 0, 3, 0, 0, 0, 0x61, 0, 0xff, 0])
    #expect(ByteWriter.utf8StringSize(3) == 8)
  }

  @Test("A fixed field is cut so that a NUL fits, may cut a pair, and ends at the first NUL")
  func fixedField() throws {
    func field(_ text: String, _ units: Int) throws -> [UInt16] {
      let bytes = try withBytes(Array(text.utf8)) { span in try written { $0.fixedUTF16(span, units: units) } }
      #expect(bytes.count == 2 * units)
      return (0..<units).map { UInt16(bytes[2 * $0]) | UInt16(bytes[2 * $0 + 1]) << 8 }
    }
    #expect(try field("abc", 5) == [0x61, 0x62, 0x63, 0, 0])
    #expect(try field("abcd", 4) == [0x61, 0x62, 0x63, 0])
    #expect(try field("ab😀", 4) == [0x61, 0x62, 0xd83d, 0])
    #expect(try field("a\u{0}b", 4) == [0x61, 0, 0, 0])
    #expect(try field("", 2) == [0, 0])
  }
}
