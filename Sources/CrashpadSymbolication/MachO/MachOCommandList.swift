// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// The load commands of a Mach-O file, one after the other.
struct MachOCommandList {
  /// A command that can't be read, after which there are no others.
  struct Fault {
    let number: Int
    let offset: Int
    /// Its declared size; nil if the file ends before.
    let size: UInt64?
  }

  private var offset: Int
  private let end: Int
  private let count: Int
  private var number = 0
  private(set) var fault: Fault?

  /// - Parameter end: the offset behind the commands, which is in the file.
  init(_ header: MachOHeader, end: Int) {
    offset = header.size
    self.end = end
    count = Int(header.commandCount)
  }

  /// The range of the next command; nil behind the last one, or if it can't be read.
  mutating func next(in slice: RawSpan) -> ByteRange? {
    guard number < count, fault == nil else { return nil }
    guard end - offset >= 8 else {
      fault = Fault(number: number, offset: offset, size: nil)
      return nil
    }
    let size = Int(slice.uint32(at: offset + 4))
    guard size >= 8, size <= end - offset else {
      fault = Fault(number: number, offset: offset, size: UInt64(size))
      return nil
    }
    defer {
      offset += size
      number += 1
    }
    return ByteRange(offset: offset, count: size)
  }
}
