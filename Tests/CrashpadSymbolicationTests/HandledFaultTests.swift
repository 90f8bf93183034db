// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import Testing

@testable import CrashpadSymbolication

/// The kernel's record of the fault for which it called a handler.
struct HandledFaultTests {
  /// - Parameters:
  ///   - siginfo: the signal, its code and its address; nil where the kernel left them out.
  ///   - trap: the number of the processor's trap, its error code, and CR2.
  private static func fault(
    _ siginfo: (UInt64, UInt64, UInt64)?, trap: (UInt64, UInt64, UInt64),
    on machine: FrameRegisters.Architecture = .x86_64
  ) -> HandledFault? {
    let start: UInt64 = machine == .x86_64 ? 304 : 0
    var words: [UInt64: UInt64] = [200: trap.0, 192: trap.1, 216: trap.2]
    if let siginfo {
      for (index, word) in [siginfo.0, siginfo.1, siginfo.2].enumerated() { words[start + 8 * UInt64(index)] = word }
    }
    return HandledFault(machine) { words[$0] }
  }

  private static let removed: UInt64 = 0x0def_aced_0def_aced

  @Test func `A record whose siginfo and trap agree is the fault`() {
    let mapped = Self.fault((11, 1, 0x1238), trap: (14, 4, 0x1238))
    #expect(mapped?.signal == 11 && mapped?.code == 1 && mapped?.address == 0x1238)
    #expect(Self.fault((8, 1, 0x40_1000), trap: (0, 0, 0))?.signal == 8)
    #expect(Self.fault((4, 2, 0x40_1000), trap: (6, 0, 0))?.signal == 4)
    #expect(Self.fault((11, 0x80, 0), trap: (13, 0, 0))?.code == 0x80)
    #expect(Self.fault((7, 2, 0x7000), trap: (14, 4, 0x7000))?.signal == 7)
    #expect(Self.fault((11, 1, 0x10), trap: (0, 0, 0), on: .arm64)?.address == 0x10)
    let redacted = Self.fault((11, 2, Self.removed), trap: (14, 7, Self.removed))
    #expect(redacted?.signal == 11 && redacted?.address == nil)
  }

  @Test func `A page fault is known without a siginfo`() {
    for left: (UInt64, UInt64, UInt64)? in [nil, (0x7fff_1234, 77, 5), (8, 1, 0x40_1000)] {
      let fault = Self.fault(left, trap: (14, 6, 0x10))
      #expect(fault?.signal == 11 && fault?.code == 1 && fault?.address == 0x10, "\(String(describing: left))")
    }
    #expect(Self.fault(nil, trap: (14, 7, 0x40_0000))?.code == 2)
  }

  @Test func `A signal that was sent, or a record that is left over, is no fault`() {
    // SI_TKILL, SI_USER, SIGTERM, and a siginfo of another trap.
    #expect(Self.fault((6, 0xffff_fffa, 0), trap: (0, 0, 0)) == nil)
    #expect(Self.fault((11, 0, 0), trap: (0, 0, 0)) == nil)
    #expect(Self.fault((15, 1, 0), trap: (0, 0, 0)) == nil)
    #expect(Self.fault((11, 1, 0x10), trap: (0, 0, 0)) == nil)
    #expect(Self.fault((8, 1, 0x10), trap: (13, 0, 0)) == nil)
    #expect(Self.fault(nil, trap: (0, 0, 0)) == nil)
    #expect(Self.fault(nil, trap: (14, 4, 0x10), on: .arm64) == nil)
    #expect(Self.fault((11, 1, 0x10), trap: (14, 4, 0x10), on: .x86) == nil)
  }
}
