// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpInterpretation
import DumpSynth
import CrashpadMinidump
import CrashpadSnapshot
import Testing

@Suite("Round trip: edges")
struct RoundTripEdgeTests {
  private func dump(_ change: (inout SynthParameters) -> Void = { _ in }) -> SynthDump {
    var parameters = SynthParameters.tiny()
    parameters.threadCount = 3
    change(&parameters)
    return SynthDump(parameters)
  }

  @Test("The least dump comes back", arguments: SynthArchitecture.allCases)
  func tiny(_ architecture: SynthArchitecture) throws {
    let trip = try RoundTrip(SynthDump(.tiny(architecture: architecture)).bytes)
    #expect(trip.reading.codes == [])
    #expect(trip.reading.snapshot?.threads.count == 1)
    #expect(trip.reading.snapshot?.modules.count == 1)
  }

  @Test("An incomplete dump is still known for it")
  func incomplete() throws {
    let bytes = dump().bytes
    let trip = try RoundTrip(Array(bytes.prefix(bytes.count - 3)))
    #expect(trip.original.isComplete == false)
    #expect(trip.reading.snapshot?.isComplete == false)
    #expect(trip.reading.codes == [])
  }

  @Test("Thread ids that differ above 32 bits become numbers; the exception keeps its thread")
  func collidingIDs() throws {
    let dump = dump { $0.crashedThread = 1 }
    var bytes = dump.bytes
    // The third thread's id becomes that of the second, with a bit above.
    for record in DumpRecords.walk(bytes).records where record.key == DumpKey.threadID.rawValue {
      guard let value = record.value, bytes.little(at: value.lowerBound, width: 8) == dump.threads[2].id else {
        continue
      }
      bytes.overwrite(dump.threads[1].id | 1 << 40, width: 8, at: value.lowerBound)
    }
    let trip = try RoundTrip(bytes)
    #expect(trip.original.threads.map(\.id) == [dump.threads[0].id, dump.threads[1].id, dump.threads[1].id | 1 << 40])
    let after = try #require(trip.reading.snapshot)
    #expect(after.threads.map(\.id) == [0, 1, 2])
    #expect(after.exception?.threadID == 1)
    #expect(after.threads.map { trip.reading.text($0.name) } == trip.original.threads.map { trip.text($0.name) })
  }

  @Test("A stack made from exception frames is read as a stack at address 0")
  func syntheticStack() throws {
    let trip = try RoundTrip(dump { $0.exception = .nsException(frames: 20) }.bytes)
    let (before, after) = (trip.original.threads[0].stack, trip.reading.snapshot?.threads[0].stack)
    #expect(before?.isSynthetic == true)
    #expect(after?.isSynthetic == false)
    #expect(after?.region.address == 0)
    #expect(trip.reading.data(after?.region.content) == trip.data(before?.region.content))
  }

  @Test("Names that are no UTF-8 come back with U+FFFD; annotations come back byte for byte")
  func illFormedText() throws {
    let dump = dump {
      $0.annotatedModules = 1
      $0.processAnnotations = 2
      $0.threadNames = ["zw\u{1f37a}ei", "x"]
    }
    var bytes = dump.bytes
    let name = try #require(Damage.first(.threadName, in: bytes)?.value)
    bytes[name.lowerBound] = 0xff
    let annotation = try #require(Damage.first(.annotationValue, in: bytes)?.value)
    bytes[annotation.lowerBound] = 0xc3
    let trip = try RoundTrip(bytes)
    let after = try #require(trip.reading.snapshot)
    #expect(trip.reading.codes == [])
    #expect(trip.reading.text(after.threads[0].name) == "\u{fffd}w\u{1f37a}ei")
    #expect(
      after.annotations.map { trip.reading.data($0.value) } == trip.original.annotations.map { trip.data($0.value) })
  }

  @Test("A minidump of many small regions is read to its end")
  func manyRegions() throws {
    var parameters = SynthParameters.tiny()
    parameters.contextRegionsPerThread = 120_000
    parameters.contextRegionBytes = 16
    let trip = try RoundTrip(SynthDump(parameters).bytes)
    let written = trip.reading.streams.first { $0.type == .memoryList }
    let after = try #require(trip.reading.snapshot)
    #expect(trip.reading.errors == [])
    #expect(1 + after.extraMemory.count == ((written?.range.count ?? 0) - 4) / 16)
  }

  @Test("A full dump of many small ranges is read to its end")
  func manyRanges() {
    var parameters = SynthMinidumpParameters(.x86_64, .windows)
    parameters.usesMemory64 = true
    parameters.memoryRegions = 150_000
    parameters.memoryRegionBytes = 16
    let reading = Reading(SynthMinidump(parameters).bytes)
    #expect(reading.errors == [])
    #expect(reading.snapshot?.extraMemory.count == 150_004)
  }
}
