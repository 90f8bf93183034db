// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import CrashpadSymbolication
import Testing

/// Callers where neither rules nor a frame pointer are known: which of the words on a stack, or what a register leads to,
/// is the better guess.
struct GuessedCallerTests {
  private static let id = "00112233445566778899AABBCCDDEEFF0"
  private static let base: UInt64 = 0x40_0000

  /// A 32-bit Intel process whose module has functions of 0x100 bytes, with code in them, and a stack at 0x7000.
  private struct Program {
    var functions: [(start: UInt64, name: String)]
    /// Records behind those of functions.
    var rules = ""
    var code: [UInt64: [UInt8]] = [:]
    var stack: [UInt64: UInt64] = [:]

    /// Puts a call of a function into code, and gives the address behind it.
    mutating func call(_ target: UInt64, at place: UInt64) -> UInt64 {
      let distance = UInt32(truncatingIfNeeded: target &- (place + 5))
      code[place] = [0xe8] + (0..<4).map { UInt8(truncatingIfNeeded: distance >> (8 * $0)) }
      return GuessedCallerTests.base + place + 5
    }

    func walk(_ registers: [Int: UInt64], _ limits: StackWalker.Limits = .init()) throws -> StackWalker.Walk {
      let functions = functions.map { "FUNC \(String($0.start, radix: 16)) 100 0 \($0.name)" }
      let text = "MODULE Linux x86 \(GuessedCallerTests.id) App\n" + functions.joined(separator: "\n") + "\n" + rules
      var process = try TestProcess(.x86, symbolFiles: [text])
      process.snapshot.system.operatingSystem = .linux
      process.module("App", at: GuessedCallerTests.base, size: 0x1000, id: GuessedCallerTests.id)
      var bytes = [UInt8](repeating: 0x90, count: 0x1000)
      for (start, code) in code { bytes.replaceSubrange(Int(start)..<Int(start) + code.count, with: code) }
      process.memory(at: GuessedCallerTests.base, GuessedCallerTests.words(bytes))
      var memory = [UInt8](repeating: 0, count: 0x200)
      for (place, value) in stack {
        for index in 0..<4 { memory[Int(place) + index] = UInt8(truncatingIfNeeded: value >> UInt64(8 * index)) }
      }
      process.memory(at: 0x7000, GuessedCallerTests.words(memory))
      return process.walk(FrameRegisters(.x86, registers), limits: limits)
    }
  }

  private static func words(_ bytes: [UInt8]) -> [UInt64] {
    stride(from: 0, to: bytes.count, by: 8).map { start in
      (0..<8).reduce(0) { $0 | UInt64(bytes[start + $1]) << UInt64(8 * $1) }
    }
  }

  /// `inner` has a frame pointer and leads to `middle`, whose frame pointer leads behind `outer` into `main`.
  private static func chain(_ code: [UInt8]) throws -> StackWalker.Walk {
    var program = Program(
      functions: [(0x100, "inner"), (0x200, "middle"), (0x300, "outer"), (0x400, "main"), (0x500, "other")])
    program.code[0x100] = [0x55, 0x89, 0xe5]
    program.code[0x200] = code
    let inMiddle = program.call(0x100, at: 0x220)
    let inOuter = program.call(0x200, at: 0x320)
    let inMain = program.call(0x300, at: 0x420)
    program.stack = [0x10: 0x7080, 0x14: inMiddle, 0x30: inOuter, 0x80: 0x70c0, 0x84: inMain, 0xc0: 0, 0xc4: 0]
    return try program.walk([4: 0x7000, 5: 0x7010, 8: base + 0x110])
  }

  private static func names(_ walk: StackWalker.Walk) -> [UInt64] { walk.frames.map { ($0.instruction - base) >> 8 } }

  @Test(arguments: [
    // push %ebp; mov %esp, %ebp, in both encodings; lea 8(%esp), %ebp; enter $16, $0
    [0x55, 0x89, 0xe5], [0x55, 0x8b, 0xec], [0x55, 0x8d, 0x6c, 0x24, 0x08], [0xc8, 0x10, 0x00, 0x00],
  ])
  func `A function that sets the frame pointer has it`(_ code: [UInt8]) throws {
    let walk = try Self.chain(code)
    #expect(Self.names(walk).prefix(3) == [1, 2, 4])
    #expect(walk.frames[2].trust == .framePointer)
  }

