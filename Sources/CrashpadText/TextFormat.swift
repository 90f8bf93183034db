// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles
package import CrashpadSnapshot
package import SystemPackage

/// Numbers, times, sizes and texts as people read them.
package enum TextFormat {
  /// The width of a text in columns, as far as it is known.
  package static func width(_ text: String) -> Int {
    text.utf8.allSatisfy { $0 < 0x80 } ? text.utf8.count : text.count
  }

  package static func count(_ count: Int, _ noun: String, _ plural: String? = nil) -> String {
    "\(grouped(count)) \(count == 1 ? noun : plural ?? noun + "s")"
  }

  package static func hex(_ value: UInt64) -> String { "0x" + hexadecimal(value) }

  /// Such as "2023-11-23 03:31:29 UTC". Years with more than four digits, from a damaged dump, are
  /// printed as seconds since 1970.
  package static func date(_ time: Timestamp) -> String {
    guard let date = civilDate(time.seconds) else { return "\(time.seconds) s since 1970" }
    return "\(date.day) \(date.time) UTC"
  }

  package static func date(_ seconds: Int64) -> String { date(Timestamp(seconds: seconds)) }

  /// RFC 3339; nil for years with more than four digits.
  package static func rfc3339(_ seconds: Int64) -> String? { rfc3339(Timestamp(seconds: seconds)) }

  /// RFC 3339, with microseconds if there are any.
  package static func rfc3339(_ time: Timestamp) -> String? {
    guard let date = civilDate(time.seconds) else { return nil }
    guard (1..<1_000_000).contains(time.microseconds) else { return "\(date.day)T\(date.time)Z" }
    return "\(date.day)T\(date.time).\(decimal(Int(time.microseconds), width: 6))Z"
  }

  private static func civilDate(_ seconds: Int64) -> (day: String, time: String)? {
    guard seconds > -62_135_596_800, seconds < 253_402_300_800 else { return nil }
    let days = Int((seconds >= 0 ? seconds : seconds - 86399) / 86400)
    let rest = Int(seconds - Int64(days) * 86400)
    func clock(_ part: Int) -> String { decimal(part, width: 2) }
    return (CivilDate(daysSince1970: days).text, "\(clock(rest / 3600)):\(clock(rest / 60 % 60)):\(clock(rest % 60))")
  }

  /// Such as "1 d 3 h 16 m 44 s".
  package static func duration(seconds: Int64) -> String {
    guard seconds > 0 else { return "\(seconds) s" }
    return parts(seconds).drop { $0.count == 0 }.map { "\($0.count) \($0.unit)" }.joined(separator: " ")
  }

  private static func parts(_ seconds: Int64) -> [(count: Int64, unit: String)] {
    [(seconds / 86400, "d"), (seconds / 3600 % 24, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s")]
  }

  /// Such as "3.4 ms".
  package static func duration(nanoseconds: UInt64) -> String {
    let tenths = nanoseconds / 100_000 + (nanoseconds % 100_000 >= 50_000 ? 1 : 0)
    return "\(grouped(tenths / 10)).\(tenths % 10) ms"
  }

  /// Such as "1d12h", which `DurationArgument` parses.
  package static func shortDuration(_ seconds: Int64) -> String {
    let text = parts(seconds).filter { $0.count != 0 }.map { "\($0.count)\($0.unit)" }.joined()
    return text.isEmpty ? "0s" : text
  }

  /// An age in its largest unit: "45 s", "12 min", "5 h", "3 d".
  package static func age(_ seconds: Int64) -> String {
    switch seconds {
    case ..<0: "in the future"
    case ..<60: "\(seconds) s"
    case ..<3600: "\(seconds / 60) min"
    case ..<86400: "\(seconds / 3600) h"
    default: "\(grouped(seconds / 86400)) d"
    }
  }

  /// Such as "128 MiB", "10.4 KiB", "512 bytes".
  package static func size(_ bytes: UInt64) -> String {
    guard bytes >= 1024 else { return bytes == 1 ? "1 byte" : "\(bytes) bytes" }
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
    var shift: UInt64 = 10
    var unit = 0
    // Rounding would turn 1023.95 KiB into 1024.0.
    while unit + 1 < units.count, Double(bytes) / Double(UInt64(1) << shift) >= 1023.95 {
      shift += 10
      unit += 1
    }
    let tenths = UInt64((Double(bytes) / Double(UInt64(1) << shift) * 10).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10) \(units[unit])" : "\(tenths / 10).\(tenths % 10) \(units[unit])"
  }

  /// Such as "1.2 s".
  package static func cpuTime(_ time: Timestamp) -> String {
    guard time.seconds >= 0, (0..<1_000_000).contains(time.microseconds) else { return "\(time.seconds) s" }
    return "\(time.seconds).\(decimal(Int(time.microseconds) / 10000, width: 2)) s"
  }

  /// Such as "UTC-05:00".
  package static func offset(seconds: Int32) -> String {
    let minutes = abs(Int(seconds)) / 60
    return "UTC\(seconds < 0 ? "-" : "+")\(decimal(minutes / 60, width: 2)):\(decimal(minutes % 60, width: 2))"
  }

  /// A file's name, with bytes that are not UTF-8 as `\xNN`.
  package static func printable(_ bytes: [UInt8]) -> String {
    printable(ArgumentText.text(bytes))
  }

  /// A path, with bytes that are not UTF-8 as `\xNN`.
  package static func printable(_ path: FilePath) -> String {
    printable(path.bytes)
  }

  /// Controls, and the ends of lines and paragraphs of Unicode.
  private static let escaped: Set<Unicode.GeneralCategory> = [.control, .format, .lineSeparator, .paragraphSeparator]

  /// The text as one line, with control characters escaped that would move a terminal's cursor or change its colors.
  /// Bytes of an argument that are not UTF-8 become `\xNN`.
  package static func printable(_ text: String) -> String {
    if text.utf8.allSatisfy({ (0x20..<0x7f).contains($0) }) { return text }
    var line = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": line += "\\n"
      case "\t": line += "\\t"
      case "\r": line += "\\r"
      case "\0": line += "\\0"
      case _ where escaped.contains(scalar.properties.generalCategory):
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

  /// The text, cut to `limit` characters with an ellipsis and the full length.
  package static func shortened(_ text: String, to limit: Int) -> String {
    guard text.count > limit else { return text }
    return "\(text.prefix(limit))… (\(grouped(text.count)) characters)"
  }
}

/// The name of an input in messages.
package func displayName(_ argument: String) -> String {
  argument == "-" ? "<standard input>" : TextFormat.printable(argument)
}
