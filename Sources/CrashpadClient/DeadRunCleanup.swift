// SPDX-License-Identifier: Apache-2.0
internal import CrashpadDatabase
internal import CrashpadFiles
internal import Glibc
internal import CrashpadSnapshot
internal import SystemPackage

/// The files of this program's dead runs among the pending dumps: with `.locked`, empty files of runs that did not
/// crash, and dumps of hangs during which a run died; with hidden names, dumps of hangs that were being written.
struct DeadRunCleanup {
  /// Hidden files younger than this, in seconds, are left alone: their writers lock them only a moment after making
  /// them.
  private static let youth: Int64 = 10

  private let database: CrashDatabase
  private let folder: Folder
  private let programID: String

  init(_ database: CrashDatabase, _ pendingDumps: Folder, programID: String) {
    self.database = database
    self.folder = pendingDumps
    self.programID = programID
  }

  /// The dumps with `.locked` whose processes are dead.
  func dumpsOfDead(except names: Set<FileName>) -> [PendingDump] {
    locked().filter { $0.size > 0 && !names.contains($0.name) }
  }

  private func locked() -> [PendingDump] {
    let dumps = hint { try database.pendingDumps().dumps } ?? []
    return dumps.filter { dump in
      dump.isLocked && !dump.isOwned && dump.belongs(to: programID)
        && hint({ try database.open(dump)?.ownership() }) == .free
    }
  }

  /// Makes the dumps of dead runs pending, and removes their empty files. Failures are left to `crashpadctl process`.
  func run() {
    for dump in locked() { _ = try? database.resolveAbandonedDump(dump) }
    for name in hint({ try folder.names() }) ?? [] where name.hasPrefix(".\(programID)@") { show(name) }
  }

  /// Makes a hidden dump pending if its writer is gone.
  private func show(_ name: FileName) {
    // Strips the dot, and the suffix that the handler appends while it writes.
    let visible = PendingDump.uuidEnd(in: name).flatMap { FileName(bytes: Array(name.bytes[1..<$0])) }
    guard let visible, let file = hint({ try folder.openIfPresent(name) }), file.ownership() == .free,
      let status = hint({ try file.status() }), status.size > 0, status.modified <= Int64(time(nil)) - Self.youth
    else { return }
    try? folder.moveWithoutReplacing(name, to: folder, as: visible)
  }
}

extension PendingDump {
  /// The end of the UUID after the last `@` of a name; nil if there is none.
  fileprivate static func uuidEnd(in name: FileName) -> Int? {
    guard let at = name.bytes.lastIndex(of: UInt8(ascii: "@")), name.bytes.count >= at + 37,
      UUIDBytes(text: String(decoding: name.bytes[(at + 1)..<(at + 37)], as: UTF8.self)) != nil
    else { return nil }
    return at + 37
  }
}
