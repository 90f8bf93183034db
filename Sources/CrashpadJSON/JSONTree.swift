// SPDX-License-Identifier: Apache-2.0
/// A JSON text as a flat array of values, for texts whose members may come in any order. Strings and numbers stay in
/// the text and are converted on access, so that no number loses digits.
///
/// If the text is truncated or malformed, the tree has the values before that place, and `failure` has the offset.
package final class JSONTree: Sendable {
  struct Node: Sendable {
    let kind: JSONValue.Kind
    /// Whether a string has escapes, and so can't be used verbatim.
    var hasEscapes = false
    /// The start in the text; for a string, without its quotes.
    let start: Int
    var end: Int
    /// The index of the next value that is not inside of this one.
    var next: Int
  }

  /// The maximum number of values read of a text that anyone may have written, which limits memory to 64 MB.
  package static let maximumValues = 2_000_000
  /// The maximum nesting depth of objects and arrays.
  package static let maximumDepth = 20_000

  let text: [UInt8]
  let nodes: [Node]
  /// The offset in the input at which the text begins.
  let base: Int
  /// The reason why the text could not be read to its end, with the offset in the input; nil if it could.
  package let failure: JSONReader.Failure?
  /// The offset in the input after the value, or at which reading stopped.
  package let end: Int

  /// Reads the first value of `input` from `start` on; ignores the text after it.
  /// - Parameter limit: the maximum number of values; each takes 32 bytes.
  package init(_ input: RawSpan, from start: Int = 0, limit: Int = maximumValues) {
    base = min(start, input.byteCount)
    let rest = input.extracting(base..<input.byteCount)
    var parser = JSONTreeParser(limit: limit)
    var nodes: [Node] = []
    // A text may be many short ones: more room is made as it is needed.
    nodes.reserveCapacity(min(limit, rest.byteCount / 12, 4096))
    var failure: JSONReader.Failure?
    do { try parser.parse(rest, into: &nodes) } catch { failure = error }
    // The values lie before the place where reading stopped.
    text = unsafe rest.extracting(0..<min(parser.offset, rest.byteCount)).withUnsafeBytes { unsafe Array($0) }
    for index in parser.open.reversed() {
      nodes[index].next = nodes.count
      nodes[index].end = parser.offset
    }
    self.nodes = nodes
    self.failure = failure.map { JSONReader.Failure(reason: $0.reason, offset: $0.offset + start) }
    end = base + parser.offset
  }

  /// The text of a string whose escapes are in the input, without its quotes.
  package static func text(ofString input: RawSpan) -> String {
    let bytes = unsafe input.withUnsafeBytes { unsafe Array($0) }
    return String(decoding: JSONEscapes.resolved(bytes[...]), as: UTF8.self)
  }

  /// The outermost value; nil if the text has none.
  package var root: JSONValue? { nodes.isEmpty ? nil : JSONValue(tree: self, index: 0) }
}

