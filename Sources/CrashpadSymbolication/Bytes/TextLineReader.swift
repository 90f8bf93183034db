// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import Glibc

/// Reads the words of one line. It stores an offset, is passed the bytes, and never reads beyond the line feed.
struct TextLineReader {
  private(set) var offset: Int
  /// The offset of the line feed, or the end of the file.
  let end: Int

  init(at offset: Int, in bytes: RawSpan) { self.init(at: offset, end: bytes.lineEnd(from: offset), in: bytes) }

  init(at offset: Int, end: Int, in bytes: RawSpan) {
    self.offset = offset
    // Files from Windows also have a carriage return.
    self.end = end > offset && bytes.uint8(at: end - 1) == UInt8(ascii: "\r") ? end - 1 : end
  }

  /// Skips `text` if it is next.
  mutating func skip(_ text: StaticString, in bytes: RawSpan) -> Bool {
    let count = text.utf8CodeUnitCount
    guard offset + count <= end else { return false }
    for index in 0..<count {
      let expected = unsafe text.utf8Start[index]
      guard bytes.uint8(at: offset + index) == expected else { return false }
    }
    offset += count
    return true
  }

  mutating func skipBlanks(in bytes: RawSpan) {
    while offset < end, bytes.uint8(at: offset) == UInt8(ascii: " ") { offset += 1 }
  }

  /// Skips the `m` of records that share an address.
  mutating func skipMultiple(in bytes: RawSpan) { _ = skip("m ", in: bytes) }

  /// Reads a number of at most 64 bits, and the following blanks; nil if there is no digit, or another character
  /// follows.
  mutating func hexadecimal(in bytes: RawSpan) -> UInt64? {
    number(in: bytes) { value, byte in
      let digit: UInt8
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte &- UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte &- UInt8(ascii: "a") &+ 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte &- UInt8(ascii: "A") &+ 10
      default: return nil
      }
      return value >> 60 == 0 ? value << 4 | UInt64(digit) : nil
    }
  }

  /// Reads a number of at most 64 bits and the character behind it.
  mutating func hexadecimal(before mark: UInt8, in bytes: RawSpan) -> UInt64? {
    var end = offset
    while end < self.end, bytes.uint8(at: end) != mark { end += 1 }
    var part = TextLineReader(at: offset, end: end, in: bytes)
    guard end < self.end, let value = part.hexadecimal(in: bytes), part.isAtEnd else { return nil }
    offset = end + 1
    return value
  }

  /// Like `hexadecimal(in:)`, in decimal digits.
  mutating func decimal(in bytes: RawSpan) -> UInt64? {
    number(in: bytes) { value, byte in
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
      let (product, tooMuch) = value.multipliedReportingOverflow(by: 10)
      let (sum, overflow) = product.addingReportingOverflow(UInt64(byte &- UInt8(ascii: "0")))
      return tooMuch || overflow ? nil : sum
    }
  }

  /// - Parameter append: returns the number with one more digit; nil if that is none, or there is no room for it.
  @inline(__always)
  private mutating func number(in bytes: RawSpan, _ append: (UInt64, UInt8) -> UInt64?) -> UInt64? {
    var value: UInt64 = 0
    let start = offset
    while offset < end, bytes.uint8(at: offset) != UInt8(ascii: " ") {
      guard let next = append(value, bytes.uint8(at: offset)) else { return nil }
      value = next
      offset += 1
    }
    guard offset > start else { return nil }
    skipBlanks(in: bytes)
    return value
  }

  /// Reads the text before the next blank, and the following blanks; nil at the end.
  mutating func word(in bytes: RawSpan) -> ByteRange? {
    let start = offset
    while offset < end, bytes.uint8(at: offset) != UInt8(ascii: " ") { offset += 1 }
    guard offset > start else { return nil }
    defer { skipBlanks(in: bytes) }
    return ByteRange(offset: start, count: offset - start)
  }

  /// The rest of the line.
  var rest: ByteRange { ByteRange(offset: offset, count: end - offset) }
  var isAtEnd: Bool { offset >= end }
}

