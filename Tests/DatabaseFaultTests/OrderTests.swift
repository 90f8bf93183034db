// SPDX-License-Identifier: Apache-2.0
import Testing
import ToolRunner

/// A stop of the machine itself can't be tested here; but the order of the calls shows its effect.
@Suite("Order of calls")
struct OrderTests {
  @Test("Before a dump goes, its report is on the disk, and then the report's names are", arguments: [3, 40])
  func dumpsGoLast(_ count: Int) throws {
    let stage = try Stage(Scenario("process", .plain(count), Scenario.process))
    // The data that is written, and not on the disk yet.
    var unsynced: Set<String> = []
    var areNamesSynced = false
    var published: Set<String> = []
    var removed = 0
    var areRemovalsSynced = true
    for call in stage.calls {
      switch call.name {
      case "write", "pwrite": unsynced.insert(call.path)
      case "syncfs": unsynced = []
      case "fsync" where call.path == "pending": areNamesSynced = true
      case "fsync" where call.path == "pending-serialized-ios-dump": areRemovalsSynced = true
      case "unlinkat" where call.path.hasSuffix(".journal"):
        #expect(areRemovalsSynced, "a dump that is back after a power failure would have no journal")
      case "fsync": unsynced.remove(call.path)
      case "renameat":
        let target = try #require(call.newPath)
        guard target.hasPrefix("pending/") else { continue }
        #expect(!unsynced.contains(call.path), "\(target) gets its name before its bytes are on the disk")
        if target.hasSuffix(".dmp") {
          #expect(published.contains(target.dropLast(4) + ".meta"), "\(target) comes before its metadata")
        }
        published.insert(target)
        areNamesSynced = false
      case "unlinkat" where call.path.hasPrefix("pending-serialized-ios-dump/"):
        removed += 1
        areRemovalsSynced = false
        #expect(areNamesSynced, "\(call.path) goes before its report's name is on the disk")
        #expect(published.contains("pending/\(call.path.suffix(36)).dmp"), "\(call.path) goes before its report comes")
      case "unlinkat" where call.path.hasSuffix(".lock"):
        let id = call.path.dropFirst("pending/".count).dropLast(".lock".count)
        #expect(
          stage.calls.contains {
            $0.number < call.number && $0.name == "unlinkat" && $0.path.hasSuffix(id) && $0.path.hasPrefix("pending-s")
          }, "\(call.path) goes before its dump")
      default: break
      }
    }
    #expect(removed == count)
    #expect(areRemovalsSynced)
    #expect(published.count == 2 * count)
  }

  @Test(
    "A deleted report stays deleted when the power fails right after the command",
    arguments: [
      "database delete --database db \(DatabasePlan.id(51)) \(DatabasePlan.id(61))",
      "prune --database db --pending --max-reports 3 --now \(DatabasePlan.now)",
    ])
  func deletedForGood(_ command: String) throws {
    let stage = try Stage(Scenario("delete", .reports, command))
    var unsynced: Set<Substring> = []
    var removed = 0
    for call in stage.calls {
      let folder = call.path.prefix { $0 != "/" }
      if call.name == "unlinkat", call.path.hasSuffix(".dmp") {
        unsynced.insert(folder)
        removed += 1
      } else if call.name == "fsync" {
        unsynced.remove(folder)
      }
    }
    #expect(removed > 1, "\(stage.calls)")
    #expect(unsynced.isEmpty, "removed, and not on the disk: \(unsynced)")
  }

  @Test("A report that is deleted goes before its metadata and attachments, so that no moment has it without them")
  func reportsGoFirst() throws {
    let id = DatabasePlan.id(51)
    let stage = try Stage(Scenario("delete", .reports, "database delete --database db \(id)"))
    let removed = stage.calls.filter { $0.name == "unlinkat" && $0.path.contains(id) }.map(\.path)
    #expect(removed.first == "pending/\(id).dmp", "\(removed)")
    #expect(removed.last == "pending/\(id).lock", "\(removed)")
    #expect(removed.contains { $0.hasSuffix(".meta") } && removed.contains("attachments/\(id)"), "\(removed)")
  }

  @Test(
    "Many reports are removed with as many syncs as few",
    arguments: ["database delete --database db --all", "prune --database db --pending --max-reports 0"])
  func boundedSyncs(_ command: String) throws {
    let syncs = try [3, 30].map { count in
      var plan = DatabasePlan()
      plan.addSettings()
      for number in 1...count {
        plan.addReport(
          number, in: number % 2 == 0 ? "pending" : "completed", attachments: number % 3 == 0 ? ["log"] : [])
      }
      let stage = try Stage(Scenario("remove", plan, command))
      // A name is looked for in both directories.
      #expect(stage.calls.count { $0.name == "unlinkat" && $0.path.hasSuffix(".dmp") } >= count)
      return stage.calls.filter(\.waits).count
    }
    #expect(syncs[0] == syncs[1] && syncs[0] > 0, "\(syncs)")
  }
}
