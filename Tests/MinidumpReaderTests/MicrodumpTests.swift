// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadMinidump
import CrashpadSnapshot
import DumpSynth
import Testing

@Suite("MicrodumpReader")
struct MicrodumpTests {
  private struct Reading {
    let bytes: [UInt8]
    let snapshot: ProcessSnapshot?
    let findings: [Finding]
    let isRecognised: Bool

    init(_ bytes: [UInt8]) {
      self.bytes = bytes
      let result = withBytes(bytes) { MicrodumpReader.read($0) }
      snapshot = result.snapshot
      findings = Array(result.findings)
      isRecognised = withBytes(bytes) { MicrodumpReader.recognises($0) }
    }

    var codes: [String] { findings.map(\.rule.code) }

    func data(_ content: SnapshotBytes?) -> [UInt8]? {
      guard let content, let snapshot else { return nil }
      return withBytes(bytes) { snapshot.bytes(of: content, in: $0) }
    }
    func text(_ content: SnapshotBytes?) -> String? { data(content).map { String(decoding: $0, as: UTF8.self) } }
  }

  @Test("A microdump has the thread, the stack and the modules of its process", arguments: MinidumpProcessor.allCases)
  func whole(_ processor: MinidumpProcessor) throws {
    let dump = SynthMicrodump(processor)
    let reading = Reading(dump.bytes)
    #expect(reading.isRecognised && reading.codes == [])
    let snapshot = try #require(reading.snapshot)
    #expect(snapshot.processID == 4200 && snapshot.isComplete)
    #expect(snapshot.system.operatingSystem == .android && snapshot.system.cpuCount == 8)
    #expect(reading.text(snapshot.system.osBuild) == "vendor/phone/user:14/ABC.1")
    #expect(snapshot.annotations.map { reading.text($0.name) } == ["prod", "ver", "ptype"])
    #expect(snapshot.annotations.map { reading.text($0.value) } == ["Browser_Beta", "99.0.1.2", "renderer"])
    #expect(snapshot.modules.map(\.address) == dump.modules.map(\.base))
    #expect(snapshot.modules.map(\.size) == dump.modules.map { UInt64($0.size) })
    #expect(snapshot.modules.map(\.identity) == (0..<4).map { .uuid(UUIDBytes(high: 0, low: 0xa0 + $0), age: 0) })
    #expect(reading.text(snapshot.modules.first?.name) == "app_process64")
    let thread = try #require(snapshot.threads.first)
    let truth = dump.threads[0]
    #expect(snapshot.threads.count == 1 && thread.id == nil && snapshot.crashedThread == 0)
    #expect(thread.stack?.region.address == truth.stackAddress)
    #expect(reading.data(thread.stack?.region.content) == dump.stack)
    let context = try #require(thread.context)
    #expect(Dictionary(context) == TrueRegisters.of(truth, processor))
    if case .arm64(let registers) = context { #expect(reading.data(registers.vectors) == truth.vectors) }
    let exception = try #require(snapshot.exception)
    #expect(exception.kind == .linuxSignal && exception.code == 11 && exception.address == 0x10)
    #expect(!exception.isInfoKnown && exception.context != nil)
  }

  @Test(
    "Signals of MIPS, which have other numbers there, are known by the common ones",
    arguments: [(10, 7), (12, 31), (11, 11), (6, 6), (16, 10), (17, 12), (18, 17)] as [(UInt32, UInt32)])
  func signalsOfMIPS(number: UInt32, common: UInt32) throws {
    for processor in [MinidumpProcessor.mips, .mips64] {
      let log = Reading(SynthMicrodump(processor, signal: (number, "SIGBUS", 0x10)).bytes)
      #expect(log.snapshot?.exception?.code == common)
      let dump = Example.small(processor, .linux)
      let bytes = dump.writing(UInt64(number), width: 4, at: dump.value("exception.rva") + 8)
      let minidump = MinidumpReaderTests.Reading(bytes)
      #expect(minidump.snapshot?.exception?.code == common)
    }
    let other = Reading(SynthMicrodump(.arm, signal: (number, "SIGBUS", 0x10)).bytes)
    #expect(other.snapshot?.exception?.code == number)
  }

  @Test("Lines without the log's tag are read too, and those of other processes are not")
  func tags() throws {
    var plain = SynthMicrodump(.x86_64, .linux)
    plain.tag = ""
    let reading = Reading(plain.bytes)
    #expect(reading.codes == [] && reading.snapshot?.modules.count == 4)
    #expect(reading.snapshot?.system.operatingSystem == .linux && reading.snapshot?.processID == nil)
    let dump = SynthMicrodump(.arm64)
    let foreign = "W/google-breakpad( 9): M 0000 0000 1000 \(SynthMicrodump.identifier(9)) other.so\nplain text\n"
    let mixed = dump.lines.map { dump.tag + $0 + "\n" }.joined(separator: foreign)
    #expect(Reading(Array(mixed.utf8)).snapshot?.modules.count == 4)
  }

  @Test("A missing or damaged part gives a finding, and the rest is read")
  func faults() throws {
    let whole = SynthMicrodump(.arm64)
    func reading(_ change: (inout [String]) -> Void) -> Reading {
      var dump = whole
      change(&dump.lines)
      return Reading(dump.bytes)
    }
    let cut = reading { $0.removeLast(2) }
    #expect(cut.codes == ["microdump-cut"] && cut.snapshot?.isComplete == false && cut.snapshot?.modules.count == 3)
    let gap = reading { lines in lines.remove(at: lines.firstIndex { $0.hasPrefix("S 0000") }! + 1) }
    #expect(gap.codes == ["microdump-gap"] && gap.snapshot?.extraMemory.count == 1)
    let bad = reading { lines in lines[lines.firstIndex { $0.hasPrefix("M ") }!] += "" }
    #expect(bad.codes == [])
    let odd = reading { lines in lines[lines.firstIndex { $0.hasPrefix("M ") }!] = "M zz" }
    #expect(odd.codes == ["microdump-line"] && odd.snapshot?.modules.count == 3)
    let registers = reading { lines in lines[lines.firstIndex { $0.hasPrefix("C ") }!] = "C 0011" }
    #expect(registers.codes == ["microdump-registers"] && registers.snapshot?.threads[0].context == nil)
    let reason = reading { lines in lines.removeAll { $0.hasPrefix("R ") } }
    #expect(reason.codes == ["microdump-no-reason"] && reason.snapshot?.exception?.code == 0)
    #expect(reason.snapshot?.exception?.isInfoKnown == false)
    let several = reading { $0 += whole.lines }
    #expect(several.codes == ["microdump-several"] && several.snapshot?.modules.count == 4)
    #expect(Reading(Array("a log\n".utf8)).snapshot == nil)
    #expect(!Reading(Array("----- a log -----\n".utf8)).isRecognised)
  }

  @Test("Damaged lines do not trap")
  func sweep() {
    let bytes = SynthMicrodump(.x86_64, .linux, stackBytes: 256).bytes
    var random = SplitMix64(seed: Sweep.seed, area: 31)
    for _ in 0..<Sweep.count / 400 {
      var copy = bytes
      for _ in 0..<random.between(1, 6) { copy[random.below(copy.count)] = UInt8(random.below(256)) }
      if random.oneIn(4) { copy.removeLast(random.below(copy.count)) }
      _ = Reading(copy).snapshot
    }
  }
}
