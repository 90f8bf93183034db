// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles
internal import SystemPackage

/// The file of which an index is kept.
struct IndexedFile {
  /// Without links.
  let path: FilePath
  let identity: FileIdentity
  /// Its build id or UUID; empty if it has none.
  let id: [UInt8]
}

/// A part of an index: its name, and bytes that may be large.
struct IndexPart {
  let name: String
  let bytes: SharedBytes
}

/// The parts that were read from one large file, mapped: sections as they are when they are unpacked, and tables that were made from them.
///
///     0    "CPCFILE1"
///     8    checksum of the header behind it
///     16   size of the header, number of parts; 32 bits each
///     24   the file's inode, size, time of modification and of change
///     56   the time of modification that the index itself has: any write to it changes that
///     64   the boot in which it was written; zeros if it was on the disk before it appeared
///     80   size of the id, 0, the id in 64 bytes
///     152  parts: name in 40 bytes, offset, size
///
/// The checksum is that of the header alone, as parts have hundreds of megabytes: that these are what was written follows from
/// the index's size and time, and after a loss of power from the boot.
package final class FileIndex: Sendable {
  let input: InputFile
  private let parts: [String: ByteRange]

  private static let magic: UInt64 = 0x3145_4c49_4643_5043
  private static let fixedSize = 152
  private static let partSize = 56
  private static let longestName = 40
  private static let longestID = 64
  private static let mostParts = 64
  /// Parts begin at pages.
  private static let alignment = 4096

  /// Nil if there is no index of this file as it is.
  static func current(_ file: IndexedFile, in store: IndexStore) -> FileIndex? {
    guard let input = store.open(store.place(.files, of: file.path)), let modified = input.identity?.modified else {
      return nil
    }
    let index = FileIndex(input, of: file, modified: modified)
    return store.isDurable && index?.isDurable == false ? nil : index
  }

  /// Nil if the bytes are not the index of the file.
  ///
  /// - Parameter modified: the time of the index.
  init?(_ input: InputFile, of file: IndexedFile, modified: Int64) {
    let found = input.withBytes { Self.parts($0, file, modified) }
    guard let found, !input.hasFailed else { return nil }
    (self.input, parts) = (input, found)
  }

  private static func parts(_ bytes: RawSpan, _ file: IndexedFile, _ modified: Int64) -> [String: ByteRange]? {
    guard bytes.byteCount >= fixedSize, bytes.uint64(at: 0) == magic else { return nil }
    let (size, count) = (Int(bytes.uint32(at: 16)), Int(bytes.uint32(at: 20)))
    guard count <= mostParts, size == fixedSize + count * partSize, size <= bytes.byteCount,
      bytes.uint64(at: 8) == IndexChecksum.of(bytes.extracting(16..<size)),
      bytes.uint64(at: 56) == UInt64(bitPattern: modified), isOfThisBoot(bytes),
      bytes.array(in: ByteRange(offset: 24, count: 32)) == identity(file.identity),
      bytes.uint64(at: 80) == UInt64(file.id.count), file.id.count <= longestID,
      bytes.array(in: ByteRange(offset: 88, count: file.id.count)) == file.id
    else { return nil }
    var parts: [String: ByteRange] = [:]
    var end = size
    for index in 0..<count {
      let place = fixedSize + index * partSize
      let name = bytes.firstZero(in: ByteRange(offset: place, count: longestName))
      guard let range = ByteRange(bytes.uint64(at: place + 40), bytes.uint64(at: place + 48), within: bytes.byteCount)
      else { return nil }
      parts[bytes.text(in: ByteRange(offset: place, count: name - place))] = range
      end = max(end, range.end)
    }
    return end == bytes.byteCount ? parts : nil
  }

  /// Whether it counts after a restart.
  private var isDurable: Bool { input.withBytes { Self.boot($0) == Self.noBoot } }

  private static let noBoot = [UInt8](repeating: 0, count: 16)

  private static func boot(_ bytes: RawSpan) -> [UInt8] { bytes.array(in: ByteRange(offset: 64, count: 16)) }

  private static func isOfThisBoot(_ bytes: RawSpan) -> Bool {
    [noBoot, boot].contains(boot(bytes))
  }

  /// Its first 16 bytes, or nothing if it is not known.
  private static let boot: [UInt8] = {
    let text = BootID.text
    return text.isEmpty ? [] : Array(unsafe SHA256.digest(text.span.bytes).prefix(16))
  }()

  private static func identity(_ identity: FileIdentity) -> [UInt8] {
    [identity.number, UInt64(bitPattern: identity.size), UInt64(bitPattern: identity.modified)].flatMap {
      littleEndian($0)
    }
      + littleEndian(UInt64(bitPattern: identity.changed))
  }

  /// The bytes of a part; nil if the index has none of that name.
  func part(_ name: String) -> SharedBytes? {
    parts[name].map { range in
      let whole = unsafe input.withUnsafeBytes { unsafe SharedBytes($0, owner: input) }
      return whole.part(UInt64(range.offset), UInt64(range.count))
    }
  }
}

