// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SystemPackage
import Testing
import ToolRunner

@testable import CrashpadDatabase
@testable import CrashpadFiles

@Suite("DatabaseFinder")
struct DatabaseFinderTests {
  private let temporary: TemporaryFolder
  private var root: FilePath { FilePath(temporary.work.path) }

  init() throws { temporary = try TemporaryFolder() }

  private func make(_ folder: String) throws {
    try FileManager.default.createDirectory(at: temporary.url(folder), withIntermediateDirectories: true)
  }

  /// The paths of the databases that are found, relative to the folder; and of what is not readable.
  private func find(maximumDepth: Int = 16) throws -> (found: [String], unreadable: [String]) {
    var found: [String] = []
    var unreadable: [String] = []
    try DatabaseFinder(maximumDepth: maximumDepth).find(in: root) { event in
      switch event {
      case .found(let database): found.append(String(database.path.string.dropFirst(root.string.count + 1)))
      case .unreadable(let failure): unreadable.append(String(failure.path.string.dropFirst(root.string.count + 1)))
      }
    }
    return (found, unreadable)
  }

  private static let uuid = "11111111-1111-4111-8111-111111111111"

  @Test(
    "An entry that only databases have identifies a database",
    arguments: [
      ["pending-serialized-ios-dump/"], ["settings.dat"], ["pending/\(uuid).dmp", "new/"],
      ["completed/\(uuid).meta", "attachments/"], ["attachments/\(uuid)/", "new/"],
      ["pending/", "new/\(uuid.uppercased()).dmp"], ["new/", "pending/", "completed/"],
      ["new/", "pending/", "completed/", "attachments/"], ["pending/\(uuid).lock", "new/", "completed/x"],
    ])
  func evidence(_ entries: [String]) throws {
    try fill("a/b/db", with: entries)
    #expect(try find().found == ["a/b/db"])
  }

  @Test(
    "An entry that other programs have, too, does not identify a database",
    arguments: [
      ["new/", "pending/"], ["new/a.txt", "pending/", "completed/"], ["pending/\(uuid).dmp"], ["settings.txt"],
      ["new/", "pending/crash.dmp"], ["rejected/", "new/"],
    ])
  func noEvidence(_ entries: [String]) throws {
    try fill("a/db", with: entries)
    #expect(try find().found == [])
  }

  private func fill(_ folder: String, with entries: [String]) throws {
    for entry in entries {
      if entry.hasSuffix("/") {
        try make("\(folder)/\(entry)")
      } else {
        try temporary.write(entry == "settings.dat" ? Sample.settings() : [1], to: "\(folder)/\(entry)")
      }
    }
  }

  @Test("Settings without their magic prove nothing")
  func otherSettings() throws {
    try temporary.write(Array("settings of another program, long enough for one of these".utf8), to: "a/settings.dat")
    #expect(try find().found == [])
  }

  @Test("All databases are found, sorted, also in hidden directories; none inside of another, and none behind links")
  func many() throws {
    for name in ["b", ".hidden/x", "a.xcappdata/AppData/Library/Crashpad", "b/pending/inner"] {
      try make(name + "/pending-serialized-ios-dump")
    }
    try make("links")
    try FileManager.default.createSymbolicLink(
      atPath: temporary.url("links/b").path, withDestinationPath: temporary.url("b").path)
    try FileManager.default.createSymbolicLink(
      atPath: temporary.url("links/up").path, withDestinationPath: temporary.work.path)
    try make("links/real")
    try FileManager.default.createSymbolicLink(
      atPath: temporary.url("links/real/pending-serialized-ios-dump").path, withDestinationPath: "/")
    #expect(try find().found == [".hidden/x", "a.xcappdata/AppData/Library/Crashpad", "b"])
  }

  @Test("No directory below the depth is looked into", arguments: 0...3)
  func depth(_ depth: Int) throws {
    try make("1/2/pending-serialized-ios-dump")
    #expect(try find(maximumDepth: depth).found == (depth >= 2 ? ["1/2"] : []))
  }

  @Test("The path itself may be a database, or a link to one")
  func itself() throws {
    try make("db/pending-serialized-ios-dump")
    try FileManager.default.createSymbolicLink(atPath: temporary.url("link").path, withDestinationPath: "db")
    for name in ["db", "link"] {
      var found: [FilePath] = []
      try DatabaseFinder(maximumDepth: 0).find(in: root.appending(name)) { event in
        if case .found(let database) = event { found.append(database.path) }
      }
      #expect(found == [root.appending(name)])
    }
  }

  @Test("The contents of a database are counted")
  func counts() throws {
    let scratch = try ScratchDatabase.healthy()
    try scratch.write([1], to: "pending/notes.dmp")
    try scratch.write([1], to: "pending-serialized-ios-dump/.DS_Store")
    var found: [DatabaseFinder.Database] = []
    try DatabaseFinder().find(in: FilePath(scratch.temporary.work.path)) { event in
      if case .found(let database) = event { found.append(database) }
    }
    let database = try #require(found.first)
    #expect(found.count == 1)
    #expect(database.path == scratch.path)
    #expect(database.pendingReports == 1)
    #expect(database.completedReports == 1)
    #expect(database.lockedDumps == 1)
    #expect(database.unlockedDumps == 1)
    #expect(database.hasSettings)
  }

  @Test("Names that are not UTF-8 are kept byte for byte")
  func names() throws {
    let folder = try Folder(root).createFolder(ifMissing: try #require(FileName(bytes: [0x61, 0xff, 0x62])))
    _ = try folder.createFolder(ifMissing: DatabaseLayout.pendingDumps)
    let result = try Tool.shell("crashpadctl find --print0 .", in: temporary)
    #expect(Array(result.output) == Array("./a".utf8) + [0xff] + Array("b".utf8) + [0])
    #expect(result.status == 0)
  }

  @Test("A path that is no directory is an error")
  func noDirectory() throws {
    try temporary.write([1], to: "file")
    for (name, errno) in [("file", Errno.notDirectory), ("missing", .noSuchFileOrDirectory)] {
      #expect(failureCode { try DatabaseFinder().find(in: root.appending(name)) { _ in } } == errno)
    }
  }
}
