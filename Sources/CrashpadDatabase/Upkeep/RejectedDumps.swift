// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles

/// A rejected dump, with its reason if there is one.
struct RejectedDump {
  /// The size in bytes, with the reason.
  let size: UInt64
  /// The dump's own time is that of the crash; the reason's time is that of the rejection. In seconds since 1970.
  let since: Int64
  let reason: FileName?

  /// Returns nil if `name` is not a file.
  init?(_ name: FileName, in folder: Folder) throws(FileFailure) {
    guard let dump = try folder.status(name), dump.kind == .regular else { return nil }
    let size = UInt64(clamping: dump.size)
    let reasonName = name.appending(DatabaseLayout.reasonExtension)
    // The name may be too long for the extension of a reason.
    guard reasonName.bytes.count <= 255, let reason = try folder.status(reasonName), reason.kind == .regular else {
      (self.size, since, self.reason) = (size, dump.modified, nil)
      return
    }
    self.size = size.saturatingSum(UInt64(clamping: reason.size))
    since = max(dump.modified, reason.modified)
    self.reason = reasonName
  }
}

extension CrashDatabase {
  /// The dumps in `rejected/` whose time of rejection, in seconds since 1970, `isChosen`.
  func rejectedLeftovers(_ isChosen: (Int64) -> Bool) -> Leftovers {
    var leftovers = Leftovers()
    do {
      guard let folder = try folder(DatabaseLayout.rejected) else { return leftovers }
      let names = try folder.names().sorted()
      let present = Set(names)
      for name in names where !name.hasPrefix(".") {
        // A reason is removed with its dump; without one it is treated like a dump.
        if let dump = name.removing(suffix: DatabaseLayout.reasonExtension), present.contains(dump),
          !present.contains(name.appending(DatabaseLayout.reasonExtension))
        {
          continue
        }
        do {
          guard let dump = try RejectedDump(name, in: folder), isChosen(dump.since) else { continue }
          leftovers.found.append(
            Leftover(.rejectedDump, [DatabaseLayout.rejected, name], size: dump.size, since: dump.since))
        } catch { leftovers.failures.append(error) }
      }
    } catch { leftovers.failures.append(error) }
    return leftovers
  }
}
