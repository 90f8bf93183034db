// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpSynth
import CrashpadMeaning
import CrashpadMinidump
import CrashpadSnapshot
import Testing

@Suite("MinidumpReader: threads and exception")
struct ThreadTruthTests {
  @Test("A legal layout has no findings; odd offsets are noted", arguments: Layout.allCases)
  func findings(_ layout: Layout) {
    for example in layout.examples {
      #expect(Set(example.reading.codes) == (layout == .odd ? ["misaligned"] : []), "\(example)")
      #expect(example.reading.list.count(of: .error) == 0, "\(example)")
    }
  }

  @Test("The streams are those of the directory, in its order", arguments: Layout.allCases)
  func streams(_ layout: Layout) {
    for example in layout.examples {
      let expected = example.dump.streams.map { "\($0.stream.rawValue) \($0.range.lowerBound) \($0.range.count)" }
      let found = example.reading.streams.map { "\($0.type.rawValue) \($0.range.offset) \($0.range.count)" }
      #expect(found == expected, "\(example)")
    }
  }

  @Test("A minidump whose exception can't be read may be of a crash")
  func lostException() throws {
    let whole = Example.small(.x86_64, .linux)
    #expect(Reading(whole.bytes).snapshot?.hasLostException == false)
    let end = UInt64(whole.bytes.count)
    for bytes in [
      whole.setting("exception.rva", to: end), whole.setting("exception.size", to: 8),
      whole.setting("header.streams.count", to: 5000),
    ] {
      let snapshot = try #require(Reading(bytes).snapshot)
      #expect(snapshot.hasLostException == (snapshot.exception == nil))
    }
    #expect(Reading(whole.setting("exception.rva", to: end)).snapshot?.hasLostException == true)
  }

