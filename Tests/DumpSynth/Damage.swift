// SPDX-License-Identifier: Apache-2.0
/// Damaged copies of bytes. What depends on chance takes its generator, so a seed that is printed is enough to see a
/// failure again.
public enum Damage {
  // MARK: Cutting

  /// Every prefix from nothing up to the whole, `stride` bytes apart. A lazy sequence: each prefix is copied when it
  /// is asked for.
  public static func prefixes(of bytes: [UInt8], stride step: Int = 1) -> LazyMapSequence<[Int], [UInt8]> {
    var lengths = Array(stride(from: 0, to: bytes.count, by: max(1, step)))
    lengths.append(bytes.count)
    return lengths.lazy.map { Array(bytes.prefix($0)) }
  }

  /// The prefixes that matter: those that end at a boundary of a record or its parts, or one byte around it.
  public static func prefixesAtBoundaries(of bytes: [UInt8]) -> LazyMapSequence<[Int], [UInt8]> {
    var lengths: Set<Int> = []
    for offset in DumpRecords.boundaries(bytes) {
      lengths.formUnion([offset - 1, offset, offset + 1])
    }
    return lengths.filter { $0 >= 0 && $0 <= bytes.count }.sorted().lazy.map { Array(bytes.prefix($0)) }
  }

  // MARK: Changing bytes

  public static func replacing(_ bytes: [UInt8], at offset: Int, with byte: UInt8) -> [UInt8] {
    var out = bytes
    if out.indices.contains(offset) { out[offset] = byte }
    return out
  }

  public static func flipping(_ bytes: [UInt8], at offset: Int, mask: UInt8 = 0xff) -> [UInt8] {
    var out = bytes
    if out.indices.contains(offset) { out[offset] ^= mask }
    return out
  }

  /// Replaces `count` bytes anywhere by others; the values that break parsers come more often than chance has them.
  public static func flippingAnywhere(
    _ bytes: [UInt8], count: Int, using random: inout SplitMix64
  ) -> [UInt8] {
    guard !bytes.isEmpty else { return bytes }
    let favourites: [UInt8] = [0x00, 0x01, 0x7f, 0x80, 0xff]
    var out = bytes
    for _ in 0..<count {
      let offset = random.below(out.count)
      switch random.below(3) {
      case 0: out[offset] ^= 1 << UInt8(random.below(8))
      case 1: out[offset] = favourites[random.below(favourites.count)]
      default: out[offset] = UInt8(truncatingIfNeeded: random.next())
      }
    }
    return out
  }

  /// Offsets of the bytes that carry framing: commands, keys and lengths. Values are most of a dump and change
  /// nothing about its shape, so a sweep over every byte is best spent here.
  public static func framingOffsets(of bytes: [UInt8]) -> [Int] {
    DumpRecords.walk(bytes).records.flatMap { record in
      Array(record.start..<(record.value?.lowerBound ?? record.end))
    }
  }

  // MARK: Splicing

  public static func replacing(_ bytes: [UInt8], _ range: Range<Int>, with more: [UInt8]) -> [UInt8] {
    Array(bytes[..<range.lowerBound]) + more + Array(bytes[range.upperBound...])
  }

  public static func inserting(_ more: [UInt8], into bytes: [UInt8], at offset: Int) -> [UInt8] {
    replacing(bytes, offset..<offset, with: more)
  }

  /// A property's record with another value, its length made to fit.
  public static func settingValue(_ bytes: [UInt8], of record: DumpRecord, to value: [UInt8]) -> [UInt8] {
    guard record.command == .property, let key = record.key else { return bytes }
    var builder = DumpBuilder()
    builder.property(number: key, value)
    return replacing(bytes, record.start..<record.end, with: builder.bytes)
  }

  /// A property whose length field lies; the value stays as it is.
  public static func settingLength(_ bytes: [UInt8], of record: DumpRecord, to length: UInt64) -> [UInt8] {
    guard record.command == .property else { return bytes }
    var out = bytes
    out.overwrite(length, width: 8, at: record.start + 3)
    return out
  }

  /// The first property with this key, for targeted damage.
  public static func first(_ key: DumpKey, in bytes: [UInt8]) -> DumpRecord? {
    DumpRecords.walk(bytes).records.first { $0.key == key.rawValue }
  }
}
