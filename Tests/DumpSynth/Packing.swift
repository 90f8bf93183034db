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
    var (out, directory) = contents(members, from: 0)
    let start = out.count
    out += directory
    out += zipEnd(members.count, directory.count, start)
    return out
  }

  /// The beginning and the end of a zip archive of the form Zip64, between which the zeros of its first member are.
  public static func largeZip(_ members: [Member], zeros: Int) -> (start: [UInt8], end: [UInt8]) {
    let name = Array("zeros".utf8)
    var version: [UInt8] = []
    version.append(little: UInt16(45))
    let flags = [UInt8](repeating: 0, count: 2 + 2 + 4 + 4) + [UInt8](repeating: 0xff, count: 8) + [5, 0, 20, 0]
    var sizes: [UInt8] = [1, 0, 16, 0]
    for _ in 0..<2 { sizes.append(little: UInt64(zeros)) }
    let start = [0x50, 0x4b, 3, 4] + version + flags + name + sizes
    var (end, directory) = contents(members, from: start.count + zeros)
    let own = [0x50, 0x4b, 1, 2, 45, 0] + version + flags + [UInt8](repeating: 0, count: 14) + name + sizes
    directory = own + directory
    let place = start.count + zeros + end.count
    end += directory + [0x50, 0x4b, 6, 6]
    end.append(little: UInt64(44))
    end += [45, 0, 45, 0] + [UInt8](repeating: 0, count: 8)
    for value in [members.count + 1, members.count + 1, directory.count, place] { end.append(little: UInt64(value)) }
    end += [0x50, 0x4b, 6, 7, 0, 0, 0, 0]
    end.append(little: UInt64(place + directory.count))
    end += [1, 0, 0, 0]
    return (start, end + zipEnd(Int(UInt16.max), Int(UInt32.max), Int(UInt32.max)))
  }

  private static func zipEnd(_ count: Int, _ size: Int, _ start: Int) -> [UInt8] {
    var end: [UInt8] = [0x50, 0x4b, 5, 6, 0, 0, 0, 0]
    end.append(little: UInt16(count))
    end.append(little: UInt16(count))
    end.append(little: UInt32(size))
    end.append(little: UInt32(start))
    end.append(little: UInt16(0))
    return end
  }

  /// The members, the first of which begins at `base`, and the directory.
  private static func contents(_ members: [Member], from base: Int) -> (members: [UInt8], directory: [UInt8]) {
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
      let place = base + out.count
      let isFar = place >= Int(UInt32.max)
      directory += [0x50, 0x4b, 1, 2, 20, 0] + facts + [isFar ? 12 : 0, 0] + [UInt8](repeating: 0, count: 10)
      directory.append(little: isFar ? .max : UInt32(place))
      directory += Array(member.name.utf8)
      if isFar {
        directory += [1, 0, 8, 0]
        directory.append(little: UInt64(place))
      }
      out += [0x50, 0x4b, 3, 4] + facts + [0, 0] + Array(member.name.utf8) + packed
    }
    return (out, directory)
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
