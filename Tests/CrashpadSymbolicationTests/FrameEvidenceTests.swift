// SPDX-License-Identifier: Apache-2.0
import CrashpadFiles
import CrashpadSnapshot
import CrashpadSymbolication
import Testing

/// A frame is marked by what it rests on, and a walk ends with the reason.
struct FrameEvidenceTests {
  private static let app: UInt64 = 0x40_0000

  private static func intel(_ words: [UInt64], _ change: (inout TestProcess) -> Void = { _ in }) throws -> TestProcess {
    var process = try TestProcess(.x86_64)
    process.snapshot.system.operatingSystem = .linux
    process.module("app", at: app, size: 0x1_0000)
    process.memory(at: 0x7000, words)
    change(&process)
    return process
  }

  private static func registers(pc: UInt64 = app + 0x100, frame: UInt64) -> FrameRegisters {
    FrameRegisters(.x86_64, [16: pc, 7: 0x7000, 6: frame])
  }

  // MARK: Frame pointers

  @Test func `A general register that points at a small number does not end the walk`() throws {
    // rbp points at the 5; the return addresses are at 0x7018 and 0x7028.
    let process = try Self.intel([1, 5, 2, 0x40_1111, 3, 0x40_2222, 0, 0])
    let walk = process.walk(Self.registers(frame: 0x7008))
    #expect(walk.frames.map(\.instruction) == [0x40_0100, 0x40_1111, 0x40_2222])
    #expect(walk.frames.map(\.trust) == [.context, .scan, .scan])
    #expect(walk.frames.map(\.skippedWords) == [nil, 3, 1])
    #expect(walk.end == .missingMemory || walk.end == .noCaller)
  }

  @Test func `A register that leads to one return address and no further is a guess`() throws {
    let process = try Self.intel([0, 0, 1, 0x40_1111, 0, 0, 0, 0])
    let walk = process.walk(Self.registers(frame: 0x7010))
    #expect(walk.frames.map(\.instruction) == [0x40_0100, 0x40_1111])
    #expect(walk.frames.last?.trust == .scan)
    #expect(walk.end != .done)
  }

  @Test func `Windows code for x86-64 has no frame pointers`() throws {
    var process = try Self.intel([1, 2, 0x40_3333, 4, 0x7040, 0x40_1111, 0, 0, 0x7060, 0x40_2222, 0, 0, 0, 0])
    let registers = Self.registers(frame: 0x7020)
    #expect(process.walk(registers).frames.map(\.trust) == [.context, .framePointer, .framePointer])
    process.snapshot.system.operatingSystem = .windows
    let walk = process.walk(registers)
    #expect(walk.frames.map(\.instruction) == [0x40_0100, 0x40_3333, 0x40_1111, 0x40_2222])
    #expect(walk.frames.dropFirst().allSatisfy { $0.trust == .scan })
  }

