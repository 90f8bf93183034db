// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// The rows of a table of options. A row says everything that the tool, its help, its completions and its manual pages know
/// about an option or an argument, and where its value is:
///
///     row.flag(&quiet, "-q, --quiet", "Print only errors.")
///
/// A name that an option had before is still taken: `"--finish-skipped, formerly --complete-skipped"`.
///
/// A table is a function that names its rows one after the other. It is called with a purpose: to list the options, to
/// store values, to check them, or to tell ArgumentParser of the options. Nothing is made for a purpose that a run does not
/// have: with key paths in place of the function, the table alone took a million instructions.
struct OptionRows {
  enum Purpose {
    /// Lists the options.
    case list
    /// Stores the values of each option of the list.
    case store([[String]])
    /// Checks the values of groups.
    case check
    /// Makes the properties that ArgumentParser looks for.
    case feed
    /// Stores the values that ArgumentParser read.
    case decode(any Decoder)
    /// Passes on each value with the name of its option, to compare what parsers read.
    case visit((String, Any) -> Void)
  }

  private let purpose: Purpose
  private(set) var shapes: [OptionShape] = []
  /// The number of the options that were passed.
  private var count = 0
  /// Whether all values are valid.
  private(set) var isValid = true
  private(set) var properties: [Mirror.Child] = []
  private(set) var failure: (any Error)?

  init(_ purpose: Purpose) { self.purpose = purpose }

  /// Handles one row.
  ///
  /// - Parameters:
  ///   - store: returns whether the word is valid.
  ///   - wrapper: the property of ArgumentParser that has the same value.
  private mutating func add<Value, Wrapper: Decodable & OptionWrapper>(
    _ value: inout Value, _ shape: @autoclosure () -> OptionShape, store: (String, inout Value) -> Bool,
    wrapper: (OptionShape, Value) -> Wrapper
  ) where Wrapper.Value == Value {
    switch purpose {
    case .list: shapes.append(shape())
    case .store(let words):
      for word in words[count] where !store(word, &value) { isValid = false }
      count += 1
    case .check: break
    case .feed:
      let shape = shape()
      properties.append((shape.label, wrapper(shape, value)))
    case .decode(let decoder): decode(&value, Wrapper.self, shape().label, decoder)
    case .visit(let body): body(shape().label, value)
    }
  }

  private mutating func decode<Wrapper: Decodable & OptionWrapper>(
    _ value: inout Wrapper.Value, _: Wrapper.Type, _ label: String, _ decoder: any Decoder
  ) {
    if failure != nil { return }
    do {
      let container = try decoder.container(keyedBy: OptionLabel.self)
      value = try container.decode(Wrapper.self, forKey: OptionLabel(stringValue: label)).wrappedValue
    } catch {
      failure = error
    }
  }
}

/// A property wrapper of ArgumentParser.
protocol OptionWrapper {
  associatedtype Value
  var wrappedValue: Value { get }
}

extension Option: OptionWrapper {}
extension Flag: OptionWrapper {}
extension Argument: OptionWrapper {}
extension OptionGroup: OptionWrapper {}

/// The name of a property for ArgumentParser.
struct OptionLabel: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

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

// MARK: Groups

extension OptionRows {
  /// Options that several commands have.
  ///
  /// - Parameters:
  ///   - title: the heading in the help.
  ///   - visibility: whether the help has them.
  mutating func group<Group: OptionTable>(
    _ value: inout Group, title: String = "", visibility: ArgumentVisibility = .default
  ) {
    switch purpose {
    case .list, .store, .visit: value.rows(&self)
    case .check:
      if failure != nil { return }
      do { try value.check() } catch { failure = error }
    case .feed:
      properties.append((String(describing: Group.self), OptionGroup<Group>(title: title, visibility: visibility)))
    case .decode(let decoder): decode(&value, OptionGroup<Group>.self, String(describing: Group.self), decoder)
    }
  }
}

// MARK: ArgumentParser's words

extension OptionShape {
  fileprivate var label: String { names.last ?? "<\(valueName)>" }

  /// Long names stand first in completion scripts.
  fileprivate var specification: NameSpecification {
    let long = names.filter { $0.hasPrefix("--") }.map { NameSpecification.Element.customLong(String($0.dropFirst(2))) }
    let short = names.filter { !$0.hasPrefix("--") }.map { NameSpecification.Element.customShort($0.last ?? "?") }
    return NameSpecification(long + short)
  }

  fileprivate func help(_ text: String, _ visibility: ArgumentVisibility = .default) -> ArgumentHelp {
    ArgumentHelp(text, valueName: valueName.isEmpty ? nil : valueName, visibility: visibility)
  }
}
