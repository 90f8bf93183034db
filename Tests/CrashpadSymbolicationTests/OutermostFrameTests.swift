// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import CrashpadSymbolication
import DumpSynth
import Testing

/// The frame that starts a program or a thread, where its function has no rules.
struct OutermostFrameTests {
  /// A program in which the entry calls `main`, whose frame pointer is 0x7010.
  private static func walk(_ elf: SynthElf) throws -> StackWalker.Walk {
    var process = try TestProcess(.x86_64)
    process.snapshot.system.operatingSystem = .linux
    try process.folder.write("app", elf.bytes)
    process.module("app", at: 0x40_0000, size: 0x3000, id: "A3A2A1A0A5A4A7A6A8A9AAABACADAEAF0")
    process.memory(at: 0x7000, [1, 2, 3, 0x40_1068, 1, 0x7ffe_0000, 0, 0])
    return process.walk(FrameRegisters(.x86_64, [16: 0x40_1020, 7: 0x7000, 6: 0x7010]))
  }

  /// A call at 0x1063 of what is at a distance from the address behind it.
  private static func program(callingAt distance: Int) -> SynthElf {
    var elf = SynthElf()
    elf.describesStart = false
    elf.code[0x63] = [0xe8] + (0..<4).map { UInt8(truncatingIfNeeded: distance >> (8 * $0)) }
    return elf
  }

  @Test func `Code at a file's entry that calls a function with rules, and has none, is the outermost`() throws {
    let walk = try Self.walk(Self.program(callingAt: -0x68))
    #expect(walk.frames.map(\.instruction) == [0x40_1020, 0x40_1068])
    #expect(walk.end == .done)
  }

  @Test func `Code at a file's entry that calls no function with rules may be another function`() throws {
    // 0x1000 bytes behind it
    let walk = try Self.walk(Self.program(callingAt: 0x1000))
    #expect(walk.frames.map(\.instruction) == [0x40_1020, 0x40_1068])
    #expect(walk.end == .noCaller)
  }

  @Test(arguments: [
    ("_start", 0x208, true), ("_dl_start_user", 0x208, true), ("_start", 0x290, false), ("main", 0x208, false),
  ])
  func `A symbol without a size names the outermost function near it`(
    _ name: String, _ place: UInt64, _ isKnown: Bool
  ) throws {
    let id = "00112233445566778899AABBCCDDEEFF0"
    let text = """
      MODULE Linux x86_64 \(id) ld.so
      FUNC 100 80 0 called
      PUBLIC 200 0 \(name)
      STACK CFI INIT 100 80 .cfa: $rsp 16 + .ra: .cfa 8 - ^

      """
    var process = try TestProcess(.x86_64, symbolFiles: [text])
    process.snapshot.system.operatingSystem = .linux
    process.module("ld.so", at: 0x40_0000, size: 0x1000, id: id)
    process.memory(at: 0x7000, [1, 0x40_0000 + place, 1, 0x7ffe_0000, 0])
    let walk = process.walk(FrameRegisters(.x86_64, [16: 0x40_0110, 7: 0x7000, 6: 0]))
    #expect(walk.frames.count == 2)
    #expect(walk.end == (isKnown ? .done : .noCaller))
  }
}