  @Test(arguments: [
    // push %ebp; sub $8, %esp. mov %esp, %eax. push %ebx
    [0x55, 0x83, 0xec, 0x08], [0x89, 0xe0], [0x53],
  ])
  func `A function that never sets the frame pointer has that of a caller`(_ code: [UInt8]) throws {
    let walk = try Self.chain(code)
    #expect(Self.names(walk).prefix(4) == [1, 2, 3, 4])
    #expect(walk.frames[2].trust == .scan)
  }

  @Test func `A call of the function whose cold part is running is its caller's`() throws {
    var program = Program(functions: [(0x100, "inner.cold"), (0x200, "inner"), (0x300, "outer"), (0x400, "main")])
    let leftOver = program.call(0x400, at: 0x420)
    let inOuter = program.call(0x200, at: 0x320)
    program.stack = [0x08: leftOver, 0x20: inOuter]
    let walk = try program.walk([4: 0x7000, 8: Self.base + 0x110])
    #expect(Self.names(walk).prefix(2) == [1, 3])
  }

  @Test func `Words of a function's own frame are none of its caller's`() throws {
    var program = Program(functions: [(0x100, "inner"), (0x200, "middle"), (0x300, "outer"), (0x500, "other")])
    // push %ebx; sub $0x20, %esp
    program.code[0x200] = [0x53, 0x83, 0xec, 0x20]
    let inMiddle = program.call(0x100, at: 0x220)
    let inOuter = program.call(0x200, at: 0x320)
    let inOther = program.call(0x200, at: 0x520)
    program.stack = [0x10: inMiddle, 0x18: inOther, 0x38: inOuter]
    let walk = try program.walk([4: 0x7000, 5: 0, 8: Self.base + 0x110])
    #expect(Self.names(walk).prefix(3) == [1, 2, 3])
    #expect(walk.frames[2].skippedWords == 9)
    // In the first function the place may be before these instructions have run.
    program.stack = [0x08: inOther, 0x34: inOuter]
    let first = try program.walk([4: 0x7000, 5: 0, 8: Self.base + 0x210])
    #expect(Self.names(first).prefix(2) == [2, 5])
  }

  @Test func `A word whose own rules lead to no code is left over`() throws {
    var program = Program(functions: [(0x100, "inner"), (0x200, "stale"), (0x300, "outer"), (0x400, "main")])
    program.rules = "STACK CFI INIT 200 200 .cfa: $esp 16 + .ra: .cfa 4 - ^\n"
    // Calls by a pointer: call *%eax
    for place in [0x220, 0x320, 0x420] as [UInt64] { program.code[place] = [0xff, 0xd0] }
    program.stack = [
      0x08: Self.base + 0x222, 0x18: 1234, 0x20: Self.base + 0x322, 0x30: Self.base + 0x422,
    ]
    let walk = try program.walk([4: 0x7000, 8: Self.base + 0x110])
    #expect(Self.names(walk).prefix(3) == [1, 3, 4])
    #expect(walk.frames.dropFirst().first?.trust == .scan)
    // Nothing better is there.
    program.stack = [0x08: Self.base + 0x222, 0x18: 1234]
    #expect(try Self.names(program.walk([4: 0x7000, 8: Self.base + 0x110])).prefix(2) == [1, 2])
  }

  @Test func `Rules of a guessed frame that lead to no return address are not followed`() throws {
    var program = Program(functions: [(0x100, "inner"), (0x200, "stale"), (0x300, "pointed")])
    program.rules = "STACK CFI INIT 200 100 .cfa: $esp 16 + .ra: .cfa 4 - ^\n"
    program.code[0x220] = [0xff, 0xd0]
    // A pointer to a function is where the caller of `stale` would be.
    program.stack = [0x08: Self.base + 0x222, 0x18: Self.base + 0x300]
    let walk = try program.walk([4: 0x7000, 8: Self.base + 0x110])
    #expect(Self.names(walk) == [1, 2])
    #expect(walk.end != .done)
  }

