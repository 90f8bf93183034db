// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// The directory of a zip archive (PKWARE's APPNOTE.TXT), and its members.
package struct ZipArchive: Sendable {
  package struct Member: Sendable {
    /// Invalid parts are U+FFFD.
    package let name: String
    /// 0 stored, 8 deflated.
    package let method: UInt16
    package let isEncrypted: Bool
    package let checksum: UInt32
    let packedSize: Int
    package let size: Int
    /// The offset of the member's own header.
    let header: Int
  }

  package private(set) var members: [Member] = []
  /// Why members may be missing in `members`; nil if the whole directory was read.
  package private(set) var failure: DecompressionFailure?

  private static let maximumMembers = 65_535

  /// Returns nil if `bytes` do not begin as an archive does.
  package init?(_ bytes: RawSpan) {
    guard bytes.byteCount >= 4, [0x0403_4b50, 0x0605_4b50].contains(bytes.uint32(at: 0)) else { return nil }
    do throws(DecompressionFailure) {
      try readDirectory(bytes, try ZipDirectory(bytes))
    } catch { failure = error }
  }

  private mutating func readDirectory(_ bytes: RawSpan, _ directory: ZipDirectory) throws(DecompressionFailure) {
    var offset = directory.range.lowerBound
    while offset < directory.range.upperBound {
      guard members.count < Self.maximumMembers else { throw .bomb }
      guard offset + 46 <= directory.range.upperBound, bytes.uint32(at: offset) == 0x0201_4b50 else { throw .damaged }
      let name = (offset + 46)..<(offset + 46 + Int(bytes.uint16(at: offset + 28)))
      let extra = name.upperBound..<(name.upperBound + Int(bytes.uint16(at: offset + 30)))
      let end = extra.upperBound + Int(bytes.uint16(at: offset + 32))
      guard end <= directory.range.upperBound else { throw .damaged }
      // In this order in the field of Zip64, which has those that do not fit.
      var large = ZipLargeFields(bytes, extra)
      let size = try large.value(bytes.uint32(at: offset + 24))
      let packedSize = try large.value(bytes.uint32(at: offset + 20))
      let header = try large.value(bytes.uint32(at: offset + 42))
      members.append(
        Member(
          name: unsafe bytes.extracting(name).withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) },
          method: bytes.uint16(at: offset + 10), isEncrypted: bytes.uint16(at: offset + 8) & 1 == 1,
          checksum: bytes.uint32(at: offset + 16), packedSize: packedSize, size: size, header: header))
      offset = end
    }
  }

  /// The first `count` bytes of a member, or fewer. Throws `DecompressionFailure`.
  package func start(of member: Member, in bytes: RawSpan, count: Int) throws -> [UInt8] {
    let range = try range(of: member, in: bytes)
    let packed = bytes.extracting(range)
    guard member.method == 8 else {
      return unsafe packed.withUnsafeBytes { unsafe Array($0.prefix(count)) }
    }
    return try Decompression.start(of: packed, .deflate, count: count)
  }

  /// Unpacks a member, checks its checksum, and gives it the permissions of the archive. Throws the errors of
  /// `Decompression.unpack`.
  package func unpack(_ member: Member, in bytes: RawSpan, like archive: InputFile) throws -> InputFile {
    let packed = bytes.extracting(try range(of: member, in: bytes))
    guard member.size <= InputFile.pipeLimit else { throw DecompressionFailure.tooLarge }
    let file =
      member.method == 8
      ? try Decompression.unpack(packed, .deflate, like: archive) : try Self.copy(packed, like: archive)
    guard file.byteCount == member.size, file.withBytes({ CyclicRedundancyCheck.of($0) }) == member.checksum else {
      throw DecompressionFailure.damaged
    }
    return file
  }

  private static let pieceSize = 1 << 20

  private static func copy(_ bytes: RawSpan, like archive: InputFile) throws -> InputFile {
    let result = UnpackedBytes()
    for start in stride(from: 0, to: bytes.byteCount, by: pieceSize) {
      try result.append(bytes.extracting(start..<min(start + pieceSize, bytes.byteCount)))
    }
    return try result.input(like: archive)
  }

  private func range(of member: Member, in bytes: RawSpan) throws(DecompressionFailure) -> Range<Int> {
    guard !member.isEncrypted, [0, 8].contains(member.method) else { throw .unsupported }
    guard member.header <= bytes.byteCount - 30, bytes.uint32(at: member.header) == 0x0403_4b50 else { throw .damaged }
    let start =
      member.header + 30 + Int(bytes.uint16(at: member.header + 26)) + Int(bytes.uint16(at: member.header + 28))
    guard member.packedSize <= bytes.byteCount - start else { throw .cut }
    return start..<start + member.packedSize
  }
}

