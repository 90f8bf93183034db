// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import SystemPackage

/// The file to which a path leads, whatever the path: two paths of one file have the same identity.
package struct InputIdentity: Sendable, Hashable {
  private let device: UInt64
  private let inode: UInt64
  /// The names below the file, such as a member of an archive.
  private let part: FilePath

  /// Follows symbolic links. Nil if there is no such file, or if it is not a regular one: a pipe is read once per name.
  package init?(at path: FilePath) {
    var status = stat()
    var file = path
    var names: [FilePath.Component] = []
    while unsafe file.withPlatformString({ unsafe stat($0, &status) }) != 0 {
      guard errno == ENOTDIR, let name = file.lastComponent, file.removeLastComponent() else { return nil }
      names.insert(name, at: 0)
    }
    guard status.st_mode & S_IFMT == S_IFREG else { return nil }
    (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
    // Without names this would take a tenth of the instructions of a start.
    part = names.isEmpty ? FilePath() : FilePath(root: nil, names)
  }

  /// Whether both are the same file, or parts of one.
  package func isOfFile(of other: InputIdentity) -> Bool { (device, inode) == (other.device, other.inode) }
}
