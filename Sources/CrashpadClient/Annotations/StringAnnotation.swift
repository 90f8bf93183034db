/// A text that dumps have, Crashpad's `StringAnnotation`: for what changes often, like the request that is being served.
///
/// Its memory is allocated once and never freed, so it belongs into a `static let` or a global. Setting it is a copy and an
/// atomic store: no lock, no allocation, from any thread. The last one wins; a crash finds the old value or the new one.
///
/// ```swift
/// static let path = StringAnnotation("request-path")
/// path.set(request.path)
/// ```
public struct StringAnnotation: Sendable {
  private let storage: AnnotationStorage

  /// - Parameters:
  ///   - name: its name in dumps; only the first 256 bytes are used.
  ///   - maximumLength: the most bytes of a value, at most 20,479; a longer one is cut, between characters of Unicode.
  public init(_ name: String, maximumLength: Int = 256) {
    storage = AnnotationStorage(name: name, capacity: maximumLength)
  }

  package var maximumLength: Int { storage.capacity }

  /// Sets the value, up to a NUL if it has one. An empty text is the same as none.
  public func set(_ value: String) {
    var value = value
    // Does not copy: a native Swift string has its bytes in one piece.
    value.withUTF8 { bytes in
      let count = unsafe StringAnnotation.cut(bytes, to: storage.capacity)
      unsafe storage.set(UnsafeRawBufferPointer(bytes).bytes.extracting(first: count))
    }
  }

  /// Sets the value to UTF-8 from memory.
  func set(_ value: RawSpan) {
    unsafe value.withUnsafeBytes { bytes in
      let count = unsafe StringAnnotation.cut(bytes.assumingMemoryBound(to: UInt8.self), to: storage.capacity)
      storage.set(value.extracting(first: count))
    }
  }

  /// Removes the value from dumps until it is set again.
  public func clear() { storage.clear() }

  /// The value that a dump would contain now; nil if it is not set. For tests: another thread may overwrite it during
  /// the read.
  public var value: String? { storage.current }

  /// The number of bytes of `text` that fit without cutting a character of Unicode.
  private static func cut(_ text: UnsafeBufferPointer<UInt8>, to capacity: Int) -> Int {
    guard text.count > capacity else { return text.count }
    var count = capacity
    while count > 0, unsafe text[count] & 0xc0 == 0x80 { count -= 1 }
    return count
  }
}
