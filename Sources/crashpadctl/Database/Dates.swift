// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import CrashpadText

/// Formats dates for long lists; the text of each day is cached.
final class Dates {
  private var days: [Int64: [UInt8]] = [:]

  /// Appends "2026-11-21 08:30:00" in UTC; for years with more than four digits, the number of seconds.
  ///
  /// - Returns: whether a date was appended.
  @discardableResult
  func append(_ seconds: Int64, to bytes: inout [UInt8], separator: UInt8 = UInt8(ascii: " ")) -> Bool {
    let rest = Int(seconds % 86400 >= 0 ? seconds % 86400 : seconds % 86400 + 86400)
    let (day, overflow) = seconds.subtractingReportingOverflow(Int64(rest))
    guard !overflow, let text = text(of: day) else {
      bytes.append(contentsOf: String(seconds).utf8)
      return false
    }
    bytes.append(contentsOf: text)
    bytes.append(separator)
    Self.append(rest / 3600, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
    Self.append(rest / 60 % 60, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
    Self.append(rest % 60, to: &bytes)
    return true
  }

  /// RFC 3339; nil for years with more than four digits.
  func rfc3339(_ seconds: Int64) -> String? {
    var bytes: [UInt8] = []
    guard append(seconds, to: &bytes, separator: UInt8(ascii: "T")) else { return nil }
    return String(decoding: bytes, as: UTF8.self) + "Z"
  }

  private func text(of day: Int64) -> [UInt8]? {
    if let known = days[day] { return known.isEmpty ? nil : known }
    let text = TextFormat.rfc3339(day).map { Array($0.utf8.prefix(10)) }
    // Reports in a damaged database may have any time, so the cache is limited.
    if days.count > 10_000 { days.removeAll() }
    days[day] = text ?? []
    return text
  }

  private static func append(_ number: Int, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "0") + UInt8(number / 10))
    bytes.append(UInt8(ascii: "0") + UInt8(number % 10))
  }
}
