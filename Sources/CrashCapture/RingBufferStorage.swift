internal import Synchronization

/// The memory of an annotation that has the last items of what was put into it, in the layout of Crashpad's
/// `client/length_delimited_ring_buffer.h`: magic (u32), version (u32, 1), where the oldest item begins (u32), the bytes that
/// items take (u32), then the ring. An item has its length before it, as a varint in groups of seven bits.
///
/// Allocated once and never freed. Items that make room go before the new one's bytes come, and it counts after them: whenever
/// the process crashes, the items that count are whole.
@safe
package struct RingBufferStorage: @unchecked Sendable {
  static let magic: UInt32 = 0xcab0_0d1e
  static let version: UInt32 = 1
  static let headerSize = 16
  /// The most bytes of a ring.
  package static let maximumCapacity = AnnotationLimits.valueSize - headerSize
  /// How often a thread tries to get its turn.
  static let attempts = 1000

  private let annotation: RegisteredAnnotation
  private let ring: UnsafeMutableRawPointer
  /// Offset of the oldest item in the lower half, bytes of all in the upper one: both change by one store.
  private let range: UnsafeMutablePointer<Atomic<UInt64>>
  private let isBusy: UnsafeMutablePointer<Atomic<Bool>>
  /// Bytes of the ring.
  package let capacity: Int

  /// - Parameters:
  ///   - name: at most 256 bytes of it are used.
  ///   - type: what the items are, to whoever reads them: a number of the application's own, from `0x8001` on.
  ///   - capacity: bytes of the ring, at most 20,464.
  package init(name: String, type: UInt16, capacity: Int) {
    let capacity = min(max(capacity, 2), Self.maximumCapacity)
    self.capacity = capacity
    annotation = RegisteredAnnotation(name: name, type: type)
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

  /// Puts an item behind the others; the oldest go if there is no room.
  ///
  /// Neither locks nor allocates. False if it is empty or larger than the ring, or if another thread is in the middle of this.
  @discardableResult
  package func push(_ item: RawSpan) -> Bool {
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
    // Bytes that count have to be in what is captured, so the size grows before the range.
    let size = unsafe annotation.size.pointee.load(ordering: .relaxed)
    let filled = UInt32(Self.headerSize + min(capacity, start + used))
    if filled > size { unsafe annotation.size.pointee.store(filled, ordering: .releasing) }
    unsafe range.pointee.store(Self.bits(start, used), ordering: .sequentiallyConsistent)
    annotation.register()
    return true
  }

  /// What a dump would have now, with the header. For tests: another thread may write meanwhile.
  package var current: [UInt8] {
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
