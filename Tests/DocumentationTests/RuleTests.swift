// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadDatabase
import CrashpadCore
import CrashpadSymbolication
import Testing

struct RuleTests {
  /// Rules, and the section of a man page that explains them.
  struct Book: Sendable, CustomTestStringConvertible {
    let page: String
    let section: String
    let rules: [Rule]

    var testDescription: String { page }

    func paragraphs() throws -> [ManPage.Paragraph] {
      try Repository.manPage(page).section(section).paragraphs.filter { !$0.tag.isEmpty }
    }
  }

  static let books = [
    Book(page: "crashpadctl-validate.1", section: "RULES", rules: Validation.rules),
    Book(page: "crashpadctl-database.5", section: "FINDINGS", rules: DatabaseRules.all),
    Book(page: "crashpadctl-symbolize.1", section: "FINDINGS", rules: SymbolFileRules.all),
  ]

  @Test(arguments: books)
  func `A man page has every rule with its severity, and no other`(book: Book) throws {
    let rules = book.rules.map { "\($0.code) (\($0.severity.rawValue))" }
    #expect(try book.paragraphs().map(\.tag) == rules)
  }

  @Test(arguments: books)
  func `Every rule's paragraph begins with what is wrong, and goes on with what to make of it`(book: Book) throws {
    let paragraphs = try book.paragraphs()
    for rule in book.rules {
      let text = paragraphs.first { $0.tag.hasPrefix(rule.code + " ") }?.text ?? ""
      #expect(text.hasPrefix(rule.summary + ". "), "\(rule.code): \(text)")
    }
  }

  @Test func `No two rules share a code`() {
    let codes = Self.books.flatMap { $0.rules.map(\.code) }
    #expect(Set(codes).count == codes.count)
  }
}
