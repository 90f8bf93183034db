// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Times as the forms want them.
enum EventTime {
  /// "2026-03-14T14:09:26.500Z"; years that have no four digits give the nearest that has.
  static func rfc3339(milliseconds: Int64) -> String {
    let time = min(max(milliseconds, 0), 253_402_300_799_999)
    let rest = Int(time % 86_400_000)
    let clock = [rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60].map { decimal($0, width: 2) }
    let day = CivilDate(daysSince1970: Int(time / 86_400_000)).text
    return "\(day)T\(clock.joined(separator: ":")).\(decimal(rest % 1000, width: 3))Z"
  }

  static func nanoseconds(milliseconds: Int64) -> Int64 {
    let (product, overflow) = max(0, milliseconds).multipliedReportingOverflow(by: 1_000_000)
    return overflow ? .max : product
  }
}
