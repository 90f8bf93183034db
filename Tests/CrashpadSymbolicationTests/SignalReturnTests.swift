// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import Testing

@testable import CrashpadSymbolication

/// The kernel's frame of a signal handler: each register has its place.
struct SignalReturnTests {
  private struct Case: CustomTestStringConvertible, Sendable {
    let architecture: FrameRegisters.Architecture
    /// The code to which the handler returns, little-endian.
    let code: [UInt64]
    /// The distance of each register from the stack pointer, by the headers of Linux.
    let places: [Int: UInt64]
    var size: UInt64 = 8
    var testDescription: String { "\(architecture) \(code.map { String($0, radix: 16) })" }
  }

  private static let cases: [Case] = {
    // mcontext_t of x86-64 begins behind flags, link and a stack_t of three words: r8 … r15, rdi, rsi, rbp, rbx, rdx, rax, rcx,
    // rsp, rip.
    let intel: [Int: UInt64] = [
      8: 0x28, 9: 0x30, 10: 0x38, 11: 0x40, 12: 0x48, 13: 0x50, 14: 0x58, 15: 0x60, 5: 0x68, 4: 0x70, 6: 0x78, 3: 0x80,
      1: 0x88, 0: 0x90, 2: 0x98, 7: 0xa0, 16: 0xa8,
    ]
    // siginfo 0x80, ucontext 0xb0 with its mask, the fault address, x0 to x30, sp, pc
    let arm64 = Dictionary(uniqueKeysWithValues: (0...32).map { ($0, 0x138 + 8 * UInt64($0)) })
    // siginfo 0x80, five words, three words, r0 to r15, of which the last one has the bit of Thumb
    let arm = Dictionary(uniqueKeysWithValues: (0...14).map { ($0, 0xa0 + 4 * UInt64($0)) })
    let oldArm = arm.mapValues { $0 - 0x80 }
    // siginfo 0x80, ucontext 0xb0 with its mask; pc, then x1 to x31 of RISC-V, r0 to r31 of LoongArch
    let pc: [Int: UInt64] = [32: 0x130]
    let riscv = Dictionary(uniqueKeysWithValues: (1...31).map { ($0, 0x130 + 8 * UInt64($0)) }).merging(pc) { $1 }
    let loongArch = Dictionary(uniqueKeysWithValues: (1...31).map { ($0, 0x138 + 8 * UInt64($0)) }).merging(pc) { $1 }
    // struct sigcontext of i386: four segments, edi, esi, ebp, esp, ebx, edx, ecx, eax, trapno, err, eip. Before it the signal's
    // number, or that, two pointers, a siginfo of 0x80, and flags, link and stack_t of the ucontext
    let intel32: [Int: UInt64] = [7: 0xb0, 6: 0xb4, 5: 0xb8, 4: 0xbc, 3: 0xc0, 2: 0xc4, 1: 0xc8, 0: 0xcc, 8: 0xd8]
    let old32: [Int: UInt64] = [7: 0x14, 6: 0x18, 5: 0x1c, 4: 0x20, 3: 0x24, 2: 0x28, 1: 0x2c, 0: 0x30, 8: 0x3c]
    return [
      Case(architecture: .x86, code: [0x9080_cd00_0000_adb8], places: intel32, size: 4),
      Case(architecture: .x86, code: [0x80cd_0000_0077_b858], places: old32, size: 4),
      Case(architecture: .riscv64, code: [0x0000_0073_08b0_0893], places: riscv),
      Case(architecture: .loongarch64, code: [0x002b_0000_0382_2c0b], places: loongArch),
      Case(architecture: .x86_64, code: [0x0f00_0000_0fc0_c748, 0x9090_9090_9090_9005], places: intel),
      Case(architecture: .x86_64, code: [0x9005_0f00_0000_0fb8], places: intel),
      Case(architecture: .arm64, code: [0xd400_0001_d280_1168], places: arm64),
      Case(architecture: .arm(framePointer: 11), code: [0xef00_0000_e3a0_70ad], places: arm, size: 4),
      Case(architecture: .arm(framePointer: 11), code: [0x46c0_46c0_df00_27ad], places: arm, size: 4),
      Case(architecture: .arm(framePointer: 11), code: [0x46c0_df00_07ad_f04f], places: arm, size: 4),
      Case(architecture: .arm(framePointer: 11), code: [0xef00_0000_e3a0_7077], places: oldArm, size: 4),
      Case(architecture: .arm(framePointer: 11), code: [0x46c0_46c0_df00_2777], places: oldArm, size: 4),
      Case(architecture: .arm(framePointer: 11), code: [0x46c0_df00_0777_f04f], places: oldArm, size: 4),
    ]
  }()

