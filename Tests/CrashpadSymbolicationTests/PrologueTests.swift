// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import CrashpadSymbolication

/// The bytes and registers that the first instructions of a function put on the stack.
struct PrologueTests {
  private static func word(_ bytes: [UInt8]) -> (UInt64) -> UInt64? {
    { address in
      let start = Int(address)
      guard start < bytes.count else { return nil }
      return (0..<8).reduce(0) { word, index in
        start + index < bytes.count ? word | UInt64(bytes[start + index]) << (8 * UInt64(index)) : word
      }
    }
  }

  @Test(
    arguments: [
      // endbr64; push %r15; pxor %xmm0, %xmm0; push %r14; mov %rsi, %r13; push %rbp; push %rbx; sub $0x178, %rsp
      (
        [
          0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0x57, 0x66, 0x0f, 0xef, 0xc0, 0x41, 0x56, 0x49, 0x89, 0xf5, 0x55, 0x53, 0x48,
          0x81,
          0xec, 0x78, 0x01, 0, 0,
        ], true, 4 * 8 + 0x178
      ),
      // push %rbx; mov 8(%rsp,%rcx,4), %eax; lea 0x1234(%rip), %rdi; mov $5, %esi; movq $0, 0x60(%rsp); sub $16, %rsp
      (
        [
          0x53, 0x8b, 0x44, 0x8c, 0x08, 0x48, 0x8d, 0x3d, 0x34, 0x12, 0, 0, 0xbe, 5, 0, 0, 0, 0x48, 0xc7, 0x44, 0x24,
          0x60, 0,
          0, 0, 0, 0x48, 0x83, 0xec, 0x10,
        ], true, 8 + 16
      ),
      // mov %fs:0x28, %rax; movabs $1, %rcx; push %rax; push %rcx, which is a parameter
      (
        [
          0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0, 0x48, 0xb9, 1, 0, 0, 0, 0, 0, 0, 0, 0x50, 0x51, 0x53,
        ], true, 8
      ),
      // push %ebp; mov %esp, %ebp; push %edi; push %esi; sub $0x2c, %esp; push %ebx
      ([0x55, 0x89, 0xe5, 0x57, 0x56, 0x83, 0xec, 0x2c, 0x53], false, 12 + 0x2c),
      // mov 4(%esp), %eax; push %ebx; push %eax, which is a parameter
      ([0x8b, 0x44, 0x24, 0x04, 0x53, 0x50, 0x53], false, 4),
      // push %rbp; test %eax, %eax; je; sub $16, %rsp
      ([0x55, 0x85, 0xc0, 0x74, 0x10, 0x48, 0x83, 0xec, 0x10], true, 8),
      // push %rbp; and $-32, %rsp; push %rbx. lea -16(%rsp), %rsp. mov %rax, %rsp. mov (%rax), %rsp
      ([0x55, 0x48, 0x83, 0xe4, 0xe0, 0x53], true, 8), ([0x48, 0x8d, 0x64, 0x24, 0xf0, 0x53], true, 16),
      ([0x48, 0x89, 0xc4, 0x53], true, 0), ([0x48, 0x8b, 0x20, 0x53], true, 0),
    ] as [([UInt8], Bool, UInt64)])
  func `Saved registers and variables of Intel's functions are counted`(
    _ bytes: [UInt8], _ isWide: Bool, _ expected: UInt64
  ) {
    let end = UInt64(bytes.count)
    #expect(IntelPrologue(from: 0, to: end, isWide: isWide, Self.word(bytes)).lowered == expected)
    // An instruction that the place cuts off has not been executed.
    #expect(IntelPrologue(from: 0, to: 0, isWide: isWide, Self.word(bytes)).lowered == 0)
    for place in 0...end {
      #expect(IntelPrologue(from: 0, to: place, isWide: isWide, Self.word(bytes)).lowered <= expected)
    }
  }

  private static func saved(
    _ code: [UInt32], _ values: [Int: UInt64], of place: Int? = nil
  ) -> SavedRegisters? {
    let bytes = code.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
    return Arm64Prologue(from: 0, to: UInt64(4 * (place ?? code.count)), Self.word(bytes))
      .saved(FrameRegisters(.arm64, values))
  }

  @Test func `Registers that a function of arm64 saved are found below its caller's stack pointer`() {
    // stp x29, x30, [sp, #-48]!; mov x29, sp; stp x19, x20, [sp, #16]; str x21, [sp, #32]; sub sp, sp, #64; nop
    let code: [UInt32] = [0xa9bd_7bfd, 0x9100_03fd, 0xa901_53f3, 0xf900_13f5, 0xd101_03ff, 0xd503_201f]
    let saved = Self.saved(code, [31: 0x7000])
    #expect(saved?.stackPointer == 0x7000 + 48 + 64)
    #expect([29, 30, 19, 20, 21].map { saved?.place($0) } == [0x7040, 0x7048, 0x7050, 0x7058, 0x7060])
    #expect(saved?.place(22) == nil)
    // Nothing is saved at the first instruction.
    #expect(Self.saved(code, [31: 0x7000], of: 0)?.place(30) == nil)
  }

  @Test func `The frame pointer of arm64 leads over an area of unknown size`() {
    // stp x29, x30, [sp, #-32]!; add x29, sp, #16; sub sp, sp, x1; nop
    let code: [UInt32] = [0xa9be_7bfd, 0x9100_43fd, 0xcb21_63ff, 0xd503_201f]
    let saved = Self.saved(code, [31: 0x7000, 29: 0x7110])
    #expect(saved?.stackPointer == 0x7120)
    #expect(saved?.place(30) == 0x7108)
    #expect(Self.saved(code, [31: 0x7000]) == nil)
  }

  @Test(arguments: [0xa8c2_7bfd, 0x9100_83ff, 0xf841_07fe] as [UInt32])
  func `A function of arm64 that has removed its frame has it nowhere`(_ end: UInt32) {
    // str x30, [sp, #-16]!; nop; then LDP, ADD and LDR, and RET
    let code: [UInt32] = [0xf81f_0ffe, 0xd503_201f, end, 0xd65f_03c0, 0xd503_201f]
    #expect(Self.saved(code, [31: 0x7000], of: 2)?.place(30) == 0x7000)
    #expect(Self.saved(code, [31: 0x7000], of: 3) == nil)
    // Behind the return is another part of the function.
    #expect(Self.saved(code, [31: 0x7000])?.place(30) == 0x7000)
  }
}
