// SPDX-License-Identifier: Apache-2.0
/// Writes the framing of an intermediate dump, right or wrong.
///
/// Containers taken as closures are always closed; the single commands, lengths that lie and raw bytes are there for
/// damaged dumps. The builder checks nothing: what a test asks for is what it gets.
///
///     var dump = DumpBuilder()
///     dump.root {
///         $0.property(.version, [1])
///         $0.map(.processInfo) { $0.property(.pid, Bytes.of(UInt32(42))) }
///     }
public struct DumpBuilder: Sendable {
  public private(set) var bytes: [UInt8] = []

  public init(capacity: Int = 0) {
    bytes.reserveCapacity(capacity)
  }

  // MARK: Well-formed containers

  public mutating func root(_ body: (inout DumpBuilder) -> Void) {
    rootStart()
    body(&self)
    rootEnd()
  }

  /// A map below a map: it has a key.
  public mutating func map(_ key: DumpKey, _ body: (inout DumpBuilder) -> Void) {
    map(number: key.rawValue, body)
  }

  public mutating func map(number: UInt16, _ body: (inout DumpBuilder) -> Void) {
    mapStart(number: number)
    body(&self)
    mapEnd()
  }

  /// A map below an array: it has no key.
  public mutating func mapInArray(_ body: (inout DumpBuilder) -> Void) {
    mapStartInArray()
    body(&self)
    mapEnd()
  }

  public mutating func array(_ key: DumpKey, _ body: (inout DumpBuilder) -> Void) {
    array(number: key.rawValue, body)
  }

  public mutating func array(number: UInt16, _ body: (inout DumpBuilder) -> Void) {
    arrayStart(number: number)
    body(&self)
    arrayEnd()
  }

  // MARK: Properties

  public mutating func property(_ key: DumpKey, _ value: [UInt8]) {
    property(number: key.rawValue, claiming: UInt64(value.count), value)
  }

  public mutating func property(_ key: DumpKey, _ text: String) {
    property(key, Array(text.utf8))
  }

  public mutating func property(_ key: DumpKey, uint32 value: UInt32) {
    propertyHeader(number: key.rawValue, length: 4)
    bytes.append(little: value)
  }

  public mutating func property(_ key: DumpKey, int32 value: Int32) {
    property(key, uint32: UInt32(bitPattern: value))
  }

  public mutating func property(_ key: DumpKey, uint64 value: UInt64) {
    propertyHeader(number: key.rawValue, length: 8)
    bytes.append(little: value)
  }

  public mutating func property(number: UInt16, _ value: [UInt8]) {
    property(number: number, claiming: UInt64(value.count), value)
  }

  /// A property whose length field says `length`, whatever `value` has.
  public mutating func property(number: UInt16, claiming length: UInt64, _ value: [UInt8]) {
    propertyHeader(number: number, length: length)
    bytes.append(contentsOf: value)
  }

  /// Command, key and length of a property without its value.
  public mutating func propertyHeader(number: UInt16, length: UInt64) {
    command(.property)
    bytes.append(little: number)
    bytes.append(little: length)
  }

  // MARK: Single commands and raw bytes

  public mutating func rootStart() { command(.rootStart) }
  public mutating func rootEnd() { command(.rootEnd) }
  public mutating func mapStartInArray() { command(.mapStart) }
  public mutating func mapEnd() { command(.mapEnd) }
  public mutating func arrayEnd() { command(.arrayEnd) }

  public mutating func mapStart(number: UInt16) {
    command(.mapStart)
    bytes.append(little: number)
  }

  public mutating func arrayStart(number: UInt16) {
    command(.arrayStart)
    bytes.append(little: number)
  }

  public mutating func command(_ command: DumpCommand) {
    bytes.append(command.rawValue)
  }

  public mutating func raw(_ more: [UInt8]) {
    bytes.append(contentsOf: more)
  }

  /// `levels` maps inside each other, each with `number` as its key, with `body` in the innermost.
  public mutating func nested(levels: Int, number: UInt16, _ body: (inout DumpBuilder) -> Void = { _ in }) {
    for _ in 0..<levels { mapStart(number: number) }
    body(&self)
    for _ in 0..<levels { mapEnd() }
  }
}
