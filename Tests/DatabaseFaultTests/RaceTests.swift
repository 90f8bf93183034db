// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Testing
import ToolRunner

/// Several runs at once.
@Suite("Runs side by side")
struct RaceTests {
  /// `CRASHPADCTL_RACE_PROCESSES`, `…_DUMPS` and `…_ROUNDS` make it larger.
  private static let processes = Sweep.number("CRASHPADCTL_RACE_PROCESSES", or: 4)
  private static let dumps = Sweep.number("CRASHPADCTL_RACE_DUMPS", or: Soak.times(60, or: 30))
  private static let rounds = Sweep.number("CRASHPADCTL_RACE_ROUNDS", or: Soak.times(3, or: 1))

  @Test("Runs that are killed and started again, side by side, make one report of every dump")
  func killedAndStartedAgain() throws {
    let stage = try Stage(Scenario("race", .plain(Self.dumps), Scenario.process))
    #expect(stage.expected.names(in: "pending").count == 2 * Self.dumps)
    #expect(stage.expected.names(in: "pending-serialized-ios-dump").isEmpty)
    let command = "crashpadctl process --database db --now \(DatabasePlan.now) --quiet"
    var killed = 0
    for round in 0..<Self.rounds {
      var random = SplitMix64(seed: Sweep.seed, area: UInt64(100 + round))
      try stage.make("copy")
      var script = "cd copy\n"
      for _ in 0..<Self.processes {
        let runs = (0..<3).map { _ in
          // The later a run is killed, the less is left for the others.
          let call = random.between(1, 2 * stage.calls.count / Self.processes)
          return Fault.killed(before: call).prefix(stage.folder, root: "copy/db") + " \(command); echo $?"
        }
        script += "( \(runs.joined(separator: "; ")); \(command); echo last $? ) &\n"
      }
      let result = try Tool.shell(script + "wait", in: stage.folder, limit: 600)
      let statuses = result.text.split(separator: "\n")
      #expect(statuses.count == 4 * Self.processes, "round \(round): \(result.errorText)")
      let allowed: Set<Substring> = ["0", "75", "137", "last 0", "last 75"]
      #expect(statuses.allSatisfy { allowed.contains($0) }, "round \(round): \(statuses) \(result.errorText)")
      killed += statuses.count { $0 == "137" }
      let last = try stage.run("copy")
      #expect(last.status == 0, "round \(round): \(last.errorText)")
      let differences = try stage.tree("copy").differences(from: stage.expected)
      #expect(differences.isEmpty, "round \(round)")
      try stage.remove("copy")
    }
    print("race: \(Self.rounds) rounds of \(Self.processes) processes on \(Self.dumps) dumps, \(killed) runs killed")
  }

  @Test(
    "A run that stands still before any of its calls while another one runs to its end",
    arguments: [
      Scenario("process", .mixedWithSettings, Scenario.process, status: 1),
      Scenario("process without settings", .mixed, Scenario.process, status: 1),
      Scenario("prune", .reports, "prune --database db --pending --max-reports 3 --clean --now \(DatabasePlan.now)"),
      Scenario(
        "request-upload", .reports,
        "database request-upload --database db \(DatabasePlan.id(50)) \(DatabasePlan.id(62))"),
      Scenario("delete", .reports, "database delete --database db \(DatabasePlan.id(50)) \(DatabasePlan.id(61))"),
      Scenario("create", .nothing, "database create --database db --client-id \(DatabasePlan.id(77))"),
      Scenario("unlock", .mixedWithSettings, "unlock --database db --now \(DatabasePlan.now)", status: 1),
    ])
  func interleaved(_ scenario: Scenario) throws {
    let stage = try Stage(scenario)
    for call in Sweep.sample(stage.calls.map(\.number), Soak.times(6, or: 3), area: 200) {
      // With a lock for which others wait, as on settings.dat, the second run ends after the first.
      try stage.make("copy")
      let first = Fault.pausing(before: call, file: "pause").prefix(stage.folder, root: "copy/db")
      let result = try Tool.shell(
        """
        cd copy
        \(first) crashpadctl \(scenario.command) & first=$!
        while [ ! -e ../pause ]; do sleep 0.01; done
        { crashpadctl \(scenario.command); echo second $?; : > ended; } &
        n=0; while [ ! -e ended ] && [ $n -lt 200 ]; do sleep 0.01; n=$((n + 1)); done
        rm ../pause; wait $first; echo first $?; wait
        """, in: stage.folder)
      let name = "before call \(call), \(stage.calls[call - 1].name) \(stage.calls[call - 1].path)"
      let statuses = result.text.split(separator: "\n").filter { $0.hasPrefix("first") || $0.hasPrefix("second") }
      let allowed = ["0", "1", "65", "66", "73", "75"]
      #expect(
        statuses.count == 2 && statuses.allSatisfy { allowed.contains(String($0.split(separator: " ")[1])) },
        "\(name): \(statuses) \(result.errorText)")
      // A dump that was busy for the second run, and that it had unlocked, is gone for the first: it waits for a third.
      if statuses.contains("second 75") { _ = try stage.run("copy") }
      let differences = try stage.tree("copy").differences(from: stage.expected)
      #expect(differences.isEmpty, "\(name)")
      try stage.remove("copy")
    }
  }

  @Test("A dump whose report was made and deleted while a run was about to take it on does not become one again")
  func lateLock() throws {
    let stage = try Stage(Scenario("process", .plain(1), Scenario.process))
    let call = try #require(stage.calls.first { $0.newPath?.hasSuffix(".lock") == true })
    try stage.make("copy")
    let first = Fault.pausing(before: call.number, file: "pause").prefix(stage.folder, root: "copy/db")
    let result = try Tool.shell(
      """
      cd copy
      \(first) crashpadctl \(Scenario.process) & first=$!
      while [ ! -e ../pause ]; do sleep 0.01; done
      crashpadctl \(Scenario.process); crashpadctl database delete --database db --all 2> /dev/null; echo $?
      rm ../pause; wait $first; echo $?
      """, in: stage.folder)
    #expect(result.text == "0\n0\n", "\(result.errorText)")
    let tree = try stage.tree("copy")
    #expect(tree.names(in: "pending").isEmpty)
    #expect(tree.names(in: "pending-serialized-ios-dump").isEmpty)
  }
}
