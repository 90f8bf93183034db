// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpSynth
import IntermediateDump
import CrashpadJSON
import Testing

/// The JSON form of the dump `array`.
func json(of array: [UInt8], _ layout: JSONWriter.Layout = .compact) throws -> [UInt8] {
  try withBytes(array) { bytes in
    let text = MemoryOutput()
    var writer = JSONWriter(layout) { text.write($0) }
    DumpJSON.write(DumpTree(parsing: bytes), bytes, to: &writer)
    try writer.finish()
    return text.bytes
  }
}

/// The dump that the JSON form `text` describes.
func dump(fromJSON text: [UInt8]) throws -> [UInt8] {
  try withBytes(text) { bytes in
    let output = MemoryOutput()
    try DumpJSON.read(bytes, to: output)
    return output.bytes
  }
}

@Suite("DumpJSON: round trips")
struct DumpJSONRoundTripTests {
  private func expectRoundTrip(_ bytes: [UInt8], _ comment: Comment? = nil) throws {
    for layout in [JSONWriter.Layout.compact, .indented] {
      #expect(try dump(fromJSON: json(of: bytes, layout)) == bytes, comment)
    }
  }

  @Test("A synthetic dump comes back byte for byte", arguments: SynthArchitecture.allCases, 1...6)
  func synthetic(_ architecture: SynthArchitecture, _ seed: Int) throws {
    let exceptions: [SynthException] = [
      .none, .badAccess, .simulated, .abort, .nsException(frames: 9), .nsException(frames: 0),
    ]
    var parameters = SynthParameters.tiny(architecture: architecture, seed: UInt64(seed))
    parameters.exception = exceptions[seed - 1]
    parameters.threadCount = seed
    parameters.moduleCount = 2 * seed
    parameters.annotatedModules = 1
    parameters.crashInfo = seed.isMultiple(of: 2)
    parameters.processAnnotations = seed
    parameters.intermediateOnlyRegionsPerModule = 1
    parameters.contextRegionBytes = 64
    try expectRoundTrip(SynthDump(parameters).bytes)
  }

  @Test("A value of any size comes back under every key", arguments: DumpSynth.DumpKey.allCases)
  func oddSizes(_ key: DumpSynth.DumpKey) throws {
    var random = SplitMix64(seed: 77, area: UInt64(key.rawValue))
    var builder = DumpBuilder()
    builder.root { root in
      let long = key == .annotationValue || key == .stackRegionData ? [20480, 20481] : []
      for size in Array(0...17) + [64, 168, 272, 520, 524, 528] + long {
        root.property(key, random.bytes(size))
        root.property(key, [UInt8](repeating: 0, count: size))
        root.property(key, [UInt8](repeating: 0xff, count: size))
        root.property(key, [UInt8](repeating: 0x80, count: size))
        root.property(key, [UInt8](repeating: 0x41, count: size))
      }
    }
    try expectRoundTrip(builder.bytes)
  }

  @Test("Containers come back under every key", arguments: DumpSynth.DumpKey.allCases)
  func containers(_ key: DumpSynth.DumpKey) throws {
    var builder = DumpBuilder()
    builder.root { root in
      root.map(key) { _ in }
      root.array(key) { _ in }
      root.map(key) { $0.property(key, []) }
      root.array(key) { array in
        array.mapInArray { _ in }
        array.mapInArray { map in map.array(key) { $0.mapInArray { $0.map(key) { _ in } } } }
      }
    }
    try expectRoundTrip(builder.bytes)
  }

  @Test("Unknown keys come back, the largest too")
  func unknownKeys() throws {
    var builder = DumpBuilder()
    builder.root { root in
      for number: UInt16 in [2, 999, 9999, 65535] {
        root.property(number: number, [1, 2, 3])
        root.property(number: number, [])
        root.map(number: number) { $0.property(number: number, Bytes.of("text")) }
        root.array(number: number) { $0.mapInArray { _ in } }
      }
    }
    try expectRoundTrip(builder.bytes)
  }

  @Test("Text comes back, whatever is in it")
  func text() throws {
    let texts: [[UInt8]] = [
      Bytes.of("a\"b\\c/d\u{8}\u{c}\n\r\t\u{0}\u{1f}\u{7f}é€😀\u{2028}\u{feff}"), Bytes.of("e\u{301}"), Bytes.of("é"),
      [0xff], [0xc3], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xc0, 0x80], [0x61, 0xe2, 0x82],
      Bytes.of("\r\n"), Bytes.of("\\u0041"), Bytes.of(#"","key":"#),
    ]
    var builder = DumpBuilder()
    builder.root { root in
      for key in [DumpSynth.DumpKey.threadName, .annotationValue, .name, .stackRegionData, .version] {
        for text in texts { root.property(key, text) }
      }
    }
    try expectRoundTrip(builder.bytes)
  }

  @Test("Dumps that are nested nine deep come back")
  func deep() throws {
    var builder = DumpBuilder()
    builder.root { root in
      root.nested(levels: 9, number: 8000) { $0.property(.pid, [1]) }
      root.array(.threads) { threads in
        threads.mapInArray { thread in thread.nested(levels: 7, number: 4000) }
      }
    }
    try expectRoundTrip(builder.bytes)
  }

  @Test("Changed dumps that are still whole come back")
  func mutations() throws {
    let seed: UInt64 = 0x15011
    var random = SplitMix64(seed: seed)
    var parameters = SynthParameters.tiny(seed: 2)
    parameters.stackBytes = 32
    parameters.contextRegionBytes = 8
    let original = SynthDump(parameters).bytes
    let harmless: [Mutation] = [
      .duplicateRecord, .dropRecord, .resizeValue, .rewriteValue, .changeKey, .swapKinds, .insertUnknown, .wrapDeeper,
      .moveRecord,
    ]
    var whole = 0
    for round in 0..<250 {
      var bytes = original
      for _ in 0..<random.between(1, 5) {
        bytes = harmless[random.below(harmless.count)].apply(to: bytes, using: &random)
      }
      guard withBytes(bytes, { DumpTree(parsing: $0).incomplete }) == nil else { continue }
      whole += 1
      #expect(try dump(fromJSON: json(of: bytes)) == bytes, "seed \(seed), round \(round)")
    }
    #expect(whole > 100)
  }

  @Test("The JSON of an incomplete dump names the cause and gives a whole dump of what was read")
  func incomplete() throws {
    let original = SynthDump(.tiny(seed: 6)).bytes
    for prefix in Damage.prefixesAtBoundaries(of: original) where !prefix.isEmpty && prefix.count < original.count {
      let text = try json(of: prefix)
      let back = try dump(fromJSON: text)
      withBytes(back) { #expect(DumpTree(parsing: $0).incomplete == nil, "prefix of \(prefix.count)") }
      #expect(outline(back) == outline(prefix), "prefix of \(prefix.count)")
      let cause = withBytes(prefix) { DumpTree(parsing: $0).incomplete }
      let head = #""incomplete":{"code":"\#(cause?.rule.code ?? "")","offset":\#(cause?.offset ?? -1)},"root":["#
      #expect(String(decoding: text, as: UTF8.self).contains(head), "prefix of \(prefix.count)")
    }
  }

  @Test("The JSON of a file without bytes can be read again")
  func emptyFile() throws {
    #expect(try dump(fromJSON: json(of: [])) == [6, 7])
  }
}
