// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadFiles
package import CrashpadSnapshot
internal import Synchronization

/// The ranges of a process's memory with their protection, as its dump lists them.
package final class ListedMemory: Sendable {
  /// The kinds of access that the system allows.
  package struct Protection: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let read = Protection(rawValue: 1)
    package static let write = Protection(rawValue: 2)
    package static let execute = Protection(rawValue: 4)
  }

  package struct Range: Sendable, Hashable {
    package let start: UInt64
    /// The last address, because a range may end with the address space.
    package let last: UInt64
    package let protection: Protection
    /// Whether nothing is mapped there.
    package var isFree = false
  }

  /// The answer of the dump on whether code at one address can be executed: compilers that run in a program put code where
  /// no module is.
  package enum Answer: Sendable {
    case executable
    case notExecutable
    /// The address is in no range of the list.
    case unlisted
    /// The dump does not list the memory of the process.
    case unknown
  }

  private struct Ranges {
    var list: [Range]?
  }

  private let snapshot: ProcessSnapshot
  private let file: InputFile
  /// Nil until one is looked for: most walks need none.
  private let known = Mutex<Ranges?>(nil)

  package init(_ snapshot: ProcessSnapshot, _ file: InputFile) { (self.snapshot, self.file) = (snapshot, file) }

  /// By their starts; nil if the dump does not list its memory.
  package var ranges: [Range]? {
    known.withLock { known in
      let ranges = known ?? Ranges(list: read())
      known = ranges
      return ranges.list
    }
  }

  package func contains(_ address: UInt64) -> Answer {
    guard let ranges else { return .unknown }
    guard let index = Self.index(of: address, in: ranges) else { return .unlisted }
    return ranges[index].protection.contains(.execute) ? .executable : .notExecutable
  }

  /// The range with an address; nil if none is listed.
  package static func index(of address: UInt64, in ranges: [Range]) -> Int? {
    let behind = ranges.indices.partitioningIndex { ranges[$0].start > address }
    return behind > 0 && address <= ranges[behind - 1].last ? behind - 1 : nil
  }

  private typealias Listed = (start: UInt64, size: UInt64, protection: Protection, isFree: Bool)

  private func read() -> [Range]? {
    let ranges: [Listed]
    if !snapshot.memoryMap.isEmpty {
      ranges = snapshot.memoryMap.map { ($0.address, $0.size, $0.access, $0.state == Self.free) }
    } else if let maps = snapshot.linux?.maps {
      ranges = file.withBytes { input in snapshot.withBytes(of: maps, in: input) { Self.lines($0) } }
    } else {
      return nil
    }
    return ranges.filter { $0.size > 0 }.map { range in
      let (last, isBeyond) = range.start.addingReportingOverflow(range.size - 1)
      return Range(start: range.start, last: isBeyond ? .max : last, protection: range.protection, isFree: range.isFree)
    }.sorted { $0.start < $1.start }
  }

  /// MEM_FREE
  private static let free: UInt32 = 0x10000

  /// The lines of /proc/PID/maps: `7f0000000000-7f0000001000 r-xp …`.
  private static func lines(_ text: RawSpan) -> [Listed] {
    var ranges: [Listed] = []
    var place = 0
    while place < text.byteCount {
      var line = TextLineReader(at: place, in: text)
      place = text.lineEnd(from: place) + 1
      guard let addresses = line.word(in: text), let flags = line.word(in: text), flags.count >= 3 else { continue }
      let ends = text.text(in: addresses).split(separator: "-").map { UInt64($0, radix: 16) }
      guard ends.count == 2, let start = ends[0], let end = ends[1], end > start else { continue }
      var protection: Protection = []
      for (index, flag) in [("r", Protection.read), ("w", .write), ("x", .execute)].enumerated()
      where text.uint8(at: flags.offset + index) == flag.0.utf8.first {
        protection.insert(flag.1)
      }
      ranges.append((start, end - start, protection, false))
    }
    return ranges
  }
}

extension MemoryMapRegion {
  /// By the PAGE_* bits of memory that is committed. The first access to a guard page is a fault.
  fileprivate var access: ListedMemory.Protection {
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
