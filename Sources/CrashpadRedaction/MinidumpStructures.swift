// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadMinidump
internal import CrashpadSnapshot

/// The shared building blocks of minidumps: locations, lists, strings.
extension MinidumpRedactor {
  /// The range of the location descriptor at `field`; nil if it is empty or not in the file.
  func place(at field: Int, _ bytes: RawSpan) -> ByteRange? {
    let place = ByteRange(offset: Int(bytes.uint32(at: field + 4)), count: Int(bytes.uint32(at: field)))
    return place.count > 0 && place.offset > 0 && place.end <= size ? place : nil
  }

  /// Whether a location descriptor is empty, or its range lies in the file and has at most `limit` bytes.
  func isPlausible(at field: Int, upTo limit: Int = .max, _ bytes: RawSpan) -> Bool {
    let count = Int(bytes.uint32(at: field))
    return count == 0 || (count <= limit && Int(bytes.uint32(at: field + 4)) <= size - count)
  }

  /// Whether there is no string, or the string lies in the file.
  func isPlausibleString(at rva: Int, _ bytes: RawSpan) -> Bool {
    guard rva != 0 else { return true }
    guard rva <= size - 4 else { return false }
    let count = Int(bytes.uint32(at: rva))
    return count <= 2 * TextRedactor.maximumLength && count <= size - rva - 4
  }

  /// Claims the count of a list and returns the offsets of its entries, as many as fit.
  mutating func entries(of range: ByteRange, size: Int, mayBePadded: Bool = false, _ bytes: RawSpan) -> [Int] {
    guard range.count >= 4 else { return [] }
    let count = Int(bytes.uint32(at: range.offset))
    let header = mayBePadded && range.count == 8 + count * size ? 8 : 4
    claims.copy(range.offset, 4)
    return offsets(from: range.offset + header, count: count, size: size, upTo: range.end)
  }

  func offsets(from start: Int, count: Int, size: Int, upTo end: Int) -> [Int] {
    guard size > 0, end > start, !claims.isExhausted else { return [] }
    return (0..<min(count, (end - start) / size)).map { start + size * $0 }
  }

  /// Claims a list whose header holds the size of the header, the size of an entry, and a count. Returns the entries.
  mutating func extendedEntries(of range: ByteRange, minimumSize: Int, countBytes: Int, _ bytes: RawSpan) -> [Int] {
    guard range.count >= 8 + countBytes else { return [] }
    let header = Int(bytes.uint32(at: range.offset))
    let entry = Int(bytes.uint32(at: range.offset + 4))
    let count =
      countBytes == 8 ? Int(clamping: bytes.uint64(at: range.offset + 8)) : Int(bytes.uint32(at: range.offset + 8))
    claims.copy(range.offset, 8 + countBytes)
    guard header >= 8 + countBytes, header <= range.count, entry >= minimumSize else { return [] }
    return offsets(from: range.offset + header, count: count, size: entry, upTo: range.end)
  }

  // MARK: Text

  /// Takes the bytes of a text off the budget. Without a budget, texts that share bytes could take forever.
  mutating func spend(_ range: ByteRange) -> Bool {
    textBudget -= range.count
    return textBudget >= 0
  }

  /// Claims UTF-8 text whose length is stored elsewhere.
  mutating func claimText(_ range: ByteRange, _ place: String, _ bytes: RawSpan, _ role: TextPlace = .free) {
    guard spend(range) else {
      claims.stars(range)
      removals.add(.text, place, byteCount: range.count)
      return
    }
    for piece in text.pieces(of: range, bytes, role) { claim(piece, place, bytes) }
  }

  mutating func claim(_ piece: TextRedactor.Piece, _ place: String?, _ bytes: RawSpan) {
    guard piece.isHidden else {
      claims.claim(piece.range, .copy)
      return
    }
    claims.stars(piece.range)
    if let place, !piece.isStars(bytes, wide: false) { removals.add(.text, place, byteCount: piece.range.count) }
  }

  /// Claims UTF-16 text whose length is stored elsewhere.
  mutating func claimWideText(
    _ range: ByteRange, _ place: String, _ bytes: RawSpan, limit: Int = TextRedactor.maximumNameLength
  ) {
    guard spend(range) else {
      claims.wideStars(range)
      removals.add(.text, place, byteCount: range.count)
      return
    }
    for piece in text.widePieces(of: range, bytes, limit: limit) {
      guard piece.isHidden else {
        claims.claim(piece.range, .copy)
        continue
      }
      claims.wideStars(piece.range)
      if !piece.isStars(bytes, wide: true) { removals.add(.text, place, byteCount: piece.range.count) }
    }
  }

  /// Claims a MINIDUMP_STRING.
  mutating func claimWideString(
    at rva: Int, _ place: String, _ bytes: RawSpan, limit: Int = TextRedactor.maximumNameLength
  ) {
    guard rva > 0, rva <= size - 4, knownWideStrings.insert(rva).inserted else { return }
    let count = Int(bytes.uint32(at: rva)) / 2 * 2
    guard count <= size - rva - 4 else { return }
    claims.copy(rva, 4)
    claimWideText(ByteRange(offset: rva + 4, count: count), place, bytes, limit: limit)
    if rva + 6 + count <= size { claims.claim(ByteRange(offset: rva + 4 + count, count: 2), .hold) }
  }

  /// The bytes of a string or byte array of Crashpad; nil if it does not lie in the file.
  func byteArray(at rva: Int, _ bytes: RawSpan) -> ByteRange? {
    guard rva <= size - 4 else { return nil }
    let count = Int(bytes.uint32(at: rva))
    return count <= size - rva - 4 ? ByteRange(offset: rva + 4, count: count) : nil
  }

  /// Claims the Crashpad string at `rva`, including its NUL.
  mutating func claimString(at rva: Int, _ place: String, _ bytes: RawSpan, _ role: TextPlace = .free) {
    guard let range = byteArray(at: rva, bytes), knownStrings.insert(rva).inserted else { return }
    claims.copy(rva, 4)
    claimText(range, place, bytes, role)
    if range.end < size { claims.hold(ByteRange(offset: range.end, count: 1)) }
  }

  /// Claims text up to the first NUL; bytes after it become zero.
  mutating func claimFixedText(_ range: ByteRange, _ place: String, _ bytes: RawSpan) {
    let end = bytes.firstZero(in: range)
    claimText(ByteRange(offset: range.offset, count: end - range.offset), place, bytes)
  }

  /// Claims UTF-16 text up to the first NUL.
  mutating func claimFixedWideText(_ range: ByteRange, _ place: String, _ bytes: RawSpan) {
    var count = 0
    while count + 2 <= range.count, bytes.uint16(at: range.offset + count) != 0 { count += 2 }
    claimWideText(ByteRange(offset: range.offset, count: count), place, bytes)
  }
}
