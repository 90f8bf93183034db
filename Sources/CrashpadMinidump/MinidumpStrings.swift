// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// Converts UTF-8 to UTF-16; writes the format's two kinds of strings. Every maximal ill-formed subsequence becomes one
/// U+FFFD, as the Unicode standard recommends (chapter 3.9, "U+FFFD Substitution of Maximal Subparts").
enum UTF16Translation {
  /// The number of 16-bit units for `text`.
  static func unitCount(_ text: RawSpan) -> Int {
    var units = 0
    var index = 0
    let count = text.byteCount
    if isASCII(text) { return count }
    while index < count {
      if index + 8 <= count, text.uint64(at: index) & 0x8080_8080_8080_8080 == 0 {
        units += 8
        index += 8
        continue
      }
      let (scalar, length) = decode(text, at: index)
      units += scalar > 0xffff ? 2 : 1
      index += length
    }
    return units
  }

  private static func isASCII(_ text: RawSpan) -> Bool {
    let count = text.byteCount
    var bits: UInt64 = 0
    guard count >= 8 else {
      for index in 0..<count { bits |= UInt64(text.uint8(at: index)) }
      return bits & 0x80 == 0
    }
    for index in stride(from: 0, to: count - 7, by: 8) { bits |= text.uint64(at: index) }
    // The last word overlaps the one before it.
    return (bits | text.uint64(at: count - 8)) & 0x8080_8080_8080_8080 == 0
  }

  /// Calls `body` with each unit until it returns false.
  @inline(__always)
  static func forEachUnit(_ text: RawSpan, _ body: (UInt16) -> Bool) {
    var index = 0
    while index < text.byteCount {
      let byte = text.uint8(at: index)
      if byte < 0x80 {
        guard body(UInt16(byte)) else { return }
        index += 1
        continue
      }
      let (scalar, length) = decode(text, at: index)
      index += length
      if scalar > 0xffff {
        let offset = scalar - 0x10000
        guard body(UInt16(0xd800 + offset >> 10)), body(UInt16(0xdc00 + offset & 0x3ff)) else { return }
      } else {
        guard body(UInt16(scalar)) else { return }
      }
    }
  }

  /// The scalar at `index`, or U+FFFD, and the number of bytes of the scalar or ill-formed subsequence.
  private static func decode(_ text: RawSpan, at index: Int) -> (scalar: UInt32, length: Int) {
    let first = text.uint8(at: index)
    let (length, minimum, maximum): (Int, UInt8, UInt8)
    switch first {
    case 0..<0x80: return (UInt32(first), 1)
    case 0xc2...0xdf: (length, minimum, maximum) = (2, 0x80, 0xbf)
    case 0xe0: (length, minimum, maximum) = (3, 0xa0, 0xbf)
    case 0xed: (length, minimum, maximum) = (3, 0x80, 0x9f)
    case 0xe1...0xef: (length, minimum, maximum) = (3, 0x80, 0xbf)
    case 0xf0: (length, minimum, maximum) = (4, 0x90, 0xbf)
    case 0xf1...0xf3: (length, minimum, maximum) = (4, 0x80, 0xbf)
    case 0xf4: (length, minimum, maximum) = (4, 0x80, 0x8f)
    default: return (0xfffd, 1)
    }
    var scalar = UInt32(first) & (length == 2 ? 0x1f : length == 3 ? 0x0f : 0x07)
    for place in 1..<length {
      guard index + place < text.byteCount else { return (0xfffd, place) }
      let byte = text.uint8(at: index + place)
      // Only the second byte has a restricted range.
      guard byte >= (place == 1 ? minimum : 0x80), byte <= (place == 1 ? maximum : 0xbf) else { return (0xfffd, place) }
      scalar = scalar << 6 | UInt32(byte & 0x3f)
    }
    return (scalar, length)
  }
}

extension ByteWriter {
  /// Writes a MINIDUMP_STRING: byte count, UTF-16 units, and a NUL that is not counted.
  mutating func utf16String(_ text: RawSpan) {
    align(to: 4)
    let units = UTF16Translation.unitCount(text)
    if isMeasuring {
      skip(4 + 2 * units + 2)
      return
    }
    uint32(UInt32(truncatingIfNeeded: 2 * units))
    var index = 0
    while index + 8 <= text.byteCount, case let eight = text.uint64(at: index), eight & 0x8080_8080_8080_8080 == 0 {
      utf16(ascii: eight)
      index += 8
    }
    UTF16Translation.forEachUnit(text.extracting(index..<text.byteCount)) { unit in
      uint16(unit)
      return true
    }
    uint16(0)
  }

  /// The size of the output of `utf16String`, without the padding before it.
  static func utf16StringSize(_ text: RawSpan) -> Int { 4 + 2 * UTF16Translation.unitCount(text) + 2 }

  /// Writes Crashpad's MinidumpUTF8String: byte count, unchanged bytes, and a NUL that is not counted.
  mutating func utf8String(_ text: RawSpan) {
    align(to: 4)
    counted(text)
    uint8(0)
  }

  static func utf8StringSize(_ count: Int) -> Int { 4 + count + 1 }

  /// Writes a field of `units` UTF-16 units: the text up to its first NUL, truncated to leave room for a NUL, then
  /// zeros.
  mutating func fixedUTF16(_ text: RawSpan, units: Int) {
    if isMeasuring {
      skip(2 * units)
      return
    }
    var left = units - 1
    UTF16Translation.forEachUnit(text) { unit in
      guard left > 0, unit != 0 else { return false }
      uint16(unit)
      left -= 1
      return true
    }
    zeros(2 * (left + 1))
  }

  mutating func location(_ location: LocationDescriptor) {
    uint32(UInt32(truncatingIfNeeded: location.size))
    uint32(UInt32(truncatingIfNeeded: location.rva))
  }

  /// Writes zeros until the record that began at `start` has `size` bytes; traps if it is longer already.
  mutating func fill(from start: Int, to size: Int) {
    precondition(position - start <= size)
    zeros(start + size - position)
  }
}

/// Assigns offsets to consecutive objects, each aligned.
struct Placement {
  private(set) var end: Int

  init(at position: Int) { end = position }

  /// Returns the offset of the next object, which has `size` bytes.
  mutating func place(_ size: Int, alignment: Int = 4) -> Int {
    let start = (end + alignment - 1) & ~(alignment - 1)
    end = start + size
    return start
  }
}
