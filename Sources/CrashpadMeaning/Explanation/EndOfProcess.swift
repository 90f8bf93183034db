// SPDX-License-Identifier: Apache-2.0
package import CrashpadSnapshot

/// Whether a process ended itself, as runtimes do after they found a mistake, or a fault ended it.
package enum EndOfProcess: Sendable, Hashable {
  /// abort(), a trap, an exception that was not caught: a message or function of a runtime is the cause.
  case itself
  /// An access, a division, a signal of another process: what a runtime said before is no cause.
  case fault
  /// The exception was not recorded.
  case unknown

  package init(_ exception: ExceptionSnapshot) {
    switch exception.kind {
    case .nsException: self = .itself
    case .windows: self = Self.windows.contains(exception.code) ? .itself : .fault
    case .softSignal: self = Self.signals.contains(exception.info) ? .itself : .fault
    case .linuxSignal where exception.code == 0 && !exception.isInfoKnown: self = .unknown
    case .linuxSignal where exception.sending != nil && exception.isOfItself != true:
      // Another process ended it; or the process itself, by kill(), without that the dump says so.
      self = exception.isOfItself == false || !Self.signals.contains(exception.code) ? .fault : .unknown
    case .linuxSignal: self = Self.signals.contains(exception.code) ? .itself : .fault
    case .mach: self = Self.mach(exception)
    }
  }

  /// EXC_BAD_INSTRUCTION, EXC_BREAKPOINT, EXC_SOFTWARE, and EXC_CRASH that came of one of these or of their signals.
  private static func mach(_ exception: ExceptionSnapshot) -> Self {
    guard exception.code == 10 else { return [2, 5, 6].contains(exception.code) ? .itself : .fault }
    let first = exception.codes.count > 1 ? exception.codes[1] : UInt64(exception.info)
    let code = CrashCode(code: exception.signal.map { first == 0 ? UInt64($0) << 24 : first } ?? first)
    if [2, 6].contains(code.exception) || signals.contains(UInt32(truncatingIfNeeded: code.signal)) { return .itself }
    return code.signal == 0 && code.exception == 0 ? .unknown : .fault
  }

  /// SIGILL, SIGTRAP and SIGABRT, which have one number on Linux and Darwin.
  private static let signals: Set<UInt32> = [4, 5, 6]

  /// Breakpoint, illegal instruction, fast fail, heap damage, abort, and exceptions of C++, .NET and Delphi.
  private static let windows: Set<UInt32> = [
    0x8000_0003, 0xc000_001d, 0xc000_0409, 0xc000_0374, 0x4000_0015, 0xe06d_7363, 0xe043_4352, 0x0eed_fade,
  ]
}
