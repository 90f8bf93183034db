// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

extension ReportSnapshot {
  /// A measure of the report in plain form: "2.7 s" for "2,7 sec". Nil if the report does not have it.
  func measure(_ name: String) -> String? { fields.first { $0.name == name }.map { MeasureText.plain($0.value) } }

  /// The time for which a process had not responded when it was sampled: "94 seconds".
  var timeBeforeSampling: String? {
    for field in fields where field.name == "Duration" || field.name == "Note" {
      guard let start = field.value.firstRange(of: "nresponsive for "),
        let end = field.value[start.upperBound...].firstRange(of: " before sampling")
      else { continue }
      return String(field.value[start.upperBound..<end.lowerBound])
    }
    return nil
  }

  /// Whether a report with samples of stacks says that the process did not respond. Tools sample any process.
  package var saysHang: Bool {
    func has(_ name: String, _ words: String) -> Bool {
      fields.contains { $0.name == name && $0.value.lowercased().containsBytes(words) }
    }
    let isSampled = fields.contains { ["Sampling", "Steps", "Num samples", "Data Source"].contains($0.name) }
    return !isSampled || has("Event", "hang") || has("Event", "slow hid response") || has("Note", "unresponsive")
      || has("Duration", "unresponsive")
  }
}

/// Measures as MetricKit spells them, in the language of the device: "2,7 sec", "1.074.000 kB".
enum MeasureText {
  static func plain(_ text: String) -> String {
    guard let gap = text.lastIndex(where: { $0 == " " || $0 == "\u{a0}" || $0 == "\u{202f}" }) else { return text }
    let unit = text[text.index(after: gap)...]
    return "\(number(text[..<gap])) \(unit == "sec" ? "s" : String(unit))"
  }

  /// The number with a point before decimals and commas between thousands, where it is certain which is which.
  private static func number(_ text: Substring) -> String {
    let marks = text.filter { !$0.isNumber }
    let parts = text.split { !$0.isNumber }
    guard let mark = marks.last, parts.count == marks.count + 1, parts.allSatisfy({ $0.allSatisfy(\.isASCII) }) else {
      return String(text)
    }
    let isDecimal = marks.filter { $0 == mark }.count == 1 && (marks.count > 1 || parts[1].count != 3)
    if marks.count == 1, !isDecimal, ".,".contains(mark) { return String(text) }
    let whole = parts.dropLast(isDecimal ? 1 : 0).joined(separator: ",")
    return isDecimal ? "\(whole).\(parts.last ?? "")" : whole
  }
}
