// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles
internal import CrashpadSnapshot
internal import SystemPackage

// Repairs the names of attachment directories, and permissions.
extension RepairPass {
  func repairAttachments(_ faults: [Fault]) {
    for fault in faults {
      guard fault.place.first == DatabaseLayout.attachments, let name = fault.place.last, let id = name.uuid else {
        continue
      }
      trying(fault.path) {
        guard let folder = try database.folder(DatabaseLayout.attachments),
          try folder.status(name)?.kind == .directory, try folder.status(id.stem) == nil
        else { return }
        if session != nil { try folder.moveWithoutReplacing(name, to: folder, as: id.stem) }
        done(.renamed, fault.rule, fault.path, target: [DatabaseLayout.attachments, id.stem].path)
      }
    }
  }

  /// Works from the inside outwards: as long as an outer directory is open to others, a next repair still finds its
  /// entries.
  func repairPermissions(_ faults: [Fault]) {
    for fault in faults.sorted(by: { Self.isInner($0.place, $1.place) }) {
      trying(fault.path) { try repairPermissions(fault) }
    }
  }

  /// Sorts entries by name, but a directory behind its entries.
  private static func isInner(_ a: [FileName], _ b: [FileName]) -> Bool {
    for (a, b) in zip(a, b) where a != b { return a < b }
    return a.count > b.count
  }

  private func repairPermissions(_ fault: Fault) throws {
    var folder = database.root
    func done(_ status: FileStatus, _ set: (UInt32) throws(FileFailure) -> Void) throws(FileFailure) {
      let permissions = status.permissions & 0o700
      if session != nil { try set(permissions) }
      self.done(.setPermissions, fault.rule, fault.path, permissions: permissions)
    }
    guard let name = fault.place.last else { return try done(folder.status(), folder.setPermissions) }
    for name in fault.place.dropLast() {
      guard let inner = try folder.folderIfPresent(name) else { return }
      folder = inner
    }
    guard let status = try folder.status(name) else { return }
    if status.kind == .directory {
      // Foreign directories are left alone.
      guard fault.place.count == 1 || fault.place[0] == DatabaseLayout.attachments else { return }
      return try done(status, folder.folder(name).setPermissions)
    }
    if status.linkCount > 1 { throw FileFailure(folder.path.appending(name), .tooManyLinks) }
    guard let file = try folder.openIfPresent(name) else { return }
    try file.checkLinks()
    try done(status, file.setPermissions)
  }
}
