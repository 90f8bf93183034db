// SPDX-License-Identifier: Apache-2.0

/// Decompresses whole files, with limits on the result.
package enum Decompression {
  /// A file that becomes larger than this and grows by more than `largestRatio` is refused. A core of 1 GiB that is
  /// zero except for a few pages reaches 1,000 with gzip.
  package static let unsuspiciousSize = 64 << 20
  package static let largestRatio = 10_000
  /// In bytes, of one that is only passed through.
  private static let largestStream = 64 << 30

  private static let blockSize = 256 << 10

  /// Decompresses all `bytes` of `file`; the result has the file's permissions. Throws `Failure`, or
  /// `SpoolFile.Failure` and `Errno` for a result that does not fit into memory.
  package static func unpack(_ bytes: RawSpan, _ compression: Compression, like file: InputFile) throws -> InputFile {
    let result = UnpackedBytes()
    try run(bytes, compression) { block, total in
      try result.append(block)
      return try check(total, of: bytes)
    }
    return try result.input(like: file)
  }

  /// Calls `take` with all that `bytes` hold, block by block. Throws `DecompressionFailure` and the errors of `take`.
  ///
  /// - Parameter largestRatio: the most by which a file grows that becomes larger than `unsuspiciousSize`.
  package static func forEachBlock(
    of bytes: RawSpan, _ compression: Compression, largestRatio: Int = largestRatio, _ take: (RawSpan) throws -> Void
  ) throws {
    try run(bytes, compression) { block, total in
      try take(block)
      guard total <= largestStream else { throw DecompressionFailure.bomb }
      return try check(total, of: bytes, largestRatio)
    }
  }

  private static func check(
    _ total: Int, of bytes: RawSpan, _ largestRatio: Int = largestRatio
  ) throws(DecompressionFailure) -> Bool {
    guard total <= unsuspiciousSize || total / max(bytes.byteCount, 1) <= largestRatio else { throw .bomb }
    return true
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

  /// Decompresses `bytes` into all of `output`. Returns false if they are not a stream of exactly that size, or the
  /// library is missing.
  package static func fill(_ output: inout MutableRawSpan, from bytes: RawSpan, _ compression: Compression) -> Bool {
    guard let stream = CompressionStream(decompressing: compression) else { return false }
    var (offset, total) = (0, 0)
    while true {
      var rest = output._mutatingExtracting(droppingFirst: total)
      let step = stream.step(bytes.extracting(offset..<bytes.byteCount), into: &rest)
      offset += step.taken
      total += step.filled
      // A section may consist of several frames of zstd.
      if step.isEnd, compression != .zstd || offset == bytes.byteCount { return total == output.byteCount }
      if step.isDamaged || (step.taken == 0 && step.filled == 0) { return false }
    }
  }

  /// Calls `take` with every block and the number of bytes so far, until that returns false.
  private static func run(
    _ bytes: RawSpan, _ compression: Compression, _ take: (RawSpan, Int) throws -> Bool
  ) throws {
    var offset = 0
    var total = 0
    var block = [UInt8](repeating: 0, count: blockSize)
    // Concatenated compressed files are one file.
    repeat {
      guard let stream = CompressionStream(decompressing: compression) else { throw DecompressionFailure.unsupported }
      var isEnd = false
      while !isEnd {
        var output = block.mutableSpan
        var target = unsafe output.mutableBytes
        let step = stream.step(bytes.extracting(offset..<bytes.byteCount), into: &target)
        offset += step.taken
        total += step.filled
        isEnd = step.isEnd
        if step.filled > 0, try unsafe !take(block.span.bytes.extracting(0..<step.filled), total) { return }
        if step.isDamaged { throw DecompressionFailure.damaged }
        if !isEnd, step.taken == 0, step.filled == 0 {
          throw offset == bytes.byteCount ? DecompressionFailure.cut : DecompressionFailure.damaged
        }
      }
      offset = compression.end(ofPaddingAt: offset, in: bytes)
      if compression == .deflate || offset == bytes.byteCount { return }
      if Compression.of(bytes.extracting(offset..<bytes.byteCount)) != compression {
        // Without what follows, the file would pass for a shorter one.
        guard compression.mayHaveRest else { throw DecompressionFailure.damaged }
        return
      }
    } while true
  }
}