/// The place of the directory, from the records at the end of the archive.
private struct ZipDirectory {
  let range: Range<Int>

  init(_ bytes: RawSpan) throws(DecompressionFailure) {
    guard let end = Self.end(bytes) else { throw .cut }
    let disks = [bytes.uint16(at: end + 4), bytes.uint16(at: end + 6)]
    var (size, offset) = (UInt64(bytes.uint32(at: end + 12)), UInt64(bytes.uint32(at: end + 16)))
    var last = end
    if end >= 20, bytes.uint32(at: end - 20) == 0x0706_4b50 {
      guard let record = Int(exactly: bytes.uint64(at: end - 12)), record <= end - 76,
        bytes.uint32(at: record) == 0x0606_4b50
      else { throw .damaged }
      (size, offset) = (bytes.uint64(at: record + 40), bytes.uint64(at: record + 48))
      last = record
    } else if disks.contains(where: { $0 != 0 }) {
      // One of several parts, of which each has a place of its own.
      throw .unsupported
    }
    // Programs that know no Zip64 write what is left of an offset in 32 bits, where no directory is.
    guard offset <= UInt64(last), size <= UInt64(last) - offset, size > 0 || bytes.uint32(at: 0) == 0x0605_4b50 else {
      throw .damaged
    }
    range = Int(offset)..<Int(offset + size)
  }

  /// The offset of the record at the end, which a comment of up to 64 KiB may follow.
  private static func end(_ bytes: RawSpan) -> Int? {
    var offset = bytes.byteCount - 22
    let first = max(0, offset - 65_535)
    while offset >= first {
      if bytes.uint32(at: offset) == 0x0605_4b50 { return offset }
      offset -= 1
    }
    return nil
  }
}

/// The numbers of 64 bits of a member, in its field of Zip64.
private struct ZipLargeFields {
  private var values: ArraySlice<UInt64> = []

  init(_ bytes: RawSpan, _ extra: Range<Int>) {
    var offset = extra.lowerBound
    while offset + 4 <= extra.upperBound {
      let field = (offset + 4)..<(offset + 4 + Int(bytes.uint16(at: offset + 2)))
      guard field.upperBound <= extra.upperBound else { return }
      if bytes.uint16(at: offset) == 1 {
        values = stride(from: field.lowerBound, to: field.upperBound - 7, by: 8).map { bytes.uint64(at: $0) }[...]
        return
      }
      offset = field.upperBound
    }
  }

  /// The value of a field of 32 bits, or the next of 64 in its place.
  mutating func value(_ field: UInt32) throws(DecompressionFailure) -> Int {
    guard field == .max else { return Int(field) }
    guard let value = values.popFirst().flatMap({ Int(exactly: $0) }) else { throw .damaged }
    return value
  }
}

/// The CRC-32 of zip, gzip and `.gnu_debuglink`.
package enum CyclicRedundancyCheck {
  private static let table: [UInt32] = (0..<256).map { index in
    var value = UInt32(index)
    for _ in 0..<8 { value = value & 1 == 1 ? 0xedb8_8320 ^ value >> 1 : value >> 1 }
    return value
  }

  package static func of(_ bytes: RawSpan) -> UInt32 {
    let table = table
    var value: UInt32 = .max
    for index in 0..<bytes.byteCount {
      let byte = bytes.uint8(at: index)
      value = table[Int((value ^ UInt32(byte)) & 0xff)] ^ value >> 8
    }
    return ~value
  }
}
