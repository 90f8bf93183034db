// SPDX-License-Identifier: Apache-2.0
/// Compressed files and archives that need no compressor: their bytes are stored.
public enum Packing {
  /// RFC 1952, with blocks of RFC 1951 that are not compressed.
  public static func gzip(_ bytes: [UInt8]) -> [UInt8] {
    var out: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff] + stored(bytes)
    out.append(little: checksum(bytes))
    out.append(little: UInt32(truncatingIfNeeded: bytes.count))
    return out
  }

  /// A raw deflate stream.
  public static func stored(_ bytes: [UInt8]) -> [UInt8] {
    var out: [UInt8] = []
    var rest = bytes[...]
    repeat {
      let block = rest.prefix(0xffff)
      rest = rest.dropFirst(block.count)
      out.append(rest.isEmpty ? 1 : 0)
      out.append(little: UInt16(block.count))
      out.append(little: ~UInt16(block.count))
      out += block
    } while !rest.isEmpty
    return out
  }

  public struct Member {
    public var name: String
    public var bytes: [UInt8]
    public var isDeflated = false
    public var isEncrypted = false

    public init(_ name: String, _ bytes: [UInt8], isDeflated: Bool = false, isEncrypted: Bool = false) {
      self.name = name
      self.bytes = bytes
      self.isDeflated = isDeflated
      self.isEncrypted = isEncrypted
    }
  }

  /// A zip archive.
  public static func zip(_ members: [Member]) -> [UInt8] {
    var out: [UInt8] = []
    var directory: [UInt8] = []
    for member in members {
      let packed = member.isDeflated ? stored(member.bytes) : member.bytes
      var facts: [UInt8] = []
      facts.append(little: UInt16(20))
      facts.append(little: UInt16(member.isEncrypted ? 1 : 0))
      facts.append(little: UInt16(member.isDeflated ? 8 : 0))
      facts.append(little: UInt32(0))
      facts.append(little: checksum(member.bytes))
      facts.append(little: UInt32(packed.count))
      facts.append(little: UInt32(member.bytes.count))
      facts.append(little: UInt16(member.name.utf8.count))
      facts.append(little: UInt16(0))
      directory += [0x50, 0x4b, 1, 2, 20, 0] + facts + [UInt8](repeating: 0, count: 10)
      directory.append(little: UInt32(out.count))
      directory += Array(member.name.utf8)
      out += [0x50, 0x4b, 3, 4] + facts + Array(member.name.utf8) + packed
    }
    let start = out.count
    out += directory + [0x50, 0x4b, 5, 6, 0, 0, 0, 0]
    out.append(little: UInt16(members.count))
    out.append(little: UInt16(members.count))
    out.append(little: UInt32(directory.count))
    out.append(little: UInt32(start))
    out.append(little: UInt16(0))
    return out
  }

  /// CRC-32 bit by bit.
  public static func checksum(_ bytes: [UInt8]) -> UInt32 {
    var value: UInt32 = .max
    for byte in bytes {
      value ^= UInt32(byte)
      for _ in 0..<8 { value = value & 1 == 1 ? 0xedb8_8320 ^ value >> 1 : value >> 1 }
    }
    return ~value
  }
}
