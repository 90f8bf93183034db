/// Where a `ByteWriter` empties its buffer.
public protocol ByteOutput: AnyObject {
  /// Takes all bytes, or throws.
  func write(_ bytes: RawSpan) throws
}

/// A `ByteOutput` in memory.
public final class MemoryOutput: ByteOutput {
  public private(set) var bytes: [UInt8] = []
  public init() {}
  public func write(_ bytes: RawSpan) { self.bytes.append(contentsOf: bytes.array()) }
}

/// Little-endian writing through one fixed buffer; long runs bypass the buffer and go straight from where they lie.
///
/// The first failure of the output sticks: later writes do nothing, and `finish()` throws it. So the code that lays out a
/// file needs no `try` at each field.
public struct ByteWriter: ~Copyable {
  /// Bytes written so far: the offset of the next one.
  public private(set) var position = 0
  private var buffer: [UInt8]
  private var used = 0
  /// Nil if this writer only measures.
  private let output: (any ByteOutput)?
  private var failure: (any Error)?

  /// Runs of at least this many bytes are not copied into the buffer.
  private static let bypass = 32 * 1024
  private static let capacity = 128 * 1024

  public init(to output: any ByteOutput) {
    self.output = output
    buffer = [UInt8](repeating: 0, count: Self.capacity)
  }

  private init() {
    output = nil
    buffer = []
  }

  /// How many bytes `body` writes. Nothing is written, and fields cost next to nothing.
  public static func measure(_ body: (inout ByteWriter) -> Void) -> Int {
    var writer = ByteWriter()
    body(&writer)
    return writer.position
  }

  /// Empties the buffer. Throws the first failure that the output had.
  public mutating func finish() throws {
    flush()
    if let failure { throw failure }
  }

  private mutating func flush() {
    if let output, used > 0, failure == nil {
      do { try unsafe output.write(buffer.span.bytes.extracting(0..<used)) } catch { failure = error }
    }
    used = 0
  }

  @inline(__always)
  private mutating func reserve(_ count: Int) {
    if used + count > Self.capacity { flush() }
  }

  @inline(__always)
  private mutating func store<T: FixedWidthInteger & BitwiseCopyable>(_ value: T) {
    position += MemoryLayout<T>.size
    if output == nil { return }
    reserve(MemoryLayout<T>.size)
    let place = used
    var span = buffer.mutableSpan
    var bytes = unsafe span.mutableBytes
    bytes.storeBytes(of: value, toByteOffset: place, as: T.self)
    used += MemoryLayout<T>.size
  }

  public mutating func uint8(_ value: UInt8) { store(value) }
  public mutating func uint16(_ value: UInt16) { store(value.littleEndian) }
  public mutating func uint32(_ value: UInt32) { store(value.littleEndian) }
  public mutating func uint64(_ value: UInt64) { store(value.littleEndian) }
  public mutating func int32(_ value: Int32) { store(UInt32(bitPattern: value).littleEndian) }

  /// `count` zero bytes.
  public mutating func zeros(_ count: Int) {
    position += count
    if output == nil { return }
    var left = count
    while left > 0 {
      reserve(1)
      let step = min(left, Self.capacity - used)
      let range = used..<used + step
      var span = buffer.mutableSpan
      for index in range { span[index] = 0 }
      used += step
      left -= step
    }
  }

  /// Zero bytes up to the next multiple of `alignment`, a power of two.
  public mutating func align(to alignment: Int) {
    let padding = -position & (alignment - 1)
    if padding > 0 { zeros(padding) }
  }

  public mutating func bytes(_ bytes: RawSpan) {
    let count = bytes.byteCount
    position += count
    guard let output else { return }
    if count >= Self.bypass {
      flush()
      if failure == nil {
        do { try output.write(bytes) } catch { failure = error }
      }
      return
    }
    reserve(count)
    let place = used
    var span = buffer.mutableSpan
    var target = unsafe span.mutableBytes
    var index = 0
    while index + 8 <= count {
      unsafe target.storeBytes(
        of: bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self), toByteOffset: place + index, as: UInt64.self)
      index += 8
    }
    while index < count {
      target.storeBytes(of: bytes.uint8(at: index), toByteOffset: place + index, as: UInt8.self)
      index += 1
    }
    used += count
  }

  public mutating func bytes(_ array: [UInt8]) { unsafe bytes(array.span.bytes) }
}
