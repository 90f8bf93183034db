// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadFiles
package import CrashpadSnapshot
internal import Synchronization

/// The ranges of memory from which the process could execute code, as its dump lists them: compilers that run in a program
/// put code where no module is.
package final class ExecutableMemory: Sendable {
  /// The answer of the dump for one address.
  package enum Answer: Sendable {
    case executable
    case notExecutable
    /// The address is in no range of the list.
    case unlisted
    /// The dump does not list the memory of the process.
    case unknown
  }

  private struct Range {
    let start: UInt64
    /// The last address, because a range may end with the address space.
    let last: UInt64
    let isExecutable: Bool
  }

  private struct Ranges {
    /// By their starts; nil if the dump does not list its memory.
    var list: [Range]?
  }

  private let snapshot: ProcessSnapshot
  private let file: InputFile
  /// Nil until one is looked for: most walks need none.
  private let known = Mutex<Ranges?>(nil)

  package init(_ snapshot: ProcessSnapshot, _ file: InputFile) { (self.snapshot, self.file) = (snapshot, file) }

  package func contains(_ address: UInt64) -> Answer {
    known.withLock { known in
      let ranges = known ?? Ranges(list: read())
      known = ranges
      guard let list = ranges.list else { return .unknown }
      let behind = list.indices.partitioningIndex { list[$0].start > address }
      guard behind > 0, address <= list[behind - 1].last else { return .unlisted }
      return list[behind - 1].isExecutable ? .executable : .notExecutable
    }
  }

  private func read() -> [Range]? {
    let ranges: [(start: UInt64, size: UInt64, isExecutable: Bool)]
    if !snapshot.memoryMap.isEmpty {
      ranges = snapshot.memoryMap.map { ($0.address, $0.size, $0.isExecutable) }
    } else if let maps = snapshot.linux?.maps {
      ranges = file.withBytes { input in snapshot.withBytes(of: maps, in: input) { Self.lines($0) } }
    } else {
      return nil
    }
    return ranges.filter { $0.size > 0 }.map { range in
      let (last, isBeyond) = range.start.addingReportingOverflow(range.size - 1)
      return Range(start: range.start, last: isBeyond ? .max : last, isExecutable: range.isExecutable)
    }.sorted { $0.start < $1.start }
  }

  /// The lines of /proc/PID/maps: `7f0000000000-7f0000001000 r-xp …`.
  private static func lines(_ text: RawSpan) -> [(start: UInt64, size: UInt64, isExecutable: Bool)] {
    var ranges: [(start: UInt64, size: UInt64, isExecutable: Bool)] = []
    var place = 0
    while place < text.byteCount {
      var line = TextLineReader(at: place, in: text)
      place = text.lineEnd(from: place) + 1
      guard let addresses = line.word(in: text), let flags = line.word(in: text), flags.count >= 3 else { continue }
      let ends = text.text(in: addresses).split(separator: "-").map { UInt64($0, radix: 16) }
      guard ends.count == 2, let start = ends[0], let end = ends[1], end > start else { continue }
      ranges.append((start, end - start, text.uint8(at: flags.offset + 2) == UInt8(ascii: "x")))
    }
    return ranges
  }
}

extension MemoryMapRegion {
  /// Whether it is committed, and one of PAGE_EXECUTE, _READ, _READWRITE and _WRITECOPY.
  fileprivate var isExecutable: Bool { state == 0x1000 && protection & 0xf0 != 0 }
}
