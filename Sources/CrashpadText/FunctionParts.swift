// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// A function's name in parts: what tells it, and its arguments, of which a narrow place shows the brackets alone.
package struct FunctionParts: Sendable {
  package struct Part: Sendable, Hashable {
    package let text: String
    /// Whether it stands in brackets.
    package let isArgument: Bool
  }

  package private(set) var parts: [Part] = []

  /// Operators whose names contain brackets, the longer ones first.
  private static let operators = ["<=>", "<<=", ">>=", "->*", "()", "<<", ">>", "<=", ">=", "->", "<", ">"]

  /// A name whose brackets can't be parsed is one part.
  package init(_ name: String) {
    if !parse(name) { parts = [Part(text: name, isArgument: false)] }
  }

  private mutating func parse(_ name: String) -> Bool {
    var content = ""
    var depth = 0
    var rest = name[...]
    func add(_ part: some StringProtocol) { if depth == 0 { append(String(part)) } else { content += part } }
    while let character = rest.first {
      if rest.hasPrefix("operator") {
        rest = rest.dropFirst("operator".count)
        let symbol = Self.operators.first { rest.hasPrefix($0) } ?? ""
        rest = rest.dropFirst(symbol.count)
        add("operator" + symbol)
        continue
      }
      if rest.hasPrefix("->") {
        rest = rest.dropFirst(2)
        add("->")
        continue
      }
      rest = rest.dropFirst()
      if character == ")" || character == ">" {
        depth -= 1
        if depth < 0 { return false }
        if depth == 0 {
          append(content, isArgument: !content.isEmpty && content != "anonymous namespace")
          content = ""
        }
      }
      add(String(character))
      if character == "(" || character == "<" { depth += 1 }
    }
    return depth == 0
  }

  private mutating func append(_ text: String, isArgument: Bool = false) {
    if let last = parts.last, last.isArgument == isArgument {
      parts[parts.count - 1] = Part(text: last.text + text, isArgument: isArgument)
    } else if !text.isEmpty {
      parts.append(Part(text: text, isArgument: isArgument))
    }
  }

  /// Such as "std::vector<…>::push_back(…)".
  package var withoutArguments: String { parts.map { $0.isArgument ? "…" : $0.text }.joined() }
}
