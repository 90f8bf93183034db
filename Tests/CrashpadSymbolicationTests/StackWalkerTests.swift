// SPDX-License-Identifier: Apache-2.0
import CrashpadFiles
import CrashpadSnapshot
import CrashpadSymbolication
import Testing

@Suite("StackWalker")
struct StackWalkerTests {
  private static let id = "00112233445566778899AABBCCDDEEFF0"
  private static let pc = 32
  private static let sp = 31
  private static let fp = 29
  private static let lr = 30

  @Test("Follows the frame pointers of arm64, and takes the authentication codes off")
  func framePointers() throws {
    var process = try TestProcess(.arm64)
    process.module("App", at: 0x1_0000_0000, size: 0x10000)
    process.memory(at: 0x7000, [0x7020, 0xabcd_0001_0000_1234, 0, 0, 0x7040, 0x1234_0001_0000_5678, 0, 0, 0, 0])
    let registers = FrameRegisters(.arm64, [Self.pc: 0x1_0000_0100, Self.sp: 0x7000, Self.fp: 0x7000])
    let walk = process.walk(registers, mask: 0xffff_0000_0000_0000)
    #expect(walk.frames.map(\.instruction) == [0x1_0000_0100, 0x1_0000_1234, 0x1_0000_5678])
    #expect(walk.frames.map(\.trust) == [.context, .framePointer, .framePointer])
    #expect(walk.frames.map(\.module) == [0, 0, 0])
    #expect(walk.frames.map(\.lookupOffset) == [0x100, 0x1233, 0x5677])
    #expect(walk.end == .endOfChain)
  }

  @Test("Follows the frame pointers of x86_64")
  func framePointersOfIntel() throws {
    var process = try TestProcess(.x86_64)
    process.module("App", at: 0x40_0000, size: 0x10000)
    process.memory(at: 0x7000, [1, 2, 0x7028, 0x40_1111, 9, 0, 0])
    let walk = process.walk(FrameRegisters(.x86_64, [16: 0x40_0100, 7: 0x7000, 6: 0x7010]))
    #expect(walk.frames.map(\.instruction) == [0x40_0100, 0x40_1111])
    #expect(walk.frames.map(\.stackPointer) == [0x7000, 0x7020])
    #expect(walk.end == .endOfChain)
  }

  @Test(
    "Follows the frame pointer of a program whose stack pointer leads nowhere", arguments: [0, 0xdead_0000_0000_beef])
  func lostStackPointer(_ pointer: UInt64) throws {
    var process = try TestProcess(.x86_64)
    process.module("App", at: 0x40_0000, size: 0x10000)
    process.memory(at: 0x7000, [1, 2, 0x7028, 0x40_1111, 9, 0, 0])
    let walk = process.walk(FrameRegisters(.x86_64, [16: 0x40_0100, 7: pointer, 6: 0x7010]))
    #expect(walk.frames.map(\.instruction) == [0x40_0100, 0x40_1111])
    #expect(walk.end == .endOfChain)
  }

  @Test("A frame chain in a circle ends")
  func circle() throws {
    var process = try TestProcess(.arm64)
    process.module("App", at: 0x1_0000_0000, size: 0x10000)
    process.memory(at: 0x7000, [0x7000, 0x1_0000_1234, 0, 0])
    let walk = process.walk(FrameRegisters(.arm64, [Self.pc: 0x1_0000_0100, Self.sp: 0x6ff0, Self.fp: 0x7000]))
    #expect(walk.frames.count == 2)
    #expect(walk.end != .done)
  }

  @Test("The number of frames is bounded")
  func deep() throws {
    var process = try TestProcess(.arm64)
    process.module("App", at: 0x1_0000_0000, size: 0x10000)
    let frames = (1...1000).flatMap { (number: UInt64) -> [UInt64] in [0x7000 + 16 * number, 0x1_0000_1234] }
    process.memory(at: 0x7000, frames)
    var limits = StackWalker.Limits()
    limits.frames = 100
    let registers = FrameRegisters(.arm64, [Self.pc: 0x1_0000_0100, Self.sp: 0x7000, Self.fp: 0x7000])
    #expect(process.walk(registers, limits: limits).frames.count == 100)
    #expect(process.walk(registers, limits: limits).end == .tooManyFrames)
    let all = process.walk(registers)
    #expect(all.frames.count == 1001)
    #expect(all.end == .missingMemory)
  }

