// SPDX-License-Identifier: Apache-2.0
/// Reads one JSON document (RFC 8259) incrementally from its bytes.
///
/// It builds no tree: the caller requests the value that it expects next, and gets an error with an offset if the text
/// has a different one. Each call must be passed the same bytes.
package struct JSONReader {
  package struct Failure: Error, Equatable, Sendable {
    package enum Reason: Sendable, Equatable {
      case expected(String)
      case badString
      case badNumber
      case tooDeep
      case trailingText
    }

    package let reason: Reason
    /// Byte offset in the text.
    package let offset: Int
  }

  /// The maximum nesting depth of objects and arrays.
  private static let maximumDepth = 64

  package private(set) var offset = 0
  /// For each open object or array: whether a member has been read.
  private var hasMembers: [Bool] = []

  package init() {}

  package func failure(_ reason: Failure.Reason) -> Failure { Failure(reason: reason, offset: offset) }

  // MARK: Structure

  /// Reads `{` or `[`.
  package mutating func open(_ bracket: Unicode.Scalar, in text: RawSpan) throws(Failure) {
    try expect(bracket, in: text)
    guard hasMembers.count < Self.maximumDepth else { throw failure(.tooDeep) }
    hasMembers.append(false)
  }

  /// Moves to the next element of the open array. Returns false, and closes the array, after the last one.
  package mutating func nextElement(in text: RawSpan) throws(Failure) -> Bool { try next("]", in: text) }

  /// Reads the next key of the open object. Returns nil, and closes the object, after the last one.
  package mutating func nextKey(in text: RawSpan) throws(Failure) -> String? {
    guard try next("}", in: text) else { return nil }
    let key = try string(in: text)
    try expect(":", in: text)
    return String(decoding: key, as: UTF8.self)
  }

  private mutating func next(_ close: Unicode.Scalar, in text: RawSpan) throws(Failure) -> Bool {
    if peek(in: text) == close {
      offset += 1
      hasMembers.removeLast()
      return false
    }
    let last = hasMembers.count - 1
    if hasMembers[last] { try expect(",", in: text) }
    hasMembers[last] = true
    return true
  }

  /// Checks that only white space follows.
  package mutating func end(in text: RawSpan) throws(Failure) {
    if peek(in: text) != nil { throw failure(.trailingText) }
  }

  /// Skips white space. Returns the next character without consuming it, or nil at the end of the text.
  package mutating func peek(in text: RawSpan) -> Unicode.Scalar? {
    while offset < text.byteCount {
      let byte = byte(at: offset, in: text)
      switch byte {
      case 0x20, 0x0a, 0x0d, 0x09: offset += 1
      default: return Unicode.Scalar(byte)
      }
    }
    return nil
  }

  private mutating func expect(_ character: Unicode.Scalar, in text: RawSpan) throws(Failure) {
    guard peek(in: text) == character else { throw failure(.expected("'\(character)'")) }
    offset += 1
  }

  private func byte(at offset: Int, in text: RawSpan) -> UInt8 {
    unsafe text.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }

  // MARK: Values

  /// Reads an integer: -2^63 to 2^64-1. Fractions and exponents are errors, because no caller expects them.
  package mutating func integer(in text: RawSpan) throws(Failure) -> Int128 {
    _ = peek(in: text)
    let start = offset
    var digits = ""
    while offset < text.byteCount {
      let scalar = Unicode.Scalar(byte(at: offset, in: text))
      guard "+-.eE0123456789".unicodeScalars.contains(scalar) else { break }
      digits.unicodeScalars.append(scalar)
      offset += 1
      if digits.utf8.count > 40 { break }
    }
    let body = digits.hasPrefix("-") ? digits.dropFirst() : digits[...]
    guard !body.isEmpty, body.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), body == "0" || !body.hasPrefix("0"),
      let value = Int128(digits), value >= Int128(Int64.min), value <= Int128(UInt64.max)
    else {
      offset = start
      throw failure(digits.isEmpty ? .expected("a number") : .badNumber)
    }
    return value
  }

  package mutating func bool(in text: RawSpan) throws(Failure) -> Bool {
    switch peek(in: text) {
    case "t":
      try literal("true", in: text)
      return true
    case "f":
      try literal("false", in: text)
      return false
    default: throw failure(.expected("true or false"))
    }
  }

  private mutating func literal(_ word: StaticString, in text: RawSpan) throws(Failure) {
    for character in word.description.utf8 {
      guard offset < text.byteCount, byte(at: offset, in: text) == character else {
        throw failure(.expected(word.description))
      }
      offset += 1
    }
  }

  /// Reads a string. Returns its UTF-8 with escapes resolved.
  package mutating func string(in text: RawSpan) throws(Failure) -> [UInt8] {
    guard peek(in: text) == "\"" else { throw failure(.expected("a string")) }
    offset += 1
    var result: [UInt8] = []
    while offset < text.byteCount {
      let byte = byte(at: offset, in: text)
      offset += 1
      switch byte {
      case UInt8(ascii: "\""): return result
      case UInt8(ascii: "\\"): try escape(into: &result, in: text)
      case 0..<0x20: throw failure(.badString)
      default: result.append(byte)
      }
    }
    throw failure(.badString)
  }

  private mutating func escape(into result: inout [UInt8], in text: RawSpan) throws(Failure) {
    guard offset < text.byteCount else { throw failure(.badString) }
    let letter = Unicode.Scalar(byte(at: offset, in: text))
    offset += 1
    switch letter {
    case "\"", "\\", "/": result.append(UInt8(letter.value))
    case "b": result.append(8)
    case "f": result.append(12)
    case "n": result.append(10)
    case "r": result.append(13)
    case "t": result.append(9)
    case "u":
      var unit = try fourDigits(in: text)
      if unit >> 10 == 0x36 {  // A high surrogate must be followed by an escaped low surrogate.
        guard offset + 2 <= text.byteCount, byte(at: offset, in: text) == UInt8(ascii: "\\"),
          byte(at: offset + 1, in: text) == UInt8(ascii: "u")
        else { throw failure(.badString) }
        offset += 2
        let low = try fourDigits(in: text)
        guard low >> 10 == 0x37 else { throw failure(.badString) }
        unit = 0x10000 + (unit & 0x3ff) << 10 + low & 0x3ff
      }
      guard let scalar = Unicode.Scalar(unit) else { throw failure(.badString) }
      result.append(contentsOf: Array(String(Character(scalar)).utf8))
    default: throw failure(.badString)
    }
  }

  private mutating func fourDigits(in text: RawSpan) throws(Failure) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard offset < text.byteCount, let digit = Character(Unicode.Scalar(byte(at: offset, in: text))).hexDigitValue
      else {
        throw failure(.badString)
      }
      value = value << 4 | UInt32(digit)
      offset += 1
    }
    return value
  }

  /// Reads bytes from a string of an even number of hexadecimal digits.
  package mutating func hex(in text: RawSpan) throws(Failure) -> [UInt8] {
    guard peek(in: text) == "\"" else { throw failure(.expected("a string of hexadecimal digits")) }
    offset += 1
    var end = offset
    while end < text.byteCount, byte(at: end, in: text) != UInt8(ascii: "\"") { end += 1 }
    var result: [UInt8] = []
    result.reserveCapacity((end - offset) / 2)
    while offset < text.byteCount, byte(at: offset, in: text) != UInt8(ascii: "\"") {
      guard offset + 1 < text.byteCount, let high = JSONEscapes.hexValue(byte(at: offset, in: text)),
        let low = JSONEscapes.hexValue(byte(at: offset + 1, in: text))
      else { throw failure(.expected("two hexadecimal digits")) }
      result.append(high << 4 | low)
      offset += 2
    }
    guard offset < text.byteCount else { throw failure(.badString) }
    offset += 1
    return result
  }
}
