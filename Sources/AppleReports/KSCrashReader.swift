internal import BinaryFormat

/// Reads the JSON of KSCrash.
enum KSCrashReader {
  static func read(_ bytes: RawSpan, into builder: inout ReportBuilder) { builder.isRefused = true }
}