/// One value of a `JSONTree`.
package struct JSONValue: Sendable {
  package enum Kind: UInt8, Sendable {
    case object, array, string, number, bool, null
  }

  private let tree: JSONTree
  private let index: Int

  init(tree: JSONTree, index: Int) {
    self.tree = tree
    self.index = index
  }

  private var node: JSONTree.Node { tree.nodes[index] }
  private var bytes: ArraySlice<UInt8> { tree.text[node.start..<node.end] }

  package var kind: Kind { node.kind }

  /// Byte offset of the value in the input.
  package var offset: Int { tree.base + node.start }

  /// The value's range in the input: with the brackets of an object or array, without the quotes of a string.
  package var range: Range<Int> { tree.base + node.start..<tree.base + node.end }

  // MARK: Structure

  /// The value of the first member with that name; nil if there is none or this is not an object.
  package subscript(key: StaticString) -> JSONValue? {
    guard node.kind == .object else { return nil }
    let end = node.next
    var index = index + 1
    while index + 1 < end {
      if matches(index, key) { return JSONValue(tree: tree, index: index + 1) }
      index = tree.nodes[index + 1].next
    }
    return nil
  }

  private func matches(_ index: Int, _ key: StaticString) -> Bool {
    let node = tree.nodes[index]
    let count = key.utf8CodeUnitCount
    guard node.end - node.start == count else { return false }
    for offset in 0..<count where unsafe tree.text[node.start + offset] != key.utf8Start[offset] { return false }
    return true
  }

  /// The members of an object in their order; empty for other values.
  package var members: [(key: String, value: JSONValue)] {
    guard node.kind == .object else { return [] }
    var members: [(key: String, value: JSONValue)] = []
    var index = index + 1
    while index + 1 < node.next {
      members.append((JSONValue(tree: tree, index: index).string ?? "", JSONValue(tree: tree, index: index + 1)))
      index = tree.nodes[index + 1].next
    }
    return members
  }

  /// The elements of an array; empty for other values.
  package var elements: [JSONValue] {
    guard node.kind == .array else { return [] }
    var elements: [JSONValue] = []
    var index = index + 1
    while index < node.next {
      elements.append(JSONValue(tree: tree, index: index))
      index = tree.nodes[index].next
    }
    return elements
  }

  // MARK: Values

  /// The text of a string with its escapes resolved; ill-formed parts become U+FFFD. Nil for other values.
  package var string: String? {
    guard node.kind == .string else { return nil }
    return String(decoding: node.hasEscapes ? JSONEscapes.resolved(bytes)[...] : bytes, as: UTF8.self)
  }

  /// The strings of an array, or the string itself as the only element.
  package var strings: [String] { kind == .array ? elements.compactMap(\.string) : string.map { [$0] } ?? [] }

  /// An integer from a number, or from a string of decimal or 0x-prefixed digits; nil for fractions and numbers out of
  /// range.
  package var integer: Int128? {
    guard node.kind == .number || node.kind == .string, bytes.count <= 40 else { return nil }
    var rest = bytes
    let isNegative = rest.first == UInt8(ascii: "-")
    if isNegative { rest = rest.dropFirst() }
    var radix: Int128 = 10
    if rest.starts(with: [UInt8(ascii: "0"), UInt8(ascii: "x")]) {
      radix = 16
      rest = rest.dropFirst(2)
    }
    guard !rest.isEmpty else { return nil }
    var value: Int128 = 0
    for byte in rest {
      guard let digit = JSONEscapes.hexValue(byte), Int128(digit) < radix, value < Int128(1) << 100 else { return nil }
      value = value * radix + Int128(digit)
    }
    return isNegative ? -value : value
  }

  /// The integer as 64 bits; negative integers as their two's complement.
  package var uint64: UInt64? {
    integer.flatMap { integer in
      UInt64(exactly: integer) ?? Int64(exactly: integer).map { UInt64(bitPattern: $0) }
    }
  }

  package var int64: Int64? { integer.flatMap { Int64(exactly: $0) } }

  /// A Boolean value; Apple's reports also use 1, "1" and "true".
  package var bool: Bool? {
    switch node.kind {
    case .bool: return bytes.first == UInt8(ascii: "t")
    case .number: return integer.map { $0 != 0 }
    case .string:
      switch string?.lowercased() {
      case "true", "yes", "1": return true
      case "false", "no", "0": return false
      default: return nil
      }
    default: return nil
    }
  }

  /// The text of a string; for a number or Boolean value, its spelling in the input.
  package var display: String? {
    switch kind {
    case .string: string
    case .number, .bool: source
    default: nil
    }
  }

  /// The value's spelling in the input.
  package var source: String { String(decoding: bytes, as: UTF8.self) }
}

/// Parses a text into nodes without recursion, so that deep nesting can't overflow the stack.
struct JSONTreeParser {
  typealias Node = JSONTree.Node

  let limit: Int
  var offset = 0
  /// The nodes of the open objects and arrays.
  var open: [Int] = []

  init(limit: Int) { self.limit = limit }

