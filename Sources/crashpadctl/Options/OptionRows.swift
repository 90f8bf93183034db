// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

// MARK: Flags

extension OptionRows {
  /// - Parameter spelling: as the help has it: `-q, --quiet`.
  mutating func flag(
    _ value: inout Bool, _ spelling: StaticString, _ help: String, visibility: ArgumentVisibility = .default
  ) {
    add(
      &value, OptionShape(spelling, .flag),
      store: { _, value in
        value = true
        return true
      },
      wrapper: { shape, _ in
        Flag(wrappedValue: false, name: shape.specification, help: shape.help(help, visibility))
      })
  }

  /// Flags of which each adds its value.
  mutating func flags<Choice: FlagChoice>(_ value: inout [Choice]) {
    choices(
      &value,
      store: { choice, value in
        value.append(choice)
        return true
      }, wrapper: { Flag(wrappedValue: []) })
  }

  /// Flags of which only one may be given.
  mutating func flags<Choice: FlagChoice>(_ value: inout Choice?) {
    choices(
      &value,
      store: { choice, value in
        let isFree = value == nil || value == choice
        value = choice
        return isFree
      }, wrapper: { Flag(exclusivity: .exclusive) })
  }

  private mutating func choices<Choice: FlagChoice, Value, Wrapper: Decodable & OptionWrapper>(
    _ value: inout Value, store: (Choice, inout Value) -> Bool, wrapper: () -> Wrapper
  ) where Wrapper.Value == Value {
    func label() -> String { Choice.allCases.reduce("") { $0 + $1.name } }
    switch purpose {
    case .list: shapes += Choice.allCases.map { OptionShape(names: [$0.name], .flag) }
    case .store(let words):
      for choice in Choice.allCases {
        for _ in words[count] where !store(choice, &value) { isValid = false }
        count += 1
      }
    case .check: break
    case .feed: properties.append((label(), wrapper()))
    case .decode(let decoder):
      decode(&value, Wrapper.self, label(), decoder)
    case .visit(let body): body(label(), value)
    }
  }
}

/// A value that is chosen by a flag of its name.
protocol FlagChoice: EnumerableFlag, Equatable {
  /// `--not-uploaded`
  var name: String { get }
}

// MARK: Options

extension OptionRows {
  /// An option with a default.
  ///
  /// - Parameter spelling: `-j, --jobs <n>`.
  mutating func option<Value: ExpressibleByArgument>(
    _ value: inout Value, _ spelling: StaticString, _ help: String,
    _ completion: @autoclosure () -> CompletionKind? = nil
  ) {
    add(
      &value, OptionShape(spelling, .option), store: Self.replace,
      wrapper: { shape, value in
        Option(wrappedValue: value, name: shape.specification, help: shape.help(help), completion: completion())
      })
  }

  /// An option without a default.
  ///
  /// - Parameter bare: the value if none follows.
  mutating func option<Value: ExpressibleByArgument>(
    _ value: inout Value?, _ spelling: StaticString, _ help: String,
    _ completion: @autoclosure () -> CompletionKind? = nil, bare: String? = nil
  ) {
    add(
      &value,
      OptionShape(
        spelling, .option, bare: bare.map { OptionShape.Bare(value: $0, accepts: { Value(argument: $0) != nil }) }),
      store: { word, value in
        value = Value(argument: word)
        return value != nil
      },
      wrapper: { shape, _ in
        Option<Value?>(name: shape.specification, help: shape.help(help), completion: completion())
      })
  }

  /// An option that may be repeated.
  ///
  /// - Parameter isList: whether each may have several values.
  mutating func option<Value: ExpressibleByArgument>(
    _ value: inout [Value], _ spelling: StaticString, _ help: String,
    _ completion: @autoclosure () -> CompletionKind? = nil, isList: Bool = false
  ) {
    add(
      &value, OptionShape(spelling, isList ? .optionList : .option), store: Self.append,
      wrapper: { shape, value in
        Option(
          wrappedValue: value, name: shape.specification, parsing: isList ? .upToNextOption : .singleValue,
          help: shape.help(help), completion: completion())
      })
  }

