// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// Limits against small hostile files that decompress to large ones: the size is declared by the file itself.
enum ElfLimits {
  /// The maximum plausible size of `count` bytes after decompression.
  static func unpacked(_ count: UInt64) -> UInt64 { 64 << 20 + 32 * min(count, 1 << 50) }

  /// The decompressed size of an xz file, from the headers of all chunks. Nil if they can't be read, or if a block is
  /// not compressed with LZMA2, which all tools use. Source: the .xz file format.
  static func unpackedSize(ofXZ bytes: RawSpan) -> UInt64? {
    guard bytes.byteCount >= 24, bytes.uint32(at: 0) == 0x587a_37fd, bytes.uint16(at: 4) == 0x005a else { return nil }
    let checkSizes = [0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64]
    let checkSize = checkSizes[Int(bytes.uint8(at: 7) & 0xf)]
    var size: UInt64 = 0
    var offset = 12
    while offset < bytes.byteCount {
      let header = Int(bytes.uint8(at: offset))
      // The index follows the blocks.
      if header == 0 { return size }
      offset += (header + 1) * 4
      guard let block = unpackedSize(ofLZMA2: bytes, at: &offset) else { return nil }
      size += block
      // Blocks are aligned to four bytes, like the header.
      offset = (offset + 3) & ~3 + checkSize
    }
    return nil
  }

  private static func unpackedSize(ofLZMA2 bytes: RawSpan, at offset: inout Int) -> UInt64? {
    var size: UInt64 = 0
    while offset < bytes.byteCount {
      let control = bytes.uint8(at: offset)
      if control == 0 {
        offset += 1
        return size
      }
      guard control <= 2 || control >= 0x80, bytes.byteCount - offset >= 5 else { return nil }
      let low = Int(bytes.uint16(at: offset + 1).byteSwapped) + 1
      if control < 0x80 {
        size += UInt64(low)
        offset += 3 + low
      } else {
        size += UInt64(Int(control & 0x1f) << 16 + low)
        offset += (control >= 0xc0 ? 6 : 5) + Int(bytes.uint16(at: offset + 3).byteSwapped) + 1
      }
    }
    return nil
  }
}
