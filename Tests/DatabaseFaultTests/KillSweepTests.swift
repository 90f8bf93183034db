// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Testing
import ToolRunner

/// Ends a run before each of the calls by which it changes the disk, and within each that writes. A second run then has
/// to make of what is there just what an undisturbed run makes.
@Suite("Killed runs")
struct KillSweepTests {
  static let scenarios = [
    Scenario("process", .mixedWithConflicts, Scenario.process, status: 1),
    Scenario("process without settings", .mixed, Scenario.process, status: 1),
    Scenario("process with damaged settings", .mixedWithDamagedSettings, Scenario.process, status: 1),
    Scenario("process of many", .plain(34), Scenario.process),
    Scenario("unlock", .mixedWithSettings, "unlock --database db --now \(DatabasePlan.now)", status: 1),
    Scenario("prune", .reports, "prune --database db --pending --max-reports 3 --now \(DatabasePlan.now)"),
    Scenario("prune --clean", .reports, "prune --database db --pending --clean --now \(DatabasePlan.now)"),
    Scenario("create", .nothing, "database create --database db --client-id \(DatabasePlan.id(77))"),
    Scenario(
      "new", .reports,
      "database import --database db --id \(DatabasePlan.id(70)) --created \(DatabasePlan.now) "
        + "db/pending-serialized-ios-dump/locked.locked --attachment a=db/settings.dat --attachment b=db/settings.dat"),
    Scenario("delete", .reports, "database delete --database db \(DatabasePlan.id(50)) \(DatabasePlan.id(61))"),
    Scenario("delete all", .reports, "database delete --database db --all", status: 75),
    Scenario(
      "request-upload", .reports,
      "database request-upload --database db \(DatabasePlan.id(50)) \(DatabasePlan.id(62))"),
    Scenario("settings", .reports, "database settings --database db --uploads-enabled yes"),
    Scenario(
      "settings that are damaged", .mixedWithDamagedSettings,
      "database settings --database db --client-id \(DatabasePlan.id(77))"),
    Scenario("check --repair", .reports, "database check --database db --repair --now \(DatabasePlan.now)", status: -1),
  ]

  @Test("After a run that is killed anywhere, the next one ends it", arguments: scenarios)
  func sweep(_ scenario: Scenario) throws {
    let stage = try Stage(scenario)
    var faults: [(name: String, fault: Fault)] = []
    for call in stage.calls {
      faults.append(("before call \(call.number), \(call.name) \(call.path)", .killed(before: call.number)))
      // 40 bytes in one page are written in one go.
      if call.writes, call.name != "pwrite" {
        faults.append(("within call \(call.number), \(call.name)", .killed(within: call.number)))
      }
    }
    if let last = stage.calls.last { faults.append(("after call \(last.number)", .killed(within: last.number))) }
    let chosen = Sweep.sample(
      Array(faults.indices), Soak.times(3, or: 2), area: SplitMix64.mix(UInt64(scenario.name.utf8.count)))
    for index in chosen {
      let (name, fault) = faults[index]
      try stage.make("copy")
      let first = try stage.run("copy", fault)
      #expect(first.status == 128 + 9, "\(name): \(first.errorText)")
      if scenario.command.hasPrefix("process") {
        let losses = try stage.losses("copy")
        #expect(losses.isEmpty, "killed \(name)")
      }
      let second = try stage.run("copy")
      // The work of the first run is not done again: a report that was deleted is not found.
      #expect(second.status < 77, "killed \(name): \(second.errorText)")
      // With nothing left to do, the leftovers of the first run go with the next run that changes something.
      if !scenario.command.hasPrefix("process") {
        let third = try stage.run("copy", command: "process --database db --now \(DatabasePlan.now) --limit 0")
        #expect(third.status == 0, "killed \(name): \(third.errorText)")
      }
      let differences = try stage.tree("copy").differences(from: stage.expected)
      #expect(differences.isEmpty, "killed \(name), and run again")
      try stage.remove("copy")
    }
    print("\(scenario.name): \(stage.calls.count) calls, killed \(chosen.count) of \(faults.count) times")
  }

  @Test("A report that was deleted after its run was killed anywhere does not come back, and none is lost")
  func deletedReports() throws {
    let scenario = Scenario("process", .plain(3), Scenario.process)
    let stage = try Stage(scenario)
    let all = Set((1...3).map(DatabasePlan.id))
    func pending() throws -> Set<String> {
      Set(try stage.tree("copy").names(in: "pending").filter { $0.hasSuffix(".dmp") }.map { String($0.dropLast(4)) })
    }
    var deletions = 0
    // Before the last call, all reports are there.
    let last = stage.calls.count - 1
    for index in Sweep.sample(Array(0..<last), Soak.times(12, or: 5), area: 20) + [last] {
      let call = stage.calls[index]
      try stage.make("copy")
      #expect(try stage.run("copy", .killed(before: call.number)).status == 128 + 9)
      let deleted = try pending()
      deletions += deleted.count
      let prune = try stage.run(
        "copy", command: "prune --database db --pending --max-reports 0 --now \(DatabasePlan.now)")
      #expect(prune.status == 0, "killed before call \(call.number): \(prune.errorText)")
      #expect(try pending().isEmpty)
      let again = try stage.run("copy")
      #expect(again.status == 0, "killed before call \(call.number): \(again.errorText)")
      let made = try pending()
      #expect(made.isDisjoint(with: deleted), "killed before call \(call.number), \(call.name) \(call.path): came back")
      #expect(made.union(deleted) == all, "killed before call \(call.number), \(call.name) \(call.path): lost")
      try stage.remove("copy")
    }
    #expect(deletions > 0)
  }
}
