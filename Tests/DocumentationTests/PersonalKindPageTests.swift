// SPDX-License-Identifier: Apache-2.0
import Foundation
import CrashpadRedaction
import Testing

/// crashpadctl-redact(1) repeats the table of personal data.
struct PersonalKindPageTests {
  private static let page = "man/crashpadctl-redact.1"

  @Test func `crashpadctl-redact(1) has the table of the sources`() throws {
    let source = try Repository.text(Self.page)
    let start = try #require(source.range(of: ".\\\" BEGIN kinds\n")?.upperBound)
    let stop = try #require(source.range(of: ".\\\" END kinds\n")?.lowerBound)
    if Repository.isUpdating {
      try Repository.write(source[..<start] + Self.text + source[stop...], to: Self.page)
    } else {
      #expect(source[start..<stop] == Self.text, "UPDATE_DOCS=1 writes it anew")
    }
  }

  /// A paragraph for each kind.
  private static let text: String = {
    PersonalKind.allCases.map { kind in
      let row = kind.row
      let form = row.form.prefix(1).uppercased() + row.form.dropFirst()
      let check = row.check.map { "Checked: \($0).\n" } ?? ""
      let secret = row.isSecret ? ".B \\-\\-keep\\-secrets\nkeeps them, too.\n" : ""
      return ".TP\n.B \(escaped(kind.rawValue))\n\(escaped(form)).\n\(check)\(replacement(row.replacement))\(secret)"
    }.joined()
  }()

  private static func replacement(_ replacement: PersonalRow.Replacement) -> String {
    switch replacement {
    case .asterisks: ""
    case .numberedUUID: "In a report the first becomes 00000000\\-0000\\-0000\\-0000\\-000000000001, and so on.\n"
    case .zeroUUID: "It becomes a UUID of zeros.\n"
    case .nothing: "It is left out.\n"
    }
  }

  /// As man(7) has it.
  private static func escaped(_ text: String) -> String {
    text.replacingOccurrences(of: "-", with: "\\-").replacingOccurrences(of: "'", with: "\\(aq")
  }
}
