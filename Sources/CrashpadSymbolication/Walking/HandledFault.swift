// SPDX-License-Identifier: Apache-2.0
internal import CrashpadSnapshot

extension HandledFault {
  /// Nil if there is no record of a fault at the stack pointer at which a handler returns.
  ///
  /// - Parameter word: returns the eight bytes at a distance from it.
  init?(_ architecture: FrameRegisters.Architecture, _ word: (UInt64) -> UInt64?) {
    self.init(siginfo: SignalReturn.siginfoOffset(architecture), isIntel: architecture == .x86_64, word)
  }
}
