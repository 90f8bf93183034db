internal import CrashpadBytes
internal import Glibc

extension RawSpan {
  /// The name of a function or file in a symbol file, truncated to 64 KiB: the longest real names have about 20 KB, and
  /// a damaged file may consist of one name.
  func name(in range: ByteRange) -> String {
    text(in: ByteRange(offset: range.offset, count: min(range.count, 1 << 16)))
  }

  /// The offset of the next line feed, or the end of the bytes. Reading a symbol file of 100 MB spends most of its time
  /// here.
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
