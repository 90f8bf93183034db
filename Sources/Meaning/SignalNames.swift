/// Signals of one system by their numbers, which differ between systems, and their codes.
struct SignalNames: Sendable {
  let platform: CodeMeaning.Platform

  static let darwin = SignalNames(platform: .darwin)
  static let linux = SignalNames(platform: .linux)

  func name(of number: UInt32) -> String { row(of: number)?.name ?? "signal \(number)" }

  func row(of number: UInt32) -> CodeMeaning? { MeaningTable.signal(UInt64(number), on: platform) }

  func codeRow(_ code: Int32, of number: UInt32) -> CodeMeaning? {
    MeaningTable.signalCode(UInt64(UInt32(bitPattern: code)), of: name(of: number), on: platform)
  }

  /// Whether the kernel raised the signal for what the thread did, and not for what a process asked.
  func isFault(_ code: Int32) -> Bool {
    let common = MeaningTable.signalCode(UInt64(UInt32(bitPattern: code)), of: "", on: platform)
    return code > 0 && (common == nil || common?.name == "SI_KERNEL")
  }

  /// Whether `si_addr` means something.
  func hasAddress(_ number: UInt32) -> Bool {
    ["SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGTRAP"].contains(name(of: number))
  }
}

/// A signal of Linux by its name: "SIGSEGV", or "signal 40".
package func linuxSignalName(_ number: Int32) -> String { SignalNames.linux.name(of: UInt32(bitPattern: number)) }