// MARK: Writing

extension FileIndex {
  /// Keeps the parts of a file for later runs, unless it changed just now. Returns whether they were kept.
  @discardableResult
  static func keep(_ parts: [IndexPart], of file: IndexedFile, in store: IndexStore) -> Bool {
    guard parts.count <= mostParts, parts.allSatisfy({ $0.name.utf8.count <= longestName }), file.id.count <= longestID,
      store.isDurable || !boot.isEmpty, FileIdentity.now - file.identity.changed > store.thresholds.age
    else { return false }
    // Whole seconds, an even number of them: each file system has such a time.
    let seal = FileIdentity.now / 2_000_000_000 * 2_000_000_000
    let byteCount = parts.reduce(headerSize(parts)) { aligned($0) + $1.bytes.count }
    return store.write(.files, at: store.place(.files, of: file.path), byteCount: byteCount) { output in
      try unsafe output.write(header(parts, file, seal, store.isDurable).span.bytes)
      var place = headerSize(parts)
      for part in parts {
        let start = aligned(place)
        try unsafe output.write([UInt8](repeating: 0, count: start - place).span.bytes)
        try part.bytes.withBytes { try output.write($0) }
        place = start + part.bytes.count
      }
      try output.setModified(seal)
    }
  }

  private static func headerSize(_ parts: [IndexPart]) -> Int { fixedSize + parts.count * partSize }

  private static func aligned(_ place: Int) -> Int { (place + alignment - 1) & ~(alignment - 1) }

  private static func header(_ parts: [IndexPart], _ file: IndexedFile, _ seal: Int64, _ isDurable: Bool) -> [UInt8] {
    func padded(_ bytes: [UInt8], _ count: Int) -> [UInt8] { bytes + [UInt8](repeating: 0, count: count - bytes.count) }
    var rest = littleEndian(UInt64(headerSize(parts)) | UInt64(parts.count) << 32)
    rest += identity(file.identity) + littleEndian(UInt64(bitPattern: seal))
    rest += padded(isDurable ? [] : boot, 16)
    rest += littleEndian(UInt64(file.id.count)) + padded(file.id, longestID)
    var place = headerSize(parts)
    for part in parts {
      let start = aligned(place)
      rest +=
        padded(Array(part.name.utf8), longestName) + littleEndian(UInt64(start))
        + littleEndian(UInt64(part.bytes.count))
      place = start + part.bytes.count
    }
    return sealed(littleEndian(magic) + [UInt8](repeating: 0, count: 8) + rest)
  }

  /// The bytes with the checksum of their header.
  package static func sealed(_ bytes: [UInt8]) -> [UInt8] {
    let size = unsafe Int(bytes.span.bytes.uint32(at: 16))
    let sum = unsafe littleEndian(IndexChecksum.of(bytes.span.bytes.extracting(16..<max(16, min(size, bytes.count)))))
    return Array(bytes[..<8] + sum + bytes[16...])
  }
}
