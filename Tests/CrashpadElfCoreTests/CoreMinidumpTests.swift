// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpSynth
import CrashpadMinidump
import CrashpadSnapshot
import Testing

@Suite("Minidumps of cores")
struct CoreMinidumpTests {
  private func outline(_ context: CPUContext?, _ reading: Reading) -> [String] {
    guard let context else { return [] }
    var lines = context.generalRegisters.map { "\($0.name) \($0.value)" }
    switch context {
    case .arm64(let context): lines.append("\(reading.data(context.vectors) ?? []) \(context.fpsr) \(context.fpcr)")
    case .x86_64(let context): lines.append("\(reading.data(context.fxsave) ?? [])")
    case .named: break
    }
    return lines
  }

  @Test(
    "Core to snapshot to minidump to snapshot: nothing changes",
    arguments: SynthCore.Machine.allCases.filter { $0 != .loongarch64 },
    MemorySelection.allCases)
  func roundTrip(_ machine: SynthCore.Machine, _ selection: MemorySelection) throws {
    let core = Reading(core: SynthCore(machine, threads: 6).bytes)
    let dump = try core.minidump(selection)
    #expect(dump.findings.isEmpty, "\(dump.findings)")
    let (a, b) = (try #require(core.snapshot), try #require(dump.snapshot))
    #expect(b.system.operatingSystem == .linux)
    #expect(b.system.architecture == a.system.architecture)
    #expect([b.system.osMajor, b.system.osMinor, b.system.osBugfix] == [6, 1, 25])
    #expect(dump.text(b.system.osBuild) == core.text(a.system.osBuild))
    #expect(b.system.addressMask == a.system.addressMask)
    #expect(b.system.cpuCount == nil)
    #expect(b.processID == a.processID && b.parentProcessID == a.parentProcessID)
    #expect(b.startTime == nil && b.snapshotTime == nil)
    #expect(b.userTime?.seconds == 12 && b.systemTime?.seconds == 7)
    #expect(a.threads.map(\.id) == b.threads.map(\.id))
    #expect(a.threads.map { core.text($0.name) ?? "" } == b.threads.map { dump.text($0.name) ?? "" })
    #expect(a.threads.map(\.dataAddress) == b.threads.map(\.dataAddress))
    #expect(a.threads.map { outline($0.context, core) } == b.threads.map { outline($0.context, dump) })
    #expect(a.threads.map { $0.stack?.region.address } == b.threads.map { $0.stack?.region.address })
    #expect(
      a.threads.map { core.data($0.stack?.region.content) } == b.threads.map { dump.data($0.stack?.region.content) })
    #expect(a.modules.map { core.text($0.name) } == b.modules.map { dump.text($0.name) })
    #expect(a.modules.map(\.address) == b.modules.map(\.address))
    #expect(a.modules.map(\.size) == b.modules.map(\.size))
    #expect(a.modules.map { core.buildID($0) } == b.modules.map { dump.buildID($0) })
    let (x, y) = (try #require(a.exception), try #require(b.exception))
    #expect(x.kind == y.kind && x.threadID == y.threadID && x.code == y.code && x.info == y.info)
    #expect(x.address == y.address && x.codes == y.codes)
    #expect(outline(x.context, core) == outline(y.context, dump))
    #expect(core.text(a.linux?.commandLine) == dump.text(b.linux?.commandLine))
    #expect(core.text(a.linux?.environment) == dump.text(b.linux?.environment))
    #expect(core.text(a.linux?.maps) == dump.text(b.linux?.maps))
    #expect(core.text(a.linux?.processStatus) == dump.text(b.linux?.processStatus))
    #expect(core.data(a.linux?.auxiliaryVector) == dump.data(b.linux?.auxiliaryVector))
    for run in dump.memory { #expect(core.bytes(at: run.address, count: run.bytes.count) == run.bytes) }
    if selection == .all { #expect(dump.memory.map(\.address) == core.memory.map(\.address)) }
    if selection == .all { #expect(dump.memory.map(\.bytes) == core.memory.map(\.bytes)) }
  }

  @Test("No minidump is made of a processor that minidumps do not know")
  func unknownProcessor() throws {
    let core = Reading(core: SynthCore(.loongarch64).bytes)
    #expect(core.snapshot?.threads.count == 3)
    #expect(throws: MinidumpWriter.Failure.self) { try core.minidump(.stacks) }
  }

  @Test("A core's memory is reduced to stacks, what the crashed thread points to, and the vDSO")
  func stacks() throws {
    let synth = SynthCore(threads: 2)
    let core = Reading(core: synth.bytes)
    let dump = try core.minidump(.stacks)
    // rbx points into the heap, which is 256 bytes, to its byte 64.
    let heap: UInt64 = 0x5555_5556_4000
    #expect(dump.bytes(at: heap, count: 256) == core.bytes(at: heap, count: 256))
    let vdso = try #require(synth.segments.first { $0.address == 0x7fff_f7fc_1000 })
    #expect(dump.bytes(at: vdso.address, count: vdso.bytes.count) == vdso.bytes)
    let library = try #require(synth.modules.first { $0.path.hasSuffix("libexample.so.1") })
    #expect(dump.bytes(at: library.address, count: 4) == nil)
    #expect(dump.bytes.count < (try core.minidump(.all).bytes.count))
  }

  @Test(
    "The stack that a handler with its own stack interrupted is taken too",
    arguments: SynthCore.Machine.allCases.filter { $0 != .loongarch64 })
  func interruptedStack(_ machine: SynthCore.Machine) throws {
    var synth = SynthCore(machine, threads: 2)
    let interrupted: UInt64 = machine.isNarrow ? 0x6100_0000 : 0x6100_0000_0000
    var added = synth.segments[0]
    (added.address, added.size) = (interrupted, 8192)
    added.bytes = [UInt8](repeating: 0xa5, count: 8192)
    synth.segments.append(added)
    synth.segments.sort { $0.address < $1.address }
    // The kernel's `ucontext`: where the handler's stack is, its size, and the interrupted function's stack pointer.
    let pointer = synth.threads[1].stackPointer
    let index = try #require(synth.segments.lastIndex { $0.address <= pointer })
    let segment = synth.segments[index]
    let place = Int(pointer - segment.address) + 64
    try #require(place % 8 == 0 && place + 448 <= segment.bytes.count)
    for offset in stride(from: 0, to: 448, by: 8) {
      synth.segments[index].bytes.overwrite(0, width: 8, at: place + offset)
    }
    let width = machine.wordSize
    func set(_ offset: Int, _ value: UInt64) {
      synth.segments[index].bytes.overwrite(value, width: width, at: place + offset)
    }
    switch machine {
    case .x86_64:
      set(160, interrupted + 4096)
      // The segment of a program's code, as kernels saved it before they saved that of data.
      set(184, 0x33)
    case .aarch64: set(432, interrupted + 4096)
    case .arm: set(84, interrupted + 4096)
    case .riscv64: set(192, interrupted + 4096)
    case .ppc64le: set(240, interrupted + 4096)
    case .loongarch64: set(208, interrupted + 4096)
    case .i386:
      // Handlers may get registers alone: the stack pointer, the code segment, flags, the same again, the stack segment.
      for (offset, value) in [(28, interrupted + 4096), (60, 0x23), (64, 0x202), (72, 0x2b)] { set(offset, value) }
    }
    if machine != .i386 { set(2 * width, segment.address) }
    for (size, isTaken) in [(segment.size, true), (8, false)] {
      if machine == .i386 { set(68, interrupted + (isTaken ? 4096 : 8)) } else { set(4 * width, size) }
      let dump = try Reading(core: synth.bytes).minidump(.stacks)
      let expected = isTaken ? [UInt8](repeating: 0xa5, count: 4096 + 128) : nil
      #expect(dump.bytes(at: interrupted + 4096 - 128, count: 4096 + 128) == expected)
      #expect(dump.bytes(at: interrupted, count: 8) == nil)
    }
  }

  @Test("A module without build id has no CodeView record")
  func noIdentity() throws {
    let dump = try Reading(core: SynthCore().bytes).minidump()
    let modules = try #require(dump.snapshot?.modules)
    #expect(modules.map { $0.identity == nil } == [false, false, true, false, false])
    #expect(dump.codes.isEmpty)
  }

  @Test("Memory beyond 4 GiB is in Memory64List, without gaps, and the stacks in both lists")
  func wide() throws {
    let core = Reading(core: SynthCore(threads: 2).bytes)
    var snapshot = try #require(core.snapshot)
    // One piece of the input, over and over again.
    let bytes = [UInt8](repeating: 0x5a, count: 1 << 20)
    let start = core.bytes.count
    let input = core.bytes + bytes
    let regions = (0..<4200).map { index in
      MemoryRegion(
        address: 0x1_0000_0000 + UInt64(index) << 21, content: SnapshotBytes(inputOffset: start, count: bytes.count))
    }
    snapshot.extraMemory += regions
    let stacks = snapshot.threads.compactMap { $0.stack?.region }
    let head = HeadOutput(limit: 1 << 20)
    let plan = try withBytes(input) { input in
      var writer = ByteWriter(to: head)
      let plan = try MinidumpWriter(snapshot, input: input)
      plan.write(to: &writer, input)
      try writer.finish()
      return plan
    }
    #expect(plan.byteCount == head.count)
    #expect(plan.byteCount > 4200 << 20)
    func number(_ offset: Int, _ width: Int) -> Int { Int(head.bytes.little(at: offset, width: width) ?? 0) }
    #expect(number(24, 8) == 2)
    let streams = (0..<number(8, 4)).map { (number(32 + 12 * $0, 4), number(32 + 12 * $0 + 8, 4)) }
    let list = try #require(streams.first { $0.0 == 5 }?.1)
    #expect(number(list, 4) == stacks.count)
    let wide = try #require(streams.first { $0.0 == 9 }?.1)
    #expect(number(wide, 8) == snapshot.threads.count + coalesced(snapshot.extraMemory))
    var rva = number(wide + 8, 8)
    for (index, stack) in stacks.enumerated() {
      #expect(number(list + 4 + 16 * index + 12, 4) == rva)
      #expect(number(wide + 16 + 16 * index, 8) == Int(stack.address))
      #expect(Array(head.bytes[rva..<rva + stack.content.count]) == core.data(stack.content))
      rva += stack.content.count
    }
    let total = (0..<number(wide, 8)).reduce(0) { $0 + number(wide + 16 + 16 * $1 + 8, 8) }
    #expect(number(wide + 8, 8) + total == plan.byteCount)
  }

  /// How many runs that touch nothing.
  private func coalesced(_ regions: [MemoryRegion]) -> Int {
    let sorted = regions.sorted { $0.address < $1.address }
    return zip(sorted, sorted.dropFirst()).count { $0.end != $1.address } + 1
  }
}

/// Keeps the beginning, and counts the rest.
private final class HeadOutput: ByteOutput {
  private(set) var bytes: [UInt8] = []
  private(set) var count = 0
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  func write(_ more: RawSpan) {
    if bytes.count < limit {
      bytes += more.array(in: ByteRange(offset: 0, count: min(more.byteCount, limit - bytes.count)))
    }
    count += more.byteCount
  }
}
