// SPDX-License-Identifier: Apache-2.0
/// The signals of one system, with its numbers and codes.
struct SignalNames: Sendable {
  let platform: CodeMeaning.Platform

  static let darwin = SignalNames(platform: .darwin)
  static let linux = SignalNames(platform: .linux)

  func name(of number: UInt32) -> String { row(of: number)?.name ?? "signal \(number)" }

  func row(of number: UInt32) -> CodeMeaning? { MeaningTable.signal(UInt64(number), on: platform) }

  func codeRow(_ code: Int32, of number: UInt32) -> CodeMeaning? {
    MeaningTable.signalCode(UInt64(UInt32(bitPattern: code)), of: name(of: number), on: platform)
  }

  /// Whether the kernel raised the signal because of an action of the thread, rather
  /// than at the request of a process.
  func isFault(_ code: Int32) -> Bool {
    let common = MeaningTable.signalCode(UInt64(UInt32(bitPattern: code)), of: "", on: platform)
    return code > 0 && (common == nil || common?.name == "SI_KERNEL")
  }

  /// Signals that say what a thread did. One that a process sent says nothing of that.
  private static let ofThreads: Set<String> = [
    "SIGSEGV", "SIGBUS", "SIGILL", "SIGTRAP", "SIGFPE", "SIGSYS", "SIGEMT", "SIGABRT", "SIGPIPE", "SIGXCPU", "SIGXFSZ",
    "SIGTTIN", "SIGTTOU",
  ]

  func isOfThread(_ number: UInt32) -> Bool { Self.ofThreads.contains(name(of: number)) }

  /// Whether `si_addr` is set for the signal.
  func hasAddress(_ number: UInt32) -> Bool {
    ["SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGTRAP"].contains(name(of: number))
  }
}

/// The name of a Linux signal: "SIGSEGV", or "signal 40" if it has none.
package func linuxSignalName(_ number: Int32) -> String { SignalNames.linux.name(of: UInt32(bitPattern: number)) }

/// The name of a signal of macOS and iOS: "SIGSEGV", or "signal 40" if it has none.
package func darwinSignalName(_ number: UInt32) -> String { SignalNames.darwin.name(of: number) }

/// The signal that XNU makes of a Mach exception: `ux_exception` of bsd/uxkern/ux_exception.c. Nil for exceptions of which
/// it makes none.
///
/// - Parameter code: the exception's first code.
package func darwinSignal(ofException type: UInt32, code: UInt32) -> UInt32? {
  switch type {
  // 13 is a general protection fault of x86_64.
  case 1: code == 1 || code == 13 ? 11 : 10
  case 2: 4
  case 3: 8
  case 6: 5
  default: nil
  }
}
