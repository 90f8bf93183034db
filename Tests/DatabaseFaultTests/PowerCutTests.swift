// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// Cuts the power before each call by which a run changes the disk: what was not synced did not happen, or happened to
/// names alone. One further run, without waiting, has to make of it what an undisturbed run makes.
@Suite("Power failures")
struct PowerCutTests {
  private static func plan(_ plan: DatabasePlan) -> DatabasePlan {
    var plan = plan
    // The record has neither links nor FIFOs.
    plan.hasOthers = false
    return plan
  }

  static let scenarios =
    [
      Scenario("process", .plain(3), Scenario.process),
      Scenario("process of many", .plain(34), Scenario.process),
      Scenario("process of a mixed database", plan(.mixedWithConflicts), Scenario.process, status: 1),
      Scenario("process without settings", plan(.mixed), Scenario.process, status: 1),
      Scenario("process with damaged settings", plan(.mixedWithDamagedSettings), Scenario.process, status: 1),
      Scenario(
        "unlock", plan(.mixedWithSettings), "unlock --database db --now \(DatabasePlan.now)", status: 1),
      Scenario(
        "reports that were uploaded", .uploaded, "database check --database db --repair --now \(DatabasePlan.now)"),
    ] + KillSweepTests.scenarios.filter { !$0.command.hasPrefix("process") && !$0.plan.isMissing && !$0.plan.hasOthers }

  private struct Cut {
    let name: String
    let fault: Fault
    let names: CutDisk.Names
    let bytes: CutDisk.Bytes
    let isWhole: Bool
  }

  /// All cuts of a run: before each call, and after its end.
  private func cuts(_ stage: Stage) -> [Cut] {
    CutDisk.Names.allCases.flatMap { names in
      CutDisk.Bytes.allCases.flatMap { bytes in
        stage.calls.map { call in
          Cut(
            name: "before call \(call.number), \(call.name) \(call.path), \(names), \(bytes)",
            fault: .killed(before: call.number), names: names, bytes: bytes, isWhole: false)
        } + [Cut(name: "after the run, \(names), \(bytes)", fault: .none, names: names, bytes: bytes, isWhole: true)]
      }
    }
  }

  @Test("After a power failure at any moment of a run, the next one ends it", arguments: scenarios)
  func sweep(_ scenario: Scenario) throws {
    let stage = try Stage(scenario)
    let cuts = cuts(stage)
    let area = SplitMix64.mix(UInt64(scenario.name.utf8.count) &+ 7)
    let count = Soak.times(cuts.count, or: 3)
    for index in Sweep.sample(Array(cuts.indices), count, area: area) {
      try check(cuts[index], stage)
    }
    print(
      "\(scenario.name): \(stage.calls.count) calls, the power failed \(min(count, cuts.count)) of \(cuts.count) times")
  }

  private func check(_ cut: Cut, _ stage: Stage) throws {
    try stage.make("first")
    let first = try stage.run("first", cut.fault.recordingDisk("disk"))
    #expect(cut.isWhole || first.status == 128 + 9, "\(cut.name): \(first.errorText)")
    let disk = try CutDisk(stage.folder.url("disk"), cut.names, cut.bytes, of: stage.folder.url("first/db"))
    try disk.make(at: stage.folder.url("copy/db"))
    defer { for name in ["first", "disk", "copy"] { try? stage.remove(name) } }
    if stage.scenario.command.hasPrefix("process") {
      let losses = try stage.losses("copy")
      #expect(losses.isEmpty, "\(cut.name)")
    }
    // A run that has ended is not repeated: what it did is on the disk.
    if !cut.isWhole {
      let second = try stage.run("copy")
      #expect(second.status < 77, "\(cut.name): \(second.errorText)")
      #expect(stage.scenario.status == 75 || !second.errorText.contains("busy"), "\(cut.name): \(second.errorText)")
    }
    if !stage.scenario.command.hasPrefix("process") || cut.isWhole {
      let third = try stage.run("copy", command: "process --database db --now \(DatabasePlan.now) --limit 0")
      #expect(third.status == 0, "\(cut.name): \(third.errorText)")
    }
    let differences = try stage.tree("copy").differences(from: stage.expected)
    #expect(differences.isEmpty, "power failure \(cut.name)")
  }

  /// On btrfs, the old name of a file is there again if only the directory of the new one was synced.
  @Test("A report that has two names after a power failure has one after the next command")
  func twoNames() throws {
    let id = DatabasePlan.id(62)
    let stage = try Stage(
      Scenario("request-upload", .reports, "database request-upload --database db \(DatabasePlan.id(50)) \(id)"))
    let call = try #require(stage.calls.last { $0.name == "fsync" && $0.path == "completed" }).number
    try stage.make("base")
    try stage.make("copy")
    #expect(try stage.run("copy", .killed(before: call)).status == 137)
    let back =
      "cd copy/db && ln pending/\(id).dmp completed/\(id).dmp && cp -p ../../base/db/completed/\(id).meta completed/"
    #expect(try Tool.shell("\(back) && rm -f pending/*[0-9].lock", in: stage.folder).status == 0)
    #expect(try stage.run("copy").status == 0)
    let ended = try stage.run("copy", command: "process --database db --now \(DatabasePlan.now) --limit 0")
    #expect(ended.status == 0, "\(ended.errorText)")
    func reports(_ tree: Tree) -> [String] { tree.entries.keys.filter { $0.contains(id) }.sorted() }
    #expect(try reports(stage.tree("copy")) == reports(stage.expected))
    #expect(try stage.tree("copy")["pending/\(id).meta"] == stage.expected["pending/\(id).meta"])
  }
}
