// SPDX-License-Identifier: Apache-2.0
import CrashpadElfCore
import DumpSynth
import CrashpadSnapshot
import Testing

@Suite("CoreReader")
struct CoreReaderTests {
  @Test("A whole core has no findings", arguments: SynthCore.Machine.allCases)
  func whole(_ machine: SynthCore.Machine) throws {
    let reading = Reading(core: SynthCore(machine).bytes)
    #expect(reading.findings.isEmpty, "\(reading.findings)")
    let snapshot = try #require(reading.snapshot)
    #expect(snapshot.isComplete)
    #expect(snapshot.system.architecture == machine.architecture)
    #expect(snapshot.system.operatingSystem == .linux)
  }

  @Test("Threads have their ids and all their registers", arguments: SynthCore.Machine.allCases)
  func threads(_ machine: SynthCore.Machine) throws {
    let core = SynthCore(machine, threads: 5)
    let reading = Reading(core: core.bytes)
    let threads = try #require(reading.snapshot?.threads)
    #expect(threads.map(\.id) == core.threads.map { UInt64($0.id) })
    let names = machine.registerNames
    for (thread, truth) in zip(threads, core.threads) {
      let context = try #require(thread.context)
      for (name, value) in zip(names, truth.registers) {
        if let name { #expect(context.register(name) == value, "\(name)") }
      }
      switch context {
      case .x86_64(let context):
        #expect(reading.data(context.fxsave) == truth.floatingPoint)
        #expect(thread.dataAddress == truth.registers[21])
      case .arm64(let context):
        #expect(reading.data(context.vectors) == Array(truth.floatingPoint.prefix(512)))
        #expect(UInt64(context.fpsr) == truth.floatingPoint.little(at: 512, width: 4))
        #expect(UInt64(context.fpcr) == truth.floatingPoint.little(at: 516, width: 4))
        #expect(thread.dataAddress == truth.stackPointer + 256)
      case .named(let architecture, let registers, _, let stackPointer):
        #expect(architecture == machine.architecture && registers.count == names.compactMap { $0 }.count)
        #expect(stackPointer == truth.stackPointer && thread.dataAddress == truth.stackPointer + 256)
        #expect(context.instructionPointer == truth.registers[machine.programCounter])
      }
    }
    #expect(reading.snapshot?.system.addressMask == (machine == .aarch64 ? SynthCore.addressMask : nil))
  }

  @Test("Notes that are aligned to eight bytes say the same", arguments: SynthCore.Machine.allCases)
  func alignment(_ machine: SynthCore.Machine) throws {
    var core = SynthCore(machine, threads: 5)
    // Names and contents of all lengths, behind which the next note is only found with the right alignment.
    for length in 0..<9 {
      core.firstNotes.append(
        SynthCore.Note(String(repeating: "n", count: length), 77, [UInt8](repeating: 1, count: length)))
    }
    let narrow = Reading(core: core.bytes)
    core.noteAlignment = 8
    let wide = Reading(core: core.bytes)
    #expect(wide.findings.isEmpty && narrow.findings.isEmpty, "\(wide.findings)")
    #expect(core.bytes.count > SynthCore(machine, threads: 5).bytes.count)
    let (expected, found) = (try #require(narrow.snapshot), try #require(wide.snapshot))
    #expect(found.threads.map(\.id) == expected.threads.map(\.id) && found.threads.count == 5)
    #expect(found.threads.map { $0.context?.generalRegisters } == expected.threads.map { $0.context?.generalRegisters })
    #expect(found.modules.map(\.address) == expected.modules.map(\.address) && found.modules.count > 2)
    #expect(found.exception?.address == 0x10 && found.processID == 4242)
    #expect(found.system.addressMask == expected.system.addressMask)
    #expect(wide.text(found.linux?.commandLine) == "./example\0--fast\0a b\0")
  }

  @Test("Without FXSAVE's note, the extended state has its bytes")
  func extendedState() throws {
    var core = SynthCore(threads: 1)
    let state = SplitMix64.seeded(832)
    core.extraNotes = [SynthCore.Note("LINUX", 0x202, state)]
    let both = try #require(Reading(core: core.bytes).snapshot?.threads.first?.context)
    guard case .x86_64(let context) = both else { return }
    #expect(Reading(core: core.bytes).data(context.fxsave) == core.threads[0].floatingPoint)
    // A note of another kind in the place of NT_FPREGSET.
    let file = core.file()
    let index = 5
    let reading = Reading(core: file.setting("note[\(index)]", plus: 8, to: 99, width: 4))
    guard case .x86_64(let alone)? = reading.snapshot?.threads.first?.context else { return }
    #expect(reading.data(alone.fxsave) == Array(state.prefix(512)))
  }

  @Test(
    "The process has its ids, name, times, command line and environment", arguments: SynthCore.Machine.allCases)
  func process(_ machine: SynthCore.Machine) throws {
    let core = SynthCore(machine)
    let reading = Reading(core: core.bytes)
    let snapshot = try #require(reading.snapshot)
    #expect(snapshot.processID == 4242)
    #expect(snapshot.parentProcessID == 4000)
    #expect(reading.text(snapshot.threads[0].name) == "example")
    #expect(snapshot.threads[1].name == nil)
    #expect(snapshot.userTime == Timestamp(seconds: 12, microseconds: 345_000))
    #expect(snapshot.systemTime == Timestamp(seconds: 6, microseconds: 789_000))
    #expect(reading.text(snapshot.linux?.commandLine) == "./example\0--fast\0a b\0")
    #expect(reading.text(snapshot.linux?.environment) == "HOME=/root\0LANG=C.UTF-8\0")
    #expect(reading.data(snapshot.linux?.auxiliaryVector)?.count == 2 * machine.wordSize * core.auxiliaryVector.count)
    #expect(snapshot.system.pageSize == 4096)
    #expect(snapshot.system.osMajor == 6 && snapshot.system.osMinor == 1 && snapshot.system.osBugfix == 25)
    #expect(reading.text(snapshot.system.osBuild) == "Linux 6.1.25 \(machine.uname)")
    let status = reading.text(snapshot.linux?.processStatus) ?? ""
    #expect(status.contains("\nPid:\t4242\nPPid:\t4000\nUid:\t1000\t1000\t1000\t1000\n"))
    #expect(status.contains("\nGid:\t1001\t1001\t1001\t1001\n"))
  }

  @Test("A command line longer than its note is whole, and without the stack it is the note's")
  func longCommandLine() throws {
    let arguments = ["./example"] + (0..<40).map { "argument-\($0)" }
    let core = SynthCore(arguments: arguments, environment: [])
    let reading = Reading(core: core.bytes)
    #expect(reading.text(reading.snapshot?.linux?.commandLine) == arguments.joined(separator: "\0") + "\0")
    #expect(reading.snapshot?.linux?.environment == nil)
    var bare = core
    bare.segments.removeLast()
    let rest = Reading(core: bare.bytes)
    #expect(
      rest.text(rest.snapshot?.linux?.commandLine)
        == String(arguments.joined(separator: " ").prefix(79)).trimmed)
  }

  @Test(
    "The signal has its number, code and address, and the thread that took it", arguments: SynthCore.Machine.allCases)
  func signal(_ machine: SynthCore.Machine) throws {
    let core = SynthCore(machine)
    let exception = try #require(Reading(core: core.bytes).snapshot?.exception)
    #expect(exception.kind == .linuxSignal)
    #expect(exception.code == 11 && exception.info == 1 && exception.address == 0x10)
    #expect(exception.threadID == 4242)
    #expect(exception.context?.instructionPointer == core.threads[0].registers[machine.programCounter])
  }

  @Test("The sender of a signal is not taken for an address")
  func sentSignal() throws {
    var core = SynthCore()
    core.signalNumber = 6
    core.signalCode = -6
    core.signalAddress = 0x3e8_0000_1092
    let exception = try #require(Reading(core: core.bytes).snapshot?.exception)
    #expect(exception.code == 6 && exception.info == UInt32(bitPattern: -6) && exception.address == 0)
  }

  @Test("Without NT_SIGINFO the signal is that of the thread's status, whichever thread it is")
  func noSignalInfo() throws {
    var core = SynthCore()
    core.hasSignalInfo = false
    core.threads[0].signal = 0
    core.threads[2].signal = 8
    let exception = try #require(Reading(core: core.bytes).snapshot?.exception)
    #expect(exception.code == 8 && exception.threadID == UInt64(core.threads[2].id))
    // Code 0 would say that a process sent it.
    #expect(!exception.isInfoKnown && !exception.isAddressKnown)
  }

  @Test("A core that ends before its notes may have had an exception")
  func lostException() throws {
    let file = SynthCore().file()
    let notes = try #require(file.fields["note[0]"])
    let cut = try #require(Reading(core: Array(file.bytes.prefix(notes))).snapshot)
    #expect(cut.hasLostException && cut.exception == nil)
    #expect(Reading(core: file.bytes).snapshot?.hasLostException == false)
  }

  @Test("A core that a debugger wrote of a living process has no exception")
  func living() {
    var core = SynthCore()
    core.threads[0].signal = 0
    core.signalNumber = 19
    core.signalCode = 128
    #expect(Reading(core: core.bytes).snapshot?.exception == nil)
    core.hasSignalInfo = false
    #expect(Reading(core: core.bytes).snapshot?.exception == nil)
  }

  @Test("Modules are the mapped ELF files and the vDSO, the program first", arguments: SynthCore.Machine.allCases)
  func modules(_ machine: SynthCore.Machine) throws {
    let core = SynthCore(machine)
    let reading = Reading(core: core.bytes)
    let modules = try #require(reading.snapshot?.modules)
    #expect(modules.map { reading.text($0.name) } == core.modules.map(\.path))
    #expect(modules.map(\.address) == core.modules.map(\.address))
    #expect(modules.map(\.size) == core.modules.map(\.size))
    #expect(modules.map { reading.buildID($0) } == core.modules.map(\.buildID))
    #expect(modules.map(\.fileType) == [.executable, .sharedLibrary, .sharedLibrary, .other, .dynamicLoader])
  }

  @Test(
    "Memory is all bytes of all segments, each once, and the stacks are those around the stack pointers",
    arguments: SynthCore.Machine.allCases)
  func memory(_ machine: SynthCore.Machine) throws {
    let core = SynthCore(machine, threads: 4)
    let reading = Reading(core: core.bytes)
    let snapshot = try #require(reading.snapshot)
    for (thread, truth) in zip(snapshot.threads, core.threads) {
      let stack = try #require(thread.stack?.region)
      let segment = try #require(
        core.segments.first { $0.address <= truth.stackPointer && truth.stackPointer - $0.address < $0.size })
      #expect(stack.address == truth.stackPointer - 128)
      #expect(stack.end == segment.address + UInt64(segment.bytes.count))
    }
    for segment in core.segments where !segment.bytes.isEmpty {
      #expect(reading.bytes(at: segment.address, count: segment.bytes.count) == segment.bytes)
    }
    let total = core.segments.reduce(0) { $0 + $1.bytes.count }
    #expect(reading.memory.reduce(0) { $0 + $1.bytes.count } == total)
  }

