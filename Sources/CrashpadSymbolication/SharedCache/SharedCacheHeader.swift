// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// The header of one file of a dyld shared cache. A header ends where its mappings begin, and older ones lack the last members.
///
/// Source: Apple's `dyld_cache_format.h`.
struct SharedCacheHeader: Sendable {
  /// A part of the address space, and the bytes of the file that are there.
  struct Mapping: Sendable {
    let address: UInt64
    let size: UInt64
    let fileOffset: UInt64
  }

  /// A library in the cache.
  struct Image: Sendable {
    let uuid: UUIDBytes
    let address: UInt64
    /// The offset of its path in the file.
    let path: UInt32
  }

  /// Another file of the same cache.
  struct Part: Sendable {
    let uuid: UUIDBytes
    /// The end of its name behind that of the cache; nil if it can't be one.
    let suffix: String?
  }

  /// `arm64e`: the name in the first bytes.
  let architecture: String
  let uuid: UUIDBytes
  private(set) var mappings: [Mapping] = []
  private(set) var images: [Image] = []
  private(set) var parts: [Part] = []
  /// The UUID of the file with the local symbols; nil if there is none.
  private(set) var symbolsUUID: UUIDBytes?
  /// The local symbols in this file; nil if there are none.
  private(set) var localSymbols: ByteRange?
  /// Whether local symbols are listed by addresses, not by offsets in the file.
  let hasWideLocals: Bool
  /// Whether the cache is for two kinds of systems, of which one has a suffix of its own.
  let isUniversal: Bool
  /// Whether the file is a part of a cache, which is read with the one that lists the images.
  private(set) var isPart = false
  /// The names of tables that can't be read.
  private(set) var faults: [String] = []

  /// The length of the header, which says which members it has.
  private let length: Int

  /// Real caches have less than 100 parts, each of which is a file to open.
  private static let maximumParts = 1024

  /// The name of the architecture in the first 16 bytes: "dyld_v1  arm64e"; nil for other files.
  static func architecture(_ start: RawSpan) -> String? {
    guard start.byteCount >= 16, start.text(in: ByteRange(offset: 0, count: 7)) == "dyld_v1" else { return nil }
    let name = start.array(in: ByteRange(offset: 7, count: 9)).filter { $0 != 0x20 && $0 != 0 }
    let isName = name.allSatisfy { byte in
      (0x30...0x39).contains(byte) || (0x61...0x7a).contains(byte) || byte == UInt8(ascii: "_")
    }
    return isName && !name.isEmpty ? String(decoding: name, as: UTF8.self) : nil
  }

  /// Nil if the file is no shared cache, or older than the lists of images with UUIDs.
  init?(_ bytes: RawSpan) {
    guard let architecture = Self.architecture(bytes), bytes.byteCount >= 152 else { return nil }
    length = Int(bytes.uint32(at: 16))
    guard length >= 152, length <= bytes.byteCount else { return nil }
    self.architecture = architecture
    uuid = bytes.uuid(at: 88)
    hasWideLocals = length >= 400
    isUniversal = bytes.uint64(at: 104) == 2
    readMappings(bytes)
    readImages(bytes)
    readParts(bytes)
    if length >= 416, bytes.uuid(at: 400) != .zero { symbolsUUID = bytes.uuid(at: 400) }
    if bytes.uint64(at: 72) != 0, bytes.uint64(at: 80) != 0 {
      localSymbols = table("local symbols", bytes.uint64(at: 72), bytes.uint64(at: 80), size: 1, bytes)
    }
    // Only the first file knows the size of all.
    isPart = images.isEmpty || (length >= 240 && bytes.uint64(at: 232) == 0)
  }

  /// The range of a table; nil if it is empty, or not in the file.
  private mutating func table(
    _ name: String, _ offset: UInt64, _ count: UInt64, size: UInt64, _ bytes: RawSpan
  ) -> ByteRange? {
    guard count > 0 else { return nil }
    let (total, isTooLong) = count.multipliedReportingOverflow(by: size)
    guard !isTooLong, let range = ByteRange(offset, total, within: bytes.byteCount) else {
      faults.append(name)
      return nil
    }
    return range
  }

  private mutating func readMappings(_ bytes: RawSpan) {
    guard
      let range = table("mappings", UInt64(length), UInt64(bytes.uint32(at: 20)), size: 32, bytes)
    else { return }
    mappings = stride(from: range.offset, to: range.end, by: 32).map { place in
      Mapping(
        address: bytes.uint64(at: place), size: bytes.uint64(at: place + 8), fileOffset: bytes.uint64(at: place + 16))
    }
  }

  private mutating func readImages(_ bytes: RawSpan) {
    guard let range = table("images", bytes.uint64(at: 136), bytes.uint64(at: 144), size: 32, bytes) else { return }
    images = stride(from: range.offset, to: range.end, by: 32).map { place in
      Image(uuid: bytes.uuid(at: place), address: bytes.uint64(at: place + 16), path: bytes.uint32(at: place + 28))
    }
  }

  private mutating func readParts(_ bytes: RawSpan) {
    guard length >= 400 else { return }
    // The first systems with parts had no suffixes: the number of the part is in its name.
    let hasSuffix = length > 456
    let size = hasSuffix ? 56 : 24
    let (offset, count) = (UInt64(bytes.uint32(at: 392)), UInt64(bytes.uint32(at: 396)))
    guard let range = table("sub-caches", offset, count, size: UInt64(size), bytes) else { return }
    if count > Self.maximumParts { faults.append("sub-caches") }
    for number in 0..<min(Int(count), Self.maximumParts) {
      let place = range.offset + number * size
      let suffix = hasSuffix ? Self.suffix(bytes, at: place + 24) : ".\(number + 1)"
      parts.append(Part(uuid: bytes.uuid(at: place), suffix: suffix))
    }
  }

  /// The end of a file's name, such as ".02.dylddata". It must not lead to another directory.
  private static func suffix(_ bytes: RawSpan, at place: Int) -> String? {
    let end = bytes.firstZero(in: ByteRange(offset: place, count: 32))
    let text = bytes.array(in: ByteRange(offset: place, count: end - place))
    let isName = text.allSatisfy { byte in
      (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
        || [0x2d, 0x2e, 0x5f].contains(byte)
    }
    return isName && text.count > 1 && text[0] == UInt8(ascii: ".") ? String(decoding: text, as: UTF8.self) : nil
  }
}