  @Test(arguments: cases.indices)
  func `Every register is read from its place`(_ number: Int) throws {
    let one = Self.cases[number]
    let rules = try #require(
      SignalReturn.rules(one.architecture) { distance in
        one.code.indices.contains(Int(distance / 8)) ? one.code[Int(distance / 8)] : nil
      })
    var callee = FrameRegisters(one.architecture)
    callee.stackPointer = 0x7000
    let caller = try #require(rules.caller(of: callee) { $0 })
    #expect(rules.isSignalFrame)
    for (register, place) in one.places { #expect(caller[register] == 0x7000 + place, "register \(register)") }
  }

  @Test(arguments: [(0xef00_0000_e3a0_70ad, 0x70dc), (0xef00_0000_e3a0_7077, 0x705c)] as [(UInt64, UInt64)])
  func `The status register of ARM says whether the interrupted code is in the short form`(
    _ code: UInt64, _ place: UInt64
  ) throws {
    let rules = try #require(SignalReturn.rules(.arm(framePointer: 11)) { $0 == 0 ? code : nil })
    var callee = FrameRegisters(.arm(framePointer: 11))
    callee.stackPointer = 0x7000
    for (status, bit): (UInt64, UInt64) in [(0x6000_0010, 0), (0x6000_0030, 1)] {
      let caller = rules.caller(of: callee) { $0 == place ? 0x40_1234 : $0 == place + 4 ? status : 0 }
      #expect(caller?.instructionPointer == 0x40_1234 | bit)
    }
  }

  @Test(arguments: cases.indices)
  func `Code with any other bit is not that of a return from a handler`(_ number: Int) {
    let one = Self.cases[number]
    let nops: [(UInt64, Int)] = [(0x46c0_46c0, 32), (0x46c0, 48), (0x90, 56)]
    let bits = nops.first { one.code[0] >> UInt64($1) == $0 }?.1 ?? 64
    for bit in 0..<UInt64(bits) {
      let changed = SignalReturn.rules(one.architecture) { distance in
        distance == 0 ? one.code[0] ^ 1 << bit : one.code.indices.contains(1) ? one.code[1] : nil
      }
      #expect(changed == nil, "bit \(bit)")
    }
  }

  @Test func `Code that waited in a system call is behind its instruction, or before it if the call is repeated`() {
    for (architecture, code, size): (FrameRegisters.Architecture, UInt64, Int64) in [
      (.x86_64, 0x050f, 2), (.arm64, 0xd400_0001, 4), (.arm64, 0xd400_1001, 4), (.riscv64, 0x73, 4),
      (.loongarch64, 0x002b_0000, 4),
    ] {
      for place in [-size, 0] {
        #expect(SignalReturn.isInSystemCall(architecture) { $0 == place ? code | 0x9090 << 48 : 0 })
        #expect(!SignalReturn.isInSystemCall(architecture) { $0 == place ? ~code : 0 })
      }
      #expect(!SignalReturn.isInSystemCall(architecture) { $0 == 2 * size ? code : 0 })
      #expect(!SignalReturn.isInSystemCall(architecture) { _ in nil })
    }
  }

  @Test func `A handler's frame says whether it interrupted a system call`() throws {
    func interrupts(_ code: UInt64, signal: UInt64 = 0) throws -> Bool? {
      let id = "00112233445566778899AABBCCDDEEFF0"
      var process = try TestProcess(
        .x86_64,
        symbolFiles: [
          "MODULE Linux x86_64 \(id) app\nFUNC 100 100 0 handler\n"
            + "STACK CFI INIT 100 100 .cfa: $rsp 8 + .ra: .cfa 8 - ^\n"
        ])
      process.module("app", at: 0x40_0000, size: 0x1_0000, id: id)
      // mov $15, %rax; syscall, in no function that is known
      process.memory(at: 0x40_0300, [0, 0x0f00_0000_0fc0_c748, 0x05, 0])
      process.memory(at: 0x40_1230, [code << 16, 0])
      // The return address is at 0x7000; the ucontext follows, and the siginfo behind it.
      var words = [UInt64](repeating: 0, count: 60)
      words[0] = 0x40_0308
      words[1 + 0xa0 / 8] = 0x7800
      words[1 + 0xa8 / 8] = 0x40_1234
      words[1 + 304 / 8] = signal
      process.memory(at: 0x7000, words)
      let walk = process.walk(FrameRegisters(.x86_64, [16: 0x40_0110, 7: 0x7000]))
      #expect(walk.frames.prefix(3).map(\.instruction) == [0x40_0110, 0x40_0308, 0x40_1234])
      return walk.frames.first(where: \.isSignalFrame)?.interruptsSystemCall
    }
    #expect(try interrupts(0x050f) == true)
    #expect(try interrupts(0x9090) == false)
    #expect(try interrupts(0x050f, signal: 15) == true)
    // SIGSYS, whose call the kernel refused
    #expect(try interrupts(0x050f, signal: 31 | 7 << 32) == false)
  }
}
