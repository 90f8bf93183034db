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

  private static let titles: [FrameRule.Class: String] = [
    .capture: "Crash handlers", .raise: "What raises", .runtime: "Runtimes", .wait: "Waits", .loop: "Event loops",
    .base: "Where threads begin", .entry: "The program's first function",
  ]

  /// A paragraph for each row, in the order in which rows are tried.
  private static let text: String = {
    var text = ""
    var last: FrameRule.Class?
    for row in SignatureRule.all {
      let rule = row.rule
      if rule.frameClass != last { text += ".SS \"\(titles[rule.frameClass] ?? "")\"\n" }
      last = rule.frameClass
      text += ".TP\n.B \(escaped(rule.id))\n\(escaped(rule.reason.prefix(1).uppercased() + rule.reason.dropFirst())).\n"
      if let meaning = rule.meaning { text += ".br\nKind: \(escaped(meaning))\n" }
      if row.modules == nil || !row.anywhere.isEmpty {
        text += ".br\nLanguages: \(escaped(row.languages.names.joined(separator: ", ")))\n"
      }
      if let modules = row.modules {
        text += ".br\nModules: \(escaped(modules.globs.map(\.text).joined(separator: ", ")))\n"
      }
      let isOfUnnamed = row.names.isEmpty && row.anywhere.isEmpty
      if isOfUnnamed { text += ".br\nFunctions: none\n" }
      for (title, globs) in [("Functions", row.names), ("Anywhere", row.anywhere)] where !globs.isEmpty {
        text += ".br\n\(title): \(escaped(globs.map(\.text).joined(separator: ", ")))\n"
      }
    }
    return text
  }()

  /// As man(7) has it.
  private static func escaped(_ text: String) -> String {
    text.replacingOccurrences(of: "\\", with: "\\e").replacingOccurrences(of: "-", with: "\\-")
      .replacingOccurrences(of: "'", with: "\\(aq").replacingOccurrences(of: "…", with: "...")
  }
}
