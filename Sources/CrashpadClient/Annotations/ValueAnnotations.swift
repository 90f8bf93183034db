/// A number that dumps contain as a decimal text. Setting it is like setting a ``StringAnnotation``.
public struct NumberAnnotation: Sendable {
  private let storage: AnnotationStorage

  /// - Parameter name: its name in dumps; only the first 256 bytes are used.
  public init(_ name: String) { storage = AnnotationStorage(name: name, capacity: 20) }

  public func set(_ value: Int) {
    // Twenty digits at most, formatted here: a String would allocate.
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
    storage.set(unsafe digits.span.bytes.extracting(start...))
  }

  /// Removes the value from dumps until it is set again.
  public func clear() { storage.clear() }

  /// The value that a dump would contain now; nil if it is not set.
  public var value: Int? { storage.current.flatMap { Int($0) } }
}

/// A Boolean that dumps contain as "true" or "false". Setting it is like setting a ``StringAnnotation``.
public struct BoolAnnotation: Sendable {
  private let storage: AnnotationStorage

  /// - Parameter name: its name in dumps; only the first 256 bytes are used.
  public init(_ name: String) { storage = AnnotationStorage(name: name, capacity: 5) }

  public func set(_ value: Bool) {
    let text: StaticString = value ? "true" : "false"
    text.withUTF8Buffer { bytes in _ = unsafe storage.set(UnsafeRawBufferPointer(bytes).bytes) }
  }

  /// Removes the value from dumps until it is set again.
  public func clear() { storage.clear() }

  /// The value that a dump would contain now; nil if it is not set.
  public var value: Bool? { storage.current.map { $0 == "true" } }
}
