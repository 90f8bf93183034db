internal import CrashpadBytes
internal import CrashpadFiles
internal import SystemPackage

/// The checksum in `.gnu_debuglink` of the file that it names: CRC-32 as in zlib, over the whole file.
enum CRC32 {
  private static let table: [UInt32] = (0..<256).map { index in
    var value = UInt32(index)
    for _ in 0..<8 { value = value & 1 == 1 ? 0xedb8_8320 ^ value >> 1 : value >> 1 }
    return value
  }

  /// Throws `Errno` or `InputFile.NotReadable`.
  static func of(_ path: FilePath) throws -> UInt32 {
    let file = try InputFile(regular: path)
    return try file.checkingReading {
      file.withBytes { bytes in
        let table = table
        var value: UInt32 = 0xffff_ffff
        for index in 0..<bytes.byteCount {
          value = table[Int(UInt8(truncatingIfNeeded: value) ^ bytes.uint8(at: index))] ^ value >> 8
        }
        return ~value
      }
    }
  }
}
