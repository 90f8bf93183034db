// SPDX-License-Identifier: Apache-2.0
/// A fault for which the kernel called a handler of the program, as its record on the handler's stack says.
package struct HandledFault: Sendable, Hashable {
  package let signal: UInt32
  package let code: Int32
  /// Nil if `redact` removed it.
  package let address: UInt64?

  /// Signals of faults: SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV.
  private static let signals: Set<UInt32> = [4, 5, 7, 8, 11]
  /// The codes of faults; the last one is SI_KERNEL.
  private static let codes: ClosedRange<Int32> = 1...0x80
  /// The word with which `redact` replaces values that are not addresses in a module.
  private static let removed: UInt64 = 0x0def_aced_0def_aced

  /// Nil if the signal was sent, or there is no such record: the kernel leaves it out for a handler without SA_SIGINFO.
  ///
  /// - Parameter word: returns the eight bytes at a distance from the stack pointer at which the handler returns.
  ///
  /// Sources: Linux, asm-generic/siginfo.h; arch/x86, `rt_sigframe` and uapi/asm/sigcontext.h; arch/arm64, `rt_sigframe`.
  init?(_ architecture: FrameRegisters.Architecture, _ word: (UInt64) -> UInt64?) {
    guard let place = SignalReturn.siginfoOffset(architecture), let first = word(place), let second = word(place + 8),
      let address = word(place + 16), case let signal = UInt32(truncatingIfNeeded: first),
      case let code = Int32(truncatingIfNeeded: second), Self.signals.contains(signal), Self.codes.contains(code)
    else { return nil }
    if architecture == .x86_64, !Self.agrees(signal, code, address, word) { return nil }
    (self.signal, self.code, self.address) = (signal, code, address == Self.removed ? nil : address)
  }

  /// Whether the number of the processor's trap, which the kernel always saves, fits. Otherwise the record is left over.
  private static func agrees(_ signal: UInt32, _ code: Int32, _ address: UInt64, _ word: (UInt64) -> UInt64?) -> Bool {
    let (numberOfTrap, addressOfFault) = (word(200), word(216))
    switch signal {
    case 4: return numberOfTrap == 6
    case 5: return numberOfTrap == 3 || numberOfTrap == 1
    case 8: return [0, 16, 19].contains(numberOfTrap)
    default:
      // A page fault has its address in CR2.
      if numberOfTrap == 14 { return addressOfFault == address || code == 0x80 }
      return numberOfTrap.map { (10...17).contains($0) || $0 == 4 || $0 == 5 } ?? false
    }
  }
}
