// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
internal import SystemPackage

/// The entries of a directory: those on the disk, or those that it would have after a change.
protocol FolderView {
  func forEachName(_ body: (FileName) throws(FileFailure) -> Void) throws(FileFailure)
  func status(_ name: FileName) throws(FileFailure) -> FileStatus?
  /// Opens a file for reading. Returns nil if the directory has no such file.
  func openIfPresent(_ name: FileName) throws(FileFailure) -> OpenFile?
}

extension Folder: FolderView {
  func openIfPresent(_ name: FileName) throws(FileFailure) -> OpenFile? { try openIfPresent(name, .read) }
}

extension FileFailure {
  /// Whether a file could not be opened because its name is that of a link, a directory or another entry.
  var isNotAFile: Bool { [.invalidArgument, .tooManySymbolicLinkLevels, .isDirectory].contains(errno) }
  /// Whether a directory could not be opened because its name is that of a link, a file or another entry.
  var isNotADirectory: Bool { [.notDirectory, .tooManySymbolicLinkLevels].contains(errno) }
}
