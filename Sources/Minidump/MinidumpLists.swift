internal import BinaryFormat
internal import Snapshot

/// What all streams' readers share: bounded ranges, lists, strings.
extension MinidumpReader {
  /// Takes one entry off the budget. Returns false, with a finding, when there is none left.
  mutating func spendEntry(at offset: Int, path: String) -> Bool {
    entryBudget -= 1
    if entryBudget == -1 { findings.append(Finding(MinidumpRules.tooManyEntries, at: offset, path: path)) }
    return entryBudget >= 0
  }

  /// A place that the file says, if it lies in the file.
  func range(rva: Int, count: Int, _ bytes: RawSpan) -> ByteRange? {
    guard rva >= 0, count >= 0, rva <= bytes.byteCount, count <= bytes.byteCount - rva else { return nil }
    return ByteRange(offset: rva, count: count)
  }

  func location(at offset: Int, _ bytes: RawSpan) -> LocationDescriptor {
    LocationDescriptor(size: Int(bytes.uint32(at: offset)), rva: Int(bytes.uint32(at: offset + 4)))
  }

  /// Checks that a stream has the bytes that it must have.
  mutating func check(_ range: ByteRange, has size: Int, _ path: String) -> Bool {
    if range.count >= size { return true }
    findings.append(
      Finding(
        MinidumpRules.streamTooShort, at: range.offset, path: path, expected: .byteCount(UInt64(size)),
        found: .byteCount(UInt64(range.count))))
    return false
  }

  /// The offsets of the entries of a list with a 32-bit count in front. Some writers pad the count to eight bytes.
  mutating func entries(of range: ByteRange, size: Int, _ path: String, _ bytes: RawSpan) -> [Int] {
    guard check(range, has: 4, path) else { return [] }
    let count = Int(bytes.uint32(at: range.offset))
    let isPadded = range.count == 8 + count * size
    return entries(from: range.offset + (isPadded ? 8 : 4), to: range.end, count: count, size: size, path)
  }

  /// The offsets of `count` entries of `size` bytes, as many as there is room for.
  mutating func entries(from start: Int, to end: Int, count: Int, size: Int, _ path: String) -> [Int] {
    let fitting = size > 0 ? max(0, end - start) / size : 0
    if count > fitting {
      findings.append(
        Finding(
          MinidumpRules.countTooLarge, at: start, path: path, expected: .number(UInt64(fitting)),
          found: .number(UInt64(count))))
    }
    var offsets: [Int] = []
    offsets.reserveCapacity(min(count, fitting, max(0, entryBudget)))
    for index in 0..<min(count, fitting) {
      guard spendEntry(at: start + index * size, path: path) else { break }
      offsets.append(start + index * size)
    }
    return offsets
  }

  /// The entries of a list of Windows' newer form, whose header has its own size, the entries' size, and a count.
  mutating func extendedEntries(
    of range: ByteRange, minimumSize: Int, countBytes: Int, _ path: String, _ bytes: RawSpan
  ) -> (offsets: [Int], size: Int) {
    guard check(range, has: 8 + countBytes, path) else { return ([], 0) }
    let headerSize = Int(bytes.uint32(at: range.offset))
    let entrySize = Int(bytes.uint32(at: range.offset + 4))
    let count = countBytes == 8 ? bytes.uint64(at: range.offset + 8) : UInt64(bytes.uint32(at: range.offset + 8))
    guard headerSize >= 8 + countBytes, headerSize <= range.count, entrySize >= minimumSize else {
      findings.append(Finding(MinidumpRules.streamTooShort, at: range.offset, path: path))
      return ([], 0)
    }
    let offsets = entries(
      from: range.offset + headerSize, to: range.end, count: Int(clamping: count), size: entrySize, path)
    return (offsets, entrySize)
  }

  // MARK: Strings

