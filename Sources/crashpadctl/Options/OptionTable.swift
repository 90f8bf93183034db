// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// Values of a command line, and the table of the options that set them. A run takes the values as they are.
///
/// The tool's own parser reads the table, and so does ArgumentParser, which makes help, error messages and completion
/// scripts. ArgumentParser is asked only when there is something to say: it takes 16 million instructions to read the words
/// of a command, most of them to look up conformances to protocols.
protocol OptionTable: ParsableArguments, CustomReflectable {
  mutating func rows(_ row: inout OptionRows)
}

extension OptionTable {
  mutating func rows(_ row: inout OptionRows) {}

  /// Throws what the values contradict, those of groups first.
  mutating func check() throws {
    var rows = OptionRows(.check)
    self.rows(&rows)
    if let failure = rows.failure { throw failure }
    try validate()
  }

  // MARK: ArgumentParser

  /// The properties that ArgumentParser looks for.
  var customMirror: Mirror {
    var values = self
    var rows = OptionRows(.feed)
    values.rows(&rows)
    return Mirror(self, children: rows.properties)
  }

  init(from decoder: any Decoder) throws {
    self.init()
    // ArgumentParser checks in debug builds that the container is asked for.
    _ = try decoder.container(keyedBy: OptionLabel.self)
    var rows = OptionRows(.decode(decoder))
    self.rows(&rows)
    if let failure = rows.failure { throw failure }
  }
}

// MARK: Rows

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

  let purpose: Purpose
  var shapes: [OptionShape] = []
  /// The number of the options that were passed.
  var count = 0
  /// Whether all values are valid.
  var isValid = true
  var properties: [Mirror.Child] = []
  private(set) var failure: (any Error)?

  init(_ purpose: Purpose) { self.purpose = purpose }

  /// Handles one row.
  ///
  /// - Parameters:
  ///   - store: returns whether the word is valid.
  ///   - wrapper: the property of ArgumentParser that has the same value.
  mutating func add<Value, Wrapper: Decodable & OptionWrapper>(
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

  /// Never inlined: what it needs of ArgumentParser's types would be made at each start, for the other purposes too.
  @inline(never)
  mutating func decode<Wrapper: Decodable & OptionWrapper>(
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

// MARK: ArgumentParser's words

extension OptionShape {
  fileprivate var label: String { names.last ?? "<\(valueName)>" }

  /// Long names stand first in completion scripts.
  var specification: NameSpecification {
    let long = names.filter { $0.hasPrefix("--") }.map { NameSpecification.Element.customLong(String($0.dropFirst(2))) }
    let short = names.filter { !$0.hasPrefix("--") }.map { NameSpecification.Element.customShort($0.last ?? "?") }
    return NameSpecification(long + short)
  }

  func help(_ text: String, _ visibility: ArgumentVisibility = .default) -> ArgumentHelp {
    ArgumentHelp(text, valueName: valueName.isEmpty ? nil : valueName, visibility: visibility)
  }
}