  mutating func parse(_ text: RawSpan, into nodes: inout [Node]) throws(JSONReader.Failure) {
    try value(text, &nodes)
    while let container = open.last {
      let isObject = nodes[container].kind == .object
      let isFirst = nodes.count == container + 1
      let close = isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
      guard var byte = next(text) else { throw failure(.expected(isObject ? "'}'" : "']'")) }
      if byte == close {
        offset += 1
        nodes[container].next = nodes.count
        nodes[container].end = offset
        open.removeLast()
        continue
      }
      if !isFirst {
        guard byte == UInt8(ascii: ",") else { throw failure(.expected("','")) }
        offset += 1
        guard let following = next(text) else { throw failure(.expected("a value")) }
        byte = following
      }
      if isObject { try key(byte, text, &nodes) }
      do { try value(text, &nodes) } catch {
        // A key without a value is not a member.
        if isObject { nodes.removeLast() }
        throw error
      }
    }
  }

  private func failure(_ reason: JSONReader.Failure.Reason) -> JSONReader.Failure {
    JSONReader.Failure(reason: reason, offset: offset)
  }

  /// Skips white space. Returns the next byte without consuming it, or nil at the end.
  private mutating func next(_ text: RawSpan) -> UInt8? {
    while offset < text.byteCount {
      let byte = text.byte(offset)
      guard byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 else { return byte }
      offset += 1
    }
    return nil
  }

  private mutating func key(_ byte: UInt8, _ text: RawSpan, _ nodes: inout [Node]) throws(JSONReader.Failure) {
    guard byte == UInt8(ascii: "\"") else { throw failure(.expected("a key")) }
    try string(text, &nodes)
    guard next(text) == UInt8(ascii: ":") else {
      nodes.removeLast()
      throw failure(.expected("':'"))
    }
    offset += 1
  }

  private mutating func value(_ text: RawSpan, _ nodes: inout [Node]) throws(JSONReader.Failure) {
    guard let byte = next(text) else { throw failure(.expected("a value")) }
    guard nodes.count < limit else { throw failure(.tooDeep) }
    switch byte {
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      guard open.count < JSONTree.maximumDepth else { throw failure(.tooDeep) }
      open.append(nodes.count)
      append(byte == UInt8(ascii: "{") ? .object : .array, offset, offset, &nodes)
      offset += 1
    case UInt8(ascii: "\""): try string(text, &nodes)
    case UInt8(ascii: "-"), 0x30...0x39: number(text, &nodes)
    case UInt8(ascii: "t"): try word("true", .bool, text, &nodes)
    case UInt8(ascii: "f"): try word("false", .bool, text, &nodes)
    case UInt8(ascii: "n"): try word("null", .null, text, &nodes)
    default: throw failure(.expected("a value"))
    }
  }

  private func append(_ kind: JSONValue.Kind, _ start: Int, _ end: Int, _ nodes: inout [Node]) {
    nodes.append(Node(kind: kind, start: start, end: end, next: nodes.count + 1))
  }

  private mutating func number(_ text: RawSpan, _ nodes: inout [Node]) {
    let start = offset
    while offset < text.byteCount {
      switch text.byte(offset) {
      case 0x30...0x39, 0x2b, 0x2d, 0x2e, 0x45, 0x65: offset += 1
      default: return append(.number, start, offset, &nodes)
      }
    }
    append(.number, start, offset, &nodes)
  }

  private mutating func word(
    _ word: StaticString, _ kind: JSONValue.Kind, _ text: RawSpan, _ nodes: inout [Node]
  ) throws(JSONReader.Failure) {
    let count = word.utf8CodeUnitCount
    guard offset + count <= text.byteCount else { throw failure(.expected(word.description)) }
    for index in 0..<count {
      guard unsafe text.byte(offset + index) == word.utf8Start[index] else {
        throw failure(.expected(word.description))
      }
    }
    append(kind, offset, offset + count, &nodes)
    offset += count
  }

  private mutating func string(_ text: RawSpan, _ nodes: inout [Node]) throws(JSONReader.Failure) {
    let start = offset + 1
    var end = start
    var hasEscapes = false
    let count = text.byteCount
    while end < count {
      let byte = text.byte(end)
      if byte == UInt8(ascii: "\"") {
        append(.string, start, end, &nodes)
        nodes[nodes.count - 1].hasEscapes = hasEscapes
        offset = end + 1
        return
      }
      if byte == UInt8(ascii: "\\") {
        hasEscapes = true
        end += 1
      }
      end += 1
    }
    throw failure(.badString)
  }
}

extension RawSpan {
  fileprivate func byte(_ offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
}
