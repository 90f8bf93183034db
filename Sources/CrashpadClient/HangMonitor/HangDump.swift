// SPDX-License-Identifier: Apache-2.0
internal import CCrashCapture
internal import CrashpadDatabase
internal import CrashpadFiles
internal import CrashpadSnapshot
internal import SystemPackage

/// The dump of a current hang: a pending dump whose name ends with `.locked`, held by this process's open-file-description
/// lock. No program treats it as abandoned while the process lives; when it dies, the kernel releases the lock, and the next
/// start of the program, or any program that processes the database a day later, makes it pending.
struct HangDump: Sendable {
  let path: FilePath
  private let folder: Folder
  private let name: FileName
  private let file: OpenFile

  /// Writes the dump under a hidden name, takes the lock, and then renames it.
  static func write(_ running: CrashpadClient.Running) throws -> HangDump {
    let folder = running.pendingDumps
    let text = "\(running.programID)@\(UUIDBytes.random().text)"
    guard let hidden = FileName("." + text), let name = FileName(text + DatabaseLayout.lockedExtension) else {
      throw FileFailure(folder.path, .invalidArgument)
    }
    try CrashpadClient.dump(to: folder.path.appending(hidden), for: crash_capture_find_caller())
    let file = try folder.open(hidden, .readAndWrite)
    _ = file.takeOwnership()
    try folder.moveWithoutReplacing(hidden, to: folder, as: name)
    return HangDump(path: folder.path.appending(name), folder: folder, name: name, file: file)
  }

  /// Removes the dump at the end of the hang. On a file system without locks, another program may have made it pending:
  /// then it stays.
  func discard() {
    do { if try isCurrent { try folder.remove(name) } } catch {}
  }

  /// Makes the dump pending.
  ///
  /// - Returns: the path of the pending dump.
  func keep() throws(FileFailure) -> FilePath {
    guard let pending = name.removing(suffix: DatabaseLayout.lockedExtension) else { return path }
    if try isCurrent { try folder.moveWithoutReplacing(name, to: folder, as: pending) }
    return folder.path.appending(pending)
  }

  private var isCurrent: Bool {
    get throws(FileFailure) { try folder.status(name)?.isSameFile(as: file.status()) ?? false }
  }
}
