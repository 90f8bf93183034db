// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Something that people and programs put around a report.
struct Wrapping: Sendable {
  let name: String
  /// Whether the report is refused, by its name: a part of it may be lost.
  let isRefused: Bool
  /// Whether lines end where the report has no ends.
  let breaksLines: Bool
  let apply: @Sendable (String) -> [UInt8]

  private init(
    _ name: String, refused: Bool = false, breaksLines: Bool = false, bytes: @escaping @Sendable (String) -> [UInt8]
  ) {
    self.name = name
    isRefused = refused
    self.breaksLines = breaksLines
    apply = bytes
  }

  private init(
    _ name: String, refused: Bool = false, breaksLines: Bool = false, _ text: @escaping @Sendable (String) -> String
  ) {
    self.init(name, refused: refused, breaksLines: breaksLines, bytes: { Array(text($0).utf8) })
  }

  /// A text before each line.
  private static func prefix(_ name: String, _ start: @escaping @Sendable (Int) -> String) -> Wrapping {
    Wrapping(name) { lines($0) { start($0) + $1 } }
  }

  // MARK: Both

  private static let both: [Wrapping] = [
    Wrapping("UTF-16, little", bytes: { [0xff, 0xfe] + units($0).flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] } }),
    Wrapping("UTF-16, big", bytes: { [0xfe, 0xff] + units($0).flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] } }),
    Wrapping("UTF-16 without a mark", bytes: { units($0).flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] } }),
    Wrapping("UTF-32", bytes: { text in [0xff, 0xfe, 0, 0] + text.unicodeScalars.flatMap { bytes($0.value) } }),
    Wrapping("no-break spaces") { $0.replacingOccurrences(of: " ", with: "\u{a0}") },
    Wrapping("narrow no-break spaces") { $0.replacingOccurrences(of: "  ", with: "\u{202f} ") },
    Wrapping("characters without a width") { lines($0) { "\u{200b}" + $1 } },
    Wrapping("RTF", rtf),
    Wrapping("an HTML page") { "<!DOCTYPE html>\n<html><body>\n<pre>\(escaped($0))</pre>\n</body></html>\n" },
    Wrapping("HTML entities", escaped),
    Wrapping("HTML line breaks") { "<p>" + escaped($0).replacingOccurrences(of: "\n", with: "<br>\n") + "</p>" },
    Wrapping("a fence") { "It crashes:\n\n```\n\($0)```\n\nThank you\n" },
    Wrapping("a fence below a key") { "Version: 9.9 (77)\n\n~~~text\n\($0)~~~\nThank you\n" },
    Wrapping("an indented fence") { "1. Start it\n\n    ```\n" + lines($0) { "    " + $1 } + "    ```\n" },
    prefix("a quotation") { _ in "> " },
    Wrapping("a mail") { "Jo wrote:\n" + lines($0) { ("> " + $1).trimmingCharacters(in: .whitespaces) } + "\nYes.\n" },
    prefix("a quotation of a quotation") { _ in ">> " },
    prefix("a quotation with marks of two widths") { $0 % 7 == 0 ? ">>" : ">> " },
    prefix("a list") { _ in "* " },
    Wrapping("a table") { lines($0) { "| " + $1 + " |" } },
    prefix("GitHub Actions") { "2026-03-14T15:\(two($0 / 60)):\(two($0 % 60)).\($0 % 9)193170Z " },
    prefix("GitLab") { "2026-03-14T15:\(two($0 / 60)):\(two($0 % 60)).193170Z 01O " },
    prefix("Jenkins") { "[2026-03-14T15:\(two($0 / 60)):\(two($0 % 60)).193Z] " },
    prefix("syslog") { "Mar 14 15:\(two($0 / 60)):\(two($0 % 60)) phone ReportCrash[99] <Notice>: " },
    prefix("Console") { "default\t15:\(two($0 / 60)):\(two($0 % 60)).193170+0100\tDemo\t" },
    prefix("log show") {
      "2026-03-14 15:\(two($0 / 60)):\(two($0 % 60)).193170+0100 0x1a2b     Default     0x0     812    0    Demo: (UIKitCore) "
    },
    prefix("logcat") { "03-14 15:\(two($0 / 60)):\(two($0 % 60)).193  1234  1250 E Crash   : " },
    prefix("Docker Compose") { _ in "web-1  | " },
    Wrapping("a difference") { "--- /dev/null\n+++ b/report\n@@ -0,0 +1,99 @@\n" + lines($0) { "+" + $1 } },
    prefix("line numbers") { "\($0 + 1): " },
    prefix("columns of line numbers") { String("     \($0 + 1)".suffix(6)) + "\t" },
    Wrapping("double spacing") { $0.replacingOccurrences(of: "\n", with: "\n\n") },
    Wrapping("lines of 80 characters", breaksLines: true) { broken($0, 80) },
    Wrapping("a string of JSON", string),
    Wrapping("a member of JSON") { "{\"id\": 7, \"answer\": {\"kind\": \"crash\", \"text\": \(string($0))}}" },
    Wrapping("colours") { lines($0) { "\u{1b}[0;31m" + $1 + "\u{1b}[0m" } },
    Wrapping("pages") { lines($0) { ($0 > 0 && $0 % 5 == 0 ? "\u{0c}\n" : "") + $1 } },
    Wrapping("letters that are struck twice") { $0.replacingOccurrences(of: "x", with: "x\u{08}x") },
    Wrapping("objects of Docker") { lines($0) { "{\"log\":\(string($1 + "\n")),\"stream\":\"stderr\"}" } },
    Wrapping("objects of a journal") { lines($0) { "{\"_PID\":\"7\",\"MESSAGE\":\(string($1))}" } },
    Wrapping("code of a wiki") { "h2. Crash\n{code:title=x}\n\($0){code}\n" },
    Wrapping("code of a wiki alone") { "{noformat}\n\($0){noformat}\n" },
    Wrapping("a table of a wiki") { "{| class=\"w\"\n|-\n|\n<pre>\n\($0)</pre>\n|}\n" },
    Wrapping("a part of a mail") {
      "From: Jo\nContent-Type: multipart/mixed; boundary=\"b\"\n\n--b\nContent-Transfer-Encoding: base64\n\n"
        + Data($0.utf8).base64EncodedString(options: .lineLength76Characters) + "\n--b--\n"
    },
    Wrapping(
      "base64", refused: true, bytes: { [UInt8](Data($0.utf8).base64EncodedData(options: .lineLength76Characters)) }),
  ]

  // MARK: One kind

  static let ofText =
    both + [
      Wrapping("mail of lines of 76", quotedPrintable),
      Wrapping("a part of a mail of lines of 76") {
        "Content-Type: multipart/mixed; boundary=\"b\"\n\n--b\nContent-Transfer-Encoding: quoted-printable\n\n"
          + quotedPrintable($0) + "\n--b--\n"
      },
    ]

  static let ofJSON =
    both + [
      Wrapping("the second half of Console's export") {
        "-----------\nFull Report\n-----------\n\n\($0)\n\nModel: Mac1,1\n"
      },
      Wrapping("indented JSON in a log") { text in
        lines(pretty(text)) { "2026-03-14 15:09:\(two($0 % 60)) INFO " + $1 }
      },
      Wrapping("words on the line") { "Crash: " + $0 },
      Wrapping("typographic quotation marks") { text in
        text.contains("\\\"") ? text : text.replacing(/"([^"]*)"/) { "\u{201c}\($0.output.1)\u{201d}" }
      },
    ]

  // MARK: Parts

  private static func lines(_ text: String, _ change: (Int, String) -> String) -> String {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast(text.hasSuffix("\n") ? 1 : 0)
    return lines.enumerated().map { change($0, String($1)) + "\n" }.joined()
  }

  private static func two(_ number: Int) -> String { String("0\(number)".suffix(2)) }

  private static func units(_ text: String) -> [UInt16] { Array(text.utf16) }

  private static func bytes(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) } }

  private static func escaped(_ text: String) -> String {
    [("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;")].reduce(text) {
      $0.replacingOccurrences(of: $1.0, with: $1.1)
    }
  }

  private static func rtf(_ text: String) -> String {
    let head =
      "{\\rtf1\\ansi\\ansicpg1252\\cocoartf2761\n{\\fonttbl\\f0\\fnil\\fcharset0 Menlo-Regular;}\n"
      + "{\\colortbl;\\red255\\green255\\blue255;}\n{\\*\\expandedcolortbl;;}\n\\pard\\pardirnatural\n\\f0\\fs22 \\cf0 "
    let body = text.unicodeScalars.map { scalar -> String in
      switch scalar {
      case "\\", "{", "}": "\\\(scalar)"
      case "\n": "\\\n"
      default:
        scalar.isASCII
          ? String(scalar)
          : scalar.value < 0x100
            ? "\\'" + String(scalar.value, radix: 16)
            : String(scalar).utf16.map { "\\uc0\\u\($0) " }.joined()
      }
    }
    return head + body.joined() + "}"
  }

  private static func broken(_ text: String, _ width: Int) -> String {
    lines(text) { _, line in
      var rest = line[...]
      var parts: [String] = []
      repeat {
        parts.append(String(rest.prefix(width)))
        rest = rest.dropFirst(width)
      } while !rest.isEmpty
      return parts.joined(separator: "\n")
    }
  }

  /// A mail whose lines end at the last blank before a width, where they have one.
  static let filled = Wrapping("a mail whose lines end at blanks", breaksLines: true) { filled($0, 72) }

  private static func filled(_ text: String, _ width: Int) -> String {
    lines(text) { _, line in
      var rest = line[...]
      var parts: [Substring] = []
      while rest.count > width {
        let blank = rest.prefix(width + 1).dropFirst().lastIndex(of: " ") ?? rest.dropFirst(width).firstIndex(of: " ")
        guard let blank else { break }
        parts.append(rest[..<blank])
        rest = rest[blank...].dropFirst()
      }
      return (parts + [rest]).joined(separator: "\n")
    }
  }

  private static func string(_ text: String) -> String {
    let data = try? JSONEncoder().encode(text)
    return String(decoding: data ?? Data(), as: UTF8.self)
  }

  private static func pretty(_ text: String) -> String {
    let parts = text.split(separator: "\n", maxSplits: 1)
    return parts[0] + "\n" + parts[1].replacingOccurrences(of: ",\"", with: ",\n  \"")
  }

  private static func quotedPrintable(_ text: String) -> String {
    lines(text) { _, line in
      var rest = line[...]
      var parts: [String] = []
      while rest.utf8.count > 60 {
        parts.append(String(rest.prefix(60)))
        rest = rest.dropFirst(60)
      }
      return (parts + [String(rest)]).map { $0.replacingOccurrences(of: "=", with: "=3D") }.joined(separator: "=\n")
    }
  }
}
