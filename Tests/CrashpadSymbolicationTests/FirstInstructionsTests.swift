// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import CrashpadSymbolication
import Testing

/// Callers where no rules and no frame pointer lead: by what the first instructions of a function saved.
struct FirstInstructionsTests {
  private static let id = "00112233445566778899AABBCCDDEEFF0"
  private static let symbols = """
    MODULE Linux arm \(id) App
    FUNC 100 40 0 inner
    FUNC 200 40 0 outer
    FUNC 300 40 0 earlier

    """

  /// A process of 32-bit ARM that stopped in `inner`, with the code of that function, 0x400 bytes of a stack, and a word on it that is
  /// left over from an earlier call.
  private static func process(_ code: [UInt16], isThumb: Bool, linkAt place: Int) throws -> TestProcess {
    var process = try TestProcess(.arm, symbolFiles: [symbols])
    process.snapshot.system.operatingSystem = .linux
    process.module("App", at: 0x40_0000, size: 0x1000, id: id)
    process.memory(at: 0x40_0100, packed(code.map(UInt64.init) + [0xbf00, 0xbf00, 0xbf00, 0xbf00], bits: 16))
    var stack = [UInt64](repeating: 0, count: 0x100)
    stack[1] = isThumb ? 0x40_0311 : 0x40_0310
    stack[place / 4] = isThumb ? 0x40_0211 : 0x40_0210
    process.memory(at: 0x7000, packed(stack, bits: 32))
    return process
  }

  private static func packed(_ values: [UInt64], bits: Int) -> [UInt64] {
    let count = 64 / bits
    return stride(from: 0, to: values.count, by: count).map { start in
      (0..<count).reduce(0) { word, index in
        word | (values.indices.contains(start + index) ? values[start + index] << UInt64(bits * index) : 0)
      }
    }
  }

  @Test(
    arguments: [
      // push {r4, r5, lr}; sub sp, #260; nop
      ([0xb530, 0xb0c1, 0xbf00, 0xbf00], true, 260 + 8),
      // push.w {r4, r8, lr}; sub.w sp, sp, #0x200; nop
      ([0xe92d, 0x4110, 0xf5ad, 0x7d00, 0xbf00, 0xbf00], true, 512 + 8),
      // str.w lr, [sp, #-4]!; sub sp, #64; nop
      ([0xf84d, 0xed04, 0xb090, 0xbf00, 0xbf00], true, 64),
      // push {lr}; push {r4}; nop
      ([0xb500, 0xb410, 0xbf00, 0xbf00], true, 4 + 0),
      // push {r4, lr}; sub sp, sp, #512; nop, in the long form
      ([0x4010, 0xe92d, 0xdc02, 0xe24d, 0xf000, 0xe320, 0xf000, 0xe320], false, 512 + 4),
      // str lr, [sp, #-4]!; sub sp, sp, #48; nop
      ([0xe004, 0xe52d, 0xd030, 0xe24d, 0xf000, 0xe320, 0xf000, 0xe320], false, 48),
    ] as [([UInt16], Bool, Int)])
  func `The return address is where the function saved it`(_ code: [UInt16], _ isThumb: Bool, _ place: Int) throws {
    let process = try Self.process(code, isThumb: isThumb, linkAt: place)
    let end = 0x40_0100 + 2 * UInt64(code.count - 1) & ~(isThumb ? 1 : 3)
    let registers = FrameRegisters(.arm(framePointer: 11), [13: 0x7000, 14: 0x40_0109, 15: end])
    let walk = process.walk(registers, isThumb: isThumb)
    #expect(walk.frames.prefix(2).map(\.instruction) == [end, 0x40_0210])
    #expect(walk.frames.dropFirst().first?.trust == .scan)
    #expect(walk.frames.dropFirst().first?.skippedWords == place / 4)
  }

  @Test func `A word that is no return address is not taken for the saved one`() throws {
    let process = try Self.process([0xb530, 0xb0c1, 0xbf00, 0xbf00], isThumb: true, linkAt: 256)
    let registers = FrameRegisters(.arm(framePointer: 11), [13: 0x7000, 14: 0, 15: 0x40_0106])
    #expect(process.walk(registers, isThumb: true).frames.prefix(2).map(\.instruction) == [0x40_0106, 0x40_0310])
  }

  @Test func `A function that has saved nothing has its caller in the link register`() throws {
    let process = try Self.process([0xbf00, 0xb530, 0xb0c1, 0xbf00], isThumb: true, linkAt: 268)
    let registers = FrameRegisters(.arm(framePointer: 11), [13: 0x7000, 14: 0x40_0211, 15: 0x40_0102])
    #expect(process.walk(registers, isThumb: true).frames.prefix(2).map(\.instruction) == [0x40_0102, 0x40_0210])
  }

  @Test func `A frame pointer of Thumb code leads over variables of unknown size`() throws {
    // push {r7, lr}; add r7, sp, #0; sub.w sp, sp, r2; nop
    let code: [UInt16] = [0xb580, 0xaf00, 0xebad, 0x0d02, 0xbf00]
    let process = try Self.process(code, isThumb: true, linkAt: 0x104)
    let registers = FrameRegisters(.arm(framePointer: 11), [13: 0x7000, 7: 0x7100, 14: 0, 15: 0x40_0108])
    #expect(process.walk(registers, isThumb: true).frames.prefix(2).map(\.instruction) == [0x40_0108, 0x40_0210])
  }

  @Test func `A function of arm64 that sets no frame pointer has that of a caller`() throws {
    let symbols = Self.symbols.replacing("Linux arm ", with: "Linux arm64 ")
    var process = try TestProcess(.arm64, symbolFiles: [symbols])
    process.snapshot.system.operatingSystem = .linux
    process.module("App", at: 0x40_0000, size: 0x1000, id: Self.id)
    // str x30, [sp, #-16]!; nop; nop; nop
    process.memory(at: 0x40_0100, [0xd503_201f_f81f_0ffe, 0xd503_201f_d503_201f])
    process.memory(at: 0x7000, [0x40_0210, 0, 0, 0, 0x7040, 0x40_0310, 0, 0, 0, 0])
    let walk = process.walk(FrameRegisters(.arm64, [31: 0x7000, 29: 0x7020, 32: 0x40_010c]))
    #expect(walk.frames.map(\.instruction) == [0x40_010c, 0x40_0210, 0x40_0310])
    #expect(walk.frames.map(\.trust) == [.context, .scan, .framePointer])
  }
}
