// SPDX-License-Identifier: Apache-2.0
import Foundation
import CrashpadSignatures
import Testing

/// crashpadctl-group(5) repeats the table of rules.
struct SignatureRuleTests {
  private static let page = "man/crashpadctl-group.5"

  @Test func `crashpadctl-group(5) has the table of the sources`() throws {
    let source = try Repository.text(Self.page)
    let start = try #require(source.range(of: ".\\\" BEGIN rules\n")?.upperBound)
    let stop = try #require(source.range(of: ".\\\" END rules\n")?.lowerBound)
    if Repository.isUpdating {
      try Repository.write(source[..<start] + Self.text + source[stop...], to: Self.page)
    } else {
      #expect(source[start..<stop] == Self.text, "UPDATE_DOCS=1 writes it anew")
    }
  }

  private static let titles: [SignatureRule.Class: String] = [
    .capture: "Crash handlers", .raise: "What raises", .runtime: "Runtimes", .wait: "Waits", .loop: "Event loops",
    .base: "Where threads begin", .entry: "The program's first function",
  ]

  /// A paragraph for each row, in the order in which rows are tried.
  private static let text: String = {
    var text = ""
    var last: SignatureRule.Class?
    for rule in SignatureRule.all {
      if rule.frameClass != last { text += ".SS \"\(titles[rule.frameClass] ?? "")\"\n" }
      last = rule.frameClass
      text += ".TP\n.B \(escaped(rule.id))\n\(escaped(rule.reason.prefix(1).uppercased() + rule.reason.dropFirst())).\n"
      if let meaning = rule.meaning { text += ".br\nKind: \(escaped(meaning))\n" }
      if let modules = rule.modules {
        text += ".br\nModules: \(escaped(modules.map(\.text).joined(separator: ", ")))\n"
      }
      let names = rule.names.isEmpty ? "none" : rule.names.map(\.text).joined(separator: ", ")
      text += ".br\nFunctions: \(escaped(names))\n"
    }
    return text
  }()

  /// As man(7) has it.
  private static func escaped(_ text: String) -> String {
    text.replacingOccurrences(of: "\\", with: "\\e").replacingOccurrences(of: "-", with: "\\-")
      .replacingOccurrences(of: "'", with: "\\(aq").replacingOccurrences(of: "…", with: "...")
  }
}
