// SPDX-License-Identifier: Apache-2.0
internal import CCrashpadLinux
import Glibc
package import SystemPackage

/// The room on the file system of a directory, in bytes.
package struct FileSystemRoom: Sendable {
  /// The bytes that this user may still write.
  package let free: UInt64
  package let total: UInt64

  /// Throws `Errno`.
  package init(of directory: FilePath) throws(Errno) {
    var facts = statfs()
    guard unsafe directory.withPlatformString({ unsafe statfs($0, &facts) }) == 0 else { throw Errno(rawValue: errno) }
    let block = UInt64(facts.f_bsize)
    free = UInt64(facts.f_bavail).multipliedReportingOverflow(by: block).partialValue
    total = UInt64(facts.f_blocks).multipliedReportingOverflow(by: block).partialValue
  }
}
