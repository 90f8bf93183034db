// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import CrashpadSymbolication
import Testing

/// STACK WIN records of 32-bit Windows programs.
struct WindowsFrameTests {
  private static let id = "00112233445566778899AABBCCDDEEFF1"

  private static func process(_ records: String, _ words: [UInt32]) throws -> TestProcess {
    let sym = "MODULE windows x86 \(id) app.pdb\nFUNC 1000 100 4 inner\nFUNC 2000 100 0 outer\n" + records + "\n"
    var process = try TestProcess(.x86, symbolFiles: [sym])
    process.snapshot.system.operatingSystem = .windows
    process.module("app.pdb", at: 0x40_0000, size: 0x1_0000, id: id)
    let bytes = words.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * UInt32($0))) } }
    process.snapshot.extraMemory.append(MemoryRegion(address: 0x7000, content: process.snapshot.store(bytes)))
    return process
  }

  private static let registers = FrameRegisters(.x86, [8: 0x40_1010, 4: 0x7000, 5: 0x7018])

  @Test func `A program of frame data finds the caller and its registers`() throws {
    // locals 8, saved 4; the inner function takes 4 bytes of parameters off the stack.
    let process = try Self.process(
      """
      STACK WIN 4 1000 100 3 0 4 4 8 0 1 $T0 .raSearch = $eip $T0 ^ = $esp $T0 4 + =
      STACK WIN 4 2000 100 3 0 0 0 10 0 1 $T0 $ebp = $eip $T0 4 + ^ = $ebp $T0 ^ = $esp $T0 8 + =
      """, [1, 2, 3, 0x40_2010, 5, 0, 0x7030, 0x40_3000, 0, 0, 0, 0, 0, 0])
    let walk = process.walk(Self.registers)
    #expect(walk.frames.map(\.instruction) == [0x40_1010, 0x40_2010, 0x40_3000])
    #expect(walk.frames.map(\.trust) == [.context, .callFrameInfo, .callFrameInfo])
    #expect(walk.frames.map(\.stackPointer) == [0x7000, 0x7010, 0x7020])
  }

  @Test func `An assignment needs no blank behind it`() throws {
    let process = try Self.process(
      "STACK WIN 4 1000 100 3 0 0 0 10 0 1 $T0 $ebp 4 + =$eip $T0 4 + ^ =$ebp $T0 ^ =$esp $T0 8 + =",
      [0, 0, 0, 0, 0, 0, 0, 0x7030, 0x40_2010, 0, 0, 0, 0])
    let walk = process.walk(Self.registers)
    #expect(walk.frames.map(\.instruction).prefix(2) == [0x40_1010, 0x40_2010])
    #expect(walk.frames.dropFirst().first?.trust == .callFrameInfo)
  }

  @Test func `Sizes alone find the caller, and the base pointer that was saved`() throws {
    // locals 4, saved 8: ebp is at the stack pointer, below the other register.
    let process = try Self.process(
      "STACK WIN 0 1000 100 3 0 4 8 4 0 0 1\nSTACK WIN 0 2000 100 3 0 0 0 8 0 0 0",
      [0x7040, 2, 3, 0x40_2010, 0xaaaa, 0, 0, 0x40_3000, 0, 0])
    let walk = process.walk(Self.registers)
    // The parameter of the inner function is below the locals of the outer one.
    #expect(walk.frames.map(\.instruction) == [0x40_1010, 0x40_2010, 0x40_3000])
    #expect(walk.frames.dropFirst().allSatisfy { $0.trust == .callFrameInfo })
  }

  @Test(arguments: ["", "$eip", "$eip ^ =", "= = =", "$T0 4 0 / =", "$T0 $eax = $eip $T0 ^ =", "+ - ^ @"])
  func `A damaged program leads to a guess, not to a caller by rules`(program: String) throws {
    let process = try Self.process("STACK WIN 4 1000 100 3 0 4 4 8 0 1 \(program)", [1, 0x40_2010, 0, 0])
    let walk = process.walk(FrameRegisters(.x86, [8: 0x40_1010, 4: 0x7000, 5: 0]))
    #expect(walk.frames.map(\.instruction) == [0x40_1010, 0x40_2010])
    #expect(walk.frames.map(\.trust) == [.context, .scan])
  }

  @Test func `A chain of ebp is followed without records`() throws {
    let process = try Self.process("", [1, 2, 3, 4, 5, 6, 0x7028, 0x40_2010, 0, 0, 0, 0x40_3000, 0])
    let walk = process.walk(Self.registers)
    #expect(walk.frames.map(\.instruction) == [0x40_1010, 0x40_2010, 0x40_3000])
    #expect(walk.frames.map(\.trust) == [.context, .framePointer, .framePointer])
  }

  @Test func `A chain of r7 is followed in Thumb code of Apple`() throws {
    var process = try TestProcess(.arm)
    process.module("App", at: 0x4000, size: 0x1_0000)
    let words: [UInt32] = [0, 0, 0x7018, 0x5001, 0, 0, 0, 0x6003, 0, 0]
    let bytes = words.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * UInt32($0))) } }
    process.snapshot.extraMemory.append(MemoryRegion(address: 0x7000, content: process.snapshot.store(bytes)))
    let walk = process.walk(FrameRegisters(.arm(framePointer: 7), [15: 0x4100, 13: 0x7000, 7: 0x7008]))
    #expect(walk.frames.map(\.instruction) == [0x4100, 0x5000, 0x6002])
    #expect(walk.end == .endOfChain)
  }
}
