// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes

/// Reads reports in all formats.
package enum ReportReader {
  package static func read(_ bytes: RawSpan, form: ReportFormat, limits: Limits = Limits()) -> ReportReading {
    var builder = ReportBuilder(limits: limits)
    switch form {
    case .ips: IPSReader.read(bytes, into: &builder)
    case .crash: CrashTextReader.read(bytes, from: 0, into: &builder)
    case .metricKit: MetricKitReader.read(bytes, into: &builder)
    case .ksCrash: KSCrashReader.read(bytes, into: &builder)
    case .swiftBacktrace: SwiftBacktraceReader.read(bytes, into: &builder)
    }
    return builder.finish()
  }
}
