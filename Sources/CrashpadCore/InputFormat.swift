// SPDX-License-Identifier: Apache-2.0
package import CrashpadAppleReports
internal import CrashpadBytes

/// The format of an input, by its first bytes. A file with others is taken for a damaged one of the format that its name says, or
/// else for a damaged intermediate dump: then its bytes get explained.
///
/// `FormatRow.all` says the rest of each.
public enum InputFormat: String, Sendable, CaseIterable {
  case intermediateDump = "intermediate-dump"
  case minidump
  /// The lines that Breakpad writes into a log.
  case microdump
  /// The JSON form of an intermediate dump.
  case json
  /// An ELF core file. Other ELF files are read as this, too, and refused with the reason.
  case core
  /// Apple's `.ips`.
  case ips
  /// Apple's `.crash` text.
  case crash
  /// The JSON of MetricKit's diagnostics.
  case metricKit = "metrickit"
  /// The JSON of KSCrash.
  case ksCrash = "kscrash"
  /// The output of swift-backtrace.
  case swiftBacktrace = "swift-backtrace"

  /// The number of bytes that show whether a file is a core.
  package static let coreStart = 18

  /// The number of bytes that show the format of a file.
  package static let startLength = ReportFormat.startLength

  /// Whether a file that begins so is a core, and not another ELF file: a program, a library.
  package static func isCore(_ start: [UInt8]) -> Bool {
    start.count >= coreStart && start.starts(with: [0x7f, 0x45, 0x4c, 0x46]) && start[16] == 4 && start[17] == 0
  }

  /// Formats whose inputs hold names and stacks in place of memory.
  package var reportFormat: ReportFormat? {
    switch self {
    case .ips: .ips
    case .crash: .crash
    case .metricKit: .metricKit
    case .ksCrash: .ksCrash
    case .swiftBacktrace: .swiftBacktrace
    case .intermediateDump, .minidump, .microdump, .json, .core: nil
    }
  }
}
