// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpSynth
@testable import IntermediateDump
import Testing

@Suite("DumpTree: content")
struct DumpTreeContentTests {
  /// The tree of `array`, and whether it is what the second reader finds.
  private func expectSameAsNaive(_ array: [UInt8], _ comment: Comment? = nil) {
    let naive = NaiveReader(array)
    withBytes(array) { bytes in
      let tree = DumpTree(parsing: bytes)
      #expect(tree.flattened(bytes) == naive.records, comment)
      #expect(
        tree.flattenedByElements(bytes).map(\.withoutMapEnd) == naive.records.map(\.withoutMapEnd), comment)
      #expect(tree.incomplete?.rule.code == naive.error, comment)
      #expect(tree.incomplete?.offset == naive.errorOffset, comment)
      if naive.error != "empty-file", naive.error != "bad-start" {
        #expect(tree.stopOffset == naive.stopOffset, comment)
      }
    }
  }

  @Test(
    "A synthetic dump is read record by record as it was written", arguments: SynthArchitecture.allCases, [1, 2, 3])
  func synthetic(_ architecture: SynthArchitecture, _ seed: UInt64) {
    let dump = SynthDump(SynthParameters(architecture: architecture, seed: seed)).bytes
    let walk = DumpRecords.walk(dump)
    #expect(walk.stoppedAt == dump.count)
    let written = walk.records.filter { !$0.closes && $0.command != .rootStart }
    withBytes(dump) { bytes in
      let tree = DumpTree(parsing: bytes)
      #expect(tree.incomplete == nil)
      #expect(tree.stopOffset == dump.count)
      let read = tree.flattened(bytes)
      #expect(read.map(\.offset) == written.map(\.start))
      #expect(read.map(\.depth) == written.map(\.depth))
      #expect(
        read.filter { $0.kind == .property }.map { $0.contentStart..<$0.contentEnd } == written.compactMap(\.value))
      // Behind the content of a container stands its end command.
      #expect(
        read.filter { $0.kind != .property }.map { $0.contentEnd + 1 }
          == written.filter(\.opens).compactMap(\.subtreeEnd))
    }
    expectSameAsNaive(dump)
  }

  @Test("Every prefix of a dump keeps the same records as the second reader")
  func prefixes() {
    let dump = SynthDump(.tiny()).bytes
    for prefix in Damage.prefixesAtBoundaries(of: dump) { expectSameAsNaive(prefix, "prefix of \(prefix.count)") }
  }

  @Test("Damaged dumps keep the same records as the second reader")
  func mutations() {
    let seed: UInt64 = 0x7ee
    var random = SplitMix64(seed: seed)
    var parameters = SynthParameters.tiny(seed: 4)
    parameters.threadCount = 3
    parameters.stackBytes = 64
    parameters.contextRegionBytes = 300
    let dump = SynthDump(parameters).bytes
    for round in 0..<500 {
      let (bytes, applied) = Mutation.several(random.between(1, 4), on: dump, using: &random)
      expectSameAsNaive(bytes, "seed \(seed), round \(round): \(applied)")
    }
  }

  @Test("Containers around the length from which they are indexed read alike", arguments: [0, 17 << 20, 40 << 20])
  func indexThreshold(_ filler: Int) {
    // A long value raises the threshold, which is a 65,536th of the file.
    var builder = DumpBuilder(capacity: filler + 1 << 20)
    builder.rootStart()
    builder.property(number: 7001, [UInt8](repeating: 2, count: filler))
    let threshold = max(256, filler / 65536)
    builder.array(number: 6000) { threads in
      for size in stride(from: threshold - 60, to: threshold + 60, by: 1) {
        threads.mapInArray {
          $0.property(number: 6006, [UInt8](repeating: 3, count: size / 2))
          $0.array(number: 6011) { regions in
            regions.mapInArray { $0.property(number: 6013, [UInt8](repeating: 4, count: size / 2 - 20)) }
            regions.mapInArray { _ in }
          }
          $0.map(number: 8000) { $0.property(number: 8001, [UInt8](repeating: 1, count: size)) }
        }
      }
    }
    builder.rootEnd()
    expectSameAsNaive(builder.bytes)
    withBytes(builder.bytes) { bytes in
      let tree = DumpTree(parsing: bytes)
      let containers = tree.flattened(bytes).count { $0.kind != .property }
      #expect(tree.index.count > 100, "the index must take part in this test")
      #expect(tree.index.count < containers, "some containers must be too short for it")
      // Each entry knows how many lie inside of it: a wrong number would only make reading slow.
      for (place, entry) in tree.index.enumerated() {
        let inside = tree.index[(place + 1)...].prefix { $0.start < entry.contentEnd }.count
        #expect(entry.descendants == inside)
      }
    }
    // The same, broken off within the last thread: what is open then is indexed however short it is.
    expectSameAsNaive(Array(builder.bytes.prefix(builder.bytes.count - threshold / 2 - 3)))
    expectSameAsNaive(Array(builder.bytes.prefix(builder.bytes.count - 3)))
  }

  @Test("A dump of more than a megabyte reads alike with and without its index", arguments: [false, true])
  func large(_ smallRecords: Bool) {
    let parameters = SynthParameters(seed: 11).scaled(to: 1_200_000, smallRecords: smallRecords)
    let dump = SynthDump(parameters).bytes
    #expect(dump.count > 1 << 20)
    expectSameAsNaive(dump)
    expectSameAsNaive(Array(dump.prefix(dump.count - dump.count / 3)))
  }

  @Test("The index of hostile nesting is bounded by a part of the file's size")
  func boundedIndex() {
    var bytes: [UInt8] = [6, 3, 0x70, 0x17]
    for _ in 0..<200_000 { bytes += [1, 2] }
    bytes += [4, 7]
    withBytes(bytes) { span in
      let tree = DumpTree(parsing: span)
      #expect(tree.incomplete == nil)
      #expect(tree.index.count == 1)
      #expect(tree.flattened(span).count == 200_001)
    }
  }

  @Test("Duplicates are all listed, in the order of the file")
  func duplicates() {
    var builder = DumpBuilder()
    builder.root {
      $0.property(.pid, [1])
      $0.map(.pid) { $0.property(.pid, [1, 2]) }
      $0.array(.pid) { _ in }
      $0.property(.pid, [])
    }
    #expect(outline(builder.bytes) == "kPID:1 kPID{kPID:2} kPID[] kPID:0")
  }

  @Test("A field takes the last record, its kind and its exact size")
  func fields() throws {
    var builder = DumpBuilder()
    builder.root {
      $0.property(.pid, int32: -2)
      $0.property(.addressMask, uint64: 0x1122_3344_5566_7788)
      $0.property(.annotationType, [0x34, 0x12])
      $0.property(.version, [0xff])
      $0.map(.processInfo) { _ in }
      $0.array(.threads) { _ in }
    }
    withBytes(builder.bytes) { bytes in
      let tree = DumpTree(parsing: bytes)
      var fields: [UInt16: DumpField] = [:]
      var records = tree.records(of: tree.root)
      while let record = records.next(of: tree, in: bytes) {
        fields[record.key.rawValue, default: DumpField()].record = record
      }
      #expect(fields[4002]?.int32(in: bytes) == -2)
      #expect(fields[4002]?.uint32(in: bytes) == 0xffff_fffe)
      #expect(fields[4002]?.uint64(in: bytes) == nil)
      #expect(fields[4002]?.uint16(in: bytes) == nil)
      #expect(fields[5020]?.uint64(in: bytes) == 0x1122_3344_5566_7788)
      #expect(fields[5020]?.uint32(in: bytes) == nil)
      #expect(fields[5020]?.value(ofSize: 8)?.offset == 27)
      #expect(fields[5020]?.value(ofSize: 7) == nil)
      #expect(fields[3012]?.uint16(in: bytes) == 0x1234)
      #expect(fields[1]?.uint8(in: bytes) == 255)
      #expect(fields[1]?.bool(in: bytes) == true)
      #expect(fields[4000]?.map != nil)
      #expect(fields[4000]?.array == nil)
      #expect(fields[4000]?.value == nil)
      #expect(fields[6000]?.array?.isArray == true)
      #expect(fields[6000]?.map == nil)
      #expect(DumpField().value == nil)
      #expect(DumpField().uint8(in: bytes) == nil)
    }
  }
}