  @Test("The number of frames of all threads together is bounded")
  func manyDeep() throws {
    var process = try TestProcess(.arm64)
    let frames = (1...1000).flatMap { (number: UInt64) -> [UInt64] in [0x7000 + 16 * number, 0x1_0000_1234] }
    process.memory(at: 0x7000, frames)
    var context = ARM64Context()
    (context.pc, context.sp, context.fp) = (0x1_0000_0100, 0x7000, 0x7000)
    process.snapshot.threads = (0..<20).map { (number: UInt64) in
      var thread = ThreadSnapshot()
      (thread.id, thread.context) = (number, .arm64(context))
      return thread
    }
    var module = ModuleSnapshot()
    (module.address, module.size) = (0x1_0000_0000, 0x10000)
    process.snapshot.modules = [module]
    var limits = StackWalker.Limits()
    limits.allFrames = 2500
    let threads = Symbolization(
      process.snapshot, InputFile(bytes: []), process.cache, threads: .all, limits: limits
    ).threads
    #expect(threads.count == 20)
    #expect(threads.prefix(2).allSatisfy { $0.frames.count == 1001 && $0.end == .missingMemory })
    // Each of the others has its first frame at least.
    #expect(threads.reduce(0) { $0 + $1.frames.count } == 2500 + 17)
    #expect(threads.last?.end == .tooManyFrames)
  }

  @Test("Scans for a return address where nothing else leads on")
  func scan() throws {
    var process = try TestProcess(.x86_64)
    process.module("App", at: 0x40_0000, size: 0x10000)
    process.memory(at: 0x7000, [5, 0x3f_ffff, 0x40_2222, 0, 0])
    let walk = process.walk(FrameRegisters(.x86_64, [16: 0x40_0100, 7: 0x7000, 6: 0]))
    #expect(walk.frames.map(\.instruction) == [0x40_0100, 0x40_2222])
    #expect(walk.frames.last?.trust == .scan)
    #expect(walk.end == .missingMemory || walk.end == .noCaller)
  }

  @Test("A thread without registers has no frames, and one in nowhere has one")
  func nothing() throws {
    let process = try TestProcess(.arm64)
    #expect(process.walk(FrameRegisters(.arm64)).end == .noRegisters)
    let lost = process.walk(FrameRegisters(.arm64, [Self.pc: 0x10, Self.sp: 0x9000, Self.fp: 0x9000]))
    #expect(lost.frames.count == 1)
    #expect(lost.end == .missingMemory)
  }

  @Test("STACK CFI goes before frame pointers")
  func callFrameInfo() throws {
    let sym = """
      MODULE mac x86_64 \(Self.id) App
      FUNC 100 40 0 outer()
      FUNC 200 40 0 inner()
      STACK CFI INIT 100 40 .cfa: $rsp 8 + .ra: .cfa -8 + ^
      STACK CFI INIT 200 40 .cfa: $rsp 8 + .ra: .cfa -8 + ^
      STACK CFI 204 .cfa: $rsp 24 + $rbx: .cfa -16 + ^

      """
    var process = try TestProcess(.x86_64, symbolFiles: [sym])
    process.module("App", at: 0x40_0000, size: 0x1000, id: Self.id)
    process.memory(at: 0x7000, [1, 0x77, 0x40_0110, 0, 0])
    let walk = process.walk(FrameRegisters(.x86_64, [16: 0x40_0210, 7: 0x7000, 6: 0x7000, 3: 1]))
    #expect(walk.frames.map(\.instruction) == [0x40_0210, 0x40_0110])
    #expect(walk.frames.map(\.trust) == [.context, .callFrameInfo])
    #expect(walk.frames.map(\.stackPointer) == [0x7000, 0x7018])
    #expect(walk.end == .nullReturnAddress)
  }

