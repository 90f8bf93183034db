// SPDX-License-Identifier: Apache-2.0
/// Writes one JSON document incrementally: passes the text to `sink` in blocks instead of storing it.
///
/// The caller balances objects and arrays. After the first failure of the sink, its output is discarded, and `finish()`
/// throws the failure.
package struct JSONWriter: ~Copyable {
  package enum Layout: Sendable {
    /// One line.
    case compact
    /// Two spaces for each level.
    case indented
  }

  private let layout: Layout
  private let sink: (RawSpan) throws -> Void
  private var buffer: [UInt8] = []
  private var failure: (any Error)?
  /// For each open object or array: whether it has members.
  private var hasMembers: [Bool] = []
  private var afterKey = false
  private var isInline = false

  private static let blockSize = 64 * 1024

  package init(_ layout: Layout, to sink: @escaping (RawSpan) throws -> Void) {
    self.layout = layout
    self.sink = sink
    buffer.reserveCapacity(Self.blockSize + 4096)
  }

  /// The text of the document that `body` writes, with a line feed at its end.
  package static func bytes(_ layout: Layout, _ body: (inout JSONWriter) -> Void) -> [UInt8] {
    let memory = Memory()
    var json = JSONWriter(layout) { part in memory.bytes += unsafe part.withUnsafeBytes { unsafe Array($0) } }
    body(&json)
    do { try json.finish() } catch { preconditionFailure("memory takes everything") }
    return memory.bytes
  }

  private final class Memory { var bytes: [UInt8] = [] }

  /// Ends the document with a line feed and flushes the buffer.
  package mutating func finish() throws {
    buffer.append(UInt8(ascii: "\n"))
    drain()
    if let failure { throw failure }
  }

  private mutating func drain() {
    if failure == nil {
      do { try unsafe sink(buffer.span.bytes) } catch { failure = error }
    }
    buffer.removeAll(keepingCapacity: true)
  }

  // MARK: Structure

  /// Writes the values of `body` on one line, in either layout.
  package mutating func inline(_ body: (inout JSONWriter) -> Void) {
    beginValue()
    let wasInline = isInline
    (isInline, afterKey) = (true, true)
    body(&self)
    isInline = wasInline
  }

  package mutating func object(_ body: (inout JSONWriter) -> Void) {
    open("{")
    body(&self)
    close("}")
  }

  package mutating func array(_ body: (inout JSONWriter) -> Void) {
    open("[")
    body(&self)
    close("]")
  }

  package mutating func object(_ key: String, _ body: (inout JSONWriter) -> Void) {
    self.key(key)
    object(body)
  }

  package mutating func array(_ key: String, _ body: (inout JSONWriter) -> Void) {
    self.key(key)
    array(body)
  }

  package mutating func open(_ bracket: Unicode.Scalar) {
    beginValue()
    buffer.append(UInt8(truncatingIfNeeded: bracket.value))
    hasMembers.append(false)
  }

  package mutating func close(_ bracket: Unicode.Scalar) {
    let had = hasMembers.removeLast()
    if had { newLine() }
    buffer.append(UInt8(truncatingIfNeeded: bracket.value))
    if buffer.count >= Self.blockSize { drain() }
  }

  private mutating func newLine() {
    guard layout == .indented, !isInline else { return }
    buffer.append(UInt8(ascii: "\n"))
    for _ in hasMembers {
      buffer.append(UInt8(ascii: " "))
      buffer.append(UInt8(ascii: " "))
    }
  }

  private mutating func separate() {
    guard let last = hasMembers.indices.last else { return }
    if hasMembers[last] {
      buffer.append(UInt8(ascii: ","))
      if layout == .indented, isInline { buffer.append(UInt8(ascii: " ")) }
    }
    hasMembers[last] = true
    newLine()
  }

  private mutating func beginValue() {
    if afterKey { afterKey = false } else { separate() }
  }

  package mutating func key(_ key: String) {
    separate()
    quote(key)
    buffer.append(UInt8(ascii: ":"))
    if layout == .indented { buffer.append(UInt8(ascii: " ")) }
    afterKey = true
  }

  // MARK: Values

  package mutating func string(_ value: String) {
    beginValue()
    quote(value)
  }

  package mutating func number(_ value: some BinaryInteger) {
    beginValue()
    buffer.append(contentsOf: String(value).utf8)
  }

  /// Writes a number given in thousandths: 12345 as 12.345, 12300 as 12.3, 12000 as 12.
  package mutating func number(thousandths value: Int64) {
    beginValue()
    let (whole, rest) = value.magnitude.quotientAndRemainder(dividingBy: 1000)
    var decimals = String(rest + 1000).dropFirst()
    while decimals.last == "0" { decimals.removeLast() }
    buffer.append(contentsOf: ((value < 0 ? "-" : "") + String(whole) + (rest == 0 ? "" : "." + decimals)).utf8)
  }

  package mutating func bool(_ value: Bool) {
    beginValue()
    buffer.append(contentsOf: (value ? "true" : "false").utf8)
  }

  package mutating func null() {
    beginValue()
    buffer.append(contentsOf: "null".utf8)
  }

  /// Writes the bytes as a string of hexadecimal digits.
  package mutating func hex(_ bytes: RawSpan) {
    beginValue()
    buffer.append(UInt8(ascii: "\""))
    for index in 0..<bytes.byteCount {
      let byte = unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)
      buffer.append(Self.hexDigit(byte >> 4))
      buffer.append(Self.hexDigit(byte & 15))
      if buffer.count >= Self.blockSize { drain() }
    }
    buffer.append(UInt8(ascii: "\""))
  }

  // MARK: Members of an object

  package mutating func member(_ key: String, _ value: String?) {
    self.key(key)
    if let value { string(value) } else { null() }
  }

  package mutating func member(_ key: String, _ value: (some BinaryInteger)?) {
    self.key(key)
    if let value { number(value) } else { null() }
  }

  package mutating func member(_ key: String, _ value: Bool) {
    self.key(key)
    bool(value)
  }

  package mutating func member(_ key: String, _ values: [String]) {
    array(key) { json in for value in values { json.string(value) } }
  }

  // MARK: Text

  private static func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }

  private mutating func quote(_ text: String) {
    buffer.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""): buffer.append(contentsOf: #"\""#.utf8)
      case UInt8(ascii: "\\"): buffer.append(contentsOf: #"\\"#.utf8)
      case UInt8(ascii: "\n"): buffer.append(contentsOf: #"\n"#.utf8)
      case UInt8(ascii: "\r"): buffer.append(contentsOf: #"\r"#.utf8)
      case UInt8(ascii: "\t"): buffer.append(contentsOf: #"\t"#.utf8)
      case 0..<0x20, 0x7f:
        buffer.append(contentsOf: #"\u00"#.utf8)
        buffer.append(Self.hexDigit(byte >> 4))
        buffer.append(Self.hexDigit(byte & 15))
      default: buffer.append(byte)
      }
    }
    buffer.append(UInt8(ascii: "\""))
    if buffer.count >= Self.blockSize { drain() }
  }
}
