// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpSynth
import IntermediateDump
import Testing

@Suite("DumpWriter")
struct DumpWriterTests {
  private struct Stop: Error {}

  /// The error of a broken output.
  private final class FailingOutput: ByteOutput {
    func write(_ bytes: RawSpan) throws { throw Stop() }
  }

  @Test("The writer's output equals the synthesizer's")
  func sameBytes() throws {
    var expected = DumpBuilder()
    expected.root {
      $0.property(.version, [1])
      $0.map(.processInfo) { process in
        process.property(.pid, uint32: 0x1234_5678)
        process.map(.taskBasicInfo) { _ in }
        process.array(.annotationsSimpleMap) { _ in }
      }
      $0.array(.threads) { threads in
        threads.mapInArray {
          $0.property(.threadID, uint64: 0x1122_3344_5566_7788)
          $0.property(.threadName, "naïve")
          $0.property(.stackRegionData, [])
        }
        threads.mapInArray { $0.property(.annotationType, [0xcd, 0xab]) }
      }
    }
    let output = MemoryOutput()
    try DumpWriter.write(to: output) { root in
      root.property(.version, uint8: 1)
      root.map(.processInfo) { process in
        process.property(.pid, uint32: 0x1234_5678)
        process.map(.taskBasicInfo) { _ in }
        process.array(.annotationsSimpleMap) { _ in }
      }
      root.array(.threads) { threads in
        threads.map {
          $0.property(.threadID, uint64: 0x1122_3344_5566_7788)
          $0.property(.threadName, text: "naïve")
          $0.property(.stackRegionData, bytes: [])
        }
        threads.map { $0.property(.annotationType, uint16: 0xabcd) }
      }
    }
    #expect(output.bytes == expected.bytes)
  }

  @Test("A value larger than its buffer is written whole")
  func largeValue() throws {
    let value = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    var expected = DumpBuilder()
    expected.root {
      $0.property(.version, [1])
      $0.property(.stackRegionData, value)
      $0.property(.version, [2])
    }
    let output = MemoryOutput()
    try DumpWriter.write(to: output) { root in
      root.property(.version, uint8: 1)
      root.property(.stackRegionData, bytes: value)
      root.property(.version, uint8: 2)
    }
    #expect(output.bytes == expected.bytes)
  }

  @Test("An error of the body is passed on")
  func bodyThrows() {
    #expect(throws: Stop.self) {
      try DumpWriter.write(to: MemoryOutput()) { root in
        try root.map(.processInfo) { _ in throw Stop() }
      }
    }
  }

  @Test("An error of the output is passed on")
  func outputThrows() {
    #expect(throws: Stop.self) {
      try DumpWriter.write(to: FailingOutput()) { $0.property(.version, uint8: 1) }
    }
  }

  // MARK: Writing a tree

  private func written(_ array: [UInt8]) throws -> [UInt8] {
    try withBytes(array) { bytes in
      let output = MemoryOutput()
      let count = try DumpTree(parsing: bytes).write(to: output, bytes)
      #expect(count == output.bytes.count)
      return output.bytes
    }
  }

  @Test("A complete dump is written as it is")
  func complete() throws {
    let dump = SynthDump(SynthParameters(seed: 5)).bytes
    #expect(try written(dump) == dump)
  }

  @Test("The records of any prefix are written as a complete dump")
  func prefixes() throws {
    let dump = SynthDump(.tiny(architecture: .x86_64)).bytes
    for prefix in Damage.prefixesAtBoundaries(of: dump) where !prefix.isEmpty {
      let whole = try written(prefix)
      withBytes(whole) { #expect(DumpTree(parsing: $0).incomplete == nil, "prefix of \(prefix.count)") }
      #expect(outline(whole) == outline(prefix), "prefix of \(prefix.count)")
    }
  }

  @Test("The records of a damaged dump are written as a complete dump")
  func mutations() throws {
    let seed: UInt64 = 0x3417e
    var random = SplitMix64(seed: seed)
    var parameters = SynthParameters.tiny(seed: 9)
    parameters.stackBytes = 16
    let dump = SynthDump(parameters).bytes
    for round in 0..<400 {
      let (bytes, applied) = Mutation.several(random.between(1, 3), on: dump, using: &random)
      let code = withBytes(bytes) { DumpTree(parsing: $0).incomplete?.rule.code }
      if code == "too-deep" { continue }  // See below.
      let whole = try written(bytes)
      let comment: Comment = "seed \(seed), round \(round): \(applied)"
      withBytes(whole) { #expect(DumpTree(parsing: $0).incomplete == nil, comment) }
      #expect(outline(whole) == outline(bytes), comment)
    }
  }

  @Test("The records of a dump that is too deep are written as a complete dump")
  func tooDeep() throws {
    var builder = DumpBuilder()
    builder.root { root in
      root.property(.version, [1])
      root.nested(levels: 10, number: 8000) { $0.property(.pid, [1]) }
    }
    let whole = try written(builder.bytes)
    withBytes(whole) { #expect(DumpTree(parsing: $0).incomplete == nil) }
    #expect(outline(whole).hasPrefix("kVersion:1 8000{8000{"))
  }
}
