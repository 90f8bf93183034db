// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// Crashes captured from inside, against what gdb sees in the kernel's core of the same crash.
@Suite(
  "The handler captures what gdb sees in the core",
  .enabled(if: Stacks.hasGDB, "gdb, or its Python, is not installed"),
  .enabled(if: CrashedProgram.canWriteCores, "the kernel writes no cores into the current directory here"))
struct CaptureTests {
  @Test("Signal, thread, registers, stack and frames of every crash", arguments: CapturedCrash.programs)
  func crashes(_ program: String) throws {
    let folder = try TemporaryFolder()
    let crashes = CapturedCrash.all(of: program)
    // gdb reads the program and its libraries once for many cores.
    let batch = 40
    for start in stride(from: 0, to: crashes.count, by: batch) {
      let some = Array(crashes[start..<min(start + batch, crashes.count)])
      var withCore: [CapturedCrash] = []
      for crash in some {
        if try crash.happen(in: folder) {
          withCore.append(crash)
        } else if crash.leavesNothing {
          #expect(try crash.dumpNames(in: folder).isEmpty, "\(crash.name)")
        } else {
          let dump = try crash.dump(in: folder)
          let inspection = try JSONDocument(try Tool.run(["inspect", "--format", "json", dump], in: folder).output)
          let thread = try #require(inspection["exception"]["thread_id"].int)
          #expect(try crash.crashedThreads(in: folder).contains(UInt64(thread)), "\(crash.name)")
        }
        let (status, alone) = try (crash.text("status", in: folder), crash.text("status-alone", in: folder))
        #expect((status == "0\n") == crash.isSurvived, "\(crash.name): \(status)")
        if crash.mayHang, [status, alone].contains(CapturedCrash.hung) {
          print("\(crash.name): hung \(status == CapturedCrash.hung ? "with" : "without") the handler")
        } else {
          #expect(status == alone, "\(crash.name)")
        }
        if crash.leavesNothing { continue }
        let validation = try Tool.run(["validate", try crash.dump(in: folder)], in: folder)
        #expect(validation.status == 0, "\(crash.name): \(validation.text)\(validation.errorText)")
      }
      try compare(withCore, in: folder)
      for crash in some { try FileManager.default.removeItem(at: folder.url(crash.name)) }
    }
    print("captured crashes: \(crashes.count) of \(program)")
  }

