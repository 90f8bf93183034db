// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles

/// The local symbols of a shared cache, which one table has for all images: in the file of the cache, or in one of its own.
final class SharedCacheLocals: Sendable {
  private let file: InputFile
  /// All bytes of the tables.
  private let range: ByteRange
  private let entries: Int
  private let strings: ByteRange
  /// The first entry of an image and their number, by the image's place.
  private let images: [UInt64: (first: UInt32, count: UInt32)]
  /// Whether images are named by their address in the cache, not by an offset in the file.
  let isWide: Bool

  /// Nil if the tables can't be read.
  init?(_ file: InputFile, _ range: ByteRange, isWide: Bool) {
    (self.file, self.range, self.isWide) = (file, range, isWide)
    guard range.count >= 24 else { return nil }
    let numbers = file.withBytes { bytes in (0..<6).map { UInt64(bytes.uint32(at: range.offset + 4 * $0)) } }
    let size = isWide ? 16 : 12
    guard numbers[0] <= UInt64(range.count), let strings = ByteRange(numbers[2], numbers[3], within: range.count),
      let list = ByteRange(numbers[4], numbers[5] * UInt64(size), within: range.count)
    else { return nil }
    entries = range.offset + Int(numbers[0])
    self.strings = ByteRange(offset: range.offset + strings.offset, count: strings.count)
    images = file.withBytes { bytes in
      var images: [UInt64: (first: UInt32, count: UInt32)] = [:]
      for place in stride(from: range.offset + list.offset, to: range.offset + list.end, by: size) {
        let key = isWide ? bytes.uint64(at: place) : UInt64(bytes.uint32(at: place))
        let numbers = (bytes.uint32(at: place + size - 8), bytes.uint32(at: place + size - 4))
        if images[key] == nil { images[key] = numbers }
      }
      return images
    }
  }

  /// The local symbols of the image at an address or offset; nil if it has none, or they are not all there.
  func symbols(of image: UInt64, entrySize: Int) -> SharedCacheSymbolTable? {
    guard let (first, count) = images[image], count > 0 else { return nil }
    let start = UInt64(entries - range.offset) + UInt64(first) * UInt64(entrySize)
    guard let own = ByteRange(start, UInt64(count) * UInt64(entrySize), within: range.count) else { return nil }
    return SharedCacheSymbolTable(
      entries: file.shared.part(UInt64(range.offset + own.offset), UInt64(own.count)),
      strings: file.shared.part(UInt64(strings.offset), UInt64(strings.count)))
  }

  /// Whether the table lists an image at all.
  func lists(_ image: UInt64) -> Bool { images[image] != nil }
}

/// Entries of a symbol table, and the strings to which they refer.
struct SharedCacheSymbolTable {
  let entries: SharedBytes
  let strings: SharedBytes
}
