// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import SystemPackage

/// The directories that are searched for programs.
package struct ProgramSearch: Sendable {
  private let folders: [[UInt8]]

  /// The environment's PATH, or the default of execvp(3) without one.
  package init() {
    let text = unsafe getenv("PATH").map { unsafe Array(UnsafeBufferPointer(start: $0, count: strlen($0))) }
    let bytes = text.map { $0.map { UInt8(bitPattern: $0) } } ?? Array("/bin:/usr/bin".utf8)
    folders = bytes.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).map(Array.init)
  }

  /// The possible paths of a program.
  package struct Candidates: Sendable {
    /// The paths to execute, without NUL; in order.
    let paths: [[UInt8]]

    /// The first path to a file that the caller may execute.
    package var executable: FilePath? {
      for path in paths {
        let text = path.map { CChar(bitPattern: $0) } + [0]
        var status = stat()
        guard unsafe stat(text, &status) == 0, status.st_mode & S_IFMT == S_IFREG, unsafe access(text, X_OK) == 0 else {
          continue
        }
        return unsafe text.withUnsafeBufferPointer { unsafe $0.baseAddress.map { unsafe FilePath(platformString: $0) } }
      }
      return nil
    }
  }

  /// A name with a slash is a path.
  package func candidates(_ program: [UInt8]) -> Candidates {
    if program.isEmpty || program.contains(UInt8(ascii: "/")) { return Candidates(paths: [program]) }
    return Candidates(paths: folders.map { $0.isEmpty ? program : $0 + [UInt8(ascii: "/")] + program })
  }
}
