// SPDX-License-Identifier: Apache-2.0

/// A fault for which the kernel called a handler of the program, as the record on the handler's stack says. A process may also
/// have sent the fault's signal.
package struct HandledFault: Sendable, Hashable {
  package let signal: UInt32
  package let code: Int32
  /// For a sent signal the kernel's word about the sender. Nil if `redact` removed it.
  package let address: UInt64?
  /// The access that a page fault was for, as the processor of x86-64 has it; nil if that is not known.
  package private(set) var access: MemoryProtection?

  package var isSent: Bool { code <= 0 }

  /// The codes of faults; the last one is SI_KERNEL.
  private static let codes: ClosedRange<Int32> = 1...0x80

  /// Nil if there is no such record.
  ///
  /// - Parameters:
  ///   - place: the distance of the siginfo; nil if the processor's record is not known.
  ///   - isIntel: whether the record has the number of the processor's trap.
  ///   - word: returns the eight bytes at a distance from the stack pointer at which the handler returns.
  ///
  /// Sources: Linux, asm-generic/siginfo.h; arch/x86, `rt_sigframe` and uapi/asm/sigcontext.h; arch/arm64, `rt_sigframe`.
  package init?(siginfo place: UInt64?, isIntel: Bool, _ word: (UInt64) -> UInt64?) {
    if let sent = Self(sent: place, word) {
      self = sent
    } else if let stated = Self(stated: place, word), !isIntel || stated.agrees(word) {
      self = stated
    } else if isIntel, let trap = Self(pageFault: word) {
      self = trap
    } else {
      return nil
    }
    if isIntel, !isSent, word(SignalFrame64.trap) == Self.pageFault, let error = word(SignalFrame64.errorCode) {
      access = error & 0x10 != 0 ? .execute : error & 2 != 0 ? .write : .read
    }
  }

  /// The siginfo, if it may be one.
  private init?(stated place: UInt64?, _ word: (UInt64) -> UInt64?) {
    guard let place, let first = word(place), let second = word(place + 8),
      let address = word(place + 16), case let signal = UInt32(truncatingIfNeeded: first),
      case let code = Int32(truncatingIfNeeded: second), ExceptionSnapshot.faultSignals.contains(signal),
      Self.codes.contains(code)
    else { return nil }
    (self.signal, self.code, self.address) = (signal, code, address == removedWord ? nil : address)
  }

  /// The siginfo of a signal that a process sent. The processor has no trap for it, so that all other parts have to fit: no error,
  /// the padding that the kernel clears, and ids.
  private init?(sent place: UInt64?, _ word: (UInt64) -> UInt64?) {
    guard let place, let signal = word(place), let second = word(place + 8),
      let sender = word(place + 16), signal <= 31, ExceptionSnapshot.faultSignals.contains(UInt32(signal)),
      second >> 32 == 0, case let code = Int32(truncatingIfNeeded: second),
      ExceptionSnapshot.Sending(rawValue: code) != nil
    else { return nil }
    // Ids of processes have at most 22 bits.
    guard sender == removedWord || (1..<1 << 22).contains(sender & 0xffff_ffff) else { return nil }
    (self.signal, self.code, address) = (UInt32(signal), code, sender == removedWord ? nil : sender)
  }

  /// The kernel leaves the siginfo out for a handler without SA_SIGINFO. What the processor said of a page fault is saved for all.
  private init?(pageFault word: (UInt64) -> UInt64?) {
    guard word(SignalFrame64.trap) == Self.pageFault, let error = word(SignalFrame64.errorCode),
      let address = word(SignalFrame64.pageFaultAddress)
    else { return nil }
    // Bit 0: the page was there, and the access not allowed.
    (signal, code, self.address) = (11, error & 1 == 0 ? 1 : 2, address == removedWord ? nil : address)
  }

  private static let pageFault: UInt64 = 14

  /// Whether the processor's trap, which the kernel always saves, fits. Otherwise the siginfo is left over from another one.
  private func agrees(_ word: (UInt64) -> UInt64?) -> Bool {
    guard let number = word(SignalFrame64.trap) else { return false }
    switch signal {
    case 4: return number == 6
    case 5: return number == 3 || number == 1
    case 8: return [0, 16, 19].contains(number)
    default:
      if number != Self.pageFault { return (10...17).contains(number) || number == 4 || number == 5 }
      return code == 0x80 || word(SignalFrame64.pageFaultAddress) == address ?? removedWord
    }
  }
}