  @Test("A stack is cut to its limit, the crashed thread's to a larger one, and what is above stays memory")
  func stackLimits() throws {
    var options = CoreReader.Options()
    options.maximumStack = 64
    options.maximumKnownStack = 300
    var core = SynthCore()
    // No data of the threads is above their stacks: fs_base
    for index in core.threads.indices { core.threads[index].registers[21] = 0 }
    let reading = Reading(core: core.bytes, options: options)
    #expect(reading.snapshot?.threads.map { $0.stack?.region.content.count } == [300, 64, 64])
    #expect(
      reading.memory.reduce(0) { $0 + $1.bytes.count } == core.segments.reduce(0) { $0 + $1.bytes.count })
  }

  @Test("A stack that the thread's data is above has the limit of the crashed thread's")
  func knownStack() throws {
    var options = CoreReader.Options()
    (options.maximumStack, options.maximumKnownStack) = (64, 300)
    var core = SynthCore()
    for index in core.threads.indices { core.threads[index].registers[21] = 0 }
    for (distance, size) in [(UInt64(200), 300), (0 &- 200, 64), (1 << 20, 64)] {
      // fs_base
      core.threads[1].registers[21] = core.threads[1].stackPointer &+ distance
      #expect(
        Reading(core: core.bytes, options: options).snapshot?.threads.map { $0.stack?.region.content.count }
          == [300, size, 64])
    }
  }

  @Test("Threads in one segment share it: each stack ends where the next begins")
  func sharedSegment() throws {
    var core = SynthCore(threads: 3)
    let base = core.threads[1].stackPointer
    for (index, pointer) in [(1, base), (2, base + 400)] {
      core.threads[index].registers[19] = pointer
    }
    let reading = Reading(core: core.bytes)
    let stacks = try #require(reading.snapshot?.threads.compactMap { $0.stack?.region })
    #expect(stacks[1].address == base - 128 && stacks[1].end == base + 400 - 128)
    #expect(stacks[2].address == base + 400 - 128)
    // Two threads on one stack both have it.
    core.threads[2].registers[19] = base
    let same = try #require(Reading(core: core.bytes).snapshot?.threads.compactMap { $0.stack?.region })
    #expect(same[1] == same[2])
  }

  @Test("A stack that overflowed begins at the first page that is there")
  func overflow() throws {
    var core = SynthCore(threads: 2)
    let segment = try #require(core.segments.first { $0.bytes.count == 1024 })
    core.threads[1].registers[19] = segment.address - 512
    let stack = try #require(Reading(core: core.bytes).snapshot?.threads[1].stack?.region)
    #expect(stack.address == segment.address && stack.content.count == 1024)
    core.threads[1].registers[19] = 0x1000
    #expect(Reading(core: core.bytes).snapshot?.threads[1].stack == nil)
  }

  @Test("The maps are those of /proc, with the files' names and offsets")
  func maps() throws {
    let reading = Reading(core: SynthCore().bytes)
    let lines = (reading.text(reading.snapshot?.linux?.maps) ?? "").split(separator: "\n").map(String.init)
    let path = String(repeating: " ", count: 25)
    #expect(lines.first == "555555554000-555555555000 r--p 00000000 00:00 0 \(path)/usr/bin/example")
    #expect(lines.contains("555555555000-555555556000 r-xp 00001000 00:00 0 \(path)/usr/bin/example"))
    #expect(lines.contains("7ffff7fc1000-7ffff7fc3000 r-xp 00000000 00:00 0 \(path)[vdso]"))
    #expect(lines.contains("555555564000-555555565000 rw-p 00000000 00:00 0 "))
    #expect(lines.last?.hasSuffix("[stack]") == true)
  }

  @Test(
    "With more program headers than 16 bits hold, their number stands in the first section header, or before the notes",
    arguments: SynthCore.Machine.allCases)
  func extendedCount(_ machine: SynthCore.Machine) throws {
    var core = SynthCore(machine)
    let plain = try #require(Reading(core: core.bytes).snapshot)
    core.hasExtendedCount = true
    let bytes = core.bytes
    for bytes in [bytes, Array(bytes.dropLast(machine.isNarrow ? 40 : 64))] {
      let reading = Reading(core: bytes)
      #expect(reading.findings.isEmpty, "\(reading.findings)")
      #expect(reading.snapshot?.threads.count == plain.threads.count)
      #expect(reading.snapshot?.extraMemory.count == plain.extraMemory.count)
    }
  }

  @Test("A core without NT_FILE has its threads and its vDSO")
  func noFiles() throws {
    var core = SynthCore()
    core.hasFileNote = false
    let reading = Reading(core: core.bytes)
    #expect(reading.codes == ["core-no-file-note"])
    #expect(reading.snapshot?.threads.count == 3)
    #expect(reading.snapshot?.modules.map { reading.text($0.name) } == ["linux-gate.so"])
  }

  @Test("A core that breaks off within its memory has all that the notes say")
  func truncated() throws {
    let core = SynthCore()
    let file = core.file()
    let cut = try #require(file.fields["data[7]"]) + 8
    let reading = Reading(core: Array(file.bytes.prefix(cut)))
    #expect(reading.codes == ["core-truncated"])
    let snapshot = try #require(reading.snapshot)
    #expect(!snapshot.isComplete)
    #expect(snapshot.threads.count == 3)
    #expect(snapshot.exception?.code == 11)
    #expect(snapshot.modules.first.flatMap { reading.buildID($0) } == core.modules[0].buildID)
    #expect(reading.memory.reduce(0) { $0 + $1.bytes.count } == cut - (file.fields["data[0]"] ?? 0))
  }
}

