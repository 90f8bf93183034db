// SPDX-License-Identifier: Apache-2.0
/// The kinds of access that the system allows to a range of memory.
package struct MemoryProtection: OptionSet, Sendable, Hashable {
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let read = MemoryProtection(rawValue: 1)
  package static let write = MemoryProtection(rawValue: 2)
  package static let execute = MemoryProtection(rawValue: 4)
}

/// A range of a process's memory with its protection, as the dump lists it. None is empty.
package struct ListedRange: Sendable, Hashable {
  package let address: UInt64
  /// Bytes.
  package let size: UInt64
  package let protection: MemoryProtection
  /// Whether nothing is mapped there.
  package var isFree = false

  /// The last address, because a range may end with the address space.
  package var last: UInt64 {
    let (last, isBeyond) = address.addingReportingOverflow(size - 1)
    return isBeyond ? .max : last
  }

  /// In the order of the dump; nil if it does not list the memory.
  package static func all(_ snapshot: ProcessSnapshot, in input: RawSpan) -> [ListedRange]? {
    if !snapshot.memoryMap.isEmpty {
      return snapshot.memoryMap.filter { $0.size > 0 }.map {
        ListedRange(address: $0.address, size: $0.size, protection: $0.access, isFree: $0.state == free)
      }
    }
    return snapshot.linux?.maps.map { maps in snapshot.withBytes(of: maps, in: input) { lines($0) } }
  }

  /// MEM_FREE
  private static let free: UInt32 = 0x10000

  // MARK: /proc/PID/maps

  /// The lines of /proc/PID/maps: `7f0000000000-7f0000001000 r-xp …`.
  package static func lines(_ text: RawSpan) -> [ListedRange] {
    var ranges: [ListedRange] = []
    var place = 0
    while place < text.byteCount {
      if let range = range(at: place, in: text) { ranges.append(range) }
      while place < text.byteCount, text.byte(at: place) != UInt8(ascii: "\n") { place += 1 }
      place += 1
    }
    return ranges
  }

  /// Nil if the line has another form.
  private static func range(at start: Int, in text: RawSpan) -> ListedRange? {
    var place = start
    guard let first = number(at: &place, before: UInt8(ascii: "-"), in: text),
      let end = number(at: &place, before: UInt8(ascii: " "), in: text), end > first, place + 2 < text.byteCount
    else { return nil }
    var protection: MemoryProtection = []
    if text.byte(at: place) == UInt8(ascii: "r") { protection.insert(.read) }
    if text.byte(at: place + 1) == UInt8(ascii: "w") { protection.insert(.write) }
    if text.byte(at: place + 2) == UInt8(ascii: "x") { protection.insert(.execute) }
    return ListedRange(address: first, size: end - first, protection: protection)
  }

  /// A hexadecimal number of at most 64 bits, and the character behind it.
  private static func number(at place: inout Int, before mark: UInt8, in text: RawSpan) -> UInt64? {
    var value: UInt64 = 0
    for next in place..<min(place + 17, text.byteCount) {
      let byte = text.byte(at: next)
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
  /// By the PAGE_* bits of memory that is committed. The first access to a guard page is a fault.
  fileprivate var access: MemoryProtection {
    guard state == 0x1000, protection & 0x100 == 0 else { return [] }
    return switch protection & 0xff {
    case 0x02: [.read]
    case 0x04, 0x08: [.read, .write]
    case 0x10: [.execute]
    case 0x20: [.read, .execute]
    case 0x40, 0x80: [.read, .write, .execute]
    default: []
    }
  }
}

extension RawSpan {
  /// Its bounds are checked.
  fileprivate func byte(at offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
}
