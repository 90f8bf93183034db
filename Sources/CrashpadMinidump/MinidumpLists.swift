// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Shared code of the stream readers: bounded ranges, lists, strings.
extension MinidumpReader {
  /// Deducts one entry from the budget. Returns false, with a finding, if the budget is not sufficient.
  mutating func spend(_ price: Int, at offset: Int, path: String) -> Bool {
    if memoryBudget < price {
      if !isExhausted { findings.append(Finding(MinidumpRules.tooManyEntries, at: offset, path: path)) }
      isExhausted = true
      return false
    }
    memoryBudget -= price
    return true
  }

  /// The range at an offset given by the file; nil if it is not inside of the file.
  func range(rva: Int, count: Int, _ bytes: RawSpan) -> ByteRange? {
    guard rva >= 0, count >= 0, rva <= bytes.byteCount, count <= bytes.byteCount - rva else { return nil }
    return ByteRange(offset: rva, count: count)
  }

  func location(at offset: Int, _ bytes: RawSpan) -> LocationDescriptor {
    LocationDescriptor(size: Int(bytes.uint32(at: offset)), rva: Int(bytes.uint32(at: offset + 4)))
  }

  /// The range of the location descriptor at `field`. Returns nil, with a finding about the object at `offset`, if the
  /// range is not inside of the file or has less than `minimum` bytes.
  mutating func range(
    ofLocationAt field: Int, of offset: Int, minimum: Int = 0, _ rule: Rule, _ path: () -> String, _ bytes: RawSpan
  ) -> ByteRange? {
    let place = location(at: field, bytes)
    if place.isNowhere {
      findings.append(Finding(rule, at: offset, path: path()))
      return nil
    }
    guard let range = range(rva: place.rva, count: place.size, bytes) else {
      findings.append(
        Finding(
          rule, at: offset, path: path(), expected: .byteCount(UInt64(bytes.byteCount)),
          found: .byteCount(UInt64(place.rva + place.size))))
      return nil
    }
    if range.count >= minimum { return range }
    findings.append(
      Finding(
        rule, at: offset, path: path(), expected: .byteCount(UInt64(minimum)),
        found: .byteCount(UInt64(range.count))))
    return nil
  }

  /// Checks that a stream has at least `size` bytes.
  mutating func check(_ range: ByteRange, has size: Int, _ path: String) -> Bool {
    if range.count >= size { return true }
    findings.append(
      Finding(
        MinidumpRules.streamTooShort, at: range.offset, path: path, expected: .byteCount(UInt64(size)),
        found: .byteCount(UInt64(range.count))))
    return false
  }

  /// Returns the offsets of the entries of a list that begins with a 32-bit count. In lists whose entries have 64-bit
  /// members, some writers pad the count to eight bytes.
  mutating func entries(
    of range: ByteRange, size: Int, price: Int, mayBePadded: Bool = false, _ path: String, _ bytes: RawSpan
  ) -> [Int] {
    guard check(range, has: 4, path) else { return [] }
    let count = Int(bytes.uint32(at: range.offset))
    let isPadded = mayBePadded && range.count == 8 + count * size
    return entries(
      from: range.offset + (isPadded ? 8 : 4), to: range.end, count: count, size: size, price: price, path)
  }

  /// Returns the offsets of `count` entries of `size` bytes, or of as many as fit.
  mutating func entries(from start: Int, to end: Int, count: Int, size: Int, price: Int, _ path: String) -> [Int] {
    let fitting = size > 0 ? max(0, end - start) / size : 0
    if count > fitting {
      findings.append(
        Finding(
          MinidumpRules.countTooLarge, at: start, path: path, expected: .number(UInt64(fitting)),
          found: .number(UInt64(count))))
    }
    var offsets: [Int] = []
    offsets.reserveCapacity(min(count, fitting, memoryBudget / price))
    for index in 0..<min(count, fitting) {
      guard spend(price, at: start + index * size, path: path) else { break }
      offsets.append(start + index * size)
    }
    return offsets
  }

