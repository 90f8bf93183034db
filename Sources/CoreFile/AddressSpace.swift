internal import BinaryFormat
internal import Snapshot

/// A PT_LOAD: a range of the process' memory, and its bytes as far as the file has them.
struct CoreSegment {
  let address: UInt64
  /// The size in memory, in bytes; ends at 2^64 at the latest.
  let memorySize: UInt64
  /// The bytes in the file, from `address` on: at most `memorySize`.
  let bytes: ByteRange
  /// PF_X 1, PF_W 2, PF_R 4
  let flags: UInt32

  var isExecutable: Bool { flags & 1 != 0 }
  /// The address of the last byte in the file. Only of a segment that has some.
  var lastByte: UInt64 { address + UInt64(bytes.count - 1) }
}

/// The segments of a core, by address; no two have an address in common.
struct AddressSpace {
  private(set) var segments: [CoreSegment] = []

  /// Takes those of `unordered` that overlap none before them. Returns the others.
  init(_ unordered: [CoreSegment], overlapping: (CoreSegment) -> Void) {
    segments.reserveCapacity(unordered.count)
    // Kernels write them sorted.
    for segment in unordered.sorted(by: { $0.address < $1.address }) where segment.memorySize > 0 {
      if let last = segments.last, segment.address - last.address < last.memorySize {
        overlapping(segment)
      } else {
        segments.append(segment)
      }
    }
  }

  /// The index of the first segment that begins behind `address`.
  func firstIndex(behind address: UInt64) -> Int {
    var low = 0
    var high = segments.count
    while low < high {
      let middle = (low + high) / 2
      if segments[middle].address <= address { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The segment that `address` lies in, whether its byte is in the file or not.
  func segment(at address: UInt64) -> Int? {
    let index = firstIndex(behind: address) - 1
    guard index >= 0, address - segments[index].address < segments[index].memorySize else { return nil }
    return index
  }

  /// Where the bytes from `address` on lie in the file, to the end of their segment. Nil if the first is not there.
  func bytes(from address: UInt64) -> ByteRange? {
    guard let index = segment(at: address) else { return nil }
    let segment = segments[index]
    let start = address - segment.address
    guard start < UInt64(segment.bytes.count) else { return nil }
    return ByteRange(offset: segment.bytes.offset + Int(start), count: segment.bytes.count - Int(start))
  }

  /// Where `count` bytes at `address` lie in the file, if all of them are there.
  func bytes(at address: UInt64, count: Int) -> ByteRange? {
    guard let range = bytes(from: address), count <= range.count else { return nil }
    return ByteRange(offset: range.offset, count: count)
  }
}
