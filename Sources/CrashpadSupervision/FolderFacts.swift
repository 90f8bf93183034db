// SPDX-License-Identifier: Apache-2.0
internal import CCrashpadLinux
package import CrashpadFiles
internal import Glibc
package import SystemPackage

/// The abilities of a directory for dumps, as far as the handler needs them.
package struct FolderFacts: Sendable {
  package struct FileSystem: Sendable {
    /// "ext4"; the number of an unknown file system.
    package let name: String
    package let isReadOnly: Bool
    /// The free space for the caller, in bytes.
    package let free: UInt64
    /// The number of files that can be made; nil if there is no such limit.
    package let freeFiles: UInt64?
  }

  package let fileSystem: FileSystem?
  /// Whether a living process can mark its file as its own; nil if no file could be made.
  package let hasOwnerLocks: Bool?
  /// Whether a file can be renamed without replacing another; nil if no file could be made.
  package let hasExclusiveRenaming: Bool?
  /// The reason why no file could be made.
  package let failure: Errno?

  /// Tests a directory by making two files in it, which are removed again.
  ///
  /// - Parameter renames: whether to test renaming; a filter of system calls may end the process for it.
  package init(probing folder: Folder, renames: Bool = true) {
    fileSystem = Self.fileSystem(folder.path)
    let (first, second) = (FileName(literal: "probe"), FileName(literal: "probe-2"))
    defer { for name in [first, second] { _ = try? folder.remove(name) } }
    do throws(FileFailure) {
      let file = try folder.open(first, .create)
      let other = try folder.open(first, .read)
      hasOwnerLocks = file.takeOwnership() == .taken && other.ownership() == .owned
      failure = nil
    } catch {
      hasOwnerLocks = nil
      hasExclusiveRenaming = nil
      failure = error.errno
      return
    }
    guard renames, hint({ try folder.open(second, .create) }) != nil else {
      hasExclusiveRenaming = nil
      return
    }
    do {
      try folder.moveWithoutReplacing(first, to: folder, as: second)
      hasExclusiveRenaming = false
    } catch {
      hasExclusiveRenaming = error.errno == .fileExists
    }
  }

  /// The file system of a path; nil if that can't be read.
  package static func fileSystem(_ path: FilePath) -> FileSystem? {
    var facts = statfs()
    guard unsafe path.withPlatformString({ unsafe statfs($0, &facts) }) == 0 else { return nil }
    let type = UInt32(truncatingIfNeeded: facts.f_type)
    return FileSystem(
      name: names[type] ?? "file system 0x" + String(type, radix: 16), isReadOnly: facts.f_flags & 1 != 0,
      free: UInt64(facts.f_bavail).multipliedReportingOverflow(by: UInt64(facts.f_bsize)).partialValue,
      freeFiles: facts.f_files == 0 ? nil : UInt64(facts.f_ffree))
  }

  /// <linux/magic.h>
  private static let names: [UInt32: String] = [
    0xef53: "ext4", 0x5846_5342: "xfs", 0x9123_683e: "btrfs", 0x0102_1994: "tmpfs", 0x794c_7630: "overlayfs",
    0x6969: "nfs", 0x6573_5546: "fuse", 0x0102_1997: "9p", 0xff53_4d42: "cifs", 0xfe53_4d42: "smb",
    0x2fc1_2fc1: "zfs", 0x8584_58f6: "ramfs", 0xf2f5_2010: "f2fs", 0x7371_7368: "squashfs", 0x00c3_6400: "ceph",
    0xca45_1a4e: "bcachefs", 0xe0f5_e1e2: "erofs",
  ]
}

/// A temporary directory: made in an existing one, and removed with its contents.
package final class TrialFolder {
  package let folder: Folder
  private let parent: Folder
  private let name: FileName

  /// Makes the directory in the first of `places` that exists and allows it; nil if none does.
  package init?(in places: [FilePath]) {
    guard let name = FileName(".crashpadctl-\(String(UInt64.random(in: .min ... .max), radix: 36))") else { return nil }
    for place in places {
      if let parent = hint({ try Folder(place) }), let folder = hint({ try parent.createFolder(ifMissing: name) }) {
        self.folder = folder
        self.parent = parent
        self.name = name
        return
      }
    }
    return nil
  }

  /// The directory that contains it.
  package var place: FilePath { parent.path }

  deinit {
    Self.empty(folder)
    _ = try? parent.removeFolder(name)
  }

  private static func empty(_ folder: Folder) {
    for name in hint({ try folder.names() }) ?? [] {
      if let inner = hint({ try folder.folderIfPresent(name) }) {
        empty(inner)
        _ = try? folder.removeFolder(name)
      } else {
        _ = try? folder.remove(name)
      }
    }
  }
}
