// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadJSON

/// Extracts one part of a report that holds several: the processes of a stackshot, the diagnostics of MetricKit.
package enum ReportParts {
  /// Returns the report with one of its parts and none of the others; nil if it has no such part.
  ///
  /// - Parameter name: for a stackshot the id or the name of a process; for MetricKit the number of a diagnostic in
  ///   the file, from 1 on.
  package static func report(of name: String, _ form: ReportFormat, in bytes: RawSpan) -> [UInt8]? {
    switch form {
    case .ips: process(name, in: bytes)
    case .metricKit: diagnostic(name, in: bytes)
    case .crash, .ksCrash, .swiftBacktrace: nil
    }
  }

  /// The number of diagnostics in JSON of MetricKit, each of which is a report; 0 for other forms.
  package static func count(_ form: ReportFormat?, in bytes: RawSpan) -> Int {
    form == .metricKit ? JSONTree(bytes).root.map { MetricKitReader.diagnostics($0).count } ?? 0 : 0
  }

  private static func process(_ name: String, in bytes: RawSpan) -> [UInt8]? {
    guard let body = IPSReader.body(bytes), let list = body["processByPid"] ?? body["stackshot"]?["processByPid"]
    else { return nil }
    let processes = list.members
    let found = processes.first { $0.key == name } ?? processes.first { $0.value["procname"]?.string == name }
    guard let found, UInt64(found.key) != nil else { return nil }
    return copy(bytes, 0..<list.range.lowerBound) + Array("{\"\(found.key)\":".utf8) + copy(bytes, found.value.range)
      + Array("}".utf8) + copy(bytes, list.range.upperBound..<bytes.byteCount)
  }

  private static func diagnostic(_ name: String, in bytes: RawSpan) -> [UInt8]? {
    guard let root = JSONTree(bytes).root, let number = Int(name) else { return nil }
    let diagnostics = MetricKitReader.diagnostics(root)
    guard diagnostics.indices.contains(number - 1) else { return nil }
    let chosen = diagnostics[number - 1]
    var output: [UInt8] = []
    var place = chosen.payload.offset
    // Other diagnostics are removed by emptying their lists. Other members of a payload
    // apply to all diagnostics and stay.
    for (_, list) in MetricKitReader.lists(chosen.payload) {
      output += copy(bytes, place..<list.range.lowerBound) + Array("[".utf8)
      if list.range.lowerBound <= chosen.value.offset, chosen.value.offset < list.range.upperBound {
        output += copy(bytes, chosen.value.range)
      }
      output += Array("]".utf8)
      place = list.range.upperBound
    }
    return output + copy(bytes, place..<chosen.payload.range.upperBound)
  }

  private static func copy(_ bytes: RawSpan, _ range: Range<Int>) -> [UInt8] {
    unsafe bytes.extracting(range).withUnsafeBytes { unsafe Array($0) }
  }
}