extension RawSpan {
  /// The name of a function or file in a symbol file, truncated to 64 KiB: the longest real names have about 20 KB, and
  /// a damaged file may consist of one name. Returns nil for a blank, which writers leave for what they don't know, and for
  /// the word that Apple's tools put in place of a name that they removed.
  func name(in range: ByteRange) -> String? {
    let name = text(in: ByteRange(offset: range.offset, count: min(range.count, 1 << 16)))
    return name == redactedName ? nil : nameUnlessBlank(name)
  }

  /// The size of the mark with which some editors and shells begin a text in UTF-8; 0 without one.
  var markOfUTF8: Int {
    byteCount >= 3 && uint8(at: 0) == 0xef && uint8(at: 1) == 0xbb && uint8(at: 2) == 0xbf ? 3 : 0
  }

  /// Whether a text without line feeds is at an offset.
  @inline(__always)
  func hasText(_ text: StaticString, at offset: Int) -> Bool {
    let count = text.utf8CodeUnitCount
    guard offset + count <= byteCount else { return false }
    for index in 0..<count {
      let expected = unsafe text.utf8Start[index]
      guard uint8(at: offset + index) == expected else { return false }
    }
    return true
  }

  /// Calls `body` with the offset and the first byte of each line that begins with a capital letter, and of some others that do not
  /// begin with a digit or a small letter. Most lines of a symbol file begin with those, and are of no use for its index: a search
  /// of 32 bytes at once, which does not stop at them, takes a tenth of the time of a call of memchr(3) for each line.
  @inline(__always)
  func forEachRecord(_ body: (_ offset: Int, _ first: UInt8) -> Void) {
    unsafe withUnsafeBytes { buffer in
      let count = buffer.count
      if count > 0 { unsafe body(0, buffer[0]) }
      let (low, high) = (Self.repeated(0x7f), Self.repeated(0x80))
      let feeds = Self.repeated(0x0a)
      var place = 0
      while place + 33 <= count {
        let here = unsafe buffer.loadUnaligned(fromByteOffset: place, as: SIMD4<UInt64>.self) ^ feeds
        let next = unsafe buffer.loadUnaligned(fromByteOffset: place + 1, as: SIMD4<UInt64>.self)
        // The highest bit of each byte that is a line feed, if the byte behind it has the bits of a capital letter: 0x40, not 0x20.
        let found = ~(((here & low) &+ low) | here) & (next &<< 1) & ~(next &<< 2) & high
        if found[0] | found[1] | found[2] | found[3] != 0 {
          for lane in 0..<4 {
            var bits = found[lane]
            while bits != 0 {
              let start = place + lane * 8 + bits.trailingZeroBitCount / 8 + 1
              bits &= bits &- 1
              unsafe body(start, buffer[start])
            }
          }
        }
        place += 32
      }
      while place + 1 < count {
        let (here, next) = unsafe (buffer[place], buffer[place + 1])
        if here == 0x0a, next & 0x60 == 0x40 { body(place + 1, next) }
        place += 1
      }
    }
  }

  private static func repeated(_ byte: UInt8) -> SIMD4<UInt64> {
    SIMD4(repeating: UInt64(byte) &* 0x0101_0101_0101_0101)
  }

  /// The offset of the next line feed, or the end of the bytes. Reading a symbol file of 100 MB spends most of its time
  /// here.
  @inline(__always)
  func lineEnd(from offset: Int) -> Int {
    unsafe withUnsafeBytes { buffer in
      guard offset < buffer.count, let base = buffer.baseAddress else { return buffer.count }
      let start = unsafe base + offset
      guard let found = unsafe memchr(start, 0x0a, buffer.count - offset) else { return buffer.count }
      return unsafe base.distance(to: UnsafeRawPointer(found))
    }
  }
}
