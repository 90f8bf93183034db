// SPDX-License-Identifier: Apache-2.0
/// The record that the kernel of Linux puts on the stack of a signal's handler on x86-64: offsets in bytes from its ucontext, to
/// which the stack pointer leads when the handler returns.
///
/// Sources: Linux, arch/x86/include/asm/sigframe.h, uapi/asm/sigcontext.h; asm-generic/siginfo.h.
package enum SignalFrame64 {
  /// The link to another ucontext, which is always 0.
  package static let link: UInt64 = 8
  /// r8 to r15, rdi, rsi, rbp, rbx, rdx, rax and rcx, before the stack pointer.
  package static let registers: UInt64 = 40
  package static let stackPointer: UInt64 = 160
  /// The segments of code, of the threads (0) and of data.
  package static let segments: UInt64 = 184
  /// The error code and the number of the processor's trap, and CR2, which has the address of a page fault. They are saved for all
  /// handlers.
  package static let errorCode: UInt64 = 192
  package static let trap: UInt64 = 200
  package static let pageFaultAddress: UInt64 = 216
  /// The siginfo, which is left as it was for a handler without SA_SIGINFO: the signal, its code, and the address of the fault.
  package static let signal: UInt64 = 304
  package static let code: UInt64 = 312
  package static let faultAddress: UInt64 = 320

  /// The segments of a program. Kernels before Linux 4.2 did not save that of data.
  package static let codeSegment: UInt64 = 0x33
  package static let dataSegment: UInt64 = 0x2b
  package static let programSegments = dataSegment << 48 | codeSegment
}
