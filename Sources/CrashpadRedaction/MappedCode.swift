// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// The memory that a process can execute, as its dump lists it: programs that compile while they run have functions where no
/// module is, and return addresses in them.
enum MappedCode {
  typealias Range = (address: UInt64, size: UInt64)

  static func ranges(_ snapshot: ProcessSnapshot, _ bytes: RawSpan) -> [Range] {
    let listed = snapshot.memoryMap.filter(\.isExecutable).map { (address: $0.address, size: $0.size) }
    guard let maps = snapshot.linux?.maps else { return listed }
    return listed + snapshot.withBytes(of: maps, in: bytes) { ranges(ofMaps: $0) }
  }

  /// The ranges in the text of /proc/PID/maps, with lines like `7f0c5a000000-7f0c5a021000 r-xp 00000000 00:00 0`.
  static func ranges(ofMaps text: RawSpan) -> [Range] {
    var ranges: [Range] = []
    var place = 0
    while place < text.byteCount {
      if let range = range(at: place, in: text) { ranges.append(range) }
      while place < text.byteCount, text.uint8(at: place) != UInt8(ascii: "\n") { place += 1 }
      place += 1
    }
    return ranges
  }

  /// Nil if the line has another form, or its memory can't be executed.
  private static func range(at start: Int, in text: RawSpan) -> Range? {
    var place = start
    guard let first = number(at: &place, before: UInt8(ascii: "-"), in: text),
      let end = number(at: &place, before: UInt8(ascii: " "), in: text), end > first,
      place + 2 < text.byteCount, text.uint8(at: place + 2) == UInt8(ascii: "x")
    else { return nil }
    return (first, end - first)
  }

  /// A hexadecimal number, and the character behind it.
  private static func number(at place: inout Int, before mark: UInt8, in text: RawSpan) -> UInt64? {
    var value: UInt64 = 0
    for next in place..<min(place + 17, text.byteCount) {
      let byte = text.uint8(at: next)
      if byte == mark, next > place {
        place = next + 1
        return value
      }
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt64(byte - UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt64(byte - UInt8(ascii: "a") + 10)
      default: return nil
      }
    }
    return nil
  }
}

extension MemoryMapRegion {
  /// MEM_COMMIT with one of PAGE_EXECUTE, PAGE_EXECUTE_READ, PAGE_EXECUTE_READWRITE and PAGE_EXECUTE_WRITECOPY
  fileprivate var isExecutable: Bool { state == 0x1000 && protection & 0xf0 != 0 }
}
