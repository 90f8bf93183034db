/// Keeps the last items pushed to it, Crashpad's `RingBufferAnnotation`: for the last lines of a log.
///
/// Dumps contain it in the layout of Crashpad's `client/length_delimited_ring_buffer.h`, which its
/// `LengthDelimitedRingBufferReader` reads. Its memory is allocated once and never freed, so it belongs in a `static
/// let` or a global. Pushing an item copies it: no lock, no allocation. A crash finds only complete items.
public struct RingBufferAnnotation: Sendable {
  private let storage: RingBufferStorage

  /// - Parameters:
  ///   - name: its name in dumps; only the first 256 bytes are used.
  ///   - userType: the kind of the items, for readers of the dump: a number that the application defines, from 1 to
  ///     32,767. The annotation's type is 32,768 more.
  ///   - capacity: bytes for the items and their lengths, at most 20,464.
  public init(_ name: String, userType: UInt16 = 1, capacity: Int = 8192) {
    storage = RingBufferStorage(
      name: name, type: AnnotationLimits.userDefinedType + min(userType, 0x7fff), capacity: capacity)
  }

  package var capacity: Int { storage.capacity }

  /// Appends an item, and drops the oldest ones if there is no room.
  ///
  /// - Returns: false if the item is empty or too large, or if another thread is pushing.
  @discardableResult
  public func push(_ item: RawSpan) -> Bool { storage.push(item) }

  /// Appends a text as UTF-8, and drops the oldest items if there is no room.
  ///
  /// - Returns: false if the text is empty or too large, or if another thread is pushing.
  @discardableResult
  public func push(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { bytes in unsafe storage.push(UnsafeRawBufferPointer(bytes).bytes) }
  }

  /// The bytes that a dump would contain now: header and ring. For tests: another thread may write meanwhile.
  public var bytes: [UInt8] { storage.current }
}