  @Test("A leaf of arm64 has its return address in the link register")
  func leaf() throws {
    let sym = """
      MODULE iOS arm64 \(Self.id) App
      FUNC 100 100 0 leaf
      FUNC 1000 100 0 caller
      FUNC 2000 100 0 outermost

      """
    var process = try TestProcess(.arm64, symbolFiles: [sym])
    process.module("App", at: 0x1_0000_0000, size: 0x10000, id: Self.id)
    process.memory(at: 0x7000, [0x7010, 0x1_0000_2008, 0, 0])
    let inLeaf = FrameRegisters(
      .arm64, [Self.pc: 0x1_0000_0110, Self.sp: 0x6ff0, Self.fp: 0x7000, Self.lr: 0x1_0000_1010])
    #expect(process.walk(inLeaf).frames.map(\.instruction) == [0x1_0000_0110, 0x1_0000_1010, 0x1_0000_2008])
    // The register still has where an earlier call went back to.
    let afterCall = FrameRegisters(
      .arm64, [Self.pc: 0x1_0000_1020, Self.sp: 0x6ff0, Self.fp: 0x7000, Self.lr: 0x1_0000_1010])
    #expect(process.walk(afterCall).frames.map(\.instruction) == [0x1_0000_1020, 0x1_0000_2008])
  }

  @Test("The caller of a jump to nowhere is found")
  func jump() throws {
    var process = try TestProcess(.x86_64)
    process.module("App", at: 0x40_0000, size: 0x10000)
    process.memory(at: 0x7000, [0x40_2222, 0, 0])
    let walk = process.walk(FrameRegisters(.x86_64, [16: 0, 7: 0x7000]))
    #expect(walk.frames.map(\.instruction) == [0, 0x40_2222])
  }

  @Test("Random memory and registers end every walk", arguments: 0..<8)
  func random(_ part: Int) throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var generator = SplitMix(seed: seed)
    print("StackWalker random walk \(part): seed \(seed)")
    let systems: [OperatingSystem] = [.ios, .linux, .windows]
    // The number of registers is that of DWARF, with the instruction pointer.
    let machines: [(CPUArchitecture, FrameRegisters.Architecture, registers: Int)] = [
      (.arm64, .arm64, 33), (.x86_64, .x86_64, 17), (.x86, .x86, 9), (.arm, .arm(framePointer: 7), 16),
      (.arm, .arm(framePointer: 11), 16), (.riscv64, .riscv64, 33), (.loongarch64, .loongarch64, 33),
      (.ppc64, .ppc64, 34), (.mips, .mips, 33), (.mips64, .mips64, 33),
    ]
    let empty = try machines.map { try TestProcess($0.0) }
    for _ in 0..<400 {
      let index = Int.random(in: 0..<machines.count, using: &generator)
      var process = empty[index]
      process.snapshot.system.operatingSystem = systems.randomElement(using: &generator)!
      Self.fill(&process, &generator)
      process.memory(at: UInt64.max - 15, [UInt64.random(in: 0...9, using: &generator)])
      var registers = FrameRegisters(machines[index].1)
      for number in 0..<machines[index].registers { registers[number] = Self.word(&generator) }
      var limits = StackWalker.Limits()
      limits.frames = 500
      let walk = process.walk(registers, isThumb: Bool.random(using: &generator), limits: limits)
      #expect(walk.frames.count <= 500)
      #expect(!walk.frames.isEmpty)
    }
  }

  /// Near the ends of modules, in the stack, and at both ends of the address space.
  private static func word(_ generator: inout SplitMix) -> UInt64 {
    let places: [UInt64] = [0x40_0000, 0x40_0f80, 0x40_1f80, 0x7000, .max, 0]
    return places.randomElement(using: &generator)! &+ UInt64.random(in: 0...300, using: &generator)
  }

  /// Two modules side by side, one at the end of the address space, and a stack.
  private static func fill(_ process: inout TestProcess, _ generator: inout SplitMix) {
    process.module("App", at: 0x40_0000, size: 0x1000)
    process.module("Library", at: 0x40_1000, size: 0x1000)
    if Bool.random(using: &generator) { process.module("last", at: .max - 0xfff, size: 0x1000) }
    process.memory(at: 0x7000, (0..<64).map { _ in word(&generator) })
  }
}

/// Numbers that a seed gives again.
struct SplitMix: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var value = state
    value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
    return value ^ (value >> 31)
  }
}
