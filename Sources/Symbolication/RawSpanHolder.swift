internal import BinaryFormat

/// Bytes that somebody else holds for as long as this lives.
@safe
struct RawSpanHolder {
  private let owner: AnyObject?
  private let buffer: UnsafeRawBufferPointer

  /// No bytes.
  init() {
    owner = nil
    unsafe buffer = UnsafeRawBufferPointer(start: nil, count: 0)
  }

  init(_ buffer: UnsafeRawBufferPointer, owner: AnyObject) {
    unsafe self.buffer = unsafe buffer
    self.owner = owner
  }

  /// Memory that is filled here and freed with the last holder.
  ///
  /// - Parameters:
  ///   - count: bytes to allocate.
  ///   - fill: returns whether all bytes were written.
  /// - Returns: nil if they were not.
  init?(count: Int, fill: (UnsafeMutableRawBufferPointer) -> Bool) {
    let memory = OwnedMemory(count)
    guard unsafe fill(memory.buffer) else { return nil }
    self = unsafe RawSpanHolder(UnsafeRawBufferPointer(memory.buffer), owner: memory)
  }

  var count: Int { unsafe buffer.count }
  var isEmpty: Bool { count == 0 }

  /// The bytes of `range`; none if it does not lie inside.
  func part(_ offset: UInt64, _ size: UInt64) -> RawSpanHolder {
    guard let owner, size > 0, offset <= UInt64(count), size <= UInt64(count) - offset else { return RawSpanHolder() }
    let range = Int(offset)..<Int(offset + size)
    return unsafe RawSpanHolder(UnsafeRawBufferPointer(rebasing: buffer[range]), owner: owner)
  }

  @inline(__always)
  func withBytes<Result>(_ body: (RawSpan) -> Result) -> Result {
    withExtendedLifetime(owner) { unsafe body(RawSpan(_unsafeBytes: buffer)) }
  }

  func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    withExtendedLifetime(owner) { unsafe body(buffer) }
  }
}

@safe
private final class OwnedMemory {
  let buffer: UnsafeMutableRawBufferPointer

  init(_ count: Int) { unsafe buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(count, 1), alignment: 16) }

  deinit { unsafe buffer.deallocate() }
}
