internal import CZlib
internal import FileSystem

/// Compresses bodies, one after the other, in the form of gzip (RFC 1952).
///
/// Its 260 KiB of tables are made once for all of them.
@safe
final class GzipCompressor {
  private let stream: UnsafeMutablePointer<z_stream>

  init() {
    unsafe stream = .allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
    // Fails only without memory.
    precondition(unsafe zlib_begin_gzip(stream, Z_DEFAULT_COMPRESSION) == Z_OK, "zlib has no memory")
  }

  deinit {
    unsafe deflateEnd(stream)
    unsafe stream.deallocate()
  }

  func reset() { unsafe _ = deflateReset(stream) }

  /// Compresses from `input` on into `output`.
  ///
  /// - Returns: how many bytes of the input were taken and of the output filled, and whether it is the end.
  func compress(_ input: RawSpan, isLast: Bool, into output: inout MutableRawSpan) -> (
    taken: Int, filled: Int, end: Bool
  ) {
    unsafe input.withUnsafeBytes { input in
      unsafe output.withUnsafeMutableBytes { output in
        unsafe stream.pointee.next_in = UnsafeMutablePointer(
          mutating: input.baseAddress?.assumingMemoryBound(to: Bytef.self))
        unsafe stream.pointee.avail_in = UInt32(input.count)
        unsafe stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: Bytef.self)
        unsafe stream.pointee.avail_out = UInt32(output.count)
        let result = unsafe deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH)
        return unsafe (
          input.count - Int(stream.pointee.avail_in), output.count - Int(stream.pointee.avail_out),
          result == Z_STREAM_END
        )
      }
    }
  }
}

/// A body that is compressed while it is read. How long it gets, nobody knows before.
@safe
final class GzipBody: RequestBody {
  private let source: any RequestBody
  private let compressor: GzipCompressor
  private let input: UnsafeMutableRawBufferPointer
  private var inputRange = 0..<0
  private var isInputEnd = false
  private var isEnd = false

  init(_ source: any RequestBody, _ compressor: GzipCompressor) {
    self.source = source
    self.compressor = compressor
    unsafe input = .allocate(byteCount: 64 * 1024, alignment: 16)
    compressor.reset()
  }

  deinit { unsafe input.deallocate() }

  var byteCount: Int? { nil }
  var isLarge: Bool { source.isLarge }

  func rewind() {
    source.rewind()
    compressor.reset()
    (inputRange, isInputEnd, isEnd) = (0..<0, false, false)
  }

  func read(into bytes: inout MutableRawSpan) throws(FileFailure) -> Int {
    var filled = 0
    while !isEnd, filled < bytes.byteCount {
      if inputRange.isEmpty, !isInputEnd {
        var span = unsafe MutableRawSpan(_unsafeBytes: input)
        let count = try source.read(into: &span)
        inputRange = 0..<count
        isInputEnd = count == 0
      }
      var rest = bytes._mutatingExtracting(droppingFirst: filled)
      let source = unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(rebasing: input[inputRange]))
      let result = compressor.compress(source, isLast: isInputEnd, into: &rest)
      inputRange = inputRange.lowerBound + result.taken..<inputRange.upperBound
      filled += result.filled
      isEnd = result.end
    }
    return filled
  }
}
