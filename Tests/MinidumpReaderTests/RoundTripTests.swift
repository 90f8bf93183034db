// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpSynth
import CrashpadMinidump
import CrashpadSnapshot
import Testing

/// From an intermediate dump to a minidump and back. What a minidump can't carry:
///
/// - process: the parent's id; microseconds; a CPU time is rounded to seconds. No time reads as time 0;
/// - system: page size, use of memory, the processor's vendor; more than 255 processors; time zones that are no whole
///   number of minutes away from UTC;
/// - threads: the upper half of an id; that a stack was made from exception frames. No number reads as 0, a name that
///   is not there as an empty one, registers that are not there as zeros;
/// - modules: a size or a time of more than 32 bits; file types but programs and libraries (a bundle reads as a
///   library); a version 0; an identity of zeros;
/// - registers: dr4 and dr5; the upper halves of rflags and segments; vectors of zeros are zeros that are there;
/// - memory: which region came from where, as they are merged; regions that touch a stack; memory that only the
///   intermediate dump is meant to have.
@Suite("Round trip: dump, minidump, snapshot")
struct RoundTripTests {
  @Test("The tool's own minidumps have no findings", arguments: RoundTripCase.all)
  func findings(_ example: RoundTripCase) throws {
    let trip = try #require(example.trip)
    #expect(trip.reading.codes == [])
  }

