// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// Keeps the last items pushed to it, Crashpad's `RingBufferAnnotation`: for the last lines of a log.
///
/// Its memory is allocated once and never freed, so it belongs in a `static let` or a global. Pushing an item copies it:
/// no lock, no allocation. Old items are dropped before the bytes of a new one are written, and the new one is counted
/// after them: a crash finds only complete items.
///
/// Dumps contain it in the layout of Crashpad's `client/length_delimited_ring_buffer.h`, which its
/// `LengthDelimitedRingBufferReader` reads: magic (u32), version (u32, 1), offset of the oldest item (u32), size of all
/// items in bytes (u32), then the ring. Each item is preceded by its length, as a varint in groups of seven bits.
@safe
public struct RingBufferAnnotation: @unchecked Sendable {
  private static let magic: UInt32 = 0xcab0_0d1e
  private static let version: UInt32 = 1
  private static let headerSize = 16
  /// The number of attempts of a thread to enter.
  private static let attempts = 1000
  /// The first of the types that applications define.
  private static let userDefinedType: UInt16 = 0x8000

  private let annotation: RegisteredAnnotation
  private let ring: UnsafeMutableRawPointer
  /// The offset of the oldest item in the lower half, the size of all items in the upper half: one store changes both.
  private let range: UnsafeMutablePointer<Atomic<UInt64>>
  private let isBusy: UnsafeMutablePointer<Atomic<Bool>>
  package let capacity: Int

  /// - Parameters:
  ///   - name: its name in dumps; only the first 256 bytes are used.
  ///   - userType: the kind of the items, for readers of the dump: a number that the application defines, from 1 to
  ///     32,767. The annotation's type is 32,768 more.
  ///   - capacity: bytes for the items and their lengths, at most 20,464.
  public init(_ name: String, userType: UInt16 = 1, capacity: Int = 8192) {
    let capacity = min(max(capacity, 2), AnnotationLimits.valueSize - Self.headerSize)
    self.capacity = capacity
    annotation = RegisteredAnnotation(name: name, type: Self.userDefinedType + min(userType, 0x7fff))
    let memory = UnsafeMutableRawPointer.allocate(byteCount: Self.headerSize + capacity, alignment: 8)
    unsafe memory.initializeMemory(as: UInt8.self, repeating: 0, count: Self.headerSize + capacity)
    unsafe memory.storeBytes(of: Self.magic.littleEndian, as: UInt32.self)
    unsafe memory.storeBytes(of: Self.version.littleEndian, toByteOffset: 4, as: UInt32.self)
    unsafe ring = memory + Self.headerSize
    unsafe range = (memory + 8).assumingMemoryBound(to: Atomic<UInt64>.self)
    unsafe isBusy = .allocate(capacity: 1)
    unsafe isBusy.initialize(to: Atomic(false))
    unsafe annotation.value.pointee.store(UInt(bitPattern: memory), ordering: .releasing)
  }

  /// Appends an item, and drops the oldest ones if there is no room.
  ///
  /// - Returns: false if the item is empty or too large, or if another thread is pushing.
  @discardableResult
  public func push(_ item: RawSpan) -> Bool {
    let lengthSize = Self.varintSize(item.byteCount)
    let needed = lengthSize + item.byteCount
    guard item.byteCount > 0, needed <= capacity, enter() else { return false }
    defer { unsafe isBusy.pointee.store(false, ordering: .releasing) }
    let bits = unsafe range.pointee.load(ordering: .relaxed)
    var start = Int(bits & 0xffff_ffff)
    var used = Int(bits >> 32)
    while capacity - used < needed {
      let (length, size) = varint(at: start)
      start = (start + size + length) % capacity
      used -= size + length
    }
    unsafe range.pointee.store(Self.bits(start, used), ordering: .sequentiallyConsistent)
    let position = (start + used) % capacity
    writeVarint(item.byteCount, at: position)
    write(item, at: (position + lengthSize) % capacity)
    used += needed
    // The captured size has to cover all counted bytes, so it grows before the range.
    let size = unsafe annotation.size.pointee.load(ordering: .relaxed)
    let filled = UInt32(Self.headerSize + min(capacity, start + used))
    if filled > size { unsafe annotation.size.pointee.store(filled, ordering: .releasing) }
    unsafe range.pointee.store(Self.bits(start, used), ordering: .sequentiallyConsistent)
    annotation.register()
    return true
  }

  /// Appends a text as UTF-8, and drops the oldest items if there is no room.
  ///
  /// - Returns: false if the text is empty or too large, or if another thread is pushing.
  @discardableResult
  public func push(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { bytes in unsafe push(UnsafeRawBufferPointer(bytes).bytes) }
  }

  /// The bytes that a dump would contain now: header and ring. For tests: another thread may write during the read.
  package var bytes: [UInt8] {
    let size = unsafe Int(annotation.size.pointee.load(ordering: .acquiring))
    return unsafe Array(UnsafeRawBufferPointer(start: ring - Self.headerSize, count: size))
  }

  private func enter() -> Bool {
    for _ in 0..<Self.attempts {
      if unsafe !isBusy.pointee.exchange(true, ordering: .acquiring) { return true }
    }
    return false
  }

  private static func bits(_ start: Int, _ used: Int) -> UInt64 { UInt64(used) << 32 | UInt64(start) }

  private static func varintSize(_ value: Int) -> Int {
    var size = 1
    var rest = value >> 7
    while rest > 0 {
      size += 1
      rest >>= 7
    }
    return size
  }

  private func varint(at position: Int) -> (value: Int, size: Int) {
    var value = 0
    var size = 0
    while true {
      let byte = unsafe ring.load(fromByteOffset: (position + size) % capacity, as: UInt8.self)
      value |= Int(byte & 0x7f) << (7 * size)
      size += 1
      if byte & 0x80 == 0 { return (value, size) }
    }
  }

  private func writeVarint(_ value: Int, at position: Int) {
    var rest = value
    var index = position
    while rest > 0x7f {
      unsafe ring.storeBytes(of: UInt8(rest & 0x7f | 0x80), toByteOffset: index % capacity, as: UInt8.self)
      rest >>= 7
      index += 1
    }
    unsafe ring.storeBytes(of: UInt8(rest), toByteOffset: index % capacity, as: UInt8.self)
  }

  private func write(_ bytes: RawSpan, at position: Int) {
    unsafe bytes.withUnsafeBytes { bytes in
      guard let source = bytes.baseAddress else { return }
      let first = min(bytes.count, capacity - position)
      unsafe (ring + position).copyMemory(from: source, byteCount: first)
      unsafe ring.copyMemory(from: source + first, byteCount: bytes.count - first)
    }
  }
}
