internal import BinaryFormat

/// Reads the JSON of MetricKit's MXDiagnosticPayload.
enum MetricKitReader {
  static func read(_ bytes: RawSpan, into builder: inout ReportBuilder) { builder.isRefused = true }
}
