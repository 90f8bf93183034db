// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadMeaning
internal import CrashpadSnapshot

/// The exception as in Apple's reports: the Mach exception with the resulting signal.
package struct AppleExceptionTitle: Sendable {
  /// Such as "EXC_BAD_ACCESS (SIGSEGV)".
  package let type: String
  /// Such as "KERN_INVALID_ADDRESS at 0x0000000000000010".
  package let subtype: String?

  init(_ exception: ExceptionSnapshot, _ system: SystemSnapshot) {
    let title = ExceptionDescription(exception, system).title
    let slash = title.firstRange(of: " / ")
    let name = slash.map { String(title[..<$0.lowerBound]) } ?? title
    let detail = slash.map { String(title[$0.upperBound...]) }
    switch exception.kind {
    case .mach:
      subtype = exception.code == 1 ? detail.map(Self.withWideAddress) : nil
      if let signal = darwinSignal(ofException: exception.code, code: exception.info) {
        type = "\(name) (\(darwinSignalName(signal)))"
      } else {
        // Such as "EXC_CRASH (SIGABRT) from …".
        type = name.firstRange(of: " from ").map { String(name[..<$0.lowerBound]) } ?? name
      }
    case .softSignal, .linuxSignal:
      type = Self.machException(name).map { "\($0) (\(name))" } ?? name
      subtype = detail.map(Self.withWideAddress)
    case .nsException: (type, subtype) = ("EXC_CRASH (SIGABRT)", nil)
    case .windows: (type, subtype) = (name, detail.map(Self.withWideAddress))
    }
  }

  private static func machException(_ signal: String) -> String? {
    switch signal {
    case "SIGSEGV", "SIGBUS": "EXC_BAD_ACCESS"
    case "SIGILL": "EXC_BAD_INSTRUCTION"
    case "SIGFPE": "EXC_ARITHMETIC"
    case "SIGTRAP": "EXC_BREAKPOINT"
    default: signal.hasPrefix("SIG") ? "EXC_CRASH" : nil
    }
  }

  /// Pads addresses to all their digits, as in these reports.
  private static func withWideAddress(_ text: String) -> String {
    // The address is the last word; a search for text would take half a million instructions at its first call.
    guard let blank = text.utf8.lastIndex(of: UInt8(ascii: " ")), text[..<blank].hasSuffix(" at"),
      text[blank...].hasPrefix(" 0x"), let value = UInt64(text[blank...].dropFirst(3), radix: 16)
    else { return text }
    return text[..<blank] + " 0x" + hexadecimal(value, width: 16)
  }
}