  @Test(arguments: [true, false])
  func `A caller far out counts if its own rules lead on to the outermost frame`(_ leadsOn: Bool) throws {
    var program = Program(functions: [
      (0x100, "inner"), (0x200, "middle"), (0x300, "outer"), (0x400, "main"), (0x500, "_start"),
    ])
    program.rules = """
      STACK CFI INIT 300 100 .cfa: $esp 16 + .ra: .cfa 4 - ^
      STACK CFI INIT 400 100 .cfa: $esp 8 + .ra: .cfa 4 - ^

      """
    program.code[0x220] = [0xff, 0xd0]
    for place in [0x320, 0x420, 0x520] as [UInt64] { program.code[place] = [0xff, 0xd0] }
    program.stack = [
      0x10: Self.base + 0x222,
      // A word that is left over, and the caller of `middle`, more than forty words behind it
      0xe0: Self.base + 0x322, 0x100: Self.base + 0x322, 0x110: Self.base + 0x422,
      0x118: leadsOn ? Self.base + 0x522 : 77,
    ]
    var limits = StackWalker.Limits()
    limits.farScans = 0
    #expect(try Self.names(program.walk([4: 0x7000, 8: Self.base + 0x110], limits)) == [1, 2])
    limits.farScans = 1
    let walk = try program.walk([4: 0x7000, 8: Self.base + 0x110], limits)
    #expect(Self.names(walk) == (leadsOn ? [1, 2, 3, 4, 5] : [1, 2]))
    if leadsOn {
      #expect(walk.frames.map(\.trust) == [.context, .scan, .scan, .callFrameInfo, .callFrameInfo])
      #expect(walk.frames[2].skippedWords == 59)
      #expect(walk.end == .done)
    }
  }

  @Test func `A word that is left over of a function that called another one since proves nothing`() throws {
    var program = Program(functions: [
      (0x100, "inner"), (0x200, "middle"), (0x300, "outer"), (0x400, "main"), (0x500, "_start"), (0x600, "earlier"),
    ])
    program.rules = """
      STACK CFI INIT 300 100 .cfa: $esp 16 + .ra: .cfa 4 - ^
      STACK CFI INIT 400 100 .cfa: $esp 8 + .ra: .cfa 4 - ^
      STACK CFI INIT 600 100 .cfa: $esp 32 + .ra: .cfa 4 - ^

      """
    for place in [0x220, 0x420, 0x520, 0x620] as [UInt64] { program.code[place] = [0xff, 0xd0] }
    let inOuter = program.call(0x200, at: 0x320)
    program.stack = [
      0x10: Self.base + 0x222,
      // A word of `earlier`, which `outer` called before: its rules lead to the same words.
      0xe0: Self.base + 0x622, 0x100: inOuter, 0x110: Self.base + 0x422, 0x118: Self.base + 0x522,
    ]
    let walk = try program.walk([4: 0x7000, 8: Self.base + 0x110])
    #expect(Self.names(walk) == [1, 2, 3, 4, 5])
  }

  @Test func `The frame of a handler ends a scan, wherever a register leads`() throws {
    var program = Program(functions: [(0x100, "handler"), (0x200, "restore"), (0x300, "main"), (0x400, "other")])
    // pop %eax; mov $0x77, %eax; int $0x80
    program.code[0x200] = [0x58, 0xb8, 0x77, 0, 0, 0, 0xcd, 0x80]
    let leftOver = program.call(0x400, at: 0x120)
    program.code[0x320] = [0xff, 0xd0]
    program.stack = [0x08: leftOver, 0x10: Self.base + 0x200, 0x80: 0x7fff_0000, 0x84: Self.base + 0x322]
    let walk = try program.walk([4: 0x7000, 5: 0x7080, 8: Self.base + 0x140])
    #expect(Self.names(walk).prefix(2) == [1, 2])
  }

  @Test func `Behind the function that Go's runtime puts on a stack is an instruction, and no return address`() throws {
    var program = Program(functions: [
      (0x100, "runtime.sigpanic"), (0x200, "before"), (0x300, "faulted"), (0x400, "main"),
    ])
    // The fault is at the first instruction: the address is that of no call, and the rules are those of its function.
    program.rules = """
      STACK CFI INIT 100 100 .cfa: $esp 16 + .ra: .cfa 4 - ^
      STACK CFI INIT 200 100 .cfa: $esp 64 + .ra: .cfa 4 - ^
      STACK CFI INIT 300 100 .cfa: $esp 4 + .ra: .cfa 4 - ^

      """
    let inMain = program.call(0x300, at: 0x420)
    program.stack = [0x0c: Self.base + 0x300, 0x10: inMain, 0x4c: Self.base + 0x234]
    let walk = try program.walk([4: 0x7000, 8: Self.base + 0x110])
    #expect(Self.names(walk).prefix(3) == [1, 3, 4])
    #expect(walk.frames.prefix(3).map(\.isCaller) == [false, false, true])
  }
}
