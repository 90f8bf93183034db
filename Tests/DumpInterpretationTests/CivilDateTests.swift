// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import Testing

@Suite("Days of the calendar")
struct CivilDateTests {
  @Test(
    "known days",
    arguments: [
      ("1970-01-01", 0), ("2000-02-29", 11_016), ("2026-11-22", 20_779), ("1900-03-01", -25_508),
      ("0001-01-01", -719_162), ("9999-12-31", 2_932_896),
    ])
  func known(_ text: String, _ days: Int) {
    let date = CivilDate(daysSince1970: days)
    #expect(date.text == text)
    #expect(date.daysSince1970 == days)
  }

  @Test("each day of 800 years follows the one before it")
  func sequence() {
    var expected = CivilDate(year: 1600, month: 1, day: 1)
    let first = expected.daysSince1970
    var wrong: [Int] = []
    for days in first..<first + 292_194 {
      if CivilDate(daysSince1970: days) != expected { wrong.append(days) }
      if expected.day < expected.daysInMonth {
        expected = CivilDate(year: expected.year, month: expected.month, day: expected.day + 1)
      } else if expected.month < 12 {
        expected = CivilDate(year: expected.year, month: expected.month + 1, day: 1)
      } else {
        expected = CivilDate(year: expected.year + 1, month: 1, day: 1)
      }
    }
    #expect(wrong.isEmpty)
    #expect(expected.year == 2400)
  }
}
