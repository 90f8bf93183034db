// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// Locks that belong to others.
@Suite("Locks of others")
struct LockTests {
  private static let now = DatabasePlan.now
  private static let tenYears = 10 * 365 * DatabasePlan.day

  /// Eight bytes, as Crashpad writes them.
  private static func lock(age: Int) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: (now - age) >> (8 * $0)) }
  }

  @Test(
    "A report's lock that is not ours is respected, and the other dumps are processed all the same",
    arguments: [10, -1000])
  func foreignLock(_ age: Int) throws {
    var plan = DatabasePlan.plain(3)
    let id = DatabasePlan.id(2)
    plan.add("pending/\(id).lock", Self.lock(age: age))
    let folder = try TemporaryFolder()
    try plan.make(at: folder.url("db"))
    let before = try Tree(at: folder.url("db"))
    let result = try Tool.shell("crashpadctl \(Scenario.process)", in: folder)
    #expect(result.status == 75)
    #expect(result.errorText.contains("com.example.app@\(id): busy"), "\(result.errorText)")
    let after = try Tree(at: folder.url("db"))
    #expect(after.names(in: "pending-serialized-ios-dump") == ["com.example.app@\(id)"])
    #expect(after["pending/\(id).lock"] == before["pending/\(id).lock"])
    #expect(after["pending/\(id).dmp"] == nil)
    #expect(after.names(in: "pending").count == 5)
    #expect(after.names(in: "new").isEmpty)
    // When its owner is done, the dump's turn comes.
    try FileManager.default.removeItem(at: folder.url("db/pending/\(id).lock"))
    #expect(try Tool.shell("crashpadctl \(Scenario.process)", in: folder).status == 0)
    #expect(try Tree(at: folder.url("db")).names(in: "pending").count == 6)
  }

  @Test("An empty lock file may be one that is being written: it is respected")
  func emptyLock() throws {
    var plan = DatabasePlan.plain(1)
    let lock = "pending/\(DatabasePlan.id(1)).lock"
    plan.add(lock, [])
    let folder = try TemporaryFolder()
    try plan.make(at: folder.url("db"))
    _ = try Tool.shell("touch db/\(lock)", in: folder)
    #expect(try Tool.shell("crashpadctl \(Scenario.process)", in: folder).status == 75)
    #expect(try Tree(at: folder.url("db")).names(in: "pending") == ["\(DatabasePlan.id(1)).lock"])
    // After ten minutes it is not written any more: its program died, or the power failed.
    _ = try Tool.shell("touch -d '11 minutes ago' db/\(lock)", in: folder)
    #expect(try Tool.shell("crashpadctl \(Scenario.process)", in: folder).status == 0)
    #expect(try Tree(at: folder.url("db")).names(in: "pending").count == 2)
  }

  /// Takes or gives back the lock of an open file description on a whole file.
  private func setLock(_ descriptor: Int32, _ type: Int32) -> Bool {
    var lock = flock()
    lock.l_type = Int16(type)
    lock.l_whence = Int16(SEEK_SET)
    // F_OFD_SETLK
    return unsafe fcntl(descriptor, 37, &lock) == 0
  }

  @Test(
    "A dump that a living program holds is neither unlocked nor processed, whatever its age",
    arguments: [
      "unlock --database db --now \(now + tenYears)",
      "unlock --database db --now \(now + tenYears) --bundle-id com.example.app",
      "process --database db --now \(now + tenYears)",
      "process --database db --now \(now + tenYears) --bundle-id com.example.app --include-locked",
    ])
  func heldDump(_ command: String) throws {
    let folder = try TemporaryFolder()
    var plan = DatabasePlan()
    let name = "com.example.app@\(DatabasePlan.id(1)).locked"
    plan.addDump(name, DatabasePlan.dump(1), age: 100 * DatabasePlan.day)
    plan.addSettings()
    try plan.make(at: folder.url("db"))
    let before = try Tree(at: folder.url("db"))
    let descriptor = unsafe open(folder.url("db/pending-serialized-ios-dump/\(name)").path, O_RDWR | O_CLOEXEC)
    defer { close(descriptor) }
    #expect(setLock(descriptor, F_WRLCK))
    let result = try Tool.shell("crashpadctl \(command)", in: folder)
    #expect(result.status == 0, "\(result.errorText)")
    #expect(try Tree(at: folder.url("db")).differences(from: before).isEmpty)
    // As soon as the program is gone, it is not held any more.
    #expect(setLock(descriptor, F_UNLCK))
    #expect(try Tool.shell("crashpadctl \(command)", in: folder).status == 0)
    #expect(!folder.exists("db/pending-serialized-ios-dump/\(name)"))
  }
}