  @Test func `Frame pointers lead through code of no module if the chain leads into a module again`() throws {
    let words: [UInt64] = [
      0, 0, 0x7020, 0x40_1111, 0x7030, 0x29fe_f140_6147, 0x7040, 0x29fe_f15a_04e1, 0x7050, 0x40_3000, 0, 0, 0,
    ]
    let walk = try Self.intel(words).walk(Self.registers(frame: 0x7010))
    #expect(
      walk.frames.map(\.instruction) == [0x40_0100, 0x40_1111, 0x29fe_f140_6147, 0x29fe_f15a_04e1, 0x40_3000])
    #expect(walk.frames.dropFirst().allSatisfy { $0.trust == .framePointer })
    #expect(walk.end == .endOfChain)
    // Without a module behind it, the same words are no chain.
    var nowhere = words
    nowhere[9] = 0x29fe_f15a_0500
    #expect(try Self.intel(nowhere).walk(Self.registers(frame: 0x7010)).frames.count == 2)
  }

  @Test func `A register that may hold anything leads out of a module only from code of no module`() throws {
    let words: [UInt64] = [0, 0, 0x7020, 0x29fe_f140_6147, 0x7030, 0x40_3000, 0, 0, 0]
    let inside = try Self.intel(words).walk(Self.registers(frame: 0x7010))
    #expect(inside.frames.map(\.trust) == [.context, .scan])
    let outside = try Self.intel(words).walk(Self.registers(pc: 0x29fe_f140_0000, frame: 0x7010))
    #expect(outside.frames.map(\.instruction) == [0x29fe_f140_0000, 0x29fe_f140_6147, 0x40_3000])
    #expect(outside.frames.dropFirst().allSatisfy { $0.trust == .framePointer })
  }

  @Test func `A list of the process's memory decides whether code of no module is followed`() throws {
    let words: [UInt64] = [0, 0, 0x7020, 0x29fe_f140_6147, 0x7030, 0x29fe_f15a_04e1, 0, 0]
    let maps = "00400000-00410000 r-xp 00000000 00:00 0 app\n29fef1400000-29fef1600000 rwxp 00000000 00:00 0\n"
    func walk(_ maps: String) throws -> StackWalker.Walk {
      let process = try Self.intel(words) { process in
        var linux = LinuxSnapshot()
        linux.maps = process.snapshot.store(Array(maps.utf8))
        process.snapshot.linux = linux
      }
      return process.walk(Self.registers(frame: 0x7010))
    }
    #expect(try walk(maps).frames.map(\.trust) == [.context, .framePointer, .framePointer])
    #expect(try walk(maps.replacing("rwxp", with: "rw-p")).frames.count == 1)
  }

  @Test func `A register that may hold anything does not lead to another stack`() throws {
    let record: [UInt64] = [0x9010, 0x40_1111, 0, 0]
    let apart = try Self.intel([0, 0, 0, 0]) { $0.memory(at: 0x9000, record) }
    #expect(apart.walk(Self.registers(frame: 0x9000)).frames.count == 1)
    // One stack may be in several parts.
    let joined = try Self.intel([0, 0, 0, 0]) { $0.memory(at: 0x7020, [0x7030, 0x40_1111, 0, 0]) }
    #expect(joined.walk(Self.registers(frame: 0x7020)).frames.map(\.instruction) == [0x40_0100, 0x40_1111])
  }

  @Test func `A call into a module's data has its return address at the stack pointer`() throws {
    func walk(_ protection: String) throws -> StackWalker.Walk {
      // The call at 0x40_1006 is by a pointer; the frame pointer leads to the caller of that function.
      let process = try Self.intel([0x40_1008, 0, 0x7020, 0x40_2222, 0, 0, 0]) { process in
        process.memory(at: 0x40_1000, [0xd0ff_9090_9090_9090])
        var linux = LinuxSnapshot()
        let maps = "00400000-00408000 r-xp 0 00:00 0 app\n00408000-00410000 \(protection) 0 00:00 0 app\n"
        linux.maps = process.snapshot.store(Array(maps.utf8))
        process.snapshot.linux = linux
      }
      return process.walk(Self.registers(pc: 0x40_8100, frame: 0x7010))
    }
    #expect(try walk("rw-p").frames.prefix(3).map(\.instruction) == [0x40_8100, 0x40_1008, 0x40_2222])
    #expect(try walk("rw-p").frames.prefix(2).map(\.trust) == [.context, .returnAddress])
    #expect(try walk("r-xp").frames.prefix(2).map(\.instruction) == [0x40_8100, 0x40_2222])
  }

  @Test func `Records of Swift's asynchronous functions are followed`() throws {
    var process = try TestProcess(.arm64)
    process.module("App", at: 0x1_0000_0000, size: 0x10000)
    process.memory(at: 0x7000, [0x1000_0000_0000_7020, 0x1_0000_1234, 0, 0, 0x7030, 0x1_0000_5678, 0, 0])
    let walk = process.walk(FrameRegisters(.arm64, [32: 0x1_0000_0100, 31: 0x7000, 29: 0x7000]))
    #expect(walk.frames.map(\.instruction) == [0x1_0000_0100, 0x1_0000_1234, 0x1_0000_5678])
    #expect(walk.end == .endOfChain)
  }

  // MARK: Functions that were just called

  @Test func `The link register of arm64 that leads to another module is the caller`() throws {
    var process = try TestProcess(.arm64)
    process.module("libsystem_platform.dylib", at: 0x1_8000_0000, size: 0x1000)
    process.module("App", at: 0x1_0000_0000, size: 0x10000)
    process.memory(at: 0x7000, [0x7020, 0x1_0000_2000, 0, 0, 0, 0, 0, 0])
    var values: [Int: UInt64] = [32: 0x1_8000_0100, 31: 0x7000, 29: 0x7000, 30: 0x1_0000_1004]
    let walk = process.walk(FrameRegisters(.arm64, values))
    #expect(walk.frames.map(\.instruction) == [0x1_8000_0100, 0x1_0000_1004, 0x1_0000_2000])
    #expect(walk.frames.map(\.trust) == [.context, .linkRegister, .framePointer])
    // The function has saved it.
    values[30] = 0x1_0000_2000
    #expect(process.walk(FrameRegisters(.arm64, values)).frames.map(\.trust) == [.context, .framePointer])
    // Without a frame it leads on, too.
    values[29] = 0
    let leaf = process.walk(FrameRegisters(.arm64, values))
    #expect(leaf.frames.map(\.trust).prefix(2) == [.context, .linkRegister])
  }

  @Test func `A link register that leads to the instruction at hand is no caller`() throws {
    var process = try TestProcess(.arm)
    process.module("app", at: 0x40_0000, size: 0x1_0000)
    process.memory(at: 0x7000, [0, 0, 0, 0])
    // Only the register has the bit that marks Thumb.
    let registers = FrameRegisters(.arm(framePointer: 11), [15: 0x40_0100, 13: 0x7000, 14: 0x40_0101])
    #expect(process.walk(registers, isThumb: true).frames.map(\.instruction) == [0x40_0100])
  }

  @Test func `The code of Thumb to which a handler returns is known by its instructions`() throws {
    let id = "00112233445566778899AABBCCDDEEFF0"
    var process = try TestProcess(.arm, symbolFiles: ["MODULE Linux arm \(id) app\nFUNC 100 100 0 handler\n"])
    process.module("app", at: 0x40_0000, size: 0x1_0000, id: id)
    // movs r7, #173; svc #0, in no function that is known
    process.memory(at: 0x40_0300, [0, 0xdf00_27ad, 0])
    // The return address is at 0x7008; siginfo, the head of the ucontext and r0 to r15 follow.
    var words = [UInt64](repeating: 0, count: 40)
    words[1] = 0x40_0309
    for (register, value): (Int, UInt64) in [(13, 0x7200), (15, 0x40_1234)] {
      let place = 0xc + 128 + 4 * (8 + register)
      words[place / 8] |= value << (place % 8 == 0 ? 0 : 32)
    }
    process.memory(at: 0x7000, words)
    let walk = process.walk(FrameRegisters(.arm(framePointer: 11), [15: 0x40_0110, 13: 0x7000]), isThumb: true)
    #expect(walk.frames.map(\.instruction) == [0x40_0110, 0x40_0308, 0x40_1234])
    #expect(walk.frames.map(\.isSignalFrame) == [false, true, false])
  }

  @Test func `A link register at the border of two modules ends in no fault`() throws {
    var process = try TestProcess(.arm)
    process.module("before", at: 0x4000, size: 0x1000)
    process.module("App", at: 0x5000, size: 0x1000)
    process.memory(at: 0x7000, [0, 0])
    for link: UInt64 in 0x4ffe...0x5004 {
      let walk = process.walk(FrameRegisters(.arm(framePointer: 7), [15: 0x5100, 13: 0x7000, 7: 0, 14: link]))
      #expect(walk.frames.first?.instruction == 0x5100)
    }
  }

  @Test func `The return address at the stack pointer of x86-64 goes before the chain of frame pointers`() throws {
    // The call at 0x40220a is to 0x4000f0, before the instruction.
    let call: [UInt64] = [0x90_90, 0x90ff_ffde_e1e8_9090]
    func walk(_ function: UInt64) throws -> StackWalker.Walk {
      try Self.intel([0x40_220f, 0, 0x7030, 0x40_3333, 0, 0, 0x7040, 0x40_4444, 0, 0]) { process in
        process.memory(at: 0x40_2200, call)
        process.memory(at: 0x40_00f0, [function, function])
      }.walk(Self.registers(frame: 0x7010))
    }
    // A function that has not pushed anything: xor %eax, %eax, …
    let leaf = try walk(0xc031_c031_c031_c031)
    #expect(leaf.frames.map(\.trust).prefix(3) == [.context, .returnAddress, .framePointer])
    #expect(leaf.frames.map(\.instruction).prefix(3) == [0x40_0100, 0x40_220f, 0x40_3333])
    // push %rbp
    let pushed = try walk(0xc031_c031_c031_c055)
    #expect(pushed.frames.map(\.trust).prefix(2) == [.context, .framePointer])
    // endbr64; sub $24, %rsp
    let marked = try Self.intel([0x40_220f, 0, 0x7030, 0x40_3333, 0, 0, 0, 0]) { process in
      process.memory(at: 0x40_2200, call)
      process.memory(at: 0x40_00f0, [0x18ec_8348_fa1e_0ff3, 0x18ec_8348])
    }.walk(Self.registers(frame: 0x7010))
    #expect(marked.frames.map(\.instruction).prefix(2) == [0x40_0100, 0x40_3333])
  }

  @Test func `The word at the stack pointer goes before a guess where nothing is known of the code`() throws {
    let walk = try Self.intel([0x40_220f, 0, 0, 0x40_3333, 0, 0]) { _ in }.walk(Self.registers(frame: 0x7010))
    #expect(walk.frames.map(\.instruction).prefix(3) == [0x40_0100, 0x40_220f, 0x40_3333])
    #expect(walk.frames.map(\.trust).prefix(3) == [.context, .scan, .scan])
    #expect(walk.frames[1].skippedWords == 0)
  }

  /// A program of two functions: `leaf`, and `caller` with calls at its end. `symbols` says whether their starts are known.
  private static func leaf(
    _ code: [UInt64], pc: UInt64, stack: [UInt64], symbols: Bool = true, called: [UInt64] = [0x90d0_ff90_9090_9090]
  ) throws -> StackWalker.Walk {
    let sym = """
      MODULE Linux x86_64 00112233445566778899AABBCCDDEEFF0 app
      FUNC 100 80 0 leaf
      FUNC 200 100 0 caller
      FUNC 400 40 0 leaf.cold

      """
    var process = try TestProcess(.x86_64, symbolFiles: symbols ? [sym] : [])
    process.snapshot.system.operatingSystem = .linux
    process.module("app", at: app, size: 0x1_0000, id: "00112233445566778899AABBCCDDEEFF0")
    process.memory(at: 0x7000, stack + Array(repeating: 0, count: 8))
    process.memory(at: app + (pc < 0x400 ? 0x100 : 0x400), code)
    // call *%rax before 0x227
    process.memory(at: app + 0x218, [0] + called + called)
    return process.walk(FrameRegisters(.x86_64, [16: app + pc, 7: 0x7000, 6: 0x7020]))
  }

  private static let plain: [UInt64] = Array(repeating: 0x9090_9090_9090_9090, count: 16)
  /// The return address, and a chain of frame pointers that begins with the caller's.
  private static let called: [UInt64] = [app + 0x227, 0, 0, 0, 0x7040, app + 0x22f, 0, 0, 0, app + 0x227]

  @Test func `A leaf that was called by a pointer is known by its symbol`() throws {
    let walk = try Self.leaf(Self.plain, pc: 0x110, stack: Self.called)
    #expect(walk.frames.map(\.instruction).prefix(3) == [Self.app + 0x110, Self.app + 0x227, Self.app + 0x22f])
    #expect(walk.frames.map(\.trust).prefix(3) == [.context, .returnAddress, .framePointer])
    #expect(walk.frames.map(\.stackPointer).prefix(2) == [0x7000, 0x7008])
    // Without a symbol, and in the part of a function that was moved away, the word may be left over.
    for walk in [
      try Self.leaf(Self.plain, pc: 0x110, stack: Self.called, symbols: false),
      try Self.leaf(Self.plain, pc: 0x410, stack: Self.called),
      // No call is before the address.
      try Self.leaf(Self.plain, pc: 0x110, stack: Self.called, called: [0x9090_9090_9090_9090]),
    ] { #expect(walk.frames.dropFirst().allSatisfy { $0.trust != .returnAddress }) }
  }

  @Test func `A chain of frame pointers through several frames of no module is followed, and one such number is not`()
    throws
  {
    let made: [UInt64] = [0x29fe_f140_6146, 0x29fe_f15a_04e0]
    let chain: [UInt64] = [0x7020, made[0], 0, 0, 0x7040, made[1], 0, 0, 0x7060, 0x40_3333, 0, 0, 0, 0x40_4444]
    let walk = try Self.intel(chain).walk(Self.registers(frame: 0x7000))
    #expect(walk.frames.map(\.instruction) == [0x40_0100, made[0], made[1], 0x40_3333, 0x40_4444])
    #expect(walk.frames.dropFirst().allSatisfy { $0.trust == .framePointer })
    let single: [UInt64] = [0x7020, made[0], 0, 0, 0x7040, 0x40_3333, 0, 0, 0, 0x40_4444]
    #expect(try !Self.intel(single).walk(Self.registers(frame: 0x7000)).frames.contains { $0.instruction == made[0] })
  }

  @Test func `The code up to a function's return shows its return address, without symbols and rules`() throws {
    // add $16, %rsp; pop %rbx; cmp $-4096, %rax; ja; repz ret
    var code = Self.plain
    (code[2], code[3]) = (0x003d_485b_10c4_8348, 0xc3_f315_77ff_fff0)
    let stack = [0, 0, 0, Self.app + 0x227, 0x7040, Self.app + 0x22f, 0, 0, 0, Self.app + 0x227]
    let walk = try Self.leaf(code, pc: 0x110, stack: stack, symbols: false)
    #expect(walk.frames.map(\.instruction).prefix(3) == [Self.app + 0x110, Self.app + 0x227, Self.app + 0x22f])
    #expect(walk.frames.map(\.trust).prefix(2) == [.context, .returnAddress])
    #expect(walk.frames[1].stackPointer == 0x7020)
    // leave; ret: the register is a frame pointer, and leads on.
    code[2] = 0xc3c9
    let record = try Self.leaf(code, pc: 0x110, stack: stack, symbols: false)
    #expect(record.frames.map(\.trust).prefix(3) == [.context, .framePointer, .framePointer])
    #expect(record.frames[1].instruction == Self.app + 0x22f)
    // The word is in no module.
    code[2] = 0xc3
    let other = try Self.leaf(code, pc: 0x110, stack: [0x50_0000] + stack.dropFirst(), symbols: false)
    #expect(other.frames.dropFirst().allSatisfy { $0.trust != .returnAddress })
  }

  @Test func `A caller's code leads to its own caller, which is sure if it called that function`() throws {
    var code = Self.plain
    code[2] = 0xc3
    // The caller goes on with nop; ret. It was called by a register, and by a call to 0x200.
    let indirect: [UInt64] = [0x90d0_ff90_9090_9090, 0xc3]
    let direct: [UInt64] = [0x90d0_ff90_9090_9090, 0x90ff_ffff_d1e8_00c3]
    let guess = try Self.leaf(
      code, pc: 0x110, stack: [Self.app + 0x227, Self.app + 0x237, 0], symbols: false, called: indirect)
    #expect(guess.frames.map(\.instruction).prefix(3) == [Self.app + 0x110, Self.app + 0x227, Self.app + 0x237])
    #expect(guess.frames.map(\.trust).prefix(3) == [.context, .returnAddress, .scan])
    #expect(guess.frames[2].skippedWords == 0)
    let sure = try Self.leaf(
      code, pc: 0x110, stack: [Self.app + 0x227, Self.app + 0x22f, 0], symbols: false, called: direct)
    #expect(sure.frames.map(\.instruction).prefix(3) == [Self.app + 0x110, Self.app + 0x227, Self.app + 0x22f])
    #expect(sure.frames.map(\.trust).prefix(3) == [.context, .returnAddress, .returnAddress])
  }

  @Test func `A function that has lowered the stack pointer anywhere before the place is no leaf`() throws {
    // sub rsp, 24 at each byte before and behind the place
    for offset in 1..<0x30 as Range<UInt64> {
      var bytes = Array(repeating: UInt8(0x90), count: 0x80)
      bytes.replaceSubrange(Int(offset)..<Int(offset) + 4, with: [0x48, 0x83, 0xec, 0x18])
      let words = (0..<16).map { word in
        (0..<8).reduce(UInt64(0)) { $0 | UInt64(bytes[8 * word + $1]) << UInt64(8 * $1) }
      }
      let walk = try Self.leaf(words, pc: 0x110, stack: Self.called)
      #expect((walk.frames[1].trust == .returnAddress) == (offset >= 0x10), "\(offset)")
    }
  }

  @Test func `At a return the address is at the stack pointer, and behind a push one word above`() throws {
    // Functions that begin with push %rbp: one is at ret, rep ret, ret 8; one before mov %rsp, %rbp in both encodings.
    for end: UInt64 in [0xc3, 0xc3f3, 0x08c2] {
      var code = Self.plain
      (code[0], code[2]) = (0x9090_9090_9090_9055, end)
      let walk = try Self.leaf(code, pc: 0x110, stack: Self.called)
      #expect(walk.frames.map(\.trust).prefix(3) == [.context, .returnAddress, .framePointer])
    }
    for move: UInt64 in [0xe5_8948_55, 0xec_8b48_55] {
      var code = Self.plain
      code[0] = move
      let walk = try Self.leaf(code, pc: 0x101, stack: [0x7020] + Self.called)
      #expect(walk.frames.map(\.instruction).prefix(2) == [Self.app + 0x101, Self.app + 0x227])
      #expect(walk.frames.map(\.trust).prefix(2) == [.context, .returnAddress])
      #expect(walk.frames[1].stackPointer == 0x7010)
      // The move alone, behind another instruction
      code[0] = move ^ 0x05
      #expect(
        try Self.leaf(code, pc: 0x101, stack: [0x7020] + Self.called).frames.dropFirst().first?.trust != .returnAddress)
    }
  }

  // MARK: Scanning

  @Test func `A scan passes over headers, memory that can't be executed, and places without an instruction`() throws {
    let maps = "00400000-00408000 r-xp 00000000 00:00 0 app\n00408000-00410000 rw-p 00008000 00:00 0 app\n"
    let process = try Self.intel([0x40_0040, 0x40_9000, 0x40_2222, 0, 0]) { process in
      var linux = LinuxSnapshot()
      linux.maps = process.snapshot.store(Array(maps.utf8))
      process.snapshot.linux = linux
    }
    let walk = process.walk(Self.registers(frame: 0))
    #expect(walk.frames.map(\.instruction) == [0x40_0100, 0x40_2222])
    #expect(walk.frames.last?.skippedWords == 2)
    var arm = try TestProcess(.arm64)
    arm.module("App", at: 0x1_0000_0000, size: 0x10000)
    arm.memory(at: 0x7000, [0x1_0000_1002, 0x1_0000_2004, 0, 0])
    let aligned = arm.walk(FrameRegisters(.arm64, [32: 0x1_0000_0100, 31: 0x7000, 29: 0]))
    #expect(aligned.frames.map(\.instruction) == [0x1_0000_0100, 0x1_0000_2004])
  }

  @Test func `Rules that need a guessed frame pointer give a guess`() throws {
    let sym = """
      MODULE Linux x86_64 00112233445566778899AABBCCDDEEFF0 app
      FUNC 200 100 0 framed
      FUNC 300 100 0 outer
      STACK CFI INIT 200 100 .cfa: $rbp 16 + .ra: .cfa -8 + ^ $rbp: .cfa -16 + ^
      STACK CFI INIT 300 100 .cfa: $rsp 16 + .ra: .cfa -8 + ^

      """
    var process = try TestProcess(.x86_64, symbolFiles: [sym])
    process.snapshot.system.operatingSystem = .linux
    process.module("bare", at: 0x70_0000, size: 0x1000)
    process.module("app", at: Self.app, size: 0x1000, id: "00112233445566778899AABBCCDDEEFF0")
    process.memory(at: 0x7000, [5, 0x7020, Self.app + 0x210, 7, 0, Self.app + 0x310, 9, Self.app + 0x320, 0, 0])
    let walk = process.walk(Self.registers(pc: 0x70_0100, frame: 0))
    #expect(walk.frames.map(\.instruction) == [0x70_0100, Self.app + 0x210, Self.app + 0x310, Self.app + 0x320])
    #expect(walk.frames.map(\.trust) == [.context, .scan, .scan, .callFrameInfo])
  }

  @Test func `A scan prefers the call of the function at hand to one that is left over`() throws {
    let sym = """
      MODULE Linux x86_64 00112233445566778899AABBCCDDEEFF0 app
      FUNC 100 80 0 inner
      FUNC 200 100 0 outer
      FUNC 500 40 0 helper

      """
    // Calls that end at 0x228: of helper, of inner, of a place that is no function's start, and by a pointer
    func walk(_ first: UInt64?, _ second: UInt64, frame: UInt64 = 0) throws -> StackWalker.Walk {
      var process = try TestProcess(.x86_64, symbolFiles: [sym])
      process.snapshot.system.operatingSystem = .linux
      process.module("app", at: Self.app, size: 0x1000, id: "00112233445566778899AABBCCDDEEFF0")
      if let first { process.memory(at: Self.app + 0x220, [first]) }
      process.memory(at: Self.app + 0x240, [second])
      process.memory(at: 0x7000, [1, Self.app + 0x228, 2, Self.app + 0x248, 0])
      return process.walk(Self.registers(pc: Self.app + 0x110, frame: frame))
    }
    func call(_ target: UInt64, from end: UInt64) -> UInt64 {
      (target &- end) << 32 | 0xe8_0000_00 | 0x90_9090
    }
    let other = call(0x500, from: 0x228)
    let unknown = call(0x510, from: 0x228)
    let own = (call(0x100, from: 0x228), call(0x100, from: 0x248))
    let pointer: UInt64 = 0xd0ff_9090_9090_9090
    #expect(try walk(other, own.1).frames[1].instruction == Self.app + 0x248)
    #expect(try walk(other, own.1).frames[1].skippedWords == 3)
    #expect(try walk(own.0, own.1).frames[1].instruction == Self.app + 0x228)
    #expect(try walk(unknown, own.1).frames[1].instruction == Self.app + 0x228)
    #expect(try walk(pointer, own.1).frames[1].instruction == Self.app + 0x228)
    // Code that is not known may have any call.
    #expect(try walk(nil, own.1).frames[1].instruction == Self.app + 0x248)
    #expect(try walk(nil, other).frames[1].instruction == Self.app + 0x228)
    // A register that leads further out, to another call, is a guess.
    #expect(try walk(own.0, other, frame: 0x7010).frames[1].instruction == Self.app + 0x228)
    #expect(try walk(pointer, own.1, frame: 0x7010).frames[1].instruction == Self.app + 0x248)
    // Nothing better further out
    #expect(try walk(other, pointer).frames[1].instruction == Self.app + 0x228)
    #expect(try walk(other, call(0x500, from: 0x248)).frames[1].instruction == Self.app + 0x228)
  }

  @Test func `A scan passes over pointers to functions`() throws {
    let sym = """
      MODULE Linux x86_64 00112233445566778899AABBCCDDEEFF0 app
      FUNC 100 100 0 inner
      FUNC 200 100 0 outer

      """
    var process = try TestProcess(.x86_64, symbolFiles: [sym])
    process.snapshot.system.operatingSystem = .linux
    process.module("app", at: Self.app, size: 0x1000, id: "00112233445566778899AABBCCDDEEFF0")
    process.memory(at: 0x7000, [Self.app + 0x200, Self.app + 0x210, 0])
    let walk = process.walk(Self.registers(pc: Self.app + 0x110, frame: 0))
    #expect(walk.frames.map(\.instruction) == [Self.app + 0x110, Self.app + 0x210])
  }

  @Test func `A thread's first function ends the stack only in the system's module`() throws {
    let sym = """
      MODULE Linux x86_64 00112233445566778899AABBCCDDEEFF0 app
      FUNC 100 40 0 clone
      FUNC 200 40 0 __clone3

      """
    func end(_ pc: UInt64) throws -> WalkEnd {
      var process = try TestProcess(.x86_64, symbolFiles: [sym])
      process.snapshot.system.operatingSystem = .linux
      process.module("app", at: Self.app, size: 0x1000, id: "00112233445566778899AABBCCDDEEFF0")
      process.memory(at: 0x7000, [0, 0, 0])
      return process.walk(Self.registers(pc: pc, frame: 0)).end
    }
    #expect(try end(Self.app + 0x110) != .done)
    #expect(try end(Self.app + 0x210) == .done)
  }
}
