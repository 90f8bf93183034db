internal import BinaryFormat
internal import Glibc

extension RawSpan {
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
