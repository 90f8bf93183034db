// SPDX-License-Identifier: Apache-2.0
/// Reads the words of a command line as what they are by the shapes of a command's options.
///
/// Understands what getopt programs take: `--name VALUE`, `--name=VALUE`, `-n VALUE`, `-nVALUE`, `-n=VALUE`, and several
/// short flags in one word, of which the last may take a value. A value that begins with a hyphen needs `=`.
struct OptionWords {
  enum Token {
    case flag(Int, name: String)
    case option(Int, name: String, value: String)
    case word(String)
    /// A word after `--`.
    case afterTerminator(String)
    /// The words of a program that is to be run.
    case rest([String])
    /// An option that the command does not have, or that is used in another way than it is declared.
    case unknown(String)
  }

  let shapes: [OptionShape]
  /// Whether a hyphen and digits are an argument, not an option.
  private let takesNegativeNumbers: Bool

  init(_ shapes: [OptionShape], takesNegativeNumbers: Bool) {
    self.shapes = shapes
    self.takesNegativeNumbers = takesNegativeNumbers
  }

  func tokens(_ words: ArraySlice<String>) -> [Token] {
    var tokens: [Token] = []
    var rest = words
    let takesRest = shapes.contains { if case .rest = $0.kind { true } else { false } }
    while var word = rest.first {
      let before = rest
      rest.removeFirst()
      if word == "--", !takesRest { return tokens + rest.map { .afterTerminator($0) } }
      if !isOption(word) {
        if takesRest { return tokens + [.rest(Array(before))] }
        tokens.append(.word(word))
        continue
      }
      word = withCurrentName(word)
      let count = tokens.count
      let isKnown =
        word.utf8.starts(with: "--".utf8) ? addLong(word, &rest, &tokens) : addShort(word, &rest, &tokens)
      if isKnown { continue }
      tokens.removeSubrange(count...)
      rest = before.dropFirst()
      if takesRest, word == "--" || !hasName(word) { return tokens + [.rest(Array(before))] }
      tokens.append(.unknown(word))
    }
    return tokens
  }

  private func isOption(_ word: String) -> Bool {
    let bytes = word.utf8
    guard bytes.first == UInt8(ascii: "-"), bytes.count > 1 else { return false }
    return !takesNegativeNumbers || !bytes.dropFirst().allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")) ~= $0 }
  }

  /// The word with the name that the option has now, if it begins with one of an earlier version.
  private func withCurrentName(_ word: String) -> String {
    for shape in shapes {
      for name in shape.formerNames where word.utf8.starts(with: name.utf8) {
        let rest = word.dropFirst(name.count)
        if let current = shape.names.last, rest.isEmpty || rest.first == "=" { return current + rest }
      }
    }
    return word
  }

  private func index(of name: some StringProtocol) -> Int? { shapes.firstIndex { $0.names.contains { $0 == name } } }

  /// Whether an option is known by its name, but is used in a wrong way.
  private func hasName(_ word: String) -> Bool {
    if word.utf8.starts(with: "--".utf8) { return index(of: word.prefix { $0 != "=" }) != nil }
    return index(of: "-" + word.dropFirst().prefix(1)) != nil
  }

  private func addLong(_ word: String, _ rest: inout ArraySlice<String>, _ tokens: inout [Token]) -> Bool {
    guard let sign = word.utf8.firstIndex(of: UInt8(ascii: "=")) else {
      return index(of: word).map { add($0, word, attached: nil, &rest, &tokens) } ?? false
    }
    let name = String(word[..<sign])
    let value = String(word[word.utf8.index(after: sign)...])
    guard let number = index(of: name), !value.isEmpty || shapes[number].bare == nil else { return false }
    // Nothing behind = is no empty value, as for ArgumentParser.
    return add(number, name, attached: value.isEmpty ? nil : value, &rest, &tokens)
  }

  /// Adds the options of a word such as `-q`, `-qn`, `-j4` or `-qj4`.
  private func addShort(_ word: String, _ rest: inout ArraySlice<String>, _ tokens: inout [Token]) -> Bool {
    var letters = word.dropFirst()
    // A long name behind a single hyphen is a mistake, and no short option with a value.
    if word.utf8.count > 2, index(of: "--" + letters.prefix { $0 != "=" }) != nil { return false }
    while let letter = letters.popFirst() {
      let name = "-" + String(letter)
      guard let number = index(of: name) else { return false }
      if case .flag = shapes[number].kind {
        tokens.append(.flag(number, name: name))
        continue
      }
      if letters.first == "=" {
        return add(number, name, attached: String(letters.dropFirst()), &rest, &tokens)
      }
      return add(number, name, attached: letters.isEmpty ? nil : String(letters), &rest, &tokens)
    }
    return true
  }

  private func add(
    _ number: Int, _ name: String, attached: String?, _ rest: inout ArraySlice<String>, _ tokens: inout [Token]
  ) -> Bool {
    let shape = shapes[number]
    switch shape.kind {
    case .flag:
      tokens.append(.flag(number, name: name))
      return attached == nil
    case .option:
      if let attached {
        tokens.append(.option(number, name: name, value: attached))
      } else if let next = rest.first, Self.isValue(next), shape.bare?.accepts(next) != false {
        tokens.append(.option(number, name: name, value: next))
        rest.removeFirst()
      } else if let bare = shape.bare {
        tokens.append(.option(number, name: name, value: bare.value))
      } else {
        return false
      }
      return true
    case .optionList:
      let count = tokens.count
      if let attached { tokens.append(.option(number, name: name, value: attached)) }
      while let next = rest.first, Self.isValue(next) {
        tokens.append(.option(number, name: name, value: next))
        rest.removeFirst()
      }
      return tokens.count > count
    case .argument, .arguments, .rest, .afterTerminator: return false
    }
  }

  private static func isValue(_ word: String) -> Bool { word.utf8.first != UInt8(ascii: "-") || word == "-" }
}

extension OptionWords {
  /// The first option that the command does not have.
  func unknownOption(_ words: ArraySlice<String>) -> String? {
    for case .unknown(let word) in tokens(words) where !hasName(word) {
      let name = String(word.prefix { $0 != "=" })
      // A number below 0 is a value that its option does not take.
      if name.dropFirst().first?.isNumber == true { continue }
      // The parser's own.
      if !["-h", "--help", "--version"].contains(name) { return name }
    }
    return nil
  }

  /// The words in forms that the argument parser understands too. Its messages then are about the values, and not about
  /// the forms. Words that are unknown stay as they are.
  func spelledOut(_ words: ArraySlice<String>) -> [String] {
    let tokens = tokens(words)
    // A number behind a hyphen is an argument for the parser only behind `--`, and so are those around it.
    let separates =
      takesNegativeNumbers
      && tokens.contains { if case .word(let word) = $0 { word != "-" && word.hasPrefix("-") } else { false } }
    var options: [String] = []
    var arguments: [String] = []
    var isTerminated = false
    for token in tokens {
      switch token {
      case .flag(_, let name): options.append(name)
      case .option(_, let name, let value):
        // Only a value behind a blank may be empty, and only one behind = may begin with a hyphen.
        options += Self.isValue(value) ? [name, value] : ["\(name)=\(value)"]
      case .word(let word): if separates { arguments.append(word) } else { options.append(word) }
      case .afterTerminator(let word):
        isTerminated = true
        arguments.append(word)
      case .rest(let words): options += words
      case .unknown(let word): options.append(word)
      }
    }
    return isTerminated || separates ? options + ["--"] + arguments : options
  }
}