  @Test("Threads have their ids, names, priorities and stacks", arguments: Layout.allCases)
  func threads(_ layout: Layout) throws {
    for example in layout.examples {
      let reading = example.reading
      let threads = try #require(reading.snapshot).threads
      let truth = example.dump.threads
      #expect(threads.map(\.id) == truth.map { UInt64($0.id) }, "\(example)")
      #expect(threads.map(\.priority) == truth.indices.map { Int32(8 + $0) })
      #expect(threads.allSatisfy { $0.suspendCount == 0 })
      #expect(threads.map(\.dataAddress) == truth.map { $0.stackAddress &- 0x1000 })
      #expect(
        threads.map { reading.text($0.name) } == truth.map { layout == .unnamed ? nil : $0.name }, "\(example)")
      #expect(threads.allSatisfy { $0.stack?.isSynthetic != true })
      if layout == .memory64 {
        #expect(threads.allSatisfy { $0.stack == nil }, "\(example)")
      } else {
        let stacks = threads.map { $0.stack.map { reading.region($0.region) } }
        #expect(stacks == truth.map { region($0.stackAddress, $0.stackBytes, example) }, "\(example)")
      }
    }
  }

  @Test("A stack without a place in the file is taken from the memory list, and is never the file's header")
  func unplacedStacks() throws {
    let whole = Example.small(.x86_64, .linux)
    let stacks = try #require(Reading(whole.bytes).snapshot).threads.map { $0.stack?.region }
    let unplaced = whole.setting("threadList[0].stack.rva", to: 0)
    let reading = Reading(unplaced)
    #expect(try #require(reading.snapshot).threads.map { $0.stack?.region } == stacks)
    #expect(reading.codes.isEmpty)
    // The description is longer than what was captured.
    let place = whole.field("threadList[0].stack.rva").offset - 12
    var longer = unplaced
    longer.overwrite(UInt64(try #require(stacks[0]).content.count + 4096), width: 4, at: place + 8)
    #expect(try #require(Reading(longer).snapshot).threads[0].stack?.region == stacks[0])
    // No list of memory has it.
    var elsewhere = unplaced
    elsewhere.overwrite(0x10, width: 8, at: place)
    #expect(try #require(Reading(elsewhere).snapshot).threads[0].stack == nil)
    #expect(Reading(elsewhere).codes == ["memory-missing"])
  }

  @Test("Registers are those of the processor's own record", arguments: Layout.allCases)
  func registers(_ layout: Layout) throws {
    for example in layout.examples {
      let processor = example.dump.parameters.processor
      let threads = try #require(example.reading.snapshot).threads
      for (thread, truth) in zip(threads, example.dump.threads) {
        let context = try #require(thread.context, "\(example)")
        #expect(Dictionary(context) == TrueRegisters.of(truth, processor), "\(example)")
        let mask: UInt64 = [.x86, .arm, .mips].contains(processor) ? 0xffff_ffff : .max
        #expect(context.instructionPointer == truth.pc & mask)
        #expect(context.stackPointer == truth.sp & mask)
        checkVectors(context, truth, example.reading)
      }
    }
  }

  private func checkVectors(_ context: CPUContext, _ truth: MinidumpThreadTruth, _ reading: Reading) {
    switch context {
    case .arm64(let context):
      #expect(reading.data(context.vectors) == truth.vectors)
      #expect(context.fpsr == 0x10)
      #expect(context.fpcr == 0)
    case .x86_64(let context):
      let image = reading.data(context.fxsave) ?? []
      #expect(image.count == 512)
      #expect(Array(image.prefix(2)) == [0x7f, 0x03])
      #expect(image.count == 512 && Array(image[160..<416]) == Array(truth.vectors.prefix(256)))
      #expect((0..<8).map { context.dr[$0] } == [0, 0, 0, 0, 0, 0, 0xffff_0ff0, 0x400])
    case .named: break
    }
  }

  @Test("The exception has kind, code, address, parameters and registers", arguments: Layout.allCases)
  func exception(_ layout: Layout) throws {
    for example in layout.examples {
      let snapshot = try #require(example.reading.snapshot)
      if layout == .unnamed {
        #expect(snapshot.exception == nil)
        continue
      }
      let exception = try #require(snapshot.exception, "\(example)")
      let truth = try #require(example.dump.threads.first)
      let kind: ExceptionSnapshot.Kind =
        switch example.dump.parameters.system {
        case .windows: .windows
        case .macos, .ios: .mach
        case .linux, .android: .linuxSignal
        }
      #expect(exception.kind == kind, "\(example)")
      #expect(exception.threadID == UInt64(truth.id))
      #expect(exception.code == example.dump.exceptionCode)
      #expect(exception.address == example.dump.accessedAddress)
      #expect(exception.info == (kind == .windows ? 0 : 1))
      #expect(exception.codes == (kind == .windows ? [0, 0x10] : []))
      let context = try #require(exception.context)
      #expect(Dictionary(context) == TrueRegisters.of(truth, example.dump.parameters.processor), "\(example)")
    }
  }

  /// A dump with another exception.
  private func exception(
    _ dump: SynthMinidump, _ code: UInt32, at address: UInt64, _ parameters: [UInt64]
  ) throws -> ExceptionSnapshot {
    let start = dump.value("exception.rva")
    var bytes = dump.writing(UInt64(code), width: 4, at: start + 8)
    bytes.overwrite(address, width: 8, at: start + 24)
    bytes.overwrite(UInt64(parameters.count), width: 4, at: start + 32)
    for (index, value) in parameters.enumerated() { bytes.overwrite(value, width: 8, at: start + 40 + 8 * index) }
    return try #require(Reading(bytes).snapshot?.exception)
  }

  @Test("The address of an access on Windows is the second parameter; of other exceptions it is the instruction")
  func accessedAddress() throws {
    let dump = Example.small(.x86_64, .windows)
    func address(_ code: UInt32, _ parameters: [UInt64]) throws -> UInt64 {
      try exception(dump, code, at: 0x1400_1000, parameters).address
    }
    #expect(try address(0xc000_0005, [1, 0x45]) == 0x45)
    #expect(try address(0xc000_0006, [0, 0x7000_0000, 0xc000_0185]) == 0x7000_0000)
    #expect(try address(0xc000_0005, [1]) == 0x1400_1000)
    #expect(try address(0xe06d_7363, [0x1993_0520, 0x10, 0x20]) == 0x1400_1000)
  }

  @Test("Addresses of 32-bit processes lose the extension of their sign; codes of Mach keep all bits")
  func narrowAddresses() throws {
    let extended: UInt64 = 0xffff_ffff_0000_0045
    let windows = try exception(Example.small(.x86, .windows), 0xc000_0005, at: extended, [0, extended])
    #expect(windows.address == 0x45 && windows.codes == [0, 0x45])
    #expect(try exception(Example.small(.arm, .android), 11, at: extended, []).address == 0x45)
    let mach = try exception(Example.small(.x86, .macos), 11, at: extended, [11, extended])
    #expect(mach.address == 0x45 && mach.codes == [11, extended])
    #expect(try exception(Example.small(.x86_64, .windows), 0x8000_0003, at: extended, []).address == extended)
  }

  @Test("A Mach exception of Crashpad's that came of a signal alone is EXC_CRASH")
  func signalAlone() throws {
    let dump = Example.small(.x86_64, .macos)
    func described(_ code: UInt32, _ parameters: [UInt64]) throws -> String {
      let system = try #require(Reading(dump.bytes).snapshot).system
      return try ExceptionDescription(exception(dump, code, at: 0x1000, parameters), system).title
    }
    #expect(try described(0, [10, 0x600_0000, 0]) == "EXC_CRASH (SIGABRT)")
    #expect(try described(0, [10, 0xb00_0000, 0]) == "EXC_CRASH (SIGSEGV)")
    #expect(try exception(dump, 0, at: 0x1000, [10, 0x600_0000, 0]).codes == [10, 0x600_0000, 0])
    // The exception that the crash came of, and records of other writers.
    #expect(try exception(dump, 1, at: 0x10, [10, 0xb10_0001, 0x10]).code == 1)
    #expect(try exception(dump, 0, at: 0x1000, [0, 10]).code == 0)
    #expect(try exception(Example.small(.x86_64, .windows), 0, at: 0x1000, [10, 0x600_0000, 0]).code == 0)
  }

  @Test("A thread that stopped without a signal was sent none, and keeps its address")
  func noSignal() throws {
    let exception = try exception(Example.small(.x86_64, .linux), 0, at: 0x40_0582, [])
    #expect(exception.sender == nil && exception.sending == nil && !exception.isInfoKnown)
    #expect(exception.address == 0x40_0582)
  }

  @Test("Without SystemInfo the registers say which processor it is", arguments: MinidumpProcessor.allCases)
  func guessedArchitecture(_ processor: MinidumpProcessor) throws {
    let streams: [MinidumpStream] = [.threadList, .exception, .moduleList, .memoryList]
    let dump = Example.small(processor, .linux) { $0.streams = streams }
    let snapshot = try #require(Reading(dump.bytes).snapshot)
    let architecture: CPUArchitecture =
      switch processor {
      case .arm64, .arm64Old: .arm64
      case .x86_64: .x86_64
      case .x86: .x86
      case .arm: .arm
      case .riscv64: .riscv64
      case .ppc64: .ppc64
      case .mips: .mips
      case .mips64: .mips64
      }
    #expect(snapshot.system.architecture == architecture)
    #expect(snapshot.threads.allSatisfy { $0.context != nil } && snapshot.exception?.context != nil)
    // A processor that the file names, and no reader here knows, is not guessed.
    let whole = Example.small(processor, .linux)
    let other = Reading(whole.writing(77, width: 2, at: whole.value("systemInfo.rva")))
    #expect(other.snapshot?.system.architecture == .unknown)
  }

  @Test("A record with extended state behind it is read")
  func extendedState() throws {
    let dump = Example.small(.x86_64, .windows)
    let reading = Reading(dump.setting("threadList[0].context.size", to: 1232 + 64))
    #expect(reading.codes == [])
    #expect(reading.snapshot?.threads.first?.context?.instructionPointer == dump.threads.first?.pc)
  }

  @Test("Without registers a thread has none, and nothing is found")
  func noContext() {
    let reading = Reading(Example.small(.arm64, .ios).setting("threadList[1].context.size", to: 0))
    #expect(reading.codes == [])
    #expect(reading.snapshot?.threads.map { $0.context == nil } == [false, true])
  }

  private func region(_ address: UInt64, _ count: Int, _ example: Example) -> Region {
    Region(address: address, bytes: example.dump.memory.bytes(at: address, count: count))
  }
}

extension [String: UInt64] {
  init(_ context: CPUContext) {
    self.init(uniqueKeysWithValues: context.generalRegisters.map { ($0.name, $0.value) })
  }
}

/// Registers of a synthetic thread by their names.
enum TrueRegisters {
  private static func row(_ prefix: String, _ numbers: ClosedRange<Int>) -> [String] {
    numbers.map { "\(prefix)\($0)" }
  }

  static func of(_ thread: MinidumpThreadTruth, _ processor: MinidumpProcessor) -> [String: UInt64] {
    let g = thread.general
    var registers: [String: UInt64] = [:]
    switch processor {
    case .arm64, .arm64Old:
      for index in 0..<29 { registers["x\(index)"] = g[index] }
      registers.merge(["fp": thread.fp, "lr": thread.lr, "sp": thread.sp, "pc": thread.pc, "cpsr": 0x6000_1000]) { $1 }
    case .x86_64:
      for (index, name) in ["rax", "rbx", "rcx", "rdx", "rsi", "rdi"].enumerated() { registers[name] = g[index] }
      for index in 8..<16 { registers["r\(index)"] = g[index - 2] }
      registers.merge(["rbp": thread.fp, "rsp": thread.sp, "rip": thread.pc, "rflags": 0x246]) { $1 }
      registers.merge(["cs": 0x33, "fs": 0, "gs": 0]) { $1 }
    case .x86:
      for (index, name) in ["eax", "ebx", "ecx", "edx", "esi", "edi"].enumerated() { registers[name] = g[index] }
      registers.merge(["ebp": thread.fp, "esp": thread.sp, "eip": thread.pc, "eflags": 0x246]) { $1 }
      registers.merge(["gs": 0x33, "fs": 0, "es": 0x2b, "ds": 0x2b, "cs": 0x23, "ss": 0x2b]) { $1 }
      for name in registers.keys { registers[name]! &= 0xffff_ffff }
    case .arm:
      for index in 0..<13 { registers["r\(index)"] = [7, 11].contains(index) ? thread.fp : g[index] }
      registers.merge(["sp": thread.sp, "lr": thread.lr, "pc": thread.pc, "cpsr": 0x6000_0010]) { $1 }
      for name in registers.keys { registers[name]! &= 0xffff_ffff }
    case .riscv64:
      let names = ["gp", "tp", "t0", "t1", "t2", "s1"] + row("a", 0...7) + row("s", 2...11) + row("t", 3...6)
      for (index, name) in names.enumerated() { registers[name] = g[index] }
      registers.merge(["ra": thread.lr, "sp": thread.sp, "s0": thread.fp, "pc": thread.pc]) { $1 }
    case .ppc64:
      for index in 2..<30 { registers["r\(index)"] = g[index - 1] }
      registers.merge(["r0": g[0], "r1": thread.sp, "r30": 0x30, "r31": thread.fp, "pc": thread.pc]) { $1 }
      registers.merge([
        "msr": 0x8000_0000_0000_d033, "cr": 0x4400_0000, "xer": 0x2000_0000, "lr": thread.lr, "ctr": 0x1234,
      ]) { $1 }
    case .mips, .mips64:
      let names = ["at"] + row("v", 0...1) + row("a", 0...3) + row("t", 0...7) + row("s", 0...7)
      for (index, name) in (names + row("t", 8...9) + row("k", 0...1) + ["gp"]).enumerated() {
        registers[name] = g[index]
      }
      registers.merge(["zero": 0, "sp": thread.sp, "fp": thread.fp, "ra": thread.lr, "pc": thread.pc]) { $1 }
      registers.merge(["hi": 0x1111, "lo": 0x2222]) { $1 }
      if processor == .mips { for name in registers.keys { registers[name]! &= 0xffff_ffff } }
    }
    return registers
  }
}