  @Test("Process and annotations come back", arguments: RoundTripCase.all)
  func process(_ example: RoundTripCase) throws {
    let trip = try #require(example.trip)
    let (before, after) = (trip.original, try #require(trip.reading.snapshot))
    #expect(after.isComplete)
    #expect(after.processID == before.processID)
    #expect(after.startTime?.seconds == before.startTime?.seconds)
    #expect(after.snapshotTime?.seconds == before.snapshotTime?.seconds)
    #expect(after.userTime?.seconds == rounded(before.userTime))
    #expect(after.systemTime?.seconds == rounded(before.systemTime))
    #expect(after.reportID == RoundTripCase.reportID)
    #expect(after.clientID == RoundTripCase.clientID)
    #expect(trip.reading.texts(after.annotations) == trip.texts(before.annotations))
    #expect(after.annotations.count >= 2)
    #expect(after.linux == nil && after.unloadedModules.isEmpty && after.memoryMap.isEmpty)
  }

  private func rounded(_ time: Timestamp?) -> Int64? {
    time.map { $0.seconds + ($0.microseconds >= 500_000 ? 1 : 0) }
  }

  @Test("The system comes back", arguments: RoundTripCase.all)
  func system(_ example: RoundTripCase) throws {
    let trip = try #require(example.trip)
    let (before, after) = (trip.original.system, try #require(trip.reading.snapshot).system)
    #expect(after.architecture == before.architecture)
    #expect(after.operatingSystem == .ios)
    #expect(
      [after.osMajor, after.osMinor, after.osBugfix, after.cpuCount]
        == [before.osMajor, before.osMinor, before.osBugfix, before.cpuCount])
    #expect(trip.reading.text(after.osBuild) == trip.text(before.osBuild))
    #expect(trip.reading.text(after.machine) == trip.text(before.machine))
    #expect(after.addressMask == before.addressMask)
    #expect(after.crashpadUptime == before.crashpadUptime)
    #expect(after.timeZone.daylightSaving == before.timeZone.daylightSaving)
    #expect(after.timeZone.standardOffset == before.timeZone.standardOffset)
    #expect(after.timeZone.daylightOffset == before.timeZone.daylightOffset)
    #expect(trip.reading.text(after.timeZone.standardName) == trip.text(before.timeZone.standardName))
    #expect(trip.reading.text(after.timeZone.daylightName) == trip.text(before.timeZone.daylightName))
  }

  @Test("Threads come back with names, numbers, registers and stacks", arguments: RoundTripCase.all)
  func threads(_ example: RoundTripCase) throws {
    let trip = try #require(example.trip)
    let after = try #require(trip.reading.snapshot).threads
    #expect(after.count == trip.original.threads.count)
    for (before, after) in zip(trip.original.threads, after) {
      #expect(after.id == before.id)
      #expect(trip.reading.text(after.name) == trip.text(before.name))
      #expect(after.suspendCount == before.suspendCount ?? 0)
      #expect(after.priority == before.priority ?? 0)
      #expect(after.dataAddress == before.dataAddress ?? 0)
      #expect(after.stack?.region.address == before.stack?.region.address)
      #expect(trip.reading.data(after.stack?.region.content) == trip.data(before.stack?.region.content))
      check(after.context, before.context, trip)
    }
  }

  private func check(_ after: CPUContext?, _ before: CPUContext?, _ trip: RoundTrip) {
    guard let before else {
      #expect(after?.generalRegisters.allSatisfy { $0.value == 0 } == true)
      return
    }
    #expect(after?.generalRegisters == before.generalRegisters)
    let zeros = [UInt8](repeating: 0, count: 512)
    switch (before, after) {
    case (.arm64(let before), .arm64(let after)):
      #expect(after.fpsr == before.fpsr && after.fpcr == before.fpcr)
      #expect(trip.reading.data(after.vectors) == (before.vectors.isEmpty ? zeros : trip.data(before.vectors)))
    case (.x86_64(let before), .x86_64(let after)):
      #expect(trip.reading.data(after.fxsave) == (before.fxsave.isEmpty ? zeros : trip.data(before.fxsave)))
      for register in [0, 1, 2, 3, 6, 7] { #expect(after.dr[register] == before.dr[register]) }
    default: Issue.record("other registers: \(String(describing: after))")
    }
  }

  @Test("The exception comes back, of the same kind", arguments: RoundTripCase.all)
  func exception(_ example: RoundTripCase) throws {
    let trip = try #require(example.trip)
    let after = try #require(trip.reading.snapshot).exception
    guard let before = trip.original.exception else {
      #expect(after == nil)
      #expect(example.dump.parameters.exception == .none)
      return
    }
    #expect(after?.kind == before.kind)
    #expect(after?.threadID == before.threadID)
    #expect(after?.code == before.code)
    #expect(after?.info == before.info)
    #expect(after?.address == before.address)
    #expect(after?.codes == before.codes)
    check(after?.context, before.context, trip)
  }

  @Test("Modules come back with identity, versions and annotations", arguments: RoundTripCase.all)
  func modules(_ example: RoundTripCase) throws {
    let trip = try #require(example.trip)
    let after = try #require(trip.reading.snapshot).modules
    #expect(after.count == trip.original.modules.count)
    for (before, after) in zip(trip.original.modules, after) {
      #expect(trip.reading.text(after.name) == trip.text(before.name))
      #expect(trip.reading.text(after.debugName) == trip.text(before.debugName))
      #expect(after.address == before.address)
      #expect(after.size == before.size)
      #expect(after.timestamp == before.timestamp ?? 0)
      #expect(after.dylibVersion == before.dylibVersion)
      #expect(after.sourceVersion == before.sourceVersion)
      #expect(after.identity == before.identity)
      #expect(after.fileType == (before.fileType == .dynamicLoader ? nil : before.fileType))
      #expect(after.messages.map { trip.reading.text($0) } == before.messages.map { trip.text($0) })
      #expect(trip.reading.texts(after.simpleAnnotations) == trip.texts(before.simpleAnnotations))
      #expect(after.annotationObjects.map(\.type) == before.annotationObjects.map(\.type))
      #expect(
        after.annotationObjects.map { trip.reading.data($0.name) }
          == before.annotationObjects.map { trip.data($0.name) })
      #expect(
        after.annotationObjects.map { trip.reading.data($0.value) }
          == before.annotationObjects.map { trip.data($0.value) })
    }
  }

  @Test("Every captured byte comes back at its address", arguments: RoundTripCase.all)
  func memory(_ example: RoundTripCase) throws {
    let trip = try #require(example.trip)
    let after = try #require(trip.reading.snapshot)
    let stacks = after.threads.compactMap { $0.stack?.region }
    for region in after.extraMemory {
      let truth = example.dump.memory.bytes(at: region.address, count: region.content.count)
      #expect(trip.reading.data(region.content) == truth, "at \(region.address)")
    }
    #expect(after.extraMemory.map(\.address) == after.extraMemory.map(\.address).sorted())
    for region in trip.original.extraMemory where !region.content.isEmpty {
      let end = try #require(region.end)
      let isKept = (after.extraMemory + stacks).contains { $0.address <= region.address && end <= $0.end ?? .max }
      let touchesStack = stacks.contains { $0.address <= end && region.address <= $0.end ?? .max }
      #expect(isKept || touchesStack, "at \(region.address)")
    }
  }
}
