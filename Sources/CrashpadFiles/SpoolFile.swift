// SPDX-License-Identifier: Apache-2.0
internal import CCrashpadLinux
internal import Glibc
package import SystemPackage

/// A file without a name, for an input that can be read only once and is too large for memory. It disappears with this
/// object.
package final class SpoolFile {
  /// There is no directory for it, or the disk is full.
  package struct Failure: Error {
    package let folder: FilePath
    package let errno: Errno

    package init(folder: FilePath, errno: Errno) {
      self.folder = folder
      self.errno = errno
    }
  }

  private let folder: FilePath
  private let descriptor: FileDescriptor
  /// In bytes.
  package private(set) var size = 0

  /// Makes the file in `$TMPDIR`, or else in /var/tmp or /tmp. Throws `Failure`.
  package init() throws(Failure) {
    var folders = [FilePath("/var/tmp"), FilePath("/tmp")]
    if let variable = unsafe getenv("TMPDIR"), unsafe variable.pointee != 0 {
      folders.insert(unsafe FilePath(platformString: variable), at: 0)
    }
    var failure = Failure(folder: folders[0], errno: .noSuchFileOrDirectory)
    for folder in folders {
      let number = Self.open(in: folder)
      if number >= 0 {
        self.folder = folder
        descriptor = FileDescriptor(rawValue: number)
        return
      }
      if folder == folders[0] { failure = Failure(folder: folder, errno: Errno(rawValue: errno)) }
    }
    throw failure
  }

  deinit { try? descriptor.close() }

  private static func open(in folder: FilePath) -> Int32 {
    var name = Array(folder.appending("crashpadctl-XXXXXX").bytes.map { CChar(bitPattern: $0) }) + [0]
    let number = unsafe mkostemp(&name, O_CLOEXEC)
    if number >= 0 { unsafe _ = unlink(name) }
    return number
  }

  /// Writes all bytes at the end. Throws `Failure`.
  package func write(_ bytes: RawSpan) throws(Failure) {
    do { try writeAll(bytes, to: descriptor) } catch {
      throw Failure(folder: folder, errno: error as? Errno ?? .ioError)
    }
    size += bytes.byteCount
  }

  /// Maps all written bytes. Throws `Errno`.
  func map() throws -> UnsafeRawBufferPointer { try unsafe InputFile.map(descriptor, size) }

  /// All written bytes as an input. Throws `Errno`.
  package func input() throws -> InputFile { try input(like: nil) }

  /// - Parameter other: the input whose bytes were written in another form, and whose permissions apply.
  func input(like other: InputFile?) throws -> InputFile {
    // A small file is read, from the end of the last write.
    _ = try descriptor.seek(offset: 0, from: .start)
    return try InputFile(descriptor, like: other)
  }
}
