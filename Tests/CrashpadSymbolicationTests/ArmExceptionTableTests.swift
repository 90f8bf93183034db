// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import DumpSynth
import SystemPackage
import Testing
import ToolRunner

@testable import CrashpadSymbolication

/// The tables for exceptions of 32-bit ARM, and code that was interrupted where they do not hold yet or any more.
struct ArmExceptionTableTests {
  private static let text: UInt64 = 0x1000
  private static let index: UInt64 = 0x2000
  private static let tables: UInt64 = 0x3000

  /// A file of four pages: code, the index of functions, and the tables that it refers to.
  private static func file(_ index: [UInt32], _ tables: [UInt32] = [], code: [UInt16] = []) throws -> ElfFile {
    let names = "\0.text\0.ARM.exidx\0.ARM.extab\0.shstrtab\0"
    var bytes: [UInt8] = [0x7f, 0x45, 0x4c, 0x46, 1, 1, 1] + Array(repeating: 0, count: 9)
    for half: UInt16 in [3, 40] { bytes.append(little: half) }
    for word: UInt32 in [1, 0, 52, 0x4100, 0x500_0000] { bytes.append(little: word) }
    for half: UInt16 in [52, 32, 1, 40, 5, 4] { bytes.append(little: half) }
    for word: UInt32 in [1, 0, 0, 0, 0x4000, 0x4000, 5, 0x1000] { bytes.append(little: word) }
    func place(_ content: [UInt8], at offset: Int) {
      bytes += Array(repeating: 0, count: offset - bytes.count) + content
    }
    func all(_ words: [UInt32]) -> [UInt8] {
      words.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
    }
    place(code.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }, at: Int(text))
    place(all(index), at: Int(Self.index))
    place(all(tables), at: Int(Self.tables))
    place(Array(names.utf8), at: 0x4000)
    let sections: [[UInt32]] = [
      Array(repeating: 0, count: 10), [1, 1, 6, 0x1000, 0x1000, 0x1000, 0, 0, 4, 0],
      [7, 0x7000_0001, 0x82, 0x2000, 0x2000, UInt32(4 * index.count), 1, 0, 4, 0],
      [18, 1, 2, 0x3000, 0x3000, UInt32(4 * tables.count), 0, 0, 4, 0],
      [29, 3, 0, 0, 0x4000, UInt32(names.utf8.count), 0, 0, 1, 0],
    ]
    place(sections.flatMap(all), at: 0x4100)
    let folder = try TemporaryFolder()
    return try ElfFile(folder.write("lib.so", bytes))
  }

  /// A distance of 31 bits.
  private static func distance(from place: UInt64, to target: UInt64) -> UInt32 {
    UInt32(truncatingIfNeeded: target &- place) & 0x7fff_ffff
  }

  /// One function at the start of the code, with up to three instructions.
  private static func table(_ instructions: [UInt8]) throws -> ArmExceptionTable {
    let all = instructions + Array(repeating: UInt8(0xb0), count: 3 - instructions.count)
    let word = all.reduce(UInt32(0x80)) { $0 << 8 | UInt32($1) }
    return try #require(ArmExceptionTable(try file([distance(from: index, to: text), word])))
  }

  private static let registers = FrameRegisters(
    .arm(framePointer: 11), [4: 0x44, 7: 0x7100, 11: 0x7200, 13: 0x7000, 14: 0x5555, 15: 0x1010])

  private static func caller(_ table: ArmExceptionTable, at address: UInt64 = 0x1010) -> FrameRegisters? {
    table.caller(of: registers, at: address, isInnermost: false, code: { _ in nil }) { 0x1000_0000 | $0 }
  }

  @Test(
    arguments: [
      // Instructions, the caller's stack pointer, and the place of the return address; 0 for the link register
      ([0x01], 0x7008, 0), ([0x3f], 0x7100, 0), ([0x40], 0x6ffc, 0), ([0x7f], 0x6f00, 0),
      ([0x84, 0x08], 0x7008, 0x7004),
      ([0x88, 0x00], 0x7004, 0x7000), ([0x97, 0x84, 0x08], 0x7108, 0x7104), ([0x9b, 0x40, 0xa8], 0x7204, 0x7200),
      ([0xa8], 0x7008, 0x7004), ([0xab], 0x7014, 0x7010), ([0xa3], 0x7010, 0), ([0xa0], 0x7004, 0),
      ([0xb1, 0x0f], 0x7010, 0), ([0xb1, 0x05], 0x7008, 0), ([0xb2, 0x01], 0x7208, 0), ([0xb2, 0x81, 0x01], 0x7408, 0),
      ([0xb3, 0x81], 0x7014, 0), ([0xb4], 0x7004, 0), ([0xb8], 0x700c, 0), ([0xbf], 0x7044, 0), ([0xc0], 0x7008, 0),
      ([0xc5], 0x7030, 0), ([0xc6, 0x01], 0x7010, 0), ([0xc7, 0x03], 0x7008, 0), ([0xc8, 0x01], 0x7010, 0),
      ([0xc9, 0x8f], 0x7080, 0), ([0xd0], 0x7008, 0), ([0xd7], 0x7040, 0),
    ] as [([UInt8], UInt64, UInt64)])
  func `Each instruction moves the stack pointer and restores its registers`(
    _ instructions: [UInt8], _ stack: UInt64, _ place: UInt64
  ) throws {
    let caller = try #require(Self.caller(try Self.table(instructions)))
    #expect(caller.stackPointer == stack)
    #expect(caller.instructionPointer == (place == 0 ? 0x5555 : 0x1000_0000 | place))
  }

  @Test func `Restored registers have the words of the stack, the others stay`() throws {
    let caller = try #require(Self.caller(try Self.table([0x84, 0x09])))
    #expect(caller[4] == 0x1000_7000 && caller[7] == 0x1000_7004 && caller[11] == 0x7200)
    #expect(caller[14] == nil && caller[0] == nil)
  }

  @Test(
    arguments: [
      [0x80, 0x00], [0x82, 0x00], [0x9d], [0x9f], [0x9c], [0xb1, 0x00], [0xb1, 0x10], [0xb5], [0xc7, 0x00],
      [0xc7, 0x10],
      [0xca], [0xd8], [0xf0], [0xa4, 0x98], [0xa4, 0x97], [0xb2, 0xff, 0xff],
    ] as [[UInt8]])
  func `Instructions that refuse, are not known or need what is lost give no caller`(_ instructions: [UInt8]) throws {
    #expect(Self.caller(try Self.table(instructions)) == nil)
  }

  @Test func `All forms of entries lead to their instructions, and functions without one to nothing`() throws {
    let index: [UInt32] = [
      Self.distance(from: 0x2000, to: 0x1000), 1,
      Self.distance(from: 0x2008, to: 0x1010), Self.distance(from: 0x200c, to: 0x3000),
      Self.distance(from: 0x2010, to: 0x1020), Self.distance(from: 0x2014, to: 0x3008),
      Self.distance(from: 0x2018, to: 0x1030), Self.distance(from: 0x201c, to: 0x3014),
      Self.distance(from: 0x2020, to: 0x1040), 0x8103_0000,
    ]
    // Three in one word; two and those of another word; the routine of a language with its own data behind them
    let tables: [UInt32] = [
      0x80a8_b0b0, 0, 0x8101_0100, 0x84_08_b0_b0, 0, Self.distance(from: 0x3014, to: 0x1000), 0x01_02_00_01,
      0xa8_b0_b0_b0, 0xffff_ffff,
    ]
    let table = try #require(ArmExceptionTable(try Self.file(index, tables)))
    let places: [(UInt64, UInt64?)] = [
      (0xfff, nil), (0x1000, nil), (0x100f, nil), (0x1010, 0x7008), (0x101f, 0x7008), (0x1020, 0x7014),
      (0x1030, 0x7020),
      (0x1040, nil), (0x5000, nil),
    ]
    for (address, stack) in places { #expect(Self.caller(table, at: address)?.stackPointer == stack) }
    // Tables that are cut off have no instructions.
    let cut = try #require(ArmExceptionTable(try Self.file(index, Array(tables.prefix(3)))))
    #expect(Self.caller(cut, at: 0x1010) != nil && Self.caller(cut, at: 0x1020) == nil)
    #expect(ArmExceptionTable(try Self.file([])) == nil)
  }

  @Test(
    arguments: [
      // push {r7, lr}; sub sp, #8; nop; add sp, #8; pop {r7, pc}; nop
      ([0xb580, 0xb082, 0xbf00, 0xb002, 0xbd80, 0xbf00], [0x01, 0x84, 0x08], [4, 6, 10]),
      // push.w {r4, r7, lr}; sub.w sp, sp, #0x400; nop.w; pop.w {r4, r7, pc}; nop
      ([0xe92d, 0x4090, 0xf5ad, 0x6d80, 0xf3af, 0x8000, 0xe8bd, 0x8090, 0xbf00], [0xb2, 0x7f, 0xa9], [8, 12, 16]),
      // str.w lr, [sp, #-4]!; nop; ldr.w pc, [sp], #4; nop
      ([0xf84d, 0xed04, 0xbf00, 0xf85d, 0xfb04, 0xbf00], [0x88, 0x00], [4, 6, 10]),
      // push {r4, lr}; vpush {d8}; nop; vpop {d8}; pop {r4, pc}
      ([0xb510, 0xed2d, 0x8b02, 0xbf00, 0xecbd, 0x8b02, 0xbd10], [0xc8, 0x80, 0xa8], [6, 8]),
      // push {r7, lr}; mov r7, sp; nop
      ([0xb580, 0x466f, 0xbf00], [0x97, 0x84, 0x08], [4]),
    ] as [([UInt16], [UInt8], [UInt64])])
  func `Thumb code is unwound between its first and last instructions`(
    _ code: [UInt16], _ instructions: [UInt8], _ valid: [UInt64]
  ) throws {
    let table = try Self.table(instructions)
    var registers = Self.registers
    registers.isThumb = true
    // Long instructions have two halves.
    let found = Self.starts(code).filter { offset in
      table.caller(of: registers, at: 0x1000 + offset, isInnermost: true, code: { Self.word(code, $0) }) { $0 } != nil
    }
    #expect(found == valid)
  }

  @Test func `Code in the long form is unwound between its first and last instructions`() throws {
    // push {fp, lr}; sub sp, sp, #8; nop; add sp, sp, #8; pop {fp, pc}; nop
    let words: [UInt32] = [0xe92d_4800, 0xe24d_d008, 0xe320_f000, 0xe28d_d008, 0xe8bd_8800, 0xe320_f000]
    let code = words.flatMap { [UInt16(truncatingIfNeeded: $0), UInt16(truncatingIfNeeded: $0 >> 16)] }
    let table = try Self.table([0x01, 0x84, 0x80])
    let found = stride(from: UInt64(0), to: 24, by: 4).filter { offset in
      table.caller(of: Self.registers, at: 0x1000 + offset, isInnermost: true, code: { Self.word(code, $0) }) { $0 }
        != nil
    }
    #expect(found == [8, 12, 20])
  }

  private static func starts(_ code: [UInt16]) -> [UInt64] {
    var starts: [UInt64] = []
    var index = 0
    while index < code.count {
      starts.append(UInt64(2 * index))
      index += code[index] >> 11 >= 0b11101 ? 2 : 1
    }
    return starts
  }

  /// Eight bytes of the code, with zeros behind its end.
  private static func word(_ code: [UInt16], _ address: UInt64) -> UInt64? {
    let first = Int(address - 0x1000) / 2
    return (0..<4).reduce(0) { word, index in
      word | UInt64(code.indices.contains(first + index) ? code[first + index] : 0) << UInt64(16 * index)
    }
  }
}
