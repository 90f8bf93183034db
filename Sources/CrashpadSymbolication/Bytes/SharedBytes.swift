// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles

/// Bytes in memory that an owner keeps alive as long as this value exists. Unchecked Sendable because they never change, and
/// nothing of the owner is used.
@safe
struct SharedBytes: @unchecked Sendable {
  private let owner: AnyObject?
  private let buffer: UnsafeRawBufferPointer

  init() {
    owner = nil
    unsafe buffer = UnsafeRawBufferPointer(start: nil, count: 0)
  }

  init(_ buffer: UnsafeRawBufferPointer, owner: AnyObject) {
    unsafe self.buffer = unsafe buffer
    self.owner = owner
  }

  init(_ bytes: [UInt8]) {
    let memory = OwnedMemory(bytes.count)
    unsafe memory.buffer.copyBytes(from: bytes)
    self = unsafe SharedBytes(UnsafeRawBufferPointer(rebasing: memory.buffer[..<bytes.count]), owner: memory)
  }

  /// Allocates memory, which is freed with the last holder. Nil if `fill` returns false.
  init?(count: Int, fill: (UnsafeMutableRawBufferPointer) -> Bool) {
    let memory = OwnedMemory(count)
    guard unsafe fill(memory.buffer) else { return nil }
    self = unsafe SharedBytes(UnsafeRawBufferPointer(memory.buffer), owner: memory)
  }

  /// Nil if `packed` is not a stream of exactly `count` bytes, or the library of the compression is missing.
  init?(unpacking packed: SharedBytes, _ compression: Compression, count: Int) {
    unsafe self.init(count: count) { target in
      packed.withBytes { bytes in
        var output = unsafe MutableRawSpan(_unsafeBytes: target)
        return Decompression.fill(&output, from: bytes, compression)
      }
    }
  }

  var count: Int { unsafe buffer.count }
  var isEmpty: Bool { count == 0 }

  /// The bytes of a range; empty if the range is not inside.
  func part(_ offset: UInt64, _ size: UInt64) -> SharedBytes {
    guard let owner, size > 0, offset <= UInt64(count), size <= UInt64(count) - offset else { return SharedBytes() }
    let range = Int(offset)..<Int(offset + size)
    return unsafe SharedBytes(UnsafeRawBufferPointer(rebasing: buffer[range]), owner: owner)
  }

  @inline(__always)
  func withBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
    try withExtendedLifetime(owner) { try unsafe body(RawSpan(_unsafeBytes: buffer)) }
  }

  func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    withExtendedLifetime(owner) { unsafe body(buffer) }
  }
}

extension InputFile {
  /// All bytes.
  var shared: SharedBytes {
    withBytes { bytes in
      unsafe bytes.withUnsafeBytes { unsafe SharedBytes($0, owner: self) }
    }
  }
}

@safe
private final class OwnedMemory {
  let buffer: UnsafeMutableRawBufferPointer

  init(_ count: Int) { unsafe buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(count, 1), alignment: 16) }

  deinit { unsafe buffer.deallocate() }
}