  /// An option whose value is read by a function that says what is wrong with it.
  mutating func option<Value>(
    _ value: inout Value, _ spelling: StaticString, _ help: String, parse: @escaping @Sendable (String) throws -> Value
  ) {
    add(
      &value, OptionShape(spelling, .option), store: { Self.replace($0, &$1, parse) },
      wrapper: { shape, value in
        Option(wrappedValue: value, name: shape.specification, help: shape.help(help), transform: parse)
      })
  }

  /// The same without a default.
  mutating func option<Value>(
    _ value: inout Value?, _ spelling: StaticString, _ help: String, parse: @escaping @Sendable (String) throws -> Value
  ) {
    add(
      &value, OptionShape(spelling, .option), store: { Self.replace($0, &$1, parse) },
      wrapper: { shape, _ in
        Option<Value?>(name: shape.specification, help: shape.help(help), transform: parse)
      })
  }

  private static func replace<Value: ExpressibleByArgument>(_ word: String, _ value: inout Value) -> Bool {
    guard let new = Value(argument: word) else { return false }
    value = new
    return true
  }

  private static func replace<Value>(_ word: String, _ value: inout Value, _ parse: (String) throws -> Value) -> Bool {
    guard let new = try? parse(word) else { return false }
    value = new
    return true
  }

  private static func append<Value: ExpressibleByArgument>(_ word: String, _ values: inout [Value]) -> Bool {
    guard let new = Value(argument: word) else { return false }
    values.append(new)
    return true
  }
}

// MARK: Arguments

extension OptionRows {
  /// An argument that has to be there.
  ///
  /// - Parameter spelling: `<file>`.
  mutating func argument<Value: ExpressibleByArgument>(
    _ value: inout Value, _ spelling: StaticString, _ help: String,
    _ completion: @autoclosure () -> CompletionKind? = nil
  ) {
    add(
      &value, OptionShape(spelling, .argument(isRequired: true)), store: Self.replace,
      wrapper: { shape, _ in Argument(help: shape.help(help), completion: completion()) })
  }

  /// An argument that may be missing.
  mutating func argument<Value: ExpressibleByArgument>(
    _ value: inout Value?, _ spelling: StaticString, _ help: String,
    _ completion: @autoclosure () -> CompletionKind? = nil
  ) {
    add(
      &value, OptionShape(spelling, .argument(isRequired: false)),
      store: { word, value in
        value = Value(argument: word)
        return value != nil
      }, wrapper: { shape, _ in Argument<Value?>(help: shape.help(help), completion: completion()) })
  }

  /// - Parameter isRequired: whether there has to be one at least.
  mutating func arguments<Value: ExpressibleByArgument>(
    _ value: inout [Value], _ spelling: StaticString, _ help: String,
    _ completion: @autoclosure () -> CompletionKind? = nil, isRequired: Bool = true
  ) {
    add(
      &value, OptionShape(spelling, .arguments(isRequired: isRequired)), store: Self.append,
      wrapper: { shape, _ in
        isRequired
          ? Argument(help: shape.help(help), completion: completion())
          : Argument(wrappedValue: [], help: shape.help(help), completion: completion())
      })
  }

  /// The words of a program: those from the first that is no option on, or those behind `--` alone.
  mutating func program(
    _ value: inout [String], _ spelling: StaticString, _ help: String, isAfterTerminator: Bool
  ) {
    add(
      &value, OptionShape(spelling, isAfterTerminator ? .afterTerminator : .rest), store: Self.append,
      wrapper: { shape, _ in
        Argument(
          wrappedValue: [], parsing: isAfterTerminator ? .postTerminator : .captureForPassthrough,
          help: shape.help(help), completion: WordCompletion.programs)
      })
  }
}
