// SPDX-License-Identifier: Apache-2.0
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

extension DecompressionFailure: CustomStringConvertible {
  /// The rest of a sentence that begins with "The file is compressed and".
  public var description: String {
    switch self {
    case .unsupported: "can't be decompressed here"
    case .damaged: "damaged"
    case .cut: "ends early"
    case .tooLarge: "holds more than \(InputFile.pipeLimit) bytes"
    case .bomb: "holds more than any dump does"
    }
  }
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
    } while compression != .deflate && Compression.of(bytes.extracting(offset..<bytes.byteCount)) == compression
  }
}
