// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import SystemPackage

/// An input that is read once from its beginning to its end, in blocks: a file of any size takes no more memory than a
/// small one. FIFOs and pipes are read too; this waits for their writers.
package final class SequentialInput: Sendable {
  private let descriptor: FileDescriptor
  private let isOwned: Bool

  /// Opens the file at `path`. Throws `Errno`, or `InputFile.NotReadable` for a directory or a device.
  package convenience init(_ path: FilePath) throws {
    let descriptor = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec], retryOnInterrupt: true)
    try self.init(descriptor, isOwned: true)
  }

  /// Standard input.
  package static func standardInput() throws -> SequentialInput { try SequentialInput(.standardInput, isOwned: false) }

  private init(_ descriptor: FileDescriptor, isOwned: Bool) throws {
    self.descriptor = descriptor
    self.isOwned = isOwned
    var status = stat()
    guard unsafe fstat(descriptor.rawValue, &status) == 0 else { throw Errno(rawValue: errno) }
    switch status.st_mode & S_IFMT {
    case S_IFREG, S_IFIFO, S_IFSOCK, S_IFCHR: break
    case S_IFDIR: throw InputFile.NotReadable(reason: .directory)
    default: throw InputFile.NotReadable(reason: .notAFile)
    }
  }

  deinit { if isOwned { try? descriptor.close() } }

  /// Calls `body` with all bytes, a block at a time. Throws `Errno` if reading fails, and errors of `body`.
  ///
  /// - Returns: the number of bytes.
  @discardableResult
  package func forEachBlock(_ body: (RawSpan) throws -> Void) throws -> Int {
    var total = 0
    try descriptor.forEachBlock { block in
      try body(block)
      total += block.byteCount
    }
    return total
  }
}
