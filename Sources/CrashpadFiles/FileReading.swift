// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import SystemPackage

/// The two ways to read a file: all calls of read(2) and pread(2) are here.
///
/// Only a read without bytes tells the end. A read that returns fewer bytes than requested does not: files of /proc and /sys,
/// and those of FUSE with direct_io, return a page or less at a time.
extension FileDescriptor {
  /// Reads until `buffer` is full or the file ends. Throws `Errno`.
  ///
  /// - Parameter offset: where to read; nil for the place after the last read.
  /// - Returns: the number of bytes read.
  package func fill(_ buffer: UnsafeMutableRawBufferPointer, from offset: Int? = nil) throws(Errno) -> Int {
    var count = 0
    while count < buffer.count {
      let got = try unsafe readOnce(
        UnsafeMutableRawBufferPointer(rebasing: buffer[count...]), from: offset.map { $0 + count })
      if got == 0 { break }
      count += got
    }
    return count
  }

  /// The next bytes, at most `count`; fewer only at the end of the file. Throws `Errno`.
  ///
  /// - Parameter offset: where to read; nil for the place after the last read.
  package func bytes(_ count: Int, from offset: Int? = nil) throws(Errno) -> [UInt8] {
    var failure: Errno?
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: max(0, count)) { buffer, initialized in
      do throws(Errno) {
        initialized = try unsafe fill(UnsafeMutableRawBufferPointer(buffer), from: offset)
      } catch { failure = error }
    }
    if let failure { throw failure }
    return bytes
  }

  /// Calls `body` with all bytes up to the end, a block at a time, as soon as they come: a pipe's writer may pause. Throws
  /// `Errno` if reading fails, and errors of `body`.
  package func forEachBlock(_ body: (RawSpan) throws -> Void) throws {
    var block = [UInt8](repeating: 0, count: 256 * 1024)
    while true {
      let count = try unsafe block.withUnsafeMutableBytes { try unsafe readOnce($0, from: nil) }
      if count == 0 { return }
      try unsafe body(block.span.bytes.extracting(0..<count))
    }
  }

  private func readOnce(_ buffer: UnsafeMutableRawBufferPointer, from offset: Int?) throws(Errno) -> Int {
    while true {
      let result =
        if let offset {
          unsafe Glibc.pread(rawValue, buffer.baseAddress, buffer.count, off_t(offset))
        } else {
          unsafe Glibc.read(rawValue, buffer.baseAddress, buffer.count)
        }
      if result >= 0 { return result }
      guard errno == EINTR else { throw Errno(rawValue: errno) }
    }
  }
}
