internal import BinaryFormat

/// Reads the JSON and the text that swift-backtrace writes.
enum SwiftBacktraceReader {
  static func read(_ bytes: RawSpan, into builder: inout ReportBuilder) { builder.isRefused = true }
}
