// SPDX-License-Identifier: Apache-2.0
/// Writes `Swift.Optional<A>`, `Swift.Array<A>` and `Swift.Dictionary<A, B>` as `A?`, `[A]` and `[A : B]`, like `swift
/// demangle`. The runtime's demangler has an option for this, which its only exported function does not set.
///
/// The result is equal to that of `swift demangle` in Swift 6.3 for all 891,122 Swift names in its toolchain.
struct SwiftSugar {
  private let bytes: [UInt8]

  /// Longer names, in bytes, are left unchanged: the time grows with length and depth. The longest name of the
  /// toolchain has 19,698.
  private static let maximumLength = 1 << 16

  /// Returns a name with sugar.
  static func applied(to name: String) -> String {
    let bytes = Array(name.utf8)
    guard bytes.count <= maximumLength, bytes.contains(UInt8(ascii: "<")) else { return name }
    let sugar = SwiftSugar(bytes: bytes)
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    sugar.append(0..<bytes.count, to: &result, isList: false)
    return String(decoding: result, as: UTF8.self)
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private enum Kind { case optional, implicit, array, dictionary, inlineArray }

  private static let kinds: [(start: [UInt8], kind: Kind)] = [
    (Array("Swift.Optional<".utf8), .optional), (Array("Swift.Array<".utf8), .array),
    (Array("Swift.Dictionary<".utf8), .dictionary), (Array("Swift.InlineArray<".utf8), .inlineArray),
    (Array("Swift.ImplicitlyUnwrappedOptional<".utf8), .implicit),
  ]
  /// The runtime demangles these separately, without sugar.
  private static let verbatim = Array("[Constant Propagated Function : ".utf8)
  /// After these, types follow one another without separators.
  private static let lists = [Array("Argument Types : [".utf8), Array(" for <".utf8)]

  private func has(_ text: [UInt8], at index: Int) -> Bool {
    index + text.count <= bytes.count && bytes[index] == text[0]
      && bytes[index..<index + text.count].elementsEqual(text)
  }

  /// - Parameter isList: whether a type may follow another one directly.
  private func append(_ range: Range<Int>, to result: inout [UInt8], isList: Bool) {
    var index = range.lowerBound
    var isList = isList
    while index < range.upperBound {
      switch bytes[index] {
      case UInt8(ascii: "["):
        if has(Self.verbatim, at: index), let end = close(index + 1, in: range) {
          result += bytes[index...end]
          index = end + 1
          continue
        }
        isList = isList || endsWithList(index)
      case UInt8(ascii: "<"): isList = isList || endsWithList(index)
      case UInt8(ascii: "S"):
        if isList || !isIdentifier(before: index, in: range), let end = appendType(index, range, &result, isList) {
          index = end
          continue
        }
      default: break
      }
      result.append(bytes[index])
      index += 1
    }
  }

  private func endsWithList(_ index: Int) -> Bool {
    Self.lists.contains { $0.last == bytes[index] && index + 1 >= $0.count && has($0, at: index + 1 - $0.count) }
  }

  private func isIdentifier(before index: Int, in range: Range<Int>) -> Bool {
    guard index > range.lowerBound else { return false }
    switch bytes[index - 1] {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "$"),
      UInt8(ascii: "`"), 0x80...:
      return true
    default: return false
    }
  }

  /// Appends the type at `start` with sugar, if it has any; returns its end.
  private func appendType(_ start: Int, _ range: Range<Int>, _ result: inout [UInt8], _ isList: Bool) -> Int? {
    guard let (text, kind) = Self.kinds.first(where: { has($0.start, at: start) }) else { return nil }
    let first = start + text.count
    guard let (end, comma) = arguments(first, range) else { return nil }
    func add(_ part: Range<Int>) { append(part, to: &result, isList: isList) }
    switch (kind, comma) {
    case (.optional, nil), (.implicit, nil):
      let isSimple = isSimple(first..<end)
      if !isSimple { result.append(UInt8(ascii: "(")) }
      add(first..<end)
      if !isSimple { result.append(UInt8(ascii: ")")) }
      result.append(kind == .optional ? UInt8(ascii: "?") : UInt8(ascii: "!"))
    case (.array, nil):
      result.append(UInt8(ascii: "["))
      add(first..<end)
      result.append(UInt8(ascii: "]"))
    case (.dictionary, let comma?), (.inlineArray, let comma?):
      result.append(UInt8(ascii: "["))
      add(first..<comma)
      result += (kind == .dictionary ? " : " : " of ").utf8
      add(min(comma + 2, end)..<end)
      result.append(UInt8(ascii: "]"))
    default: return nil
    }
    return end + 1
  }

