// SPDX-License-Identifier: Apache-2.0
internal import CCrashpadProcessor

/// Bounds-checked little-endian loads. A load outside of the span traps, so callers compare with `byteCount` first.
///
/// `unsafeLoadUnaligned` checks bounds and is unsafe only for types with invalid bit patterns. Integers have none, so
/// these wrappers are safe.
extension RawSpan {
  @inlinable @inline(__always)
  public func uint8(at offset: Int) -> UInt8 {
    unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt8.self)
  }

  @inlinable @inline(__always)
  public func uint16(at offset: Int) -> UInt16 {
    UInt16(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self))
  }

  @inlinable @inline(__always)
  public func uint32(at offset: Int) -> UInt32 {
    UInt32(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  @inlinable @inline(__always)
  public func uint64(at offset: Int) -> UInt64 {
    UInt64(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  @inlinable @inline(__always)
  public func int32(at offset: Int) -> Int32 {
    Int32(bitPattern: uint32(at: offset))
  }

  /// A number of 1, 2, 3, 4 or 8 bytes, which must be in the span.
  @inlinable
  public func number(at offset: Int, size: Int, _ isBigEndian: Bool) -> UInt64 {
    switch size {
    case 2: return UInt64(isBigEndian ? uint16(at: offset).byteSwapped : uint16(at: offset))
    case 3:
      let (first, rest) = (UInt64(uint8(at: offset)), number(at: offset + 1, size: 2, isBigEndian))
      return isBigEndian ? first << 16 | rest : rest << 8 | first
    case 4: return UInt64(isBigEndian ? uint32(at: offset).byteSwapped : uint32(at: offset))
    case 8: return isBigEndian ? uint64(at: offset).byteSwapped : uint64(at: offset)
    default: return UInt64(uint8(at: offset))
    }
  }
}

extension RawSpan {
  /// Asks the processor to load the cache line at `offset` while it goes on; outside of the span, does nothing.
  package func prefetch(at offset: Int) {
    guard offset >= 0, offset < byteCount else { return }
    unsafe withUnsafeBytes { unsafe processor_prefetch($0.baseAddress! + offset) }
  }

  /// A copy of all bytes.
  package func array() -> [UInt8] {
    array(in: ByteRange(offset: 0, count: byteCount))
  }

  /// A copy of the bytes of `range`, which must lie inside.
  package func array(in range: ByteRange) -> [UInt8] {
    let part = extracting(range.offset..<range.end)
    return unsafe [UInt8](unsafeUninitializedCapacity: range.count) { buffer, initialized in
      for index in 0..<part.byteCount { unsafe buffer.initializeElement(at: index, to: part.uint8(at: index)) }
      initialized = part.byteCount
    }
  }

  /// The bytes of `range` as text; every maximal ill-formed subsequence becomes one U+FFFD. For display, not for round
  /// trips.
  package func text(in range: ByteRange) -> String {
    String(decoding: array(in: range), as: UTF8.self)
  }

  /// The offset of the first zero byte in `range`, or the end of the range.
  public func firstZero(in range: ByteRange) -> Int { first(0, in: range) }

  /// The offset of the first byte in `range` that is `byte`, or the end of the range.
  package func first(_ byte: UInt8, in range: ByteRange) -> Int {
    var offset = range.offset
    let pattern = UInt64(byte) &* 0x0101_0101_0101_0101
    while offset + 8 <= range.end {
      let eight = uint64(at: offset) ^ pattern
      // A byte borrows into its top bit only if it is zero or if a lower byte was zero, so the lowest set bit is
      // correct.
      let zeros = (eight &- 0x0101_0101_0101_0101) & ~eight & 0x8080_8080_8080_8080
      if zeros != 0 { return offset + zeros.trailingZeroBitCount / 8 }
      offset += 8
    }
    while offset < range.end, uint8(at: offset) != byte { offset += 1 }
    return offset
  }

  /// The offset behind the last byte of `range` that is `byte`, or the beginning of the range.
  package func endOfLast(_ byte: UInt8, in range: ByteRange) -> Int {
    var end = range.end
    let pattern = UInt64(byte) &* 0x0101_0101_0101_0101
    // Eight bytes without `byte` are skipped at once; see `first`.
    while end - 8 >= range.offset {
      let eight = uint64(at: end - 8) ^ pattern
      if (eight &- 0x0101_0101_0101_0101) & ~eight & 0x8080_8080_8080_8080 != 0 { break }
      end -= 8
    }
    while end > range.offset, uint8(at: end - 1) != byte { end -= 1 }
    return end
  }

  /// Compares bytes; a prefix sorts before a longer string. This is the order of `std::string`.
  package func compare(_ a: ByteRange, _ b: ByteRange, in other: RawSpan) -> Int {
    let count = min(a.count, b.count)
    var index = 0
    while index + 8 <= count {
      let left = uint64(at: a.offset + index)
      let right = other.uint64(at: b.offset + index)
      if left != right { return left.byteSwapped < right.byteSwapped ? -1 : 1 }
      index += 8
    }
    while index < count {
      let left = uint8(at: a.offset + index)
      let right = other.uint8(at: b.offset + index)
      if left != right { return left < right ? -1 : 1 }
      index += 1
    }
    return a.count == b.count ? 0 : (a.count < b.count ? -1 : 1)
  }
}
