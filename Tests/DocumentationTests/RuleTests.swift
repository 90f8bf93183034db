import BinaryFormat
import CrashpadCore
import Testing

struct RuleTests {
  private static func documented() throws -> [ManPage.Paragraph] {
    try Repository.manPage("crashpadctl-validate.1").section("RULES").paragraphs.filter { !$0.tag.isEmpty }
  }

  @Test func `crashpadctl-validate(1) has every rule with its severity, and no other`() throws {
    let rules = Validation.rules.map { "\($0.code) (\($0.severity.rawValue))" }
    #expect(try Self.documented().map(\.tag) == rules)
  }

  @Test func `Every rule's paragraph begins with what is wrong, and goes on with what to make of it`() throws {
    let paragraphs = try Self.documented()
    for rule in Validation.rules {
      let text = paragraphs.first { $0.tag.hasPrefix(rule.code + " ") }?.text ?? ""
      #expect(text.hasPrefix(rule.summary + ". "), "\(rule.code): \(text)")
    }
  }

  @Test func `No two rules share a code`() {
    #expect(Set(Validation.rules.map(\.code)).count == Validation.rules.count)
  }
}
