// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// A text that every dump contains once it is set, Crashpad's `StringAnnotation`: for values that change often, like the
/// request that is being served.
///
/// Its memory is allocated once and never freed, because a crash may come at any time; so it belongs in a `static let` or
/// a global. Setting it is a copy and an atomic store: no lock, no allocation, from any thread. The last one wins; a crash
/// finds the old value or the new one.
///
/// ```swift
/// static let path = StringAnnotation("request-path")
/// path.set(request.path)
/// ```
@safe
public struct StringAnnotation: @unchecked Sendable {
  /// The number of places for values: one holds the current value, the others are for threads that write at the same
  /// time. A value is written to a free place, and appears by one store of its address.
  private static let placeCount = 8
  /// The number of attempts to find a free place.
  private static let attempts = 1000

  private let annotation: RegisteredAnnotation
  private let places: UnsafeMutableRawPointer
  /// One bit for each free place. The place of the current value is not free.
  private let free: UnsafeMutablePointer<Atomic<UInt32>>
  package let maximumLength: Int

  /// - Parameters:
  ///   - name: its name in dumps; only the first 256 bytes are used.
  ///   - maximumLength: the most bytes of a value, at most 20,479; a longer one is cut, between characters of Unicode.
  public init(_ name: String, maximumLength: Int = 256) {
    let textType: UInt16 = 1
    let maximumLength = min(max(maximumLength, 1), AnnotationLimits.valueSize - 1)
    self.maximumLength = maximumLength
    annotation = RegisteredAnnotation(name: name, type: textType)
    unsafe places = .allocate(byteCount: Self.placeCount * (maximumLength + 1), alignment: 8)
    unsafe places.initializeMemory(as: UInt8.self, repeating: 0, count: Self.placeCount * (maximumLength + 1))
    unsafe free = .allocate(capacity: 1)
    unsafe free.initialize(to: Atomic((1 << UInt32(Self.placeCount)) - 1))
  }

  /// Sets the value, up to a NUL if it has one. An empty text is the same as none. If so many other threads set it that
  /// no place is free, the value stays: one of theirs would replace this one.
  public func set(_ value: String) {
    var value = value
    // Does not copy: a native Swift string has its bytes in one piece.
    value.withUTF8 { unsafe set(UnsafeRawBufferPointer($0).bytes) }
  }

  /// Sets the value to a number, in decimal digits.
  public func set(_ value: Int) {
    // Twenty bytes at most, formatted here: a String would allocate.
    var digits = InlineArray<20, UInt8>(repeating: 0)
    var start = 20
    var rest = value.magnitude
    repeat {
      start -= 1
      digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    } while rest > 0
    if value < 0 {
      start -= 1
      digits[start] = UInt8(ascii: "-")
    }
    set(unsafe digits.span.bytes.extracting(start...))
  }

  /// Sets the value to "true" or "false".
  public func set(_ value: Bool) { set(value ? "true" : "false") }

  /// Sets the value to UTF-8 from memory.
  func set(_ text: RawSpan) {
    guard let index = claim() else { return }
    let place = unsafe places + index * (maximumLength + 1)
    let count = unsafe text.withUnsafeBytes { bytes in
      let count = unsafe fittingCount(bytes)
      if let start = bytes.baseAddress { unsafe place.copyMemory(from: start, byteCount: count) }
      return count
    }
    unsafe place.storeBytes(of: 0, toByteOffset: count, as: UInt8.self)
    let old = unsafe annotation.value.pointee.exchange(UInt(bitPattern: place), ordering: .acquiringAndReleasing)
    // The text ends at its NUL, so the size does not have to change with it.
    unsafe annotation.size.pointee.store(UInt32(maximumLength), ordering: .releasing)
    annotation.register()
    guard old != 0 else { return }
    let oldIndex = unsafe Int(bitPattern: old - UInt(bitPattern: places)) / (maximumLength + 1)
    _ = unsafe free.pointee.bitwiseOr(1 << UInt32(oldIndex), ordering: .releasing)
  }

  /// Removes the value from dumps until it is set again.
  public func clear() { unsafe annotation.size.pointee.store(0, ordering: .releasing) }

  /// The value that a dump would contain now; nil if it is not set. For tests: another thread may overwrite it during
  /// the read.
  package var value: String? {
    guard unsafe annotation.size.pointee.load(ordering: .acquiring) > 0 else { return nil }
    let address = unsafe annotation.value.pointee.load(ordering: .acquiring)
    guard let place = unsafe UnsafePointer<UInt8>(bitPattern: address) else { return nil }
    return unsafe String(cString: place)
  }

  /// The number of bytes of UTF-8 that fit without cutting a character of Unicode.
  private func fittingCount(_ text: UnsafeRawBufferPointer) -> Int {
    guard text.count > maximumLength else { return text.count }
    var count = maximumLength
    while count > 0, unsafe text[count] & 0xc0 == 0x80 { count -= 1 }
    return count
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
}
