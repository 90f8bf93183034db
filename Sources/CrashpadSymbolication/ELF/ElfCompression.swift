// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CCrashpadElfutils
internal import CrashpadFiles

/// The compression of one section: with the header of SHF_COMPRESSED, or in GNU's older form, whose name begins with
/// `.z`.
struct ElfCompression {
  /// Nil if it is unknown.
  private let method: Compression?
  /// The offset of the compressed bytes in the section.
  private let start: Int
  /// The size of the decompressed section in bytes, from the header.
  let size: UInt64

  /// Nil if the section is not compressed.
  init?(_ bytes: SharedBytes, _ section: ElfSection, is64: Bool, isBigEndian: Bool) {
    if section.header.sh_flags & UInt64(SHF_COMPRESSED) != 0 {
      let width = is64 ? 8 : 4
      start = 3 * width
      let header = bytes.withBytes { bytes -> (UInt64, UInt64)? in
        guard bytes.byteCount >= 3 * width else { return nil }
        return (bytes.number(at: 0, size: 4, isBigEndian), bytes.number(at: width, size: width, isBigEndian))
      }
      size = header?.1 ?? 0
      // ELFCOMPRESS_ZLIB, ELFCOMPRESS_ZSTD
      method = header?.0 == 1 ? .zlib : header?.0 == 2 ? .zstd : nil
    } else if section.name.hasPrefix(".zdebug") {
      start = 12
      // `ZLIB` and the size, big-endian.
      let found = bytes.withBytes { bytes -> UInt64? in
        guard bytes.byteCount >= 12, bytes.uint32(at: 0) == 0x4249_4c5a else { return nil }
        return bytes.uint64(at: 4).byteSwapped
      }
      size = found ?? 0
      method = found == nil ? nil : .zlib
    } else {
      return nil
    }
  }

  /// Whether this program can decompress it.
  var isKnown: Bool { method.map { CompressionStream(decompressing: $0) != nil } ?? false }

  /// Nil if the bytes are damaged, or the compression is unknown.
  func unpacked(_ bytes: SharedBytes) -> SharedBytes? {
    guard let method, bytes.count > start, let size = Int(exactly: size), size > 0 else { return nil }
    return SharedBytes(unpacking: bytes.part(UInt64(start), UInt64(bytes.count - start)), method, count: size)
  }
}
