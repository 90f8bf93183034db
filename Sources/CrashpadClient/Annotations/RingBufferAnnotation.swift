internal import CrashCapture

/// The last items of what is put into it, Crashpad's `RingBufferAnnotation`: for the last lines of a log.
///
/// Dumps have it in the layout of Crashpad's `client/length_delimited_ring_buffer.h`, which its
/// `LengthDelimitedRingBufferReader` reads. Its memory is allocated once and never freed, so it belongs into a `static let` or a
/// global. Putting an item in copies it: no lock, no allocation. A crash finds whole items only.
public struct RingBufferAnnotation: Sendable {
  private let storage: RingBufferStorage

  /// - Parameters:
  ///   - name: its name in dumps; at most 256 bytes of it.
  ///   - userType: what the items are, to whoever reads them: a number of the application's own, from 1 to 32,767. The
  ///     annotation's type is 32,768 more.
  ///   - capacity: bytes for the items and their lengths, at most 20,464.
  public init(_ name: String, userType: UInt16 = 1, capacity: Int = 8192) {
    storage = RingBufferStorage(
      name: name, type: AnnotationLimits.userDefinedType + min(userType, 0x7fff), capacity: capacity)
  }

  public var capacity: Int { storage.capacity }

  /// Puts an item behind the others; the oldest go if there is no room.
  ///
  /// - Returns: false if the item is empty or too large, or if another thread stands in the middle of this.
  @discardableResult
  public func push(_ item: RawSpan) -> Bool { storage.push(item) }

  /// Puts a text behind the others as UTF-8; the oldest go if there is no room.
  ///
  /// - Returns: false if the text is empty or too large, or if another thread stands in the middle of this.
  @discardableResult
  public func push(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { bytes in unsafe storage.push(UnsafeRawBufferPointer(bytes).bytes) }
  }

  /// What a dump would have now: header and ring. For tests: another thread may write meanwhile.
  public var bytes: [UInt8] { storage.current }
}