  /// Returns the entries of a list in Windows' newer form, whose header has its own size, the entry size, and a count.
  mutating func extendedEntries(
    of range: ByteRange, minimumSize: Int, countBytes: Int, price: Int, _ path: String, _ bytes: RawSpan
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
      from: range.offset + headerSize, to: range.end, count: Int(clamping: count), size: entrySize, price: price, path)
    return (offsets, entrySize)
  }

  // MARK: Strings

  /// Reads a MINIDUMP_STRING as UTF-8. Returns nil, with a finding, if it is not in the file. `field` is the offset of
  /// the reference to it.
  mutating func string(at rva: Int, field: Int, _ path: @autoclosure () -> String, _ bytes: RawSpan) -> SnapshotBytes? {
    if let known = strings[rva] { return charged(known, at: field, path()) }
    guard rva <= bytes.byteCount - 4 else {
      findings.append(Finding(MinidumpRules.stringOutside, at: field, path: path()))
      return nil
    }
    let count = Int(bytes.uint32(at: rva))
    guard count <= bytes.byteCount - rva - 4 else {
      findings.append(Finding(MinidumpRules.stringOutside, at: rva, path: path(), found: .byteCount(UInt64(count))))
      return nil
    }
    if count % 2 != 0 {
      findings.append(Finding(MinidumpRules.stringLength, at: rva, path: path(), found: .byteCount(UInt64(count))))
    }
    // Windows aligns strings to their units.
    let alignment = snapshot.system.operatingSystem == .windows ? 2 : 4
    if rva % alignment != 0 { findings.append(Finding(MinidumpRules.misaligned, at: rva, path: path())) }
    let end = rva + 4 + count / 2 * 2
    if end + 2 > bytes.byteCount || bytes.uint16(at: end) != 0 {
      findings.append(Finding(MinidumpRules.stringUnterminated, at: rva, path: path()))
    }
    let content = translate(ByteRange(offset: rva + 4, count: count / 2 * 2), path(), bytes)
    strings[rva] = content
    return content
  }

  /// Reads a field of UTF-16 units that ends at its first NUL.
  mutating func fixedString(_ range: ByteRange, _ path: String, _ bytes: RawSpan) -> SnapshotBytes {
    var count = 0
    while count + 2 <= range.count, bytes.uint16(at: range.offset + count) != 0 { count += 2 }
    return translate(ByteRange(offset: range.offset, count: count), path, bytes)
  }

  /// Converts UTF-16 to UTF-8 in the arena. Returns an empty text, with a finding, when the memory for strings is used
  /// up.
  private mutating func translate(_ range: ByteRange, _ path: @autoclosure () -> String, _ bytes: RawSpan)
    -> SnapshotBytes
  {
    var size = 0
    // Each unit takes at least one byte of UTF-8, so a name that is too long need not be scanned.
    if range.count / 2 <= stringBudget { _ = Self.forEachScalar(of: range, bytes) { size += Unicode.UTF8.width($0) } }
    guard range.count / 2 <= stringBudget, charge(size, at: range.offset, path()) else { return .empty }
    let start = snapshot.arena.count
    // Reserve the exact size of a huge string; for others the arena grows like any array.
    if size > 1 << 20 { snapshot.arena.reserveCapacity(start + size) }
    let isWellFormed = Self.forEachScalar(of: range, bytes) { scalar in
      snapshot.arena.append(contentsOf: Unicode.UTF8.encode(scalar)!)
    }
    if !isWellFormed { findings.append(Finding(MinidumpRules.stringEncoding, at: range.offset, path: path())) }
    return SnapshotBytes(arenaOffset: start, count: size)
  }

  /// Takes `size` bytes from the memory for strings; false, with a finding, if it is used up. Strings that many entries
  /// share count each time, because users of the snapshot copy them.
  private mutating func charge(_ size: Int, at offset: Int, _ path: @autoclosure () -> String) -> Bool {
    guard size <= stringBudget else {
      if !isExhausted { findings.append(Finding(MinidumpRules.tooManyEntries, at: offset, path: path())) }
      isExhausted = true
      // Later strings are not scanned either: together they could take very long.
      stringBudget = 0
      return false
    }
    stringBudget -= size
    return true
  }

  /// `content`, or an empty text if the memory for strings is used up.
  private mutating func charged(_ content: SnapshotBytes, at offset: Int, _ path: @autoclosure () -> String)
    -> SnapshotBytes
  {
    charge(content.count, at: offset, path()) ? content : .empty
  }

  /// Calls `body` with each scalar, and with U+FFFD for a lone surrogate. Returns whether there was no lone surrogate.
  private static func forEachScalar(of range: ByteRange, _ bytes: RawSpan, _ body: (Unicode.Scalar) -> Void) -> Bool {
    var isWellFormed = true
    var offset = range.offset
    while offset < range.end {
      let unit = bytes.uint16(at: offset)
      offset += 2
      guard unit >> 11 == 0x1b else {
        body(Unicode.Scalar(unit) ?? "\u{fffd}")
        continue
      }
      let low = unit >> 10 == 0x36 && offset < range.end ? bytes.uint16(at: offset) : 0
      guard low >> 10 == 0x37 else {
        isWellFormed = false
        body("\u{fffd}")
        continue
      }
      offset += 2
      body(Unicode.Scalar(0x10000 + (UInt32(unit) & 0x3ff) << 10 + UInt32(low) & 0x3ff) ?? "\u{fffd}")
    }
    return isWellFormed
  }

  /// Reads Crashpad's MinidumpUTF8String or MinidumpByteArray: a byte count and the bytes, which are not copied.
  /// `field` is the offset of the reference to it.
  mutating func byteArray(field: Int, _ path: @autoclosure () -> String, _ bytes: RawSpan) -> SnapshotBytes? {
    let rva = Int(bytes.uint32(at: field))
    guard rva <= bytes.byteCount - 4 else {
      findings.append(Finding(MinidumpRules.annotationOutside, at: field, path: path()))
      return nil
    }
    let count = Int(bytes.uint32(at: rva))
    guard count <= bytes.byteCount - rva - 4 else {
      findings.append(
        Finding(MinidumpRules.annotationOutside, at: rva, path: path(), found: .byteCount(UInt64(count))))
      return nil
    }
    return charged(SnapshotBytes(inputOffset: rva + 4, count: count), at: field, path())
  }

  func guid(at offset: Int, _ bytes: RawSpan) -> UUIDBytes {
    let high =
      UInt64(bytes.uint32(at: offset)) << 32 | UInt64(bytes.uint16(at: offset + 4)) << 16
      | UInt64(bytes.uint16(at: offset + 6))
    return UUIDBytes(high: high, low: bytes.uint64(at: offset + 8).byteSwapped)
  }
}
