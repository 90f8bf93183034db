// SPDX-License-Identifier: Apache-2.0
package import CrashpadFiles
internal import Glibc
internal import Synchronization
package import SystemPackage

/// The files that were opened for the symbols of one module. Thread-safe.
package final class SymbolInputs: Sendable {
  /// A file that became shorter while it was read, or whose disk can't be read.
  package struct NotWhole: Error { package let path: FilePath }

  /// The files whose reading may still fail.
  private let files = Mutex<[(path: FilePath, input: InputFile)]>([])

  package init() {}

  /// A compressed file that can't be decompressed.
  package struct Compressed: Error {
    package let compression: String
    package let reason: DecompressionFailure
  }

  /// Opens a regular file; of a compressed one, what it holds. Throws `Errno`, `InputFile.NotReadable` or `Compressed`.
  func open(_ path: FilePath) throws -> InputFile {
    let input = try InputFile(regular: path)
    if input.isGuarded { files.withLock { $0.append((path, input)) } }
    guard let compression = Self.compression(of: input) else { return input }
    return try Self.decompressing(compression, input) { try Decompression.unpack($0, compression, like: input) }
  }

  /// The first bytes of a regular file; of a compressed one, those of what it holds. Throws as `open`.
  static func start(of path: FilePath, count: Int) throws -> [UInt8] {
    // The start of a FIFO would be empty, and taken for that of a file in no known format.
    guard case .regular = try FileKind(at: path, followingLink: true) else {
      throw InputFile.NotReadable(reason: .notAFile)
    }
    let start = try InputFile.prefix(of: path, count: count)
    guard let compression = unsafe Compression.of(start.span.bytes) else { return start }
    let input = try InputFile(regular: path)
    return try decompressing(compression, input) { try Decompression.start(of: $0, compression, count: count) }
  }

  private static func compression(of input: InputFile) -> Compression? { input.withBytes { Compression.of($0) } }

  private static func decompressing<Value>(
    _ compression: Compression, _ input: InputFile, _ body: (RawSpan) throws -> Value
  ) throws -> Value {
    try input.checkingReading {
      do { return try input.withBytes(body) } catch let reason as DecompressionFailure {
        throw Compressed(compression: compression.rawValue, reason: reason)
      }
    }
  }

  /// The files of which some bytes could not be read.
  package var notWhole: [FilePath] { files.withLock { $0.filter(\.input.hasFailed).map(\.path) } }

  /// Whether results may rest on bytes that could not be read.
  var hasFailed: Bool { files.withLock { $0.contains(where: \.input.hasFailed) } }

  /// Throws `NotWhole` if results may rest on bytes that could not be read; `InputFile.NotReadable` if these are of the
  /// file at `own`.
  package func checkReading(of own: FilePath? = nil) throws {
    let paths = notWhole
    if let own, paths.contains(own) { throw InputFile.NotReadable(reason: .unreadable) }
    if let path = paths.first { throw NotWhole(path: path) }
  }
}

/// The path without symbolic links; nil if the file is gone.
func realPath(_ path: FilePath) -> FilePath? {
  guard let real = unsafe path.withPlatformString({ unsafe realpath($0, nil) }) else { return nil }
  defer { unsafe free(real) }
  return unsafe FilePath(platformString: real)
}
