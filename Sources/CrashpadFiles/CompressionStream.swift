// SPDX-License-Identifier: Apache-2.0
internal import CCrashpadCompression
internal import CrashpadBytes

/// A format of compressed bytes.
package enum Compression: String, Sendable {
  case gzip
  case xz
  case zstd
  /// A compressed section of an ELF file.
  case zlib
  /// A member of a zip archive.
  case deflate
  /// Recognized by its first bytes, but not supported.
  case lz4

  /// The compression of a file that begins with `bytes`; nil if there is none.
  package static func of(_ bytes: RawSpan) -> Compression? {
    if begins(bytes, [0x28, 0xb5, 0x2f, 0xfd]) || beginsWithSkippedFrame(bytes) { return .zstd }
    if begins(bytes, [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]) { return .xz }
    if begins(bytes, [0x1f, 0x8b, 0x08]) { return .gzip }
    return begins(bytes, [0x04, 0x22, 0x4d, 0x18]) ? .lz4 : nil
  }

  /// Whether a frame without content comes first, as pzstd writes it before each of its frames. lz4 may have such frames, too,
  /// but no program begins with one.
  private static func beginsWithSkippedFrame(_ bytes: RawSpan) -> Bool {
    bytes.byteCount >= 8 && bytes.uint8(at: 0) & 0xf0 == 0x50 && bytes.uint8(at: 1) == 0x2a
      && bytes.uint8(at: 2) == 0x4d && bytes.uint8(at: 3) == 0x18
  }

  /// The place after the zeros that may follow a stream: in xz, four or a multiple of four.
  func end(ofPaddingAt start: Int, in bytes: RawSpan) -> Int {
    guard self == .xz else { return start }
    var end = start
    while end + 4 <= bytes.byteCount, (end..<end + 4).allSatisfy({ bytes.uint8(at: $0) == 0 }) { end += 4 }
    return end
  }

  /// Whether other bytes may follow the last stream. Behind gzip's there are those with which a tape or a signature fills up, and
  /// gzip(1) leaves them out, too.
  var mayHaveRest: Bool { self == .gzip }

  private static func begins(_ bytes: RawSpan, _ start: [UInt8]) -> Bool {
    guard bytes.byteCount >= start.count else { return false }
    for (index, byte) in start.enumerated()
    where bytes.uint8(at: index) != byte { return false }
    return true
  }

  fileprivate var form: compression_form? {
    switch self {
    case .gzip: COMPRESSION_FROM_GZIP
    case .xz: COMPRESSION_FROM_XZ
    case .zstd: COMPRESSION_FROM_ZSTD
    case .zlib: COMPRESSION_FROM_ZLIB
    case .deflate: COMPRESSION_FROM_DEFLATE
    case .lz4: nil
    }
  }
}

/// Decompresses one stream of bytes piece by piece, or compresses streams one after the other.
@safe
package final class CompressionStream {
  package struct Step {
    /// The numbers of input bytes consumed and of output bytes written.
    package let taken: Int
    package let filled: Int
    /// Whether the stream ended; more may follow it in the input.
    package let isEnd: Bool
    /// Whether the input is not a valid stream, or needs more memory than is allowed.
    package let isDamaged: Bool
  }

  private let stream: OpaquePointer

  private init?(_ form: compression_form) {
    guard let stream = unsafe compression_begin(form) else { return nil }
    unsafe self.stream = stream
  }

  /// Begins to decompress. Nil if the format is not supported, its library is not installed, or memory is exhausted.
  package convenience init?(decompressing compression: Compression) {
    guard let form = compression.form else { return nil }
    self.init(form)
  }

  /// Begins to compress in the gzip format (RFC 1952). Nil if zlib is not installed, or memory is exhausted.
  package static func gzip() -> CompressionStream? { CompressionStream(COMPRESSION_TO_GZIP) }

  deinit { unsafe compression_end(stream) }

  /// Begins a new stream with the same tables; only for compressing.
  package func reset() { unsafe compression_reset(stream) }

  /// All bytes as one stream, only for compressing; nil if memory is exhausted.
  package func compressed(_ bytes: RawSpan) -> [UInt8]? {
    var result: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 256 << 10)
    var taken = 0
    while true {
      let rest = bytes.extracting(taken..<bytes.byteCount)
      let step = unsafe block.withUnsafeMutableBytes { buffer in
        var output = unsafe MutableRawSpan(_unsafeBytes: buffer)
        return self.step(rest, isLast: true, into: &output)
      }
      guard !step.isDamaged, step.isEnd || step.taken > 0 || step.filled > 0 else { return nil }
      taken += step.taken
      result += block[..<step.filled]
      if step.isEnd { return result }
    }
  }

  /// - Parameters:
  ///   - input: the next bytes of the stream.
  ///   - isLast: whether a stream that is compressed ends after them.
  ///   - output: receives the result.
  package func step(_ input: RawSpan, isLast: Bool = false, into output: inout MutableRawSpan) -> Step {
    var (taken, filled) = (0, 0)
    let result = unsafe input.withUnsafeBytes { input in
      unsafe output.withUnsafeMutableBytes { output in
        unsafe compression_step(
          stream, input.bindMemory(to: UInt8.self).baseAddress, input.count, isLast, &taken,
          output.bindMemory(to: UInt8.self).baseAddress, output.count, &filled)
      }
    }
    return Step(
      taken: taken, filled: filled, isEnd: result == COMPRESSION_END, isDamaged: result == COMPRESSION_DAMAGED)
  }
}
