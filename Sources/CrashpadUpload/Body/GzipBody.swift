internal import CCrashpadGzip
internal import CrashpadFiles
internal import Glibc

/// The system's zlib, loaded when the first report is compressed.
@safe
private struct GzipLibrary: Sendable {
  static let fileName = "libz.so.1"
  /// Nil if the system has no zlib. The library is never unloaded, and neither are its streams.
  static let shared = GzipLibrary()

  let begin: gzip_begin_function
  let compress: gzip_compress_function
  let reset: gzip_stream_function
  let end: gzip_stream_function

  private init?() {
    guard let library = unsafe dlopen(Self.fileName, RTLD_NOW | RTLD_LOCAL),
      let begin = unsafe dlsym(library, "deflateInit2_"), let compress = unsafe dlsym(library, "deflate"),
      let reset = unsafe dlsym(library, "deflateReset"), let end = unsafe dlsym(library, "deflateEnd")
    else { return nil }
    unsafe self.begin = unsafeBitCast(begin, to: gzip_begin_function.self)
    unsafe self.compress = unsafeBitCast(compress, to: gzip_compress_function.self)
    unsafe self.reset = unsafeBitCast(reset, to: gzip_stream_function.self)
    unsafe self.end = unsafeBitCast(end, to: gzip_stream_function.self)
  }
}

/// Compresses bodies one after the other in the gzip format (RFC 1952).
///
/// Its tables of 260 KiB are allocated once for all bodies.
@safe
final class GzipCompressor {
  private let library: GzipLibrary
  private let stream: UnsafeMutablePointer<gzip_stream>

  /// Nil if the system has no zlib or no memory for its tables; bodies are then sent uncompressed.
  init?() {
    guard let library = GzipLibrary.shared else { return nil }
    self.library = library
    unsafe stream = .allocate(capacity: 1)
    unsafe stream.initialize(to: gzip_stream())
    guard unsafe gzip_begin(library.begin, stream) == GZIP_OK else {
      unsafe stream.deallocate()
      return nil
    }
  }

  deinit {
    unsafe _ = library.end(stream)
    unsafe stream.deallocate()
  }

  func reset() { unsafe _ = library.reset(stream) }

  /// Compresses `input` into `output`.
  ///
  /// - Returns: the number of input bytes consumed, the number of output bytes written, and whether the stream ended.
  func compress(_ input: RawSpan, isLast: Bool, into output: inout MutableRawSpan) -> (
    taken: Int, filled: Int, end: Bool
  ) {
    unsafe input.withUnsafeBytes { input in
      unsafe output.withUnsafeMutableBytes { output in
        unsafe stream.pointee.next_in = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        unsafe stream.pointee.avail_in = UInt32(input.count)
        unsafe stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        unsafe stream.pointee.avail_out = UInt32(output.count)
        let result = unsafe library.compress(stream, Int32(isLast ? GZIP_FINISH : GZIP_NO_FLUSH))
        return unsafe (
          input.count - Int(stream.pointee.avail_in), output.count - Int(stream.pointee.avail_out),
          result == GZIP_STREAM_END
        )
      }
    }
  }
}

/// A body that is compressed while it is read. Its length is not known in advance.
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
