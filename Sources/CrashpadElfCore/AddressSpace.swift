// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// A PT_LOAD segment: a range of the process' memory, and as many of its bytes as the file contains.
struct CoreSegment {
  let address: UInt64
  /// The size in memory, in bytes. The segment ends at 2^64 at the latest.
  let memorySize: UInt64
  /// The segment's bytes in the file, starting at `address`: at most `memorySize`.
  let bytes: ByteRange
  /// PF_X 1, PF_W 2, PF_R 4
  let flags: UInt32

  var isExecutable: Bool { flags & 1 != 0 }
  /// The address of the last byte in the file. Call only if the segment has bytes.
  var lastByte: UInt64 { address + UInt64(bytes.count - 1) }
}

/// The segments of a core, sorted by address, without overlaps.
struct AddressSpace {
  private(set) var segments: [CoreSegment] = []

  /// Drops empty segments, and segments that overlap a kept one at a lower address; calls `overlapping` with the
  /// latter.
  init(_ unordered: [CoreSegment], overlapping: (CoreSegment) -> Void) {
    segments.reserveCapacity(unordered.count)
    // Kernels write segments in sorted order.
    for segment in unordered.sorted(by: { $0.address < $1.address }) where segment.memorySize > 0 {
      if let last = segments.last, segment.address - last.address < last.memorySize {
        overlapping(segment)
      } else {
        segments.append(segment)
      }
    }
  }

  /// The index of the first segment that begins above `address`.
  func firstIndex(behind address: UInt64) -> Int {
    segments.indices.partitioningIndex { segments[$0].address > address }
  }

  /// The index of the segment that contains `address`, whether or not its byte is in the file.
  func segment(at address: UInt64) -> Int? {
    let index = firstIndex(behind: address) - 1
    guard index >= 0, address - segments[index].address < segments[index].memorySize else { return nil }
    return index
  }

  /// The bytes in the file from `address` to the end of its segment. Nil if the file does not contain the first one.
  func bytes(from address: UInt64) -> ByteRange? {
    guard let index = segment(at: address) else { return nil }
    let segment = segments[index]
    let start = address - segment.address
    guard start < UInt64(segment.bytes.count) else { return nil }
    return ByteRange(offset: segment.bytes.offset + Int(start), count: segment.bytes.count - Int(start))
  }

  /// The `count` bytes at `address` in the file. Nil unless the file contains all of them.
  func bytes(at address: UInt64, count: Int) -> ByteRange? {
    guard let range = bytes(from: address), count <= range.count else { return nil }
    return ByteRange(offset: range.offset, count: count)
  }
}
