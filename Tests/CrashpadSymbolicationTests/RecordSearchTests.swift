// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Testing

@testable import CrashpadSymbolication

@Suite("The search for records")
struct RecordSearchTests {
  /// The places of lines that begin with a capital letter, one byte after the other.
  private static func records(_ bytes: [UInt8]) -> [Int] {
    bytes.indices.filter { place in
      (place == 0 || bytes[place - 1] == 0x0a) && (0x41...0x5a).contains(bytes[place])
    }
  }

  @Test("Each line that begins with a capital letter is found, wherever it is, and none is found twice")
  func places() {
    var random = SplitMix64(seed: 5, area: 90)
    let letters = Array("\n\n\nFPSIZA@[0az \r".utf8) + [0x00, 0x7f, 0x8a, 0xc6, 0xff]
    for length in 0..<400 {
      let bytes = (0..<length).map { _ in letters[random.below(letters.count)] }
      var found: [Int] = []
      unsafe bytes.span.bytes.forEachRecord { place, first in
        #expect(first == bytes[place])
        found.append(place)
      }
      #expect(found.filter { (0x41...0x5a).contains(bytes[$0]) } == Self.records(bytes))
      #expect(Set(found).count == found.count && found.allSatisfy { $0 == 0 || bytes[$0 - 1] == 0x0a })
    }
  }
}
