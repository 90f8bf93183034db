// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// The code of databases and locks of files, by whole words of its functions and by its libraries.
enum FileLocks {
  private static let functions = [
    "sqlite3", "flock", "fcntl", "guarded_pwrite_np", "fsync", "pwrite", "NSFileCoordinator",
    "NSPersistentStoreCoordinator",
    "NSPersistentStore", "NSSQLCore", "NSSQLiteConnection", "NSManagedObjectContext", "NSPersistentContainer",
    "FMDatabase", "FMDatabaseQueue", "RLMRealm", "realm::", "GRDB.", "SQLite.", "mdb_txn_commit", "leveldb::",
  ]
  private static let prefixes = ["sqlite3", "fcntl", "mdb_"]
  private static let modules: Set<String> = [
    "libsqlite3.dylib", "SQLite", "GRDB", "Realm", "RealmSwift", "CoreData", "FMDB", "SQLCipher", "libsqlite3.so.0",
  ]

  /// The innermost frame of the thread that is in such code; nil if there is none, or the thread waits for work.
  static func frame(of thread: CrashEvidence.Thread) -> Int? {
    guard !isIdle(thread) else { return nil }
    return thread.frames.firstIndex { frame in
      if frame.module.map(modules.contains) == true { return true }
      guard let function = frame.function, !frame.isMain else { return false }
      let name = function.drop { "+-[_(".contains($0) }
      return prefixes.contains { name.hasPrefix($0) } || functions.contains { function.containsIdentifier($0) }
    }
  }

  /// Whether the thread waits in a run loop or for work. A main thread that waits for another process, such as that of a
  /// file coordinator, has the run loop below it, too.
  private static func isIdle(_ thread: CrashEvidence.Thread) -> Bool {
    guard let leaf = thread.frames.first?.function else { return false }
    return MainThreadWait.isIdle(thread) || leaf.containsBytes("workq_kernreturn")
  }
}