extension SynthCore.Machine {
  fileprivate var architecture: CPUArchitecture {
    switch self {
    case .x86_64: .x86_64
    case .aarch64: .arm64
    case .i386: .x86
    case .arm: .arm
    case .riscv64: .riscv64
    case .ppc64le: .ppc64
    case .loongarch64: .loongarch64
    }
  }

  fileprivate var uname: String { self == .i386 ? "i686" : rawValue }

  /// The names of the registers in the ABI's order: user_regs_struct, user_pt_regs, pt_regs.
  fileprivate var registerNames: [String?] {
    switch self {
    case .x86_64:
      [
        "r15", "r14", "r13", "r12", "rbp", "rbx", "r11", "r10", "r9", "r8", "rax", "rcx", "rdx", "rsi", "rdi", nil,
        "rip", "cs", "rflags", "rsp", nil, nil, nil, nil, nil, "fs", "gs",
      ]
    case .aarch64: (0..<29).map { "x\($0)" } + ["fp", "lr", "sp", "pc", "cpsr"]
    case .i386:
      [
        "ebx", "ecx", "edx", "esi", "edi", "ebp", "eax", "ds", "es", "fs", "gs", nil, "eip", "cs", "eflags", "esp",
        "ss",
      ]
    case .arm: (0..<13).map { "r\($0)" } + ["sp", "lr", "pc", "cpsr", nil]
    case .riscv64:
      [
        "pc", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7",
        "s2",
        "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
      ]
    case .ppc64le:
      (0..<32).map { "r\($0)" } + ["pc", "msr", nil, "ctr", "lr", "xer", "cr"] + Array(repeating: nil, count: 9)
    case .loongarch64:
      [
        nil, "ra", "tp", "sp", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "t0", "t1", "t2", "t3", "t4", "t5", "t6",
        "t7", "t8", "r21", "fp", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", nil, "pc",
      ] + Array(repeating: nil, count: 11)
    }
  }

  fileprivate var programCounter: Int {
    switch self {
    case .x86_64: 16
    case .aarch64: 32
    case .i386: 12
    case .arm: 15
    case .riscv64: 0
    case .ppc64le: 32
    case .loongarch64: 33
    }
  }
}

extension String {
  fileprivate var trimmed: String { String(reversed().drop { $0 == " " }.reversed()) }
}

extension SplitMix64 {
  static func seeded(_ count: Int) -> [UInt8] {
    var random = SplitMix64(seed: 9)
    return random.bytes(count)
  }
}
