// SPDX-License-Identifier: Apache-2.0
/// Little-endian writing and reading by shifts: nothing unsafe, and no help from the product under test.
extension [UInt8] {
  public mutating func append(little value: UInt16) {
    append(UInt8(truncatingIfNeeded: value))
    append(UInt8(truncatingIfNeeded: value >> 8))
  }

  public mutating func append(little value: UInt32) {
    append(little: UInt16(truncatingIfNeeded: value))
    append(little: UInt16(truncatingIfNeeded: value >> 16))
  }

  public mutating func append(little value: UInt64) {
    append(UInt8(truncatingIfNeeded: value))
    append(UInt8(truncatingIfNeeded: value >> 8))
    append(UInt8(truncatingIfNeeded: value >> 16))
    append(UInt8(truncatingIfNeeded: value >> 24))
    append(UInt8(truncatingIfNeeded: value >> 32))
    append(UInt8(truncatingIfNeeded: value >> 40))
    append(UInt8(truncatingIfNeeded: value >> 48))
    append(UInt8(truncatingIfNeeded: value >> 56))
  }

  public mutating func append(little value: Int32) {
    append(little: UInt32(bitPattern: value))
  }

  public mutating func append(little value: Int64) {
    append(little: UInt64(bitPattern: value))
  }

  /// The low `width` bytes of `value`, written over what stands at `offset`; bytes behind the end are left out.
  public mutating func overwrite(_ value: UInt64, width: Int, at offset: Int) {
    for index in 0..<width where offset + index >= 0 && offset + index < count {
      self[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * UInt64(index)))
    }
  }

  /// The `width` bytes at `offset` as a number; nil if they are not all there.
  public func little(at offset: Int, width: Int) -> UInt64? {
    guard offset >= 0, offset <= count - width else { return nil }
    var value: UInt64 = 0
    for index in (0..<width).reversed() { value = value << 8 | UInt64(self[offset + index]) }
    return value
  }

  public mutating func appendZeros(_ number: Int) {
    if number > 0 { append(contentsOf: repeatElement(0, count: number)) }
  }
}

/// The bytes of numbers on their own, for values of properties.
public enum Bytes {
  public static func of(_ value: UInt16) -> [UInt8] {
    var out: [UInt8] = []
    out.append(little: value)
    return out
  }

  public static func of(_ value: UInt32) -> [UInt8] {
    var out: [UInt8] = []
    out.append(little: value)
    return out
  }

  public static func of(_ value: Int32) -> [UInt8] {
    of(UInt32(bitPattern: value))
  }

  public static func of(_ value: UInt64) -> [UInt8] {
    var out: [UInt8] = []
    out.append(little: value)
    return out
  }

  public static func of(_ values: [UInt64]) -> [UInt8] {
    var out: [UInt8] = []
    out.reserveCapacity(values.count * 8)
    for value in values { out.append(little: value) }
    return out
  }

  /// UTF-8 without a terminator.
  public static func of(_ text: String) -> [UInt8] {
    Array(text.utf8)
  }
}
