// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import Testing

@testable import CrashpadSymbolication

/// The code behind the call of a thread's first function: it ends the thread.
struct ExitCodeTests {
  private struct Case: Sendable {
    let architecture: FrameRegisters.Architecture
    var isThumb = false
    let code: [UInt8]
    /// The bytes that are a part of a distance, and may be any.
    var free: Range<Int> = 0..<0
  }

  /// Code of the C libraries, as their disassemblies show it.
  private static let cases: [Case] = [
    Case(architecture: .x86_64, code: [0x48, 0x89, 0xc7, 0xb8, 0x3c, 0, 0, 0, 0x0f, 0x05]),
    Case(architecture: .x86_64, code: [0x89, 0xc7, 0xb8, 0x3c, 0, 0, 0, 0x0f, 0x05]),
    Case(architecture: .x86_64, code: [0x89, 0xc7, 0x31, 0xc0, 0xb0, 0x3c, 0x0f, 0x05]),
    Case(architecture: .x86, code: [0x89, 0xc3, 0xb8, 1, 0, 0, 0, 0xcd, 0x80]),
    Case(architecture: .x86, code: [0x89, 0xc3, 0xb8, 1, 0, 0, 0, 0x65, 0xff, 0x15, 0x10, 0, 0, 0]),
    Case(architecture: .x86, code: [0x89, 0xc3, 0x31, 0xc0, 0x40, 0xcd, 0x80]),
    Case(architecture: .x86_64, code: [0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c, 0x24]),
    Case(architecture: .x86_64, code: [0x48, 0x89, 0xdc, 0x64, 0xf7, 0x04, 0x25, 0x48, 0, 0, 0, 2, 0, 0, 0]),
    Case(architecture: .x86, code: [0x8d, 0x24, 0x9c, 0x83, 0x3c, 0x24, 0]),
    Case(architecture: .arm64, code: [0xe0, 0x03, 0x13, 0xaa, 0xc0, 0xf9, 0xff, 0xb5], free: 4..<7),
    Case(architecture: .arm(framePointer: 11), code: [0x04, 0, 0xb0, 0xe1, 0xe1, 0xff, 0xff, 0x1a], free: 4..<7),
    Case(architecture: .arm64, code: [0xa8, 0x0b, 0x80, 0xd2, 0x01, 0, 0, 0xd4]),
    Case(architecture: .arm(framePointer: 11), code: [0x01, 0x70, 0xa0, 0xe3, 0, 0, 0, 0xef]),
    Case(architecture: .arm(framePointer: 11), isThumb: true, code: [0x4f, 0xf0, 0x01, 0x07, 0, 0xdf]),
    Case(architecture: .arm(framePointer: 11), isThumb: true, code: [0x01, 0x27, 0, 0xdf]),
    Case(architecture: .riscv64, code: [0x93, 0x08, 0xd0, 0x05, 0x73, 0, 0, 0]),
    Case(architecture: .loongarch64, code: [0x0b, 0x74, 0x81, 0x03, 0, 0, 0x2b, 0]),
  ]

  private static func isExit(_ one: Case, _ code: [UInt8]) -> Bool {
    ExitCode.isExit(one.architecture, isThumb: one.isThumb) { word(code, at: Int($0)) }
  }

  /// Eight bytes of the code, with those of breakpoints behind its end.
  private static func word(_ code: [UInt8], at offset: Int) -> UInt64 {
    (0..<8).reduce(0) { word, index in
      let place = offset + index
      return word | UInt64(code.indices.contains(place) ? code[place] : 0xcc) << UInt64(8 * index)
    }
  }

  @Test(arguments: cases.indices)
  func `Code that ends a thread is known, and code with any other bit is not`(_ number: Int) {
    let one = Self.cases[number]
    #expect(Self.isExit(one, one.code))
    for bit in 0..<(8 * one.code.count) {
      var changed = one.code
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(Self.isExit(one, changed) == one.free.contains(bit / 8), "bit \(bit)")
    }
    #expect(!ExitCode.isExit(one.architecture, isThumb: one.isThumb) { _ in nil })
  }

  @Test func `A walk ends at the code behind the function of a context, which is behind no call`() throws {
    for (frame, trust) in [(0x7010, FrameTrust.framePointer), (0, .scan)] as [(UInt64, FrameTrust)] {
      var process = try TestProcess(.x86_64)
      process.module("libc.so", at: 0x40_0000, size: 0x1000)
      // nop; mov %rbx, %rsp; mov (%rsp), %rdi
      process.memory(at: 0x40_0200, [0x9090_9090_9090_9090, 0x9024_3c8b_48dc_8948, 0])
      // The frame pointer is that of the function that made the context.
      process.memory(at: 0x7000, [5, 6, 0x7030, 0x40_0208, 7, 8, 0, 0x40_0333, 0, 0])
      let walk = process.walk(FrameRegisters(.x86_64, [16: 0x40_0100, 7: 0x7000, 6: frame]))
      #expect(walk.frames.map(\.instruction) == [0x40_0100, 0x40_0208])
      #expect(walk.frames.last?.trust == trust)
      #expect(walk.end == .done)
    }
  }

  @Test func `A walk ends at the function that ends its thread, and a scan looks no further`() throws {
    var process = try TestProcess(.x86_64)
    process.module("libc.so", at: 0x40_0000, size: 0x1000)
    // call *%r9; mov %eax, %edi; xor %eax, %eax; mov $60, %al; syscall; hlt
    process.memory(at: 0x40_0200, [0x31c7_89d1_ff41_9090, 0x9090_f405_0f3c_b0c0, 0])
    // Words of another call are behind the thread's first frame.
    process.memory(at: 0x7000, [5, 0x40_0205, 7, 0x40_0333, 0, 0])
    let walk = process.walk(FrameRegisters(.x86_64, [16: 0x40_0100, 7: 0x7000, 6: 0]))
    #expect(walk.frames.map(\.instruction) == [0x40_0100, 0x40_0205])
    #expect(walk.end == .done)
  }
}
