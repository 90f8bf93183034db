// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import CrashpadRedaction
import CrashpadText

/// The removals from a dump, as text.
enum RedactionText {
  /// The number of names printed per kind; further ones are only counted.
  private static let maximumNames = 12

  /// A line for each kind of removal.
  static func lines(_ report: RedactionReport) -> [String] {
    var lines: [String] = []
    for kind in RedactionReport.Kind.allCases {
      let removals = report.removals.filter { $0.kind == kind }
      if removals.isEmpty { continue }
      let count = removals.reduce(0) { $0 + $1.count }
      let bytes = removals.reduce(0) { $0 + $1.byteCount }
      var line = "\(what(kind, count)) (\(TextFormat.count(bytes, "byte")))"
      let names = removals.filter { !$0.name.isEmpty }.map { removal in
        TextFormat.printable(removal.name) + (removal.count > 1 ? " (\(grouped(removal.count)))" : "")
      }
      if !names.isEmpty {
        line += ": " + names.prefix(maximumNames).joined(separator: ", ")
        if names.count > maximumNames { line += " and \(grouped(names.count - maximumNames)) more" }
      }
      lines.append(line)
    }
    return lines.isEmpty ? ["nothing to remove"] : lines
  }

  private static func what(_ kind: RedactionReport.Kind, _ count: Int) -> String {
    switch kind {
    case .annotation: TextFormat.count(count, "annotation") + " removed"
    case .value: TextFormat.count(count, "annotation") + " without its value".pluralized(count, " without their values")
    case .text: TextFormat.count(count, "part") + " of texts overwritten"
    case .variable:
      TextFormat.count(count, "environment variable") + " without its value".pluralized(count, " without their values")
    case .argument: TextFormat.count(count, "argument") + " overwritten"
    case .word: TextFormat.count(count, "word") + " of memory overwritten"
    case .memory: TextFormat.count(count, "range") + " of memory removed"
    case .register:
      TextFormat.count(count, "register or group of registers", "registers or groups of them") + " overwritten"
    case .stream: TextFormat.count(count, "stream") + " removed"
    case .key: TextFormat.count(count, "record") + " removed"
    case .unread:
      TextFormat.count(count, "place")
        + " that belongs to nothing known".pluralized(count, " that belong to nothing known")
    }
  }
}

extension String {
  fileprivate func pluralized(_ count: Int, _ plural: String) -> String { count == 1 ? self : plural }
}
