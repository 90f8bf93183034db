// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// The text of /proc/self/maps, whose lines are sorted by address: `7f00-7f80 r-xp 00000000 fe:01 123   /usr/lib/libc.so.6`.
enum MemoryMaps {
  /// The path of the file that is mapped at an address; nil if there is none, or if it is gone.
  static func file(at address: UInt64, in bytes: RawSpan) -> [UInt8]? {
    // The line to look at begins in this range.
    var (low, high) = (0, bytes.byteCount)
    while low < high {
      let start = lineStart(before: (low + high) / 2, in: bytes)
      var line = TextLineReader(at: start, in: bytes)
      guard let first = line.hexadecimal(before: UInt8(ascii: "-"), in: bytes), let end = line.hexadecimal(in: bytes)
      else { return nil }
      if address < first {
        high = start
      } else if address >= end {
        low = bytes.lineEnd(from: start) + 1
      } else {
        return path(&line, bytes)
      }
    }
    return nil
  }

  /// The start of the line with an offset.
  private static func lineStart(before offset: Int, in bytes: RawSpan) -> Int {
    var start = offset
    while start > 0, bytes.uint8(at: start - 1) != 0x0a { start -= 1 }
    return start
  }

  private static func path(_ line: inout TextLineReader, _ bytes: RawSpan) -> [UInt8]? {
    // Permissions, offset, device and inode.
    for _ in 0..<4 where line.word(in: bytes) == nil { return nil }
    let path = bytes.array(in: line.rest).drop { $0 == 0x20 }
    let deleted = Array(" (deleted)".utf8)
    guard path.first == UInt8(ascii: "/"), !path.suffix(deleted.count).elementsEqual(deleted) else { return nil }
    return Array(path)
  }
}
