// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A table of text: the first column to the left, numbers to the right.
struct Table {
  private var rows: [[String]]

  init(_ header: String...) {
    rows = [header]
  }

  mutating func add(_ cells: String...) {
    rows.append(cells)
  }

  mutating func add(_ cells: [String]) {
    rows.append(cells)
  }

  func show() {
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    for (number, row) in rows.enumerated() {
      var line = "  "
      for (column, cell) in row.enumerated() {
        let blank = String(repeating: " ", count: widths[column] - cell.count)
        line += column == 0 ? cell + blank : "  " + blank + cell
      }
      while line.last == " " { line.removeLast() }
      print(line)
      if number == 0 { print("  " + String(repeating: "-", count: widths.reduce(2 * widths.count - 2, +))) }
    }
  }
}

/// How numbers are written.
enum Text {
  static func fixed(_ value: Double, _ digits: Int) -> String {
    guard value.isFinite else { return "-" }
    let scale = (0..<digits).reduce(1) { power, _ in power * 10 }
    let scaled = Int((value.magnitude * Double(scale)).rounded())
    let sign = value < 0 && scaled != 0 ? "-" : ""
    guard digits > 0 else { return "\(sign)\(scaled)" }
    let fraction = String(scaled % scale)
    return "\(sign)\(scaled / scale).\(String(repeating: "0", count: digits - fraction.count))\(fraction)"
  }

  static func milliseconds(_ seconds: Double) -> String { fixed(seconds * 1000, seconds < 0.1 ? 2 : 0) }
  static func ratio(_ value: Double) -> String { fixed(value, 2) + "x" }
  static func mebibytes(_ bytes: Int) -> String { fixed(Double(bytes) / 1_048_576, 1) }
  static func millions(_ count: Int) -> String { fixed(Double(count) / 1e6, count < 10_000_000 ? 2 : 1) }

  static func grouped(_ number: Int) -> String {
    var text = ""
    for (index, digit) in String(number).reversed().enumerated() {
      if index > 0, index.isMultiple(of: 3), digit != "-" { text.append(",") }
      text.append(digit)
    }
    return String(text.reversed())
  }

  /// A goal is reported and never fails the run: machines are noisy.
  static func goal(_ text: String, _ isMet: Bool) -> String { "goal \(text): \(isMet ? "met" : "MISSED")" }
}

func title(_ text: String) {
  print("\n\(text)")
  fflush(nil)
}