  /// A MINIDUMP_STRING, as UTF-8. Nil, with a finding, if it is not in the file.
  mutating func string(at rva: Int, _ path: @autoclosure () -> String, _ bytes: RawSpan) -> Content? {
    if let known = strings[rva] { return known }
    guard rva + 4 <= bytes.byteCount, case let count = Int(bytes.uint32(at: rva)), count <= bytes.byteCount - rva - 4
    else {
      findings.append(Finding(MinidumpRules.stringOutside, at: rva, path: path()))
      return nil
    }
    if count % 2 != 0 {
      findings.append(Finding(MinidumpRules.stringLength, at: rva, path: path(), found: .byteCount(UInt64(count))))
    }
    if rva % 4 != 0 { findings.append(Finding(MinidumpRules.misaligned, at: rva, path: path())) }
    let end = rva + 4 + count / 2 * 2
    if end + 2 > bytes.byteCount || bytes.uint16(at: end) != 0 {
      findings.append(Finding(MinidumpRules.stringUnterminated, at: rva, path: path()))
    }
    stringBudget -= count
    guard stringBudget >= 0 else {
      findings.append(Finding(MinidumpRules.tooManyEntries, at: rva, path: path()))
      return nil
    }
    let content = translate(ByteRange(offset: rva + 4, count: count / 2 * 2), path(), bytes)
    strings[rva] = content
    return content
  }

  /// A field of UTF-16 units that ends at its first NUL.
  mutating func fixedString(_ range: ByteRange, _ path: String, _ bytes: RawSpan) -> Content {
    var count = 0
    while count + 2 <= range.count, bytes.uint16(at: range.offset + count) != 0 { count += 2 }
    return translate(ByteRange(offset: range.offset, count: count), path, bytes)
  }

  private mutating func translate(_ range: ByteRange, _ path: @autoclosure () -> String, _ bytes: RawSpan) -> Content {
    var text: [UInt8] = []
    text.reserveCapacity(range.count / 2)
    var isWellFormed = true
    var offset = range.offset
    while offset < range.end {
      let unit = bytes.uint16(at: offset)
      offset += 2
      if unit < 0x80 {
        text.append(UInt8(unit))
        continue
      }
      var scalar = UInt32(unit)
      if unit >> 11 == 0x1b {  // A surrogate: a pair, or damage.
        let low = unit >> 10 == 0x36 && offset < range.end ? bytes.uint16(at: offset) : 0
        if low >> 10 == 0x37 {
          scalar = 0x10000 + (UInt32(unit) & 0x3ff) << 10 + UInt32(low) & 0x3ff
          offset += 2
        } else {
          scalar = 0xfffd
          isWellFormed = false
        }
      }
      text.append(contentsOf: Unicode.UTF8.encode(Unicode.Scalar(scalar) ?? "\u{fffd}")!)
    }
    if !isWellFormed { findings.append(Finding(MinidumpRules.stringEncoding, at: range.offset, path: path())) }
    return snapshot.store(text)
  }

  /// Crashpad's MinidumpUTF8String or MinidumpByteArray: a byte count and the bytes, which stay where they are.
  mutating func byteArray(at rva: Int, _ path: @autoclosure () -> String, _ bytes: RawSpan) -> Content? {
    guard rva + 4 <= bytes.byteCount, case let count = Int(bytes.uint32(at: rva)), count <= bytes.byteCount - rva - 4
    else {
      findings.append(Finding(MinidumpRules.annotationOutside, at: rva, path: path()))
      return nil
    }
    return Content(inputOffset: rva + 4, count: count)
  }

  func guid(at offset: Int, _ bytes: RawSpan) -> UUIDBytes {
    let high =
      UInt64(bytes.uint32(at: offset)) << 32 | UInt64(bytes.uint16(at: offset + 4)) << 16
      | UInt64(bytes.uint16(at: offset + 6))
    return UUIDBytes(high: high, low: bytes.uint64(at: offset + 8).byteSwapped)
  }
}
