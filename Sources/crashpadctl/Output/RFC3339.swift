// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot

/// Points in time in RFC 3339 format.
enum RFC3339 {
  /// The seconds since 1970 for a date, meaning midnight in UTC, or for a date and time with an offset. Nil for other
  /// texts and for days that do not exist. Fractions of seconds are dropped.
  static func seconds(_ text: String) -> Int64? {
    let bytes = Array(text.utf8)
    func number(_ range: Range<Int>) -> Int64? {
      guard range.upperBound <= bytes.count else { return nil }
      var value: Int64 = 0
      for byte in bytes[range] {
        guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
        value = value * 10 + Int64(byte - UInt8(ascii: "0"))
      }
      return value
    }
    func has(_ characters: String, at index: Int) -> Bool {
      index < bytes.count && characters.utf8.contains(bytes[index])
    }
    guard let year = number(0..<4), has("-", at: 4), let month = number(5..<7), has("-", at: 7),
      let day = number(8..<10), (1...12).contains(month)
    else { return nil }
    let date = CivilDate(year: Int(year), month: Int(month), day: Int(day))
    guard (1...date.daysInMonth).contains(date.day) else { return nil }
    let midnight = Int64(date.daysSince1970) * 86400
    if bytes.count == 10 { return midnight }
    guard has("Tt ", at: 10), let hour = number(11..<13), has(":", at: 13), let minute = number(14..<16),
      has(":", at: 16), let second = number(17..<19), hour < 24, minute < 60, second <= 60
    else { return nil }
    var index = 19
    if has(".", at: index) {
      let start = index + 1
      index = start
      while has("0123456789", at: index) { index += 1 }
      guard index > start else { return nil }
    }
    let time = midnight + hour * 3600 + minute * 60 + second
    if has("Zz", at: index), index + 1 == bytes.count { return time }
    guard has("+-", at: index), index + 6 == bytes.count, let hours = number(index + 1..<index + 3),
      has(":", at: index + 3), let minutes = number(index + 4..<index + 6), hours < 24, minutes < 60
    else { return nil }
    let offset = hours * 3600 + minutes * 60
    return bytes[index] == UInt8(ascii: "+") ? time - offset : time + offset
  }
}
