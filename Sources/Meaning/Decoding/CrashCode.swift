/// The first code of EXC_CRASH as the kernel sends it: the signal, the exception that it came from, and the low 20 bits of
/// that exception's code. In Apple's reports of terminations it is 0.
public struct CrashCode: Sendable {
  public let signal: UInt32
  public let exception: UInt64
  public let code: UInt64

  public init(code: UInt64) {
    signal = UInt32(truncatingIfNeeded: code >> 24 & 0xff)
    exception = code >> 20 & 0xf
    self.code = code & 0xf_ffff
  }
}
