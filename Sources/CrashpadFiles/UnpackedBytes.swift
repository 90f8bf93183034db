// SPDX-License-Identifier: Apache-2.0

/// Bytes that come piece by piece: in memory, or in a file without a name if they are many.
package final class UnpackedBytes {
  private var small: [UInt8] = []
  private var spool: SpoolFile?
  package private(set) var count = 0

  package init() {}

  /// Throws `DecompressionFailure.tooLarge` beyond `InputFile.pipeLimit`, and `SpoolFile.Failure`.
  package func append(_ bytes: RawSpan) throws {
    count += bytes.byteCount
    guard count <= InputFile.pipeLimit else { throw DecompressionFailure.tooLarge }
    if let spool { return try spool.write(bytes) }
    small.append(contentsOf: unsafe bytes.withUnsafeBytes { unsafe Array($0) })
    if small.count > InputFile.spoolThreshold, InputFile.usesTemporaryFiles {
      let file = try SpoolFile()
      let start = small
      try unsafe file.write(start.span.bytes)
      spool = file
      small = []
    }
  }

  /// All bytes, with the permissions of the file from which they were made. Throws `Errno`.
  package func input(like file: InputFile) throws -> InputFile {
    try spool?.input(like: file) ?? InputFile(bytes: small, like: file)
  }
}
