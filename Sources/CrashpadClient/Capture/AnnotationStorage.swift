internal import Synchronization

/// The memory of an annotation that every dump contains once it has a value: allocated once and never freed, because a
/// crash may come at any time.
///
/// A value is written to a place that is not in use, and appears by one store of its address. So a crash finds the old
/// value or the new one, never a mixture, and if several threads set it, the last store wins. There are a few places to
/// write to; a thread that finds none free, because other threads are writing, tries again.
@safe
package struct AnnotationStorage: @unchecked Sendable {
  /// The number of places for values: one holds the current value, the others are for threads that write at the same
  /// time.
  static let placeCount = 8
  /// The number of attempts to find a free place.
  static let attempts = 1000

  private let annotation: RegisteredAnnotation
  private let places: UnsafeMutableRawPointer
  /// One bit for each free place. The place of the current value is not free.
  private let free: UnsafeMutablePointer<Atomic<UInt32>>
  /// The most bytes of a value.
  package let capacity: Int

  /// - Parameters:
  ///   - name: only its first 256 bytes are used.
  ///   - capacity: the most bytes of a value, at most 20,479.
  package init(name: String, capacity: Int) {
    let capacity = min(max(capacity, 1), AnnotationLimits.valueSize - 1)
    self.capacity = capacity
    annotation = RegisteredAnnotation(name: name, type: AnnotationLimits.textType)
    unsafe places = .allocate(byteCount: Self.placeCount * (capacity + 1), alignment: 8)
    unsafe places.initializeMemory(as: UInt8.self, repeating: 0, count: Self.placeCount * (capacity + 1))
    unsafe free = .allocate(capacity: 1)
    unsafe free.initialize(to: Atomic((1 << UInt32(Self.placeCount)) - 1))
  }

  /// Sets the text: at most `capacity` bytes of it, up to the first NUL.
  ///
  /// Neither locks nor allocates. Returns false if so many other threads set it that no place was free.
  @discardableResult
  package func set(_ text: RawSpan) -> Bool {
    guard let index = claim() else { return false }
    let place = unsafe places + index * (capacity + 1)
    let count = min(text.byteCount, capacity)
    unsafe text.withUnsafeBytes { bytes in
      if let start = bytes.baseAddress { unsafe place.copyMemory(from: start, byteCount: count) }
    }
    unsafe place.storeBytes(of: 0, toByteOffset: count, as: UInt8.self)
    let old = unsafe annotation.value.pointee.exchange(UInt(bitPattern: place), ordering: .acquiringAndReleasing)
    // The text ends at its NUL, so the size does not have to change with it.
    unsafe annotation.size.pointee.store(UInt32(capacity), ordering: .releasing)
    annotation.register()
    if old != 0 { release(unsafe Int(bitPattern: old - UInt(bitPattern: places)) / (capacity + 1)) }
    return true
  }

  /// Removes the value from dumps until it is set again.
  package func clear() { unsafe annotation.size.pointee.store(0, ordering: .releasing) }

  /// The value that a dump would contain now; nil if there is none. For tests: another thread may overwrite it during
  /// the read.
  package var current: String? {
    guard unsafe annotation.size.pointee.load(ordering: .acquiring) > 0 else { return nil }
    let address = unsafe annotation.value.pointee.load(ordering: .acquiring)
    guard let place = unsafe UnsafePointer<UInt8>(bitPattern: address) else { return nil }
    return unsafe String(cString: place)
  }

  private func claim() -> Int? {
    for _ in 0..<Self.attempts {
      let bits = unsafe free.pointee.load(ordering: .relaxed)
      guard bits != 0 else { continue }
      let index = bits.trailingZeroBitCount
      let (won, _) = unsafe free.pointee.compareExchange(
        expected: bits, desired: bits & ~(1 << UInt32(index)), ordering: .acquiring)
      if won { return index }
    }
    return nil
  }

  private func release(_ index: Int) {
    _ = unsafe free.pointee.bitwiseOr(1 << UInt32(index), ordering: .releasing)
  }
}
