// SPDX-License-Identifier: Apache-2.0
internal import CrashpadSnapshot

/// Parses times in reports: "2022-09-18 15:28:37.3451 +0900", "2014-10-02T13:34:11.123Z".
enum ReportTime {
  /// Whether the text is a time, which may lack its zone.
  static func isTime(_ text: String) -> Bool { parse(text) != nil }

  /// Nil for a time without a zone, too: it is that of an unknown place.
  static func timestamp(_ text: String?) -> Timestamp? {
    guard let text, let parsed = parse(text), let zone = parsed.zone else { return nil }
    return Timestamp(seconds: Int64(parsed.seconds - zone), microseconds: parsed.microseconds)
  }

  /// The seconds since 1970 as if the place were at UTC, and its offset.
  private static func parse(_ text: String) -> (seconds: Int, microseconds: Int32, zone: Int?)? {
    var scanner = Scanner(text)
    guard let year = scanner.number(4...4), scanner.skip("-"), let month = scanner.number(1...2), scanner.skip("-"),
      let day = scanner.number(1...2), scanner.skip("T") || scanner.skip(" "), let hour = scanner.number(1...2),
      scanner.skip(":"), let minute = scanner.number(2...2), scanner.skip(":"), let second = scanner.number(2...2),
      (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second < 61
    else { return nil }
    let microseconds = scanner.skip(".") ? scanner.fraction() : 0
    let days = CivilDate(year: year, month: month, day: day).daysSince1970
    return (days * 86400 + hour * 3600 + minute * 60 + second, Int32(microseconds), scanner.zone())
  }

  /// Such as "2014-10-02T13:34:11Z", in UTC. The microseconds follow unless they are 0.
  static func text(_ time: Timestamp) -> String {
    let days = time.seconds.quotientAndRemainder(dividingBy: 86400)
    let second = Int(days.remainder)
    let clock = [second / 3600, second / 60 % 60, second % 60].map { decimal($0, width: 2) }.joined(separator: ":")
    let fraction = time.microseconds > 0 ? "." + decimal(Int(time.microseconds), width: 6) : ""
    return "\(CivilDate(daysSince1970: Int(days.quotient)).text)T\(clock)\(fraction)Z"
  }

  private struct Scanner {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = text[...].utf8 }

    mutating func skip(_ character: Character) -> Bool {
      guard rest.first == character.asciiValue else { return false }
      rest = rest.dropFirst()
      return true
    }

    mutating func number(_ digits: ClosedRange<Int>) -> Int? {
      let run = rest.prefix { $0 >= 0x30 && $0 <= 0x39 }.prefix(digits.upperBound)
      guard run.count >= digits.lowerBound else { return nil }
      rest = rest[run.endIndex...]
      return Int(Substring(run))
    }

    /// The digits after the decimal point, as microseconds.
    mutating func fraction() -> Int {
      let run = rest.prefix { $0 >= 0x30 && $0 <= 0x39 }
      rest = rest[run.endIndex...]
      var value = 0
      for index in 0..<6 { value = value * 10 + (run.dropFirst(index).first.map { Int($0) - 0x30 } ?? 0) }
      return value
    }

    /// The offset in seconds east of UTC: "+0900", "-05:00", "Z", "UTC".
    mutating func zone() -> Int? {
      while skip(" ") {}
      if skip("Z") || skip("U") || skip("G") { return 0 }
      let isEast = skip("+")
      guard isEast || skip("-"), let hours = number(2...2) else { return nil }
      _ = skip(":")
      let seconds = hours * 3600 + (number(2...2) ?? 0) * 60
      return isEast ? seconds : -seconds
    }
  }
}
