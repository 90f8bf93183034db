// SPDX-License-Identifier: Apache-2.0
import Foundation
import SystemPackage
import ToolRunner

@testable import CrashpadDatabase

/// A database directory whose files a test writes.
final class DatabaseFiles: Sendable {
  let folder: TemporaryFolder
  let database: CrashDatabase

  init() throws {
    folder = try TemporaryFolder()
    for name in ["new", "pending", "completed", "attachments"] {
      try FileManager.default.createDirectory(
        at: folder.url("db/\(name)"), withIntermediateDirectories: true)
    }
    database = try CrashDatabase(FilePath(folder.url("db").path))
  }

  func url(_ name: String) -> URL { folder.url("db/\(name)") }

  /// - Parameter modified: in seconds since 1970; nil for now.
  func write(_ name: String, _ bytes: [UInt8], modified: Int? = nil) throws {
    try folder.write(bytes, to: "db/\(name)")
    if let modified { try touch(name, modified) }
  }

  func write(_ name: String, bytes: Int, modified: Int? = nil) throws {
    try write(name, [UInt8](repeating: 1, count: bytes), modified: modified)
  }

  func touch(_ name: String, _ modified: Int) throws {
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: Double(modified))], ofItemAtPath: url(name).path)
  }

  /// A report with metadata.
  func report(_ id: String, in state: String, created: Int64, bytes: Int = 10, modified: Int? = nil) throws {
    try write("\(state)/\(id).dmp", bytes: bytes, modified: modified)
    try write("\(state)/\(id).meta", ReportMetadata(creationTime: created).bytes)
  }

  /// A lock as Crashpad makes it.
  func lock(_ name: String, time: Int64) throws {
    try write(name, LockContent(time: time, isMarked: false).bytes)
  }

  /// All files and directories, by their paths in the database, sorted.
  func all() throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: url("").path).sorted()
  }
}
