// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Encodings of numbers and texts in object files.
extension RawSpan {
  /// Reads an unsigned LEB128 number; nil if it is not terminated. Bits above 64 are dropped.
  @inline(__always)
  func unsigned(_ offset: inout Int) -> UInt64? {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while offset < byteCount {
      let byte = uint8(at: offset)
      offset += 1
      value |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 { return value }
      shift += 7
      if shift > 70 { return nil }
    }
    return nil
  }

  /// Reads a signed LEB128 number; nil if it is not terminated. Bits above 64 are dropped.
  @inline(__always)
  func signed(_ offset: inout Int) -> Int64? {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while offset < byteCount {
      let byte = uint8(at: offset)
      offset += 1
      value |= UInt64(byte & 0x7f) << shift
      shift += 7
      if byte < 0x80 {
        if byte & 0x40 != 0, shift < 64 { value |= ~0 << shift }
        return Int64(bitPattern: value)
      }
      if shift > 70 { return nil }
    }
    return nil
  }

  /// A number of 1, 2, 4 or 8 bytes, which must be in the span; signed numbers are extended to 64 bits.
  func number(at offset: Int, size: Int, isSigned: Bool) -> UInt64 {
    switch size {
    case 1:
      let value = uint8(at: offset)
      return isSigned ? UInt64(bitPattern: Int64(Int8(bitPattern: value))) : UInt64(value)
    case 2:
      let value = uint16(at: offset)
      return isSigned ? UInt64(bitPattern: Int64(Int16(bitPattern: value))) : UInt64(value)
    case 4:
      let value = uint32(at: offset)
      return isSigned ? UInt64(bitPattern: Int64(Int32(bitPattern: value))) : UInt64(value)
    default: return uint64(at: offset)
    }
  }

  /// The range from `offset` to the next zero; nil if there is none.
  func terminated(at offset: Int) -> ByteRange? {
    guard offset >= 0, offset < byteCount else { return nil }
    let end = firstZero(in: ByteRange(offset: offset, count: byteCount - offset))
    return end < byteCount ? ByteRange(offset: offset, count: end - offset) : nil
  }

  /// The text before the next zero, at most 64 KiB of it; nil if the bytes end before. Without the limit, strings of a
  /// hostile file that share one end would take the square of its size.
  func string(at offset: UInt64) -> String? {
    guard let start = Int(exactly: offset), start < byteCount else { return nil }
    let room = min(byteCount - start, 1 << 16)
    let end = firstZero(in: ByteRange(offset: start, count: room))
    return end < byteCount ? text(in: ByteRange(offset: start, count: end - start)) : nil
  }

  /// The 16 bytes of a UUID.
  func uuid(at offset: Int) -> UUIDBytes {
    UUIDBytes(high: uint64(at: offset).byteSwapped, low: uint64(at: offset + 8).byteSwapped)
  }
}
