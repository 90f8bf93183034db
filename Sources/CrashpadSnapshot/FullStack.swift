// SPDX-License-Identifier: Apache-2.0
extension ProcessSnapshot {
  /// Whether the kernel of Linux ended the process because the crashed thread's stack had no room for a signal's handler, as far as
  /// the memory in the dump tells: an overflow of the stack in a program that has a handler, and no stack for it.
  ///
  /// The kernel then says SIGSEGV and SI_KERNEL, as for other faults without an address.
  /// Source: Linux, arch/x86/kernel/signal.c, `signal_setup_done` and `force_sigsegv`.
  package var lacksStackForHandler: Bool {
    guard system.operatingSystem == .linux, let exception, exception.kind == .linuxSignal, exception.isInfoKnown,
      exception.code == 11, exception.info == 0x80, let crashed = crashedThread,
      let pointer = (exception.context ?? threads[crashed].context)?.stackPointer, pointer > Self.largestGap,
      let stack = threads[crashed].stack, !stack.isSynthetic, !stack.region.content.isEmpty,
      case let start = stack.region.address, start % Self.page == 0
    else { return false }
    // The next word that is pushed is below the stack.
    let next = pointer - 8
    return next < start && start - next <= Self.largestGap
  }

  private static let page: UInt64 = 4096
  /// The farthest that a function's variables move the stack pointer beyond the end of a stack, in bytes.
  private static let largestGap: UInt64 = 1 << 20
}