  private func compare(_ crashes: [CapturedCrash], in folder: TemporaryFolder) throws {
    let cores = crashes.map { "\($0.name)/core" }
    let (stacks, lines) = try Stacks.gdbOutput(cores, state: Self.stateFunction, in: folder)
    let states = try Self.states(lines)
    try #require(states.count == cores.count)
    let dumps = try crashes.map { try $0.dump(in: folder) }
    let ours = try Stacks.ours(dumps, in: folder)
    for (crash, dump) in zip(crashes, dumps) {
      let core = "\(crash.name)/core"
      let inspection = try JSONDocument(try Tool.run(["inspect", "--format", "json", dump], in: folder).output)
      let state = try #require(states[core])
      let captured = UInt64(try #require(inspection["exception"]["thread_id"].int))
      try compare(crash, inspection, captured, state, in: folder)
      try compare(
        crash, ours: try #require(ours[dump]), captured: captured, gdb: try #require(stacks[core]),
        crashed: state.thread, in: folder)
    }
  }

  /// Signal, thread, registers and memory of the stack.
  private func compare(
    _ crash: CapturedCrash, _ inspection: JSONDocument, _ captured: UInt64, _ state: CrashState,
    in folder: TemporaryFolder
  ) throws {
    let exception = inspection["exception"]
    #expect(exception["code"].hex == UInt64(state.signal), "\(crash.name)")
    let threads = try crash.crashedThreads(in: folder)
    #expect(threads.contains(captured) && threads.contains(state.thread), "\(crash.name)")
    // Either of two that continue after the capture of the first may be the one that ends the process.
    if !crash.othersGoOn { #expect(captured == state.thread, "\(crash.name)") }
    if crash.hasLaterCore || captured != state.thread { return }
    let registers = exception["registers"]
    for (name, value) in state.registers {
      #expect(registers[name].hex == value, "\(crash.name): \(name)")
    }
    #expect(state.registers.count > 15)
    // A stack that is used up ends in its guard page, which is not readable.
    if crash.kind == "stack-overflow" { return }
    let memory = try Tool.run(
      [
        "inspect", "--memory", "0x\(String(state.stackPointer, radix: 16))", "--length", "\(state.stack.count)",
        try crash.dump(in: folder),
      ], in: folder)
    #expect(hexBytes(memory.text) == state.stack, "\(crash.name)")
  }

  private func compare(
    _ crash: CapturedCrash, ours: [UInt64: Stack], captured: UInt64, gdb: [UInt64: Stack], crashed: UInt64,
    in folder: TemporaryFolder
  ) throws {
    if !crash.othersGoOn { #expect(Set(ours.keys) == Set(gdb.keys), "\(crash.name)") }
    try #require(ours[captured] != nil && gdb[captured] != nil, "\(crash.name)")
    for (thread, stack) in gdb {
      if thread != captured, crash.othersGoOn { continue }
      var frames = stack.frames
      if thread == captured, thread != crashed {
        // The core is of the other thread; this one is wherever signals led it from where it crashed.
        if let handler = frames.lastIndex(where: \.isSignal) { frames.removeFirst(handler + 1) }
      } else if thread != crashed, let handler = frames.firstIndex(where: \.isSignal) {
        // They stand in our handler in the core; what it interrupted is in the dump.
        frames.removeFirst(handler + 1)
      }
      if crash.hasLaterCore {
        // The call of raise(3) is another one in abort(3).
        #expect(ours[thread]?.frames.count == frames.count, "\(crash.name), thread \(thread)")
        continue
      }
      var captures = try #require(ours[thread]).frames
      if thread != captured, captures.map(\.pc) != frames.map(\.pc),
        try crash.crashedThreads(in: folder).contains(thread)
      {
        // The other of two was found on its way into a handler: what that interrupted has to be the same.
        if let handler = captures.lastIndex(where: \.isSignal) { captures.removeFirst(handler + 1) }
        if let handler = frames.lastIndex(where: \.isSignal) { frames.removeFirst(handler + 1) }
        #expect(!captures.isEmpty)
      }
      let pcs = captures.map(\.pc)
      #expect(pcs == frames.map(\.pc), "\(crash.name), thread \(thread)")
    }
  }

  // MARK: gdb

  private struct CrashState {
    var thread: UInt64 = 0
    var signal = 0
    var registers: [String: UInt64] = [:]
    var stackPointer: UInt64 = 0
    var stack: [UInt8] = []
  }

  private static let stateFunction = """
    import gdb

    def state():
        print("state thread %d" % gdb.selected_thread().ptid[1])
        print("state signal %d" % int(gdb.parse_and_eval("$_siginfo.si_signo")))
        frame = gdb.newest_frame()
        for register in "\(registers)".split():
            print("state register %s %x" % (register, int(frame.read_register(register)) & (2 ** 64 - 1)))
        pointer = int(frame.read_register("\(pointer)")) & (2 ** 64 - 1)
        # Of a stack that is used up, what lies above the guard page.
        for size in (256, 64, 16):
            try:
                print("state stack %x %s" % (pointer, bytes(gdb.selected_inferior().read_memory(pointer, size)).hex()))
                break
            except gdb.error:
                pass

    """

  #if arch(x86_64)
    private static let registers = "rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip"
    private static let pointer = "rsp"
  #else
    private static let registers = (0...28).map { "x\($0)" }.joined(separator: " ") + " sp pc"
    private static let pointer = "sp"
  #endif

  /// The state that each core shows, by its name.
  private static func states(_ lines: [Substring]) throws -> [String: CrashState] {
    var all: [String: CrashState] = [:]
    var core = ""
    for line in lines {
      if line.hasPrefix("core ") { core = String(line.dropFirst(5)) }
      let words = line.split(separator: " ")
      guard words.count > 2, words[0] == "state" else { continue }
      var state = all[core] ?? CrashState()
      switch words[1] {
      case "thread": state.thread = try #require(UInt64(words[2]))
      case "signal": state.signal = try #require(Int(words[2]))
      case "register" where words.count == 4: state.registers[String(words[2])] = UInt64(words[3], radix: 16)
      case "stack" where words.count == 4:
        state.stackPointer = try #require(UInt64(words[2], radix: 16))
        state.stack = bytes(words[3])
      default: break
      }
      all[core] = state
    }
    return all
  }

  private static func bytes(_ digits: Substring) -> [UInt8] {
    let utf8 = Array(digits)
    return stride(from: 0, to: utf8.count - 1, by: 2).compactMap { UInt8(String(utf8[$0...$0 + 1]), radix: 16) }
  }

  /// The bytes of a hex dump: an address, then bytes of two digits, then text behind a bar.
  private func hexBytes(_ text: String) -> [UInt8] {
    text.split(separator: "\n").flatMap { line -> [UInt8] in
      let words = line.prefix { $0 != "|" }.split(separator: " ").dropFirst()
      return words.filter { $0.count == 2 }.compactMap { UInt8($0, radix: 16) }
    }
  }
}
