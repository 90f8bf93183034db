// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// The directory of a zip archive (PKWARE's APPNOTE.TXT), and its members.
///
/// Archives and members of 4 GiB and more are not read.
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

  private static let maximumMembers = 65_535

  /// Returns nil if `bytes` are not an archive with a directory.
  package init?(_ bytes: RawSpan) {
    guard bytes.byteCount >= 22, [0x0403_4b50, 0x0605_4b50].contains(bytes.uint32(at: 0)) else { return nil }
    guard let end = Self.end(bytes) else { return nil }
    var offset = Int(bytes.uint32(at: end + 16))
    while members.count < Self.maximumMembers, offset + 46 <= end, bytes.uint32(at: offset) == 0x0201_4b50 {
      let nameLength = Int(bytes.uint16(at: offset + 28))
      let length = 46 + nameLength + Int(bytes.uint16(at: offset + 30)) + Int(bytes.uint16(at: offset + 32))
      guard offset + length <= end else { break }
      let name = unsafe bytes.extracting((offset + 46)..<(offset + 46 + nameLength)).withUnsafeBytes {
        unsafe String(decoding: $0, as: UTF8.self)
      }
      members.append(
        Member(
          name: name, method: bytes.uint16(at: offset + 10), isEncrypted: bytes.uint16(at: offset + 8) & 1 == 1,
          checksum: bytes.uint32(at: offset + 16), packedSize: Int(bytes.uint32(at: offset + 20)),
          size: Int(bytes.uint32(at: offset + 24)), header: Int(bytes.uint32(at: offset + 42))))
      offset += length
    }
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
    let file =
      member.method == 8
      ? try Decompression.unpack(packed, .deflate, like: archive)
      : InputFile(bytes: unsafe packed.withUnsafeBytes { unsafe Array($0) }, like: archive)
    guard file.byteCount == member.size, file.withBytes({ CyclicRedundancyCheck.of($0) }) == member.checksum else {
      throw DecompressionFailure.damaged
    }
    return file
  }

  private func range(of member: Member, in bytes: RawSpan) throws(DecompressionFailure) -> Range<Int> {
    guard !member.isEncrypted, [0, 8].contains(member.method), member.packedSize < 0xffff_ffff,
      member.size < 0xffff_ffff
    else { throw .unsupported }
    guard member.header + 30 <= bytes.byteCount, bytes.uint32(at: member.header) == 0x0403_4b50 else { throw .damaged }
    let start =
      member.header + 30 + Int(bytes.uint16(at: member.header + 26)) + Int(bytes.uint16(at: member.header + 28))
    guard start + member.packedSize <= bytes.byteCount else { throw .cut }
    return start..<start + member.packedSize
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
