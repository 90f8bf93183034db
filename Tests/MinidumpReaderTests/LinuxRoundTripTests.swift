// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadCore
import DumpSynth
import CrashpadFiles
import CrashpadMinidump
import CrashpadSnapshot
import Testing

/// From an intermediate dump of a Linux process to a Linux minidump and back. What that can't carry: see `RoundTripTests`; and
/// time zones, as no handler writes them on Linux, and how a thread was captured.
@Suite("Round trip: Linux dump, minidump, snapshot")
struct LinuxRoundTripTests {
  @Test("Process, system and texts come back", arguments: SynthArchitecture.allCases)
  func process(_ architecture: SynthArchitecture) throws {
    var dump = SynthLinuxDump(architecture, threads: 3)
    dump.captureNotes = ["thread 4243: it blocks every signal"]
    let trip = try RoundTrip(dump.bytes)
    #expect(trip.reading.codes == [])
    let (before, after) = (trip.original, try #require(trip.reading.snapshot))
    #expect(after.system.operatingSystem == .linux && after.system.architecture == before.system.architecture)
    #expect(trip.reading.bytes.little(at: trip.platformPlace, width: 4) == 0x8201)
    #expect(
      [after.system.osMajor, after.system.osMinor, after.system.osBugfix, after.system.cpuCount] == [6, 1, 55, 8])
    #expect(trip.reading.text(after.system.osBuild) == dump.uname)
    #expect(after.system.addressMask == before.system.addressMask ?? 0)
    #expect(after.processID == 4242 && after.parentProcessID == 4000)
    #expect(after.startTime?.seconds == SynthLinuxDump.startSeconds)
    #expect(after.snapshotTime?.seconds == SynthLinuxDump.snapshotSeconds)
    #expect(after.userTime?.seconds == 12 && after.systemTime?.seconds == 7)
    #expect(trip.reading.texts(after.annotations) == trip.texts(before.annotations))
    #expect(after.annotations.count == 5)
    let (texts, copies) = (try #require(before.linux), try #require(after.linux))
    for text in [
      \LinuxSnapshot.cpuInfo, \.processStatus, \.release, \.commandLine, \.environment, \.auxiliaryVector, \.maps,
    ] {
      #expect(trip.reading.data(copies[keyPath: text]) == trip.data(texts[keyPath: text]))
      #expect(copies[keyPath: text] != nil)
    }
  }

  @Test("The exception has Breakpad's form", arguments: [(11, 1), (7, 2), (-1, 0)] as [(Int32, Int32)])
  func exception(_ number: Int32, _ code: Int32) throws {
    var dump = SynthLinuxDump()
    dump.signal = (number, code, 0x1234)
    let trip = try RoundTrip(dump.bytes)
    let exception = try #require(trip.reading.snapshot?.exception)
    #expect(exception.kind == .linuxSignal)
    #expect(exception.code == UInt32(bitPattern: number) && exception.info == UInt32(bitPattern: code))
    #expect(exception.address == 0x1234 && exception.codes == [])
    #expect(exception.threadID == dump.threads[0].id)
    #expect(exception.context?.instructionPointer == dump.threads[0].registers.pc)
  }

  /// Signals of all three forms: with the sender in place of an address, among the parameters, and with other parameters.
  @Test(
    "The sender of a signal comes back, from where Crashpad writes it",
    arguments: [6, 11, 15, 29, 31] as [Int32], [0, -1, -6] as [Int32])
  func sender(_ number: Int32, _ code: Int32) throws {
    for (process, isItself) in [(77 as UInt64, false), (UInt64(SynthLinuxDump().pid), true)] {
      var dump = SynthLinuxDump()
      dump.signal = (number, code, process | 1000 << 32)
      let trip = try RoundTrip(dump.bytes)
      let sender = SignalSender(processID: UInt32(process), userID: 1000, isItself: isItself)
      #expect(trip.original.exception?.sender == sender)
      #expect(trip.original.exception?.address == 0)
      let exception = try #require(trip.reading.snapshot?.exception)
      #expect(exception.address == 0 && exception.isOfItself == isItself)
      #expect(exception.sender == sender)
      let word = process | 1000 << 32
      #expect(exception.codes == (number == 29 ? [word, 0] : [process, 1000, 0]))
    }
  }

  @Test("A si_code of 0 counts for a thread's signal only with parameters, as Breakpad leaves it out")
  func missingCode() throws {
    for number in [4, 5, 6, 7, 8, 11, 31, 15] as [Int32] {
      var dump = SynthLinuxDump()
      dump.signal = (number, 0, 0)
      var bytes = try RoundTrip(dump.bytes).reading.bytes
      #expect(Reading(bytes).snapshot?.exception?.isInfoKnown == true, "\(number), of Crashpad's form")
      let (start, count) = (
        Int(try #require(bytes.little(at: 12, width: 4))), try #require(bytes.little(at: 8, width: 4))
      )
      for place in stride(from: start, to: start + 12 * Int(count), by: 12)
      where bytes.little(at: place, width: 4) == 0x4350_0001 {
        bytes.replaceSubrange(place..<(place + 4), with: [0, 0, 0, 0])
      }
      #expect(Reading(bytes).snapshot?.exception?.sending == .kill, "\(number), as a core file is converted")
      let stream = try #require(Self.stream(6, start, Int(count), bytes))
      bytes.replaceSubrange((stream + 32)..<(stream + 36), with: [0, 0, 0, 0])
      let exception = try #require(Reading(bytes).snapshot?.exception)
      #expect(exception.isInfoKnown == (number == 15), "\(number)")
      #expect((exception.sending == nil) == (number != 15), "\(number)")
    }
  }

  /// The offset of a stream.
  private static func stream(_ type: UInt64, _ start: Int, _ count: Int, _ bytes: [UInt8]) -> Int? {
    (0..<count).map { start + 12 * $0 }.first { bytes.little(at: $0, width: 4) == type }
      .flatMap { bytes.little(at: $0 + 8, width: 4) }.map { Int($0) }
  }

  @Test("Threads come back with names, registers and stacks", arguments: SynthArchitecture.allCases)
  func threads(_ architecture: SynthArchitecture) throws {
    var dump = SynthLinuxDump(architecture, threads: 4)
    dump.threads[2].capture = 4
    dump.threads[3].capture = 5
    let trip = try RoundTrip(dump.bytes)
    let threads = try #require(trip.reading.snapshot).threads
    #expect(threads.map(\.id) == dump.threads.map { Optional($0.id) })
    #expect(threads.map { trip.reading.text($0.name) } == dump.threads.map { Optional($0.name) })
    #expect(threads.map(\.dataAddress) == dump.threads.map { Optional($0.dataAddress) })
    let known = dump.threads.map { $0.capture == 5 ? 0 : $0.registers.pc }
    #expect(threads.map(\.context?.instructionPointer) == known.map(Optional.init))
    for (thread, truth) in zip(threads, dump.threads.prefix(3)) {
      #expect(trip.reading.data(thread.stack?.region.content) == truth.stack)
      #expect(thread.context?.stackPointer == truth.registers.sp)
    }
    #expect(threads[3].stack == nil)
  }

  @Test("Modules come back with build ids as Breakpad writes them, and with versions")
  func modules() throws {
    let dump = SynthLinuxDump()
    let trip = try RoundTrip(dump.bytes)
    let modules = try #require(trip.reading.snapshot).modules
    #expect(modules.map { trip.reading.text($0.name) } == dump.modules.map { Optional($0.path) })
    for (module, truth) in zip(modules, dump.modules) {
      #expect(module.address == truth.address && module.size == truth.size)
      let version = truth.version.map { "\($0 >> 16).\($0 >> 8 & 0xff).\($0 & 0xff).0" }
      #expect(module.dylibVersion == nil && module.fileVersion?.text == version)
      if case .buildID(let id)? = module.identity {
        #expect(trip.reading.data(id) == truth.buildID)
        // "BpEL" stands before it.
        #expect(trip.reading.bytes.little(at: id.offset - 4, width: 4) == 0x4270_454c)
      } else {
        #expect(module.identity == nil && truth.buildID == nil)
      }
      let messages = [truth.message1, truth.message2].compactMap { $0 }
      #expect(module.messages.map { trip.reading.text($0) } == messages.map(Optional.init))
      #expect(module.annotationObjects.map { trip.reading.data($0.value) } == truth.objects.map { Optional($0.value) })
    }
    #expect(modules[0].fileType == .executable)
  }

  @Test("Extra memory comes back")
  func memory() throws {
    let dump = SynthLinuxDump()
    let trip = try RoundTrip(dump.bytes)
    let memory = try #require(trip.reading.snapshot).extraMemory.map { trip.reading.region($0) }
    #expect(memory == [Region(address: dump.extraMemory.address, bytes: dump.extraMemory.bytes)])
  }

  // MARK: Validation

  private func findings(_ bytes: [UInt8]) throws -> [Finding] {
    Array(Validation().validate(try DumpInput(InputFile(bytes: bytes))))
  }

  @Test("A whole dump is valid, and so is its minidump", arguments: SynthArchitecture.allCases)
  func valid(_ architecture: SynthArchitecture) throws {
    var dump = SynthLinuxDump(architecture, threads: 3)
    dump.modules.removeAll { $0.buildID == nil }
    #expect(try findings(dump.bytes) == [])
    #expect(try findings(RoundTrip(dump.bytes).reading.bytes) == [])
  }

  @Test("A value that is missing because it could not be captured is no more than a note")
  func notes() throws {
    var dump = SynthLinuxDump(threads: 4)
    dump.threads[2].capture = 4
    dump.threads[3].capture = 5
    dump.captureNotes = ["thread 4245: it blocks every signal"]
    dump.release = nil
    let findings = try findings(dump.bytes)
    #expect(
      Set(findings.map(\.rule.code)) == [
        "capture-incomplete", "partial-registers", "thread-not-stopped", "module-without-identity",
      ])
    #expect(findings.allSatisfy { $0.severity == .note })
  }

  @Test("A thread that was stopped must have its registers")
  func missingStates() throws {
    var dump = SynthLinuxDump(threads: 2)
    dump.threads[1].capture = 5
    // The number of a thread that was stopped by a signal, without the registers of one.
    var bytes = dump.bytes
    let capture = try #require(DumpRecords.walk(bytes).records.last { $0.key == 60200 }?.value)
    bytes.overwrite(2, width: 4, at: capture.lowerBound)
    let codes = try findings(bytes).map(\.rule.code)
    #expect(codes.contains("no-registers") && codes.contains("missing-expected"))
  }
}

extension RoundTrip {
  /// The offset of the platform's number in SystemInfo.
  fileprivate var platformPlace: Int { (reading.streams.first { $0.type == .systemInfo }?.range.offset ?? 0) + 20 }
}
