// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import CrashpadView

/// One line of a stack in the columns of a terminal. A narrow one shows only some of its parts.
struct StackLine {
  private let line: CrashView.Line
  let number: String
  /// The way in which the frame was found and, with `--addresses`, its address.
  let origin: String

  var module: String { line.module }
  var isMarked: Bool { line.isMarked }

  init(_ line: CrashView.Line, showsAddress: Bool) {
    self.line = line
    number = String(line.number)
    // Only scanned frames are guesses, so only they are marked.
    origin = showsAddress ? "\(line.address)  \(line.trust)" : line.isGuess ? "scan" : ""
  }

  /// Such as "main + 12 (/src/main.cpp:42)" in at most `limit` columns: with the file's name alone,
  /// then without arguments, then cut.
  func place(_ limit: Int?) -> String {
    let (name, offset, location) = (line.name, line.offset, line.location)
    let whole = name + offset + (location.map { " (\($0))" } ?? "")
    guard let limit, DisplayWidth.cells(whole) > limit else { return whole }
    let file = line.shortLocation.map { " (\($0))" } ?? ""
    for text in [name + offset + file, name + file, Self.withoutArguments(name) + file]
    where DisplayWidth.cells(text) <= limit {
      return text
    }
    let room = limit - DisplayWidth.cells(file)
    let short = Self.withoutArguments(name)
    // Half a function name is more useful than half a line number.
    if room >= 12 { return DisplayWidth.cut(short, to: room) + file }
    return DisplayWidth.cut(short, to: limit)
  }

  /// Operators whose names contain brackets, the longer ones first.
  private static let operators = ["<=>", "<<=", ">>=", "->*", "()", "<<", ">>", "<=", ">=", "->", "<", ">"]

  /// Such as "std::vector<…>::push_back(…)"; a name that can't be parsed is returned unchanged.
  static func withoutArguments(_ name: String) -> String {
    var text = ""
    var content = ""
    var depth = 0
    var rest = name[...]
    func add(_ part: some StringProtocol) { if depth == 0 { text += part } else { content += part } }
    while let character = rest.first {
      if rest.hasPrefix("operator") {
        rest = rest.dropFirst("operator".count)
        let symbol = operators.first { rest.hasPrefix($0) } ?? ""
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
        if depth < 0 { return name }
        if depth == 0 {
          text += content.isEmpty || content == "anonymous namespace" ? content : "…"
          content = ""
        }
      }
      add(String(character))
      if character == "(" || character == "<" { depth += 1 }
    }
    return depth == 0 ? text : name
  }
}
