internal import BinaryFormat

/// Reads Apple's `.crash` texts and the texts of resource reports.
enum CrashTextReader {
  /// - Parameter start: byte offset of the text; a header in JSON may stand before it.
  static func read(_ bytes: RawSpan, from start: Int, into builder: inout ReportBuilder) {
    builder.isRefused = true
  }
}
