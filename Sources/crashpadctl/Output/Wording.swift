import FileSystem
import Snapshot
import SystemPackage

/// Numbers, times and sizes as people read them.
enum Wording {
  /// How many columns a text takes, as far as that is known.
  static func width(_ text: String) -> Int {
    text.utf8.allSatisfy { $0 < 0x80 } ? text.utf8.count : text.count
  }

  /// 1,234,567
  static func grouped(_ value: some BinaryInteger) -> String {
    let digits = String(value.magnitude)
    var text = ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { text.append(",") }
      text.append(digit)
    }
    return (value < 0 ? "-" : "") + text
  }

  static func count(_ count: Int, _ noun: String, _ plural: String? = nil) -> String {
    "\(grouped(count)) \(count == 1 ? noun : plural ?? noun + "s")"
  }

  static func hex(_ value: UInt64) -> String { "0x" + hexadecimal(value) }

  /// "2023-11-23 03:31:29 UTC", in UTC. Years beyond four digits, from a damaged dump, as the bare number of seconds.
  static func date(_ time: Timestamp) -> String {
    guard let date = civilDate(time.seconds) else { return "\(time.seconds) s since 1970" }
    return "\(date.day) \(date.time) UTC"
  }

  /// RFC 3339, with microseconds where there are any.
  static func rfc3339(_ time: Timestamp) -> String? {
    guard let date = civilDate(time.seconds) else { return nil }
    guard (1..<1_000_000).contains(time.microseconds) else { return "\(date.day)T\(date.time)Z" }
    return "\(date.day)T\(date.time).\(padded(Int(time.microseconds), 6))Z"
  }

  private static func civilDate(_ seconds: Int64) -> (day: String, time: String)? {
    guard seconds > -62_135_596_800, seconds < 253_402_300_800 else { return nil }
    let days = Int((seconds >= 0 ? seconds : seconds - 86399) / 86400)
    let rest = Int(seconds - Int64(days) * 86400)
    // Days since 0000-03-01, so that the leap day is the last of its year.
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthIndex = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthIndex + 2) / 5 + 1
    let month = monthIndex < 10 ? monthIndex + 3 : monthIndex - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (
      "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))",
      "\(padded(rest / 3600, 2)):\(padded(rest / 60 % 60, 2)):\(padded(rest % 60, 2))"
    )
  }

  static func padded(_ value: Int, _ width: Int) -> String {
    let digits = String(value)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  /// "1 d 3 h 16 m 44 s"
  static func duration(seconds: Int64) -> String {
    guard seconds >= 0 else { return "\(seconds) s" }
    let parts: [(Int64, String)] = [
      (seconds / 86400, "d"), (seconds / 3600 % 24, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s"),
    ]
    let text = parts.drop { $0.0 == 0 }.map { "\($0.0) \($0.1)" }.joined(separator: " ")
    return text.isEmpty ? "0 s" : text
  }

  /// "3.4 ms"
  static func duration(nanoseconds: UInt64) -> String {
    let tenths = nanoseconds / 100_000 + (nanoseconds % 100_000 >= 50_000 ? 1 : 0)
    return "\(grouped(tenths / 10)).\(tenths % 10) ms"
  }

  /// "1d12h", as `DurationArgument` reads it.
  static func shortDuration(_ seconds: Int64) -> String {
    let parts: [(Int64, String)] = [
      (seconds / 86400, "d"), (seconds / 3600 % 24, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s"),
    ]
    let text = parts.filter { $0.0 != 0 }.map { "\($0.0)\($0.1)" }.joined()
    return text.isEmpty ? "0s" : text
  }

  /// An age in its largest unit: "45 s", "12 min", "5 h", "3 d".
  static func age(_ seconds: Int64) -> String {
    switch seconds {
    case ..<0: "in the future"
    case ..<60: "\(seconds) s"
    case ..<3600: "\(seconds / 60) min"
    case ..<86400: "\(seconds / 3600) h"
    default: "\(grouped(seconds / 86400)) d"
    }
  }

  /// "128 MiB", "10.4 KiB", "512 bytes"
  static func size(_ bytes: UInt64) -> String {
    guard bytes >= 1024 else { return bytes == 1 ? "1 byte" : "\(bytes) bytes" }
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
    var shift: UInt64 = 10
    var unit = 0
    // Rounded, 1023.95 KiB would read as 1024.0.
    while unit + 1 < units.count, Double(bytes) / Double(UInt64(1) << shift) >= 1023.95 {
      shift += 10
      unit += 1
    }
    let tenths = UInt64((Double(bytes) / Double(UInt64(1) << shift) * 10).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10) \(units[unit])" : "\(tenths / 10).\(tenths % 10) \(units[unit])"
  }

  /// "1.2 s"
  static func cpuTime(_ time: Timestamp) -> String {
    guard time.seconds >= 0, (0..<1_000_000).contains(time.microseconds) else { return "\(time.seconds) s" }
    return "\(time.seconds).\(padded(Int(time.microseconds) / 10000, 2)) s"
  }

  /// "UTC-05:00"
  static func offset(seconds: Int32) -> String {
    let minutes = abs(Int(seconds)) / 60
    return "UTC\(seconds < 0 ? "-" : "+")\(padded(minutes / 60, 2)):\(padded(minutes % 60, 2))"
  }

  /// A file's name, with bytes that are not UTF-8 as `\xNN`.
  static func printable(_ bytes: [UInt8]) -> String {
    printable(ArgumentText.text(bytes))
  }

  /// A path, with bytes that are not UTF-8 as `\xNN`.
  static func printable(_ path: FilePath) -> String {
    printable(path.bytes)
  }

  /// One line, without what would move a terminal's cursor or change its colours. Bytes of an argument that are not UTF-8
  /// are `\xNN`.
  static func printable(_ text: String) -> String {
    if text.utf8.allSatisfy({ (0x20..<0x7f).contains($0) }) { return text }
    var line = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": line += "\\n"
      case "\t": line += "\\t"
      case "\r": line += "\\r"
      case "\0": line += "\\0"
      case _ where scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format:
        line += "\\u{\(String(scalar.value, radix: 16))}"
      default:
        if let byte = ArgumentText.byte(of: scalar) {
          line += "\\x" + hexadecimal(UInt64(byte), width: 2)
        } else {
          line.unicodeScalars.append(scalar)
        }
      }
    }
    return line
  }

  /// Cut to `limit` characters, with an ellipsis that says how much is missing.
  static func shortened(_ text: String, to limit: Int) -> String {
    guard text.count > limit else { return text }
    return "\(text.prefix(limit))… (\(grouped(text.count)) characters)"
  }
}
