// SPDX-License-Identifier: Apache-2.0
/// The destination of a `ByteWriter`.
public protocol ByteOutput: AnyObject {
  /// Writes all bytes, or throws.
  func write(_ bytes: RawSpan) throws

  /// Reserves room on the disk for an output of this size, before its first byte is written. Throws if the disk is too full.
  func reserve(_ byteCount: Int) throws
}

extension ByteOutput {
  /// Does nothing.
  public func reserve(_ byteCount: Int) throws {}
}

/// A `ByteOutput` in memory.
package final class MemoryOutput: ByteOutput {
  package private(set) var bytes: [UInt8] = []
  package init() {}
  package func write(_ bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes { unsafe self.bytes.append(contentsOf: $0) }
  }
}

/// Writes little-endian values through one fixed buffer; long runs bypass the buffer and are written directly.
///
/// After the first failure of the output, later writes do nothing, and `finish()` throws that failure. The code that
/// lays out a file therefore needs no `try` at each field.
///
/// Safe although it owns raw memory: `buffer` is not shared, and every store is preceded by `reserve`, which makes room
/// for at most as many bytes as it has.
@safe
public struct ByteWriter: ~Copyable {
  /// Nil if this writer only measures.
  @usableFromInline let output: (any ByteOutput)?
  private var failure: (any Error)?
  @usableFromInline let buffer: UnsafeMutableRawBufferPointer
  /// Bytes in the buffer.
  @usableFromInline var used = 0
  /// Bytes that have left the buffer or bypassed it.
  @usableFromInline var passed = 0

  /// The size of the buffer: more for large outputs. File systems take few large writes faster than many of 64 KiB, by more
  /// than the copy into the buffer costs.
  private static let capacities = 64 * 1024...512 * 1024

  /// - Parameter byteCount: the size of the output in bytes, as far as it is known.
  package init(to output: any ByteOutput, expecting byteCount: Int = 0) {
    self.output = output
    let capacity = min(max(byteCount, Self.capacities.lowerBound), Self.capacities.upperBound)
    unsafe buffer = .allocate(byteCount: capacity, alignment: 16)
  }

  private init() {
    output = nil
    unsafe buffer = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  }

  deinit { unsafe buffer.deallocate() }

  /// Runs of at least this many bytes are not copied into the buffer.
  private var bypass: Int { unsafe buffer.count / 2 }

  /// Bytes written so far: the offset of the next one.
  @inlinable public var position: Int { passed + used }

  /// Returns the number of bytes that `body` writes, without writing them.
  package static func measure(_ body: (inout ByteWriter) -> Void) -> Int {
    var writer = ByteWriter()
    body(&writer)
    return writer.position
  }

  /// Whether this writer only counts bytes. Data that is expensive to produce can then be passed to `skip` as a size.
  @inlinable public var isMeasuring: Bool { output == nil }

  /// Counts bytes without writing them. Only for a writer that measures.
  package mutating func skip(_ count: Int) {
    precondition(isMeasuring)
    passed += count
  }

  /// Flushes the buffer. Throws the first failure of the output.
  package mutating func finish() throws {
    flush()
    if let failure { throw failure }
  }

  private mutating func flush() {
    if let output, used > 0, failure == nil {
      do {
        try unsafe output.write(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(buffer)).extracting(0..<used))
      } catch {
        failure = error
      }
    }
    passed += used
    used = 0
  }

  /// Reserves `count` bytes of the buffer, at most those of the buffer, and returns their offset. Nil if this writer only
  /// measures.
  @inlinable @inline(__always)
  mutating func reserve(_ count: Int) -> Int? {
    if unsafe used + count > buffer.count {
      guard makeRoom(count) else { return nil }
    }
    let place = used
    used += count
    return place
  }

  /// Called by `reserve` when the buffer is full, or missing because this writer only measures.
  @usableFromInline @inline(never)
  mutating func makeRoom(_ count: Int) -> Bool {
    guard output == nil else {
      flush()
      return true
    }
    passed += count
    return false
  }

  @inlinable @inline(__always)
  mutating func store<T: FixedWidthInteger & BitwiseCopyable>(_ value: T) {
    guard let place = reserve(MemoryLayout<T>.size) else { return }
    unsafe buffer.storeBytes(of: value, toByteOffset: place, as: T.self)
  }

  @inlinable public mutating func uint8(_ value: UInt8) { store(value) }
  @inlinable public mutating func uint16(_ value: UInt16) { store(value.littleEndian) }
  @inlinable public mutating func uint32(_ value: UInt32) { store(value.littleEndian) }
  @inlinable public mutating func uint64(_ value: UInt64) { store(value.littleEndian) }
  @inlinable public mutating func int32(_ value: Int32) { store(UInt32(bitPattern: value).littleEndian) }

  /// Writes `count` zero bytes.
  package mutating func zeros(_ count: Int) {
    var left = count
    while left > 0 {
      let step = unsafe min(left, max(buffer.count, Self.capacities.lowerBound))
      if let place = reserve(step) {
        unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[place..<place + step])
          .initializeMemory(as: UInt8.self, repeating: 0)
      }
      left -= step
    }
  }

  /// Writes zero bytes up to the next multiple of `alignment`, a power of two of at most 16.
  @inlinable @inline(__always)
  public mutating func align(to alignment: Int) {
    var padding = -position & (alignment - 1)
    while padding > 0 {
      uint8(0)
      padding -= 1
    }
  }

  /// Writes bytes as they are.
  public mutating func bytes(_ bytes: RawSpan) {
    let count = bytes.byteCount
    if let output, count >= bypass {
      flush()
      passed += count
      if failure == nil {
        do { try output.write(bytes) } catch { failure = error }
      }
      return
    }
    if count == 0 { return }
    if isMeasuring {
      passed += count
    } else if let place = reserve(count) {
      unsafe bytes.withUnsafeBytes { source in
        unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[place..<place + count]).copyMemory(from: source)
      }
    }
  }

  /// Writes the number of bytes as 32 bits, and the bytes.
  package mutating func counted(_ bytes: RawSpan) {
    let count = bytes.byteCount
    // Most are short, and there may be hundreds of thousands: their room is reserved once.
    if output != nil, count < bypass, let place = reserve(4 + count) {
      unsafe buffer.storeBytes(of: UInt32(count).littleEndian, toByteOffset: place, as: UInt32.self)
      unsafe bytes.withUnsafeBytes { source in
        unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[place + 4..<place + 4 + count]).copyMemory(from: source)
      }
      return
    }
    uint32(UInt32(truncatingIfNeeded: count))
    self.bytes(bytes)
  }

  package mutating func bytes(_ array: [UInt8]) { unsafe bytes(array.span.bytes) }

  /// Writes eight ASCII characters, given in their order in memory, as UTF-16 units.
  package mutating func utf16(ascii characters: UInt64) {
    guard let place = reserve(16) else { return }
    unsafe buffer.storeBytes(
      of: Self.spread(characters & 0xffff_ffff).littleEndian, toByteOffset: place, as: UInt64.self)
    unsafe buffer.storeBytes(of: Self.spread(characters >> 32).littleEndian, toByteOffset: place + 8, as: UInt64.self)
  }

  /// Returns four bytes, each in the lower half of 16 bits.
  private static func spread(_ four: UInt64) -> UInt64 {
    let pairs = (four | four << 16) & 0x0000_ffff_0000_ffff
    return (pairs | pairs << 8) & 0x00ff_00ff_00ff_00ff
  }
}
