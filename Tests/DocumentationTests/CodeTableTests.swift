// SPDX-License-Identifier: Apache-2.0
import Foundation
import CrashpadMeaning
import Testing

/// crashpadctl-explain(7) repeats the table of codes.
struct CodeTableTests {
  private static let page = "man/crashpadctl-explain.7"

  @Test func `crashpadctl-explain(7) has the table of the sources`() throws {
    let source = try Repository.text(Self.page)
    let start = try #require(source.range(of: ".\\\" BEGIN codes\n")?.upperBound)
    let stop = try #require(source.range(of: ".\\\" END codes\n")?.lowerBound)
    if Repository.isUpdating {
      try Repository.write(source[..<start] + Self.text + source[stop...], to: Self.page)
    } else {
      #expect(source[start..<stop] == Self.text, "UPDATE_DOCS=1 writes it anew")
    }
  }

  /// A section for each kind of code, and a paragraph for each code.
  private static let text: String = {
    var text = ""
    for kind in CodeMeaning.Kind.allCases {
      text += ".SH \"\(titles[kind] ?? kind.rawValue.uppercased())\"\n"
      for row in MeaningTable.all where row.kind == kind { text += paragraph(row) }
    }
    return text
  }()

  private static let titles: [CodeMeaning.Kind: String] = [
    .terminationCode: "TERMINATION CODES", .namespace: "TERMINATION NAMESPACES", .namespaceCode: "CODES OF NAMESPACES",
    .terminationFlag: "TERMINATION FLAGS", .jetsamBand: "BANDS OF JETSAM", .exception: "MACH EXCEPTIONS",
    .exceptionCode: "CODES OF MACH EXCEPTIONS", .resource: "RESOURCES OF EXC_RESOURCE",
    .guardViolation: "VIOLATIONS OF EXC_GUARD", .signal: "SIGNALS", .signalCode: "CODES OF SIGNALS",
    .windows: "EXCEPTION CODES OF WINDOWS", .fastFail: "REASONS OF FAST FAIL", .syndrome: "CLASSES OF ESR",
    .faultStatus: "FAULT STATUSES OF ESR",
    .trap: "IMMEDIATES OF BRK", .bugType: "TYPES OF REPORTS", .address: "PATTERNS OF ADDRESSES",
    .kernelTriage: "LINES OF KTRIAGEINFO",
    .message: "MESSAGES OF RUNTIMES", .function: "FUNCTIONS ON STACKS",
  ]

  private static func paragraph(_ row: CodeMeaning) -> String {
    let reading = CodeReading(row)
    let name = row.query.uppercased().hasSuffix(row.name.uppercased()) ? "" : " (\(row.name))"
    var text = ".TP\n.B \"\(escaped(row.query + name))\"\n\(escaped(reading.event))\n"
    func add(_ label: String, _ parts: [String]) {
      let parts = parts.filter { !$0.isEmpty }
      if !parts.isEmpty { text += ".br\n\(label): \(escaped(parts.joined(separator: " ")))\n" }
    }
    if row.numbers.count > 1 {
      add("Numbers", [row.numbers.map { "\($0.value) (\($0.platform.rawValue))" }.joined(separator: ", ")])
    }
    if row.kind == .terminationCode { add("Seen in", [row.aliases.joined(separator: ", ")]) }
    add("Ended by", [row.endedBy])
    add("Causes", row.causes)
    add("To do", row.advice)
    add("Often wrong", [row.myth ?? ""])
    add("Source", [row.source.text])
    return text
  }

  /// As man(7) has it.
  private static func escaped(_ text: String) -> String {
    text.replacingOccurrences(of: "\\", with: "\\e").replacingOccurrences(of: "-", with: "\\-")
      .replacingOccurrences(of: "\"", with: "\\(dq").replacingOccurrences(of: "'", with: "\\(aq")
      .replacingOccurrences(of: "…", with: "...")
  }
}
