// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpSynth
import CrashpadFiles
import CrashpadSymbolication
import Testing

@Suite("Compact unwind information")
struct MachOUnwindTests {
  private let text: UInt64 = 0x1_0000_1000

  private func file(_ synth: MachOSynth = .sample()) throws -> MachOFile {
    try MachOFile(InputFile(bytes: synth.bytes()))
  }

  /// Words of a stack, by address.
  private func memory(_ words: [UInt64: UInt64]) -> (UInt64) -> UInt64? { { words[$0] } }

  @Test(
    "Encodings are found in both kinds of pages",
    arguments: [
      (0x0, 0x0400_0001), (0x1f, 0x0400_0001), (0x20, 0x0200_2000), (0x4f, 0x0200_2000), (0x50, 0x0300_0000),
      (0x60, 0x0400_0000), (0x7f, 0x0400_0000), (0x80, nil),
    ] as [(UInt64, UInt32?)])
  func encodings(offset: UInt64, encoding: UInt32?) throws {
    let file = try file()
    #expect(file.compactUnwindEncoding(at: text + offset) == encoding)
    #expect(file.compactUnwind(at: text - 1) == nil)
    #expect(file.compactUnwind(at: 0) == nil)
    #expect(file.compactUnwind(at: .max) == nil)
  }