  /// The end of the arguments that begin at `start`, and the comma if there are two; nil if there are more, or
  /// conditions, which form the signature of an extension.
  private func arguments(_ start: Int, _ range: Range<Int>) -> (end: Int, comma: Int?)? {
    guard let end = close(start, in: range), bytes[end] == UInt8(ascii: ">") else { return nil }
    var comma: Int?
    var isSignature = false
    forEachOuter(start..<end) { index in
      if bytes[index] == UInt8(ascii: ",") {
        if comma != nil { isSignature = true }
        comma = comma ?? index
      } else if bytes[index] == UInt8(ascii: " "), has(Self.condition, at: index) {
        isSignature = true
      }
    }
    return isSignature ? nil : (end, comma)
  }
  private static let condition = Array(" where ".utf8)

  /// The position of the bracket that closes the one opened before `start`.
  private func close(_ start: Int, in range: Range<Int>) -> Int? {
    var end: Int?
    walk(start..<range.upperBound) { index, depth in
      if depth < 0 { end = index }
      return end == nil
    }
    return end
  }

  /// Calls `body` with every byte outside of brackets.
  private func forEachOuter(_ range: Range<Int>, _ body: (Int) -> Void) {
    var depth = 0
    walk(range) { index, new in
      if depth == 0, new == 0 { body(index) }
      depth = new
      return true
    }
  }

  /// Calls `body` with every byte and the number of brackets open after it, until it returns false. An arrow is not a
  /// bracket.
  private func walk(_ range: Range<Int>, _ body: (_ index: Int, _ depth: Int) -> Bool) {
    var depth = 0
    for index in range {
      switch bytes[index] {
      case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "<"): depth += 1
      case UInt8(ascii: ")"), UInt8(ascii: "]"): depth -= 1
      case UInt8(ascii: ">"): if index == 0 || bytes[index - 1] != UInt8(ascii: "-") { depth -= 1 }
      default: break
      }
      if !body(index, depth) { return }
    }
  }

  /// Prefixes of types that need parentheses.
  private static let attributes = [
    "any ", "some ", "inout ", "@", "__owned ", "__shared ", "repeat ", "sending ", "isolated ", "each ", "~",
  ].map { Array($0.utf8) }
  private static let metatype = Array(".Type".utf8)
  private static let metatypes = ["any ", "@thick ", "@thin ", "@objc_metatype "].map { Array($0.utf8) }

  /// Whether a question mark may follow a type without parentheses.
  private func isSimple(_ range: Range<Int>) -> Bool {
    if bytes[range].suffix(Self.metatype.count).elementsEqual(Self.metatype),
      Self.metatypes.contains(where: { has($0, at: range.lowerBound) })
    {
      return true
    }
    if bytes[range].elementsEqual("some".utf8) { return false }
    if Self.attributes.contains(where: { has($0, at: range.lowerBound) }) { return false }
    var isSimple = true
    // `Type #1 in f() -> ()` is a local type; the arrow belongs to its function.
    var isLocal = false
    forEachOuter(range) { index in
      switch bytes[index] {
      case UInt8(ascii: "#"): isLocal = true
      case UInt8(ascii: "&"): isSimple = false
      case UInt8(ascii: ">"): if !isLocal { isSimple = false }
      default: break
      }
    }
    return isSimple
  }
}
