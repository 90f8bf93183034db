internal import CrashpadBytes
internal import CrashpadFiles
internal import CrashpadSnapshot
internal import SystemPackage

// Repairs the names of attachment directories, and permissions.
extension RepairPass {
  func mendAttachments() {
    let folderName = DatabaseLayout.attachments
    guard mends(DatabaseRules.upperCaseName) else { return }
    trying(folderName.text) {
      guard try database.root.status(folderName)?.kind == .directory, let folder = try database.folder(folderName)
      else { return }
      for name in try folder.names().sorted() where name.hasUpperCase {
        guard let id = name.uuid else { continue }
        trying(folderName.text + "/" + name.text) {
          guard try folder.status(name)?.kind == .directory, try folder.status(id.stem) == nil else { return }
          if session != nil { try folder.moveWithoutReplacing(name, to: folder, as: id.stem) }
          done(
            .init(
              action: .renamed, rule: DatabaseRules.upperCaseName, path: folderName.text + "/" + name.text,
              target: folderName.text + "/" + id.text))
        }
      }
    }
  }

  /// Works from the inside outwards: as long as an outer directory is open to others, a next repair still finds its
  /// entries.
  func mendPermissions() {
    trying("") {
      let root = database.root
      let status = try root.status()
      let search = CheckPass.search(status.permissions)
      for name in try root.names().sorted() {
        let path = name.escaped
        trying(path) {
          guard let status = try root.status(name) else { return }
          if status.kind == .directory, DatabaseLayout.all.contains(name) {
            let folder = try root.folder(name)
            try mendPermissions(in: folder, path, search: CheckPass.search(status.permissions, below: search))
            mendPermissions(status, path, search: search, folder.setPermissions)
          } else if name == DatabaseLayout.settings || name.hasPrefix(CrashDatabase.damagedSettings.text) {
            try mendFile(name, in: root, path, search: search)
          }
        }
      }
      mendPermissions(status, "", search: 0o077, root.setPermissions)
    }
  }

  private func mendPermissions(in folder: Folder, _ path: String, search: UInt32) throws {
    if search == 0 { return }
    for name in try folder.names().sorted() where Self.isOurs(name, in: path) {
      let inner = path + "/" + name.escaped
      trying(inner) {
        if path == DatabaseLayout.attachments.text {
          guard name.uuid != nil, let status = try folder.status(name), status.kind == .directory else { return }
          let attachments = try folder.folder(name)
          let search = CheckPass.search(status.permissions, below: search)
          for file in try attachments.names().sorted() {
            if file.mainOfAppleDouble != nil { continue }
            try mendFile(file, in: attachments, inner + "/" + file.escaped, search: search)
          }
          mendPermissions(status, inner, search: search, attachments.setPermissions)
        } else {
          try mendFile(name, in: folder, inner, search: search)
        }
      }
    }
  }

  /// Foreign files are left alone.
  private static func isOurs(_ name: FileName, in folder: String) -> Bool {
    switch folder {
    case DatabaseLayout.pending.text, DatabaseLayout.completed.text:
      [DatabaseLayout.reportExtension, DatabaseLayout.metadataExtension].contains {
        name.removing(suffix: $0)?.uuid != nil
      }
    case DatabaseLayout.pendingDumps.text: !name.hasPrefix(".")
    default: true
    }
  }

  private func mendFile(_ name: FileName, in folder: Folder, _ path: String, search: UInt32) throws {
    guard let status = try folder.status(name), status.kind == .regular, status.permissions & search & 0o066 != 0
    else { return }
    if status.linkCount > 1 {
      return trying(path) { throw FileFailure(folder.path.appending(name), .tooManyLinks) }
    }
    mendPermissions(status, path, search: search) { permissions throws(FileFailure) in
      guard let file = try folder.openIfPresent(name) else { return }
      try file.checkLinks()
      try file.setPermissions(permissions)
    }
  }

  private func mendPermissions(
    _ status: FileStatus, _ path: String, search: UInt32, _ set: (UInt32) throws(FileFailure) -> Void
  ) {
    let bits = status.permissions & search
    guard bits & 0o066 != 0 else { return }
    let rule = bits & 0o022 != 0 ? DatabaseRules.writableByOthers : DatabaseRules.readableByOthers
    guard mends(rule) else { return }
    let permissions = status.permissions & 0o700
    trying(path) {
      if session != nil { try set(permissions) }
      done(.init(action: .setPermissions, rule: rule, path: path, permissions: permissions))
    }
  }
}
