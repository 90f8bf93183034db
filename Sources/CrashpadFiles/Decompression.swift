internal import CCrashpadUnpack

/// The compression of a file.
package enum Compression: String, Sendable {
  case gzip
  case xz
  case zstd
  /// A member of a zip archive.
  case deflate
  /// Recognized by its first bytes, but not supported.
  case lz4

  /// The compression of a file that begins with `bytes`; nil if there is none.
  package static func of(_ bytes: RawSpan) -> Compression? {
    if begins(bytes, [0x28, 0xb5, 0x2f, 0xfd]) { return .zstd }
    if begins(bytes, [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]) { return .xz }
    if begins(bytes, [0x1f, 0x8b, 0x08]) { return .gzip }
    return begins(bytes, [0x04, 0x22, 0x4d, 0x18]) ? .lz4 : nil
  }

  private static func begins(_ bytes: RawSpan, _ start: [UInt8]) -> Bool {
    guard bytes.byteCount >= start.count else { return false }
    for (index, byte) in start.enumerated()
    where unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self) != byte { return false }
    return true
  }

  fileprivate var form: unpack_form? {
    switch self {
    case .gzip: UNPACK_GZIP
    case .xz: UNPACK_XZ
    case .zstd: UNPACK_ZSTD
    case .deflate: UNPACK_DEFLATE
    case .lz4: nil
    }
  }
}

/// The reason why compressed content can't be read.
public enum DecompressionFailure: Error, Equatable, Sendable {
  /// There is no decompressor for it, or its library is not installed.
  case unsupported
  /// The stream is invalid from some place on.
  case damaged
  /// The stream is incomplete.
  case cut
  /// The result is larger than `InputFile.pipeLimit` in bytes.
  case tooLarge
  /// The result is so much larger than the file that this is no real file.
  case bomb
}

/// Decompresses whole files, with limits on the result.
package enum Decompression {
  /// A file that becomes larger than this and grows by more than `largestRatio` is refused. A core of 1 GiB that is
  /// zero except for a few pages reaches 1,000 with gzip.
  package static let unsuspiciousSize = 64 << 20
  package static let largestRatio = 10_000

  private static let blockSize = 256 << 10

  /// Decompresses all `bytes` of `file`; the result has the file's permissions. Throws `Failure`, or
  /// `SpoolFile.Failure` and `Errno` for a result that does not fit into memory.
  package static func unpack(_ bytes: RawSpan, _ compression: Compression, like file: InputFile) throws -> InputFile {
    var small: [UInt8] = []
    var spool: SpoolFile?
    try run(bytes, compression) { block, total in
      guard total <= InputFile.pipeLimit else { throw DecompressionFailure.tooLarge }
      guard total <= unsuspiciousSize || total / max(bytes.byteCount, 1) <= largestRatio else {
        throw DecompressionFailure.bomb
      }
      if let spool {
        try spool.write(block)
      } else {
        small.append(contentsOf: unsafe block.withUnsafeBytes { unsafe Array($0) })
        if small.count > InputFile.spoolThreshold, InputFile.usesTemporaryFiles {
          let file = try SpoolFile()
          try unsafe file.write(small.span.bytes)
          spool = file
          small = []
        }
      }
      return true
    }
    return try spool?.input(like: file) ?? InputFile(bytes: small, like: file)
  }

  /// Decompresses the first `count` bytes, or fewer; errors after them are not found.
  package static func start(of bytes: RawSpan, _ compression: Compression, count: Int) throws -> [UInt8] {
    var start: [UInt8] = []
    try run(bytes, compression) { block, _ in
      start.append(contentsOf: unsafe block.withUnsafeBytes { unsafe Array($0.prefix(count - start.count)) })
      return start.count < count
    }
    return start
  }

  /// Calls `take` with every block and the number of bytes so far, until that returns false.
  private static func run(
    _ bytes: RawSpan, _ compression: Compression, _ take: (RawSpan, Int) throws -> Bool
  ) throws {
    guard let form = compression.form else { throw DecompressionFailure.unsupported }
    var offset = 0
    var total = 0
    var block = [UInt8](repeating: 0, count: blockSize)
    // Concatenated compressed files are one file.
    repeat {
      guard let stream = unsafe unpack_begin(form) else { throw DecompressionFailure.unsupported }
      defer { unsafe unpack_end(stream) }
      var result = UNPACK_MORE
      while result == UNPACK_MORE {
        var (taken, filled) = (0, 0)
        result = unsafe bytes.extracting(offset..<bytes.byteCount).withUnsafeBytes { source in
          unsafe block.withUnsafeMutableBufferPointer { target in
            unsafe unpack_step(
              stream, source.bindMemory(to: UInt8.self).baseAddress, source.count, &taken, target.baseAddress!,
              target.count, &filled)
          }
        }
        offset += taken
        total += filled
        if filled > 0, try unsafe !take(block.span.bytes.extracting(0..<filled), total) { return }
        if result == UNPACK_DAMAGED { throw DecompressionFailure.damaged }
        if result == UNPACK_MORE, taken == 0, filled == 0 {
          throw offset == bytes.byteCount ? DecompressionFailure.cut : DecompressionFailure.damaged
        }
      }
    } while compression != .deflate && Compression.of(bytes.extracting(offset..<bytes.byteCount)) == compression
  }
}
