// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// Extended attributes in an AppleDouble file, which macOS writes as `._<name>` where a file system has none.
///
/// Big endian. Header: magic 0x00051607, version 0x00020000, 16 bytes, number of entries (u16); entries of 12 bytes: id,
/// offset, length (u32 each). Entry 9, the Finder's, begins with 32 bytes of its own and 2 of padding; behind them `ATTR`,
/// tag, total size, start and length of the data (u32 each), 12 bytes, flags (u16), number of attributes (u16); each
/// attribute: offset in the file and length (u32), flags (u16), bytes of the name with its NUL (u8), the name; at multiples
/// of 4. Source: `bsd/vfs/vfs_xattr.c` of XNU.
enum AppleDouble {
  /// The attributes in a file; empty if it is not an AppleDouble file. From a damaged file, the readable ones.
  static func attributes(in bytes: [UInt8]) -> [String: [UInt8]] {
    let span = unsafe bytes.span.bytes
    func uint32(_ offset: Int) -> Int? {
      offset >= 0 && offset + 4 <= bytes.count ? Int(span.uint32(at: offset).byteSwapped) : nil
    }
    func uint16(_ offset: Int) -> Int? {
      offset >= 0 && offset + 2 <= bytes.count ? Int(bytes[offset]) << 8 | Int(bytes[offset + 1]) : nil
    }
    guard uint32(0) == 0x0005_1607, uint32(4) == 0x0002_0000, let entryCount = uint16(24) else { return [:] }
    var found: [String: [UInt8]] = [:]
    // Attributes do not overlap: all together they are no longer than the file.
    var rest = bytes.count
    for entry in 0..<entryCount {
      guard let id = uint32(26 + 12 * entry), let start = uint32(30 + 12 * entry) else { break }
      guard id == 9, uint32(start + 34) == 0x4154_5452, let count = uint16(start + 68) else { continue }
      var offset = start + 70
      for _ in 0..<count {
        offset = (offset + 3) & ~3
        guard let dataStart = uint32(offset), let length = uint32(offset + 4), offset + 11 <= bytes.count else { break }
        let nameLength = Int(bytes[offset + 10])
        guard nameLength > 0, offset + 11 + nameLength <= bytes.count else { break }
        let name = String(decoding: bytes[(offset + 11)..<(offset + 10 + nameLength)], as: UTF8.self)
        if dataStart + length <= bytes.count {
          rest -= length
          guard rest >= 0 else { break }
          found[name] = Array(bytes[dataStart..<(dataStart + length)])
        }
        offset += 11 + nameLength
      }
      // There is only one; thousands in a damaged file would each be read.
      break
    }
    return found
  }
}