  @Test("A frame of arm64 gives back the frame pointer, the return address and saved pairs")
  func frameARM64() throws {
    var callee = FrameRegisters(.arm64)
    (callee.stackPointer, callee.framePointer, callee.instructionPointer) = (0x1000, 0x1010, text + 0x14)
    callee[21] = 77
    let words = memory([0x1008: 19, 0x1000: 20, 0x1010: 0x2000, 0x1018: 0x5000])
    let caller = try #require(
      try file().caller(of: callee, at: text + 0x14, isInnermost: false, memory: words))
    #expect(caller.stackPointer == 0x1020)
    #expect(caller.framePointer == 0x2000)
    #expect(caller.instructionPointer == 0x5000)
    #expect(caller[19] == 19)
    #expect(caller[20] == 20)
    #expect(caller[21] == 77)
    #expect(caller.link == nil)
  }

  @Test("A function of arm64 without a frame has its return address in the register, if it is the innermost")
  func framelessARM64() throws {
    var callee = FrameRegisters(.arm64)
    (callee.stackPointer, callee.framePointer, callee.link) = (0x1000, 0x3000, 0x5000)
    let caller = try #require(
      try file().caller(of: callee, at: text + 0x28, isInnermost: false, memory: memory([:])))
    #expect(caller.stackPointer == 0x1020)
    #expect(caller.framePointer == 0x3000)
    #expect(caller.instructionPointer == 0x5000)
    callee.link = nil
    #expect(try file().caller(of: callee, at: text + 0x28, isInnermost: false, memory: memory([:])) == nil)
  }

  @Test(
    "On the way to its frame a function has taken only so much of the stack",
    arguments: [(0, 0), (4, 32), (8, 32)] as [(UInt64, UInt64)])
  func prologueARM64(offset: UInt64, taken: UInt64) throws {
    var callee = FrameRegisters(.arm64)
    (callee.stackPointer, callee.framePointer, callee.link) = (0x1000, 0x3000, 0x5000)
    callee[19] = 1919
    let caller = try #require(
      try file().caller(of: callee, at: text + offset, isInnermost: true, memory: memory([:])))
    #expect(caller.stackPointer == 0x1000 + taken)
    #expect(caller.framePointer == 0x3000)
    #expect(caller.instructionPointer == 0x5000)
    #expect(caller[19] == 1919)
  }

  @Test("Entries that refer to DWARF, and missing memory, give nothing")
  func nothing() throws {
    var callee = FrameRegisters(.arm64)
    (callee.stackPointer, callee.framePointer, callee.link) = (0x1000, 0x1010, 0x5000)
    #expect(try file().caller(of: callee, at: text + 0x50, isInnermost: true, memory: memory([:])) == nil)
    #expect(try file().caller(of: callee, at: text + 0x70, isInnermost: false, memory: memory([:])) == nil)
    var other = FrameRegisters(.x86_64)
    (other.stackPointer, other.framePointer) = (0x1000, 0x1010)
    let words = memory([0x1010: 1, 0x1018: 2])
    #expect(try file().caller(of: other, at: text + 0x70, isInnermost: false, memory: words) == nil)
  }

  /// A file of x86_64 whose first function has this encoding.
  private func fileX86(_ encoding: UInt32) throws -> MachOFile {
    var synth = MachOSynth.sample()
    synth.cpu = (0x0100_0007, 3)
    synth.sections[2].bytes.overwrite(UInt64(encoding), width: 4, at: 28)
    // PUSH rbp; MOV rbp, rsp; NOPs; RET
    synth.sections[0].bytes.replaceSubrange(0..<4, with: [0x55, 0x48, 0x89, 0xe5])
    synth.sections[0].bytes[0x1f] = 0xc3
    return try file(synth)
  }

  @Test("A frame of x86_64 gives back registers from their five places")
  func frameX86() throws {
    // rbx at rbp - 24, nothing, r15 at rbp - 8
    let file = try fileX86(0x0103_0000 | 1 | 5 << 6)
    var callee = FrameRegisters(.x86_64)
    (callee.stackPointer, callee.framePointer) = (0x0f00, 0x1000)
    let words = memory([0xfe8: 3, 0xff0: 99, 0xff8: 15, 0x1000: 0x2000, 0x1008: 0x5000])
    let caller = try #require(file.caller(of: callee, at: text + 8, isInnermost: true, memory: words))
    #expect(caller.stackPointer == 0x1010)
    #expect(caller.framePointer == 0x2000)
    #expect(caller.instructionPointer == 0x5000)
    #expect(caller[3] == 3)
    #expect(caller[15] == 15)
  }

  @Test(
    "Before and behind its frame a function of x86_64 has the return address near the stack pointer",
    arguments: [(0, 0x1000, 0x3000, 0x1008), (1, 0x1008, 0x2000, 0x1010), (0x1f, 0x1000, 0x3000, 0x1008)]
      as [(UInt64, UInt64, UInt64, UInt64)])
  func prologueX86(offset: UInt64, place: UInt64, frame: UInt64, stack: UInt64) throws {
    var callee = FrameRegisters(.x86_64)
    (callee.stackPointer, callee.framePointer) = (0x1000, 0x3000)
    let words = memory([0x1000: place == 0x1000 ? 0x5000 : 0x2000, 0x1008: place == 0x1008 ? 0x5000 : 7])
    let caller = try #require(
      try fileX86(0x0100_0000).caller(of: callee, at: text + offset, isInnermost: true, memory: words))
    #expect(caller.instructionPointer == 0x5000)
    #expect(caller.framePointer == frame)
    #expect(caller.stackPointer == stack)
  }

  @Test("The size of a large frame of x86_64 is in its code")
  func indirectX86() throws {
    var synth = MachOSynth.sample()
    synth.cpu = (0x0100_0007, 3)
    // The operand is 8 bytes into the function, two registers were pushed, and rbx is saved.
    synth.sections[2].bytes.overwrite(0x0308_4400, width: 4, at: 28)
    synth.sections[0].bytes.overwrite(0x1000, width: 4, at: 8)
    let file = try file(synth)
    var callee = FrameRegisters(.x86_64)
    callee.stackPointer = 0x1000
    let words = memory([0x2000: 3, 0x2008: 0x5000])
    let caller = try #require(file.caller(of: callee, at: text + 16, isInnermost: false, memory: words))
    #expect(caller.stackPointer == 0x2010)
    #expect(caller.instructionPointer == 0x5000)
    #expect(caller[3] == 3)
    #expect(
      try stackRecords(file).contains("STACK CFI INIT 1000 20 .cfa: $rsp 4112 + .ra: .cfa -8 + ^ $rbx: .cfa -16 + ^"))
  }

  private func stackRecords(_ file: MachOFile) throws -> [String] {
    let output = MemoryOutput()
    _ = try BreakpadWriter.write(BreakpadInput(file, name: "a"), BreakpadWriter.Options(), to: output)
    return String(decoding: output.bytes, as: UTF8.self).split(separator: "\n").map(String.init)
      .filter { $0.hasPrefix("STACK") }
  }

  @Test("A symbol file has compact unwind information as STACK CFI records")
  func symbolFile() throws {
    let records = try stackRecords(try file())
    #expect(
      records.prefix(2) == [
        "STACK CFI INIT 1000 20 .cfa: x29 16 + .ra: .cfa -8 + ^ x29: .cfa -16 + ^ x19: .cfa -24 + ^ x20: .cfa -32 + ^",
        "STACK CFI INIT 1020 30 .cfa: sp 32 + .ra: x30",
      ])
    // An entry that refers to DWARF has none.
    #expect(!records.contains { $0.hasPrefix("STACK CFI INIT 1050 ") })
  }

  @Test("A function of x86_64 without a frame has saved registers in an order that is one number")
  func framelessX86() throws {
    // 64 bytes; rbx, r14 and rbp. Counted among those that are left: 0, 2, 3, with weights 20, 4, 1.
    let file = try fileX86(0x0208_0000 | 3 << 10 | 11)
    var callee = FrameRegisters(.x86_64)
    callee.stackPointer = 0x1000
    let words = memory([0x1020: 3, 0x1028: 14, 0x1030: 6, 0x1038: 0x5000])
    let caller = try #require(file.caller(of: callee, at: text + 8, isInnermost: false, memory: words))
    #expect(caller.stackPointer == 0x1040)
    #expect(caller.instructionPointer == 0x5000)
    #expect(caller[3] == 3)
    #expect(caller[14] == 14)
    #expect(caller[6] == 6)
  }
}
