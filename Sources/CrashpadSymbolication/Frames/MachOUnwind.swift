// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles

/// The compact unwind information for one function.
package struct CompactUnwind: Sendable, Hashable {
  /// The encoding, which depends on the processor; 0 if the compiler wrote none.
  package let encoding: UInt32
  /// The start of the range to which it applies: a function, or the first of several.
  package let start: UInt64

  /// The same information, beginning at `later` if that is not nil and after the start.
  func starting(at later: UInt64?) -> CompactUnwind {
    CompactUnwind(encoding: encoding, start: max(start, later ?? 0))
  }
}

extension MachOFile {
  package func compactUnwindEncoding(at address: UInt64) -> UInt32? { compactUnwind(at: address)?.encoding }

  /// All entries of `__TEXT,__unwind_info` in order, each with its end, which is the start of the next one.
  func compactUnwindRanges() -> [(unwind: CompactUnwind, end: UInt64)] {
    guard let content = section("__TEXT", "__unwind_info")?.content else { return [] }
    let found = file.withBytes { UnwindTable(range: content).all($0) }
    var result: [(unwind: CompactUnwind, end: UInt64)] = []
    for (index, entry) in found.entries.enumerated() {
      let next = index + 1 < found.entries.count ? found.entries[index + 1].start : found.end
      guard next > entry.start else { continue }
      let unwind = CompactUnwind(encoding: entry.encoding, start: textAddress &+ UInt64(entry.start))
      result.append((unwind, textAddress &+ UInt64(next)))
    }
    return result
  }

  /// Looks up `address` in `__TEXT,__unwind_info`; nil if the section is missing or damaged, or has no entry for it.
  /// Source: Apple's `mach-o/compact_unwind_encoding.h`.
  package func compactUnwind(at address: UInt64) -> CompactUnwind? {
    guard let content = section("__TEXT", "__unwind_info")?.content, address >= textAddress,
      let offset = UInt32(exactly: address - textAddress)
    else { return nil }
    return file.withBytes { bytes in
      let table = UnwindTable(range: content)
      return table.find(offset, bytes).map {
        CompactUnwind(encoding: $0.encoding, start: textAddress &+ UInt64($0.start))
      }
    }
  }
}

/// The two-level table of `__unwind_info`. Offsets are relative to the section; reads never leave it.
private struct UnwindTable {
  let range: ByteRange

  private func word(_ offset: Int, _ bytes: RawSpan) -> UInt32? {
    offset >= 0 && offset <= range.count - 4 ? bytes.uint32(at: range.offset + offset) : nil
  }

  private func half(_ offset: Int, _ bytes: RawSpan) -> Int? {
    offset >= 0 && offset <= range.count - 2 ? Int(bytes.uint16(at: range.offset + offset)) : nil
  }

  /// The last of `count` entries of `size` bytes that begins at or before `function`.
  private func last(
    _ function: UInt32, at start: Int, count: Int, size: Int, _ mask: UInt32, _ bytes: RawSpan
  ) -> Int? {
    guard start >= 0, count > 0, start <= range.count, count <= (range.count - start) / size else { return nil }
    let next = (0..<count).partitioningIndex { (word(start + $0 * size, bytes) ?? .max) & mask > function }
    return next > 0 ? next - 1 : nil
  }

  /// All entries, and the end of the last one. Damaged parts end the list, or are skipped.
  func all(_ bytes: RawSpan) -> (entries: [(encoding: UInt32, start: UInt32)], end: UInt32) {
    guard word(0, bytes) == 1, let first = word(20, bytes), let count = word(24, bytes), count > 1,
      Int(count) <= range.count / 12
    else { return ([], 0) }
    var entries: [(encoding: UInt32, start: UInt32)] = []
    var end: UInt32 = 0
    // Pages of a hostile file may share bytes, and so have more entries than the file can hold.
    let limit = range.count
    var seen = 0
    for index in 0..<Int(count) {
      guard let base = word(Int(first) + index * 12, bytes), let page = word(Int(first) + index * 12 + 4, bytes),
        base >= end
      else { break }
      end = base
      guard page != 0, index < Int(count) - 1, seen < limit, let size = half(Int(page) + 6, bytes) else {
        continue
      }
      seen += Int(size)
      for number in 0..<size {
        if let entry = entry(number, ofPage: Int(page), base, bytes), entry.start >= entries.last?.start ?? 0 {
          entries.append(entry)
        }
      }
    }
    return (entries, end)
  }

  private func entry(_ number: Int, ofPage page: Int, _ base: UInt32, _ bytes: RawSpan) -> (
    encoding: UInt32, start: UInt32
  )? {
    guard let entries = half(page + 4, bytes) else { return nil }
    switch word(page, bytes) {
    case 2:
      guard let start = word(page + entries + number * 8, bytes) else { return nil }
      return word(page + entries + number * 8 + 4, bytes).map { ($0, start) }
    case 3:
      return word(page + entries + number * 4, bytes).flatMap { compressedEntry($0, page, base, bytes) }
    default: return nil
    }
  }

  func find(_ function: UInt32, _ bytes: RawSpan) -> (encoding: UInt32, start: UInt32)? {
    // The last first-level entry only marks the end of the others.
    guard word(0, bytes) == 1, let first = word(20, bytes), let count = word(24, bytes), count > 1,
      let index = last(function, at: Int(first), count: Int(count), size: 12, .max, bytes), index < Int(count) - 1,
      let base = word(Int(first) + index * 12, bytes), let page = word(Int(first) + index * 12 + 4, bytes), page != 0
    else { return nil }
    let place = Int(page)
    guard let entries = half(place + 4, bytes), let count = half(place + 6, bytes) else { return nil }
    let number: Int?
    switch word(place, bytes) {
    case 2: number = last(function, at: place + entries, count: count, size: 8, .max, bytes)
    case 3: number = last(function - base, at: place + entries, count: count, size: 4, 0x00ff_ffff, bytes)
    default: number = nil
    }
    return number.flatMap { entry($0, ofPage: place, base, bytes) }
  }

  private func compressedEntry(
    _ entry: UInt32, _ page: Int, _ base: UInt32, _ bytes: RawSpan
  ) -> (encoding: UInt32, start: UInt32)? {
    guard let common = word(4, bytes), let commonCount = word(8, bytes) else { return nil }
    let number = entry >> 24
    let encoding: UInt32?
    if number < commonCount {
      encoding = word(Int(common) + Int(number) * 4, bytes)
    } else if let own = half(page + 8, bytes), let ownCount = half(page + 10, bytes),
      Int(number - commonCount) < ownCount
    {
      encoding = word(page + own + Int(number - commonCount) * 4, bytes)
    } else {
      encoding = nil
    }
    return encoding.map { ($0, base &+ (entry & 0x00ff_ffff)) }
  }
}
