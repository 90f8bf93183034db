// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import CrashpadSignatures

/// The crashes of `Faults/` that version 2 of the rules put into other groups than version 1 did, and why.
@Suite("Moves from version 1 to 2")
struct MoveTests {
  /// The first difference between the two signatures of a crash.
  enum Cause: String, CaseIterable {
    case none = "the same parts"
    case kind = "the kind says more"
    case inlined = "an inlined call counts"
    case freed = "a function of the program is no longer taken for a runtime's"
    case skipped = "a function of a runtime is no longer taken for the program's"
    case name = "the name keeps parameters, or the number of a lambda or closure"
    case caller = "the caller of a function that raises is added"
    case callee = "another callee is added, or none"

    init(_ before: Signature, _ after: Signature) {
      let (first, second) = (SignatureParts(before.text), SignatureParts(after.text))
      if first == second {
        self = .none
      } else if first.kind != second.kind {
        self = .kind
      } else if first.function != second.function {
        self = Self.ofAnchor(before, after)
      } else {
        self = after.explanation.contains { $0.rule == "wrapper" } ? .caller : .callee
      }
    }

    private static func ofAnchor(_ before: Signature, _ after: Signature) -> Cause {
      guard let old = before.explanation.first(where: { $0.decision == .anchor }),
        let new = after.explanation.first(where: { $0.decision == .anchor })
      else { return .skipped }
      if old.frame > new.frame { return .freed }
      if old.frame < new.frame { return .skipped }
      let outermost = after.explanation.last { $0.frame == new.frame }
      return outermost == new ? .name : .inlined
    }
  }

  struct Move {
    let before: Signature
    let after: Signature
    let program: Substring

    var cause: Cause { Cause(before, after) }
  }

  static let moves = zip(Capture.all, QualityTests.signatures).map { capture, after in
    Move(before: capture.signature(.first), after: after, program: capture.fault.prefix { $0 != "/" })
  }

  /// Groups of one program whose crashes are no longer one group without others.
  static func changed(_ moves: [Move]) -> (split: Int, joined: Int) {
    func groups(_ one: (Move) -> String, _ other: (Move) -> String) -> Int {
      Dictionary(grouping: moves) { "\($0.program) \(one($0))" }.values.count { Set($0.map(other)).count > 1 }
    }
    return (groups(\.before.id, \.after.id), groups(\.after.id, \.before.id))
  }

  static var table: String {
    let rows = Cause.allCases.map { cause in
      let chosen = moves.filter { $0.cause == cause }
      let groups = Set(chosen.map { "\($0.program) \($0.before.id)" }).count
      return "| \(cause.rawValue) | \(chosen.count) | \(groups) |\n"
    }
    let changed = changed(moves)
    return "| First difference | Crashes | Groups of version 1 |\n|---|---|---|\n" + rows.joined()
      + "\n\(changed.split) groups of version 1 are several of version 2, and \(changed.joined) groups of version 2 are several of"
      + " version 1.\n"
  }

  @Test func `README.md counts what moved`() throws {
    let file = Capture.folder.appending(path: "README.md")
    let text = try String(contentsOf: file, encoding: .utf8)
    let start = try #require(text.range(of: "<!-- moves -->\n")?.upperBound)
    let end = try #require(text.range(of: "<!-- end of moves -->\n")?.lowerBound)
    if ProcessInfo.processInfo.environment["UPDATE_DOCS"] == "1" {
      try text.replacingCharacters(in: start..<end, with: Self.table).write(to: file, atomically: true, encoding: .utf8)
    } else {
      #expect(text[start..<end] == Self.table, "UPDATE_DOCS=1 writes it anew")
    }
  }

  @Test func `Version 2 tells more faults apart than version 1, and puts no fewer crashes of a fault together`() {
    let part = QualityTests.Part(name: "all")
    let first = QualityTests.score(Self.moves.map(\.before.id), part)
    let second = QualityTests.score(Self.moves.map(\.after.id), part)
    print("quality: version 1 \(first.text), version 2 \(second.text)")
    #expect(second.precision >= first.precision)
    #expect(second.f1 >= first.f1)
  }

  /// Each cause by a crash that has it, so that none is counted as another.
  @Test(
    arguments: [
      (Cause.none, "trap", ["swift_retain|libswiftCore.so", "total|shop"]),
      (.freed, "bad-access[null]", ["dispatch_order|shop", "serve|shop"]),
      (.caller, "abort", ["raise|libc.so.6", "abort|libc.so.6", "stop|shop", "load|shop"]),
      (.name, "bad-access[null]", ["Cart::total(int)|shop", "main|shop"]),
    ] as [(Cause, String, [String])])
  func `The first difference of two signatures`(cause: Cause, kind: String, frames: [String]) {
    let kind = ChoiceTests.kind(kind, abort: kind == "abort", fault: kind != "abort")
    let found = Cause(
      ChoiceTests.signature(kind, frames, .first), ChoiceTests.signature(kind, frames))
    #expect(found == cause)
  }
}
