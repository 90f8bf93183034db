// SPDX-License-Identifier: Apache-2.0
/// The first code of EXC_CRASH as the kernel sends it: the signal, the original exception, and the low 20 bits of
/// that exception's code. In Apple's reports of terminations it is 0.
package struct CrashCode: Sendable {
  package let signal: UInt32
  package let exception: UInt64
  package let code: UInt64

  package init(code: UInt64) {
    signal = UInt32(truncatingIfNeeded: code >> 24 & 0xff)
    exception = code >> 20 & 0xf
    self.code = code & 0xf_ffff
  }
}
