internal import BinaryFormat
internal import Glibc

extension RawSpan {
  /// A function's or file's name in a symbol file, cut at 64 KiB: the longest of real ones has some 20 KB, and a damaged file
  /// may be one name.
  func name(in range: ByteRange) -> String {
    text(in: ByteRange(offset: range.offset, count: min(range.count, 1 << 16)))
  }

  /// The offset of the next line feed, or the end of the bytes. The pass over a symbol file of 100 MB spends its time here.
  @inline(__always)
  func lineEnd(from offset: Int) -> Int {
    unsafe withUnsafeBytes { buffer in
      guard offset < buffer.count, let base = buffer.baseAddress else { return buffer.count }
      let start = unsafe base + offset
      guard let found = unsafe memchr(start, 0x0a, buffer.count - offset) else { return buffer.count }
      return unsafe base.distance(to: UnsafeRawPointer(found))
    }
  }
}
