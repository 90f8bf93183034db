// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import Testing

@Suite("FindingList")
struct FindingListTests {
  private static let error = Rule("an-error", .error, "An error")
  private static let note = Rule("a-note", .note, "A note")

  @Test("Findings of each severity are kept in order up to the limit; further ones are counted")
  func limit() {
    var list = FindingList(limit: 2)
    #expect(list.isEmpty)
    for offset in 0..<7 { list.append(Finding(offset < 4 ? Self.note : Self.error, at: offset)) }
    #expect(list.map(\.offset) == [0, 1, 4, 5], "notes do not hide errors")
    #expect(list.dropped == [.note: 2, .error: 1])
    #expect(list.count(of: .error) == 3)
    #expect(list.count(of: .note) == 4)
    #expect(list.count(of: .warning) == 0)
    #expect(!list.hasRoom(for: Self.note))
    #expect(list.hasRoom(for: Rule("a-warning", .warning, "A warning")))
  }

  @Test("The limit is a thousand unless another is given")
  func defaultLimit() {
    var list = FindingList()
    for offset in 0..<1001 { list.append(Finding(Self.note, at: offset)) }
    #expect(list.count == 1000)
    #expect(list.count(of: .note) == 1001)
  }

  @Test("A limit of nothing still counts")
  func noRoom() {
    var list = FindingList(limit: 0)
    list.append(Finding(Self.error))
    #expect(list.isEmpty)
    #expect(list.count(of: .error) == 1)
  }

  @Test("Lists are joined with what they dropped")
  func join() {
    var first = FindingList(limit: 2)
    first.append(Finding(Self.error, at: 1))
    var second = FindingList(limit: 2)
    for offset in 2..<6 { second.append(Finding(Self.note, at: offset)) }
    first.append(contentsOf: second)
    #expect(first.map(\.offset) == [1, 2, 3])
    #expect(first.count(of: .note) == 4)
    #expect(first.count(of: .error) == 1)
  }

  @Test("Findings are taken away by their rule, the counted ones too")
  func removal() {
    var list = FindingList(limit: 1)
    for _ in 0..<3 {
      list.append(Finding(Self.error))
      list.append(Finding(Self.note))
    }
    list.remove(rules: ["an-error", "no-such-rule"])
    #expect(list.map(\.rule.code) == ["a-note"])
    #expect(list.dropped == [.note: 2])
    #expect(list.count(of: .error) == 0)
    list.remove(rules: ["a-note"])
    #expect(list.isEmpty)
  }

  @Test("Severities are ordered, and rules are the same if their codes are")
  func order() {
    #expect(Severity.allCases.sorted() == [.note, .warning, .error])
    #expect(Severity.warning > .note && Severity.warning < .error)
    #expect(Rule("x", .note, "a") == Rule("x", .error, "b"))
    #expect(Rule("x", .note, "a") != Rule("y", .note, "a"))
    #expect(Set([Rule("x", .note, "a"), Rule("x", .error, "b")]).count == 1)
  }
}
