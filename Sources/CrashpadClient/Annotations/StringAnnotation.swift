internal import CrashCapture

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
  ///   - name: its name in dumps; at most 256 bytes of it.
  ///   - maximumLength: bytes of a value, at most 20,479; the rest of a longer one is cut off, between characters of Unicode.
  public init(_ name: String, maximumLength: Int = 256) {
    storage = AnnotationStorage(name: name, capacity: maximumLength)
  }

  public var maximumLength: Int { storage.capacity }

  /// Sets the value, up to a NUL if it has one. An empty text is as good as none.
  public func set(_ value: String) {
    var value = value
    // Does not copy: a string of Swift's own has its bytes in one piece.
    value.withUTF8 { bytes in
      let count = unsafe StringAnnotation.cut(bytes, to: storage.capacity)
      unsafe storage.set(UnsafeRawBufferPointer(bytes).bytes.extracting(first: count))
    }
  }

  /// Sets the value to UTF-8 that is somewhere in memory.
  func set(_ value: RawSpan) {
    unsafe value.withUnsafeBytes { bytes in
      let count = unsafe StringAnnotation.cut(bytes.assumingMemoryBound(to: UInt8.self), to: storage.capacity)
      storage.set(value.extracting(first: count))
    }
  }

  /// Dumps do not have it until it is set again.
  public func clear() { storage.clear() }

  /// What a dump would have now; nil if it is not set. For tests: another thread may write over it while it is read.
  public var value: String? { storage.current }

  /// How many bytes of `text` there is room for without cutting a character of Unicode in two.
  private static func cut(_ text: UnsafeBufferPointer<UInt8>, to capacity: Int) -> Int {
    guard text.count > capacity else { return text.count }
    var count = capacity
    while count > 0, unsafe text[count] & 0xc0 == 0x80 { count -= 1 }
    return count
  }
}
