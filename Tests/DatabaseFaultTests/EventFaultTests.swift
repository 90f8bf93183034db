// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// Runs of `events` with a cursor that are killed, that fail, and that overlap: each dump's events are in the output once.
@Suite("Events under faults")
struct EventFaultTests {
  private static let events = "crashpadctl events --no-system --jobs 1 --cursor state/cursor -o state/out dumps"

  /// Dumps in `dumps`, of which some had their events in an earlier run, and an empty directory `state`.
  private struct Stage {
    let folder: TemporaryFolder
    /// The output of undisturbed runs.
    let expected: String
    let calls: [Call]

    /// - Parameters:
    ///   - old: how many dumps had their events before.
    ///   - new: how many had not.
    init(old: Int, new: Int) throws {
      folder = try TemporaryFolder()
      for number in 1...(old + new) {
        let place = number <= old ? "dumps" : "new"
        try folder.write(DatabasePlan.dump(number), to: "\(place)/app@\(DatabasePlan.id(number))")
      }
      let result = try Tool.shell(
        """
        mkdir state; \(old > 0 ? EventFaultTests.events : "mkdir -p dumps") && cp -a state before && mv new/* dumps &&
        \(Fault.none.prefix(folder, root: "state", log: "log")) \(EventFaultTests.events) && cp -a state whole
        """, in: folder)
      try #require(result.status == 0, "\(result.errorText)")
      expected = String(decoding: try folder.bytes(of: "whole/out"), as: UTF8.self)
      calls = try String(decoding: folder.bytes(of: "log"), as: UTF8.self).split(separator: "\n").compactMap {
        Call($0)
      }
      try #require(!calls.isEmpty, "the library counted nothing: was it loaded?")
      #expect(expected.split(separator: "\n").count == old + new)
    }

    /// Runs the command on the state before the new dumps had events.
    func run(_ faults: [Fault]) throws -> [Int32] {
      var script = "rm -rf state; cp -a before state\n"
      for fault in faults {
        script += "\(fault.prefix(folder, root: "state")) \(EventFaultTests.events) 2> errors; echo $?\n"
      }
      return try Tool.shell(script, in: folder).text.split(separator: "\n").compactMap { Int32($0) }
    }

    func output() throws -> String {
      folder.exists("state/out") ? String(decoding: try folder.bytes(of: "state/out"), as: UTF8.self) : ""
    }
  }

  @Test("A run that is killed at any call is ended by the next one", arguments: [0, 2])
  func killed(old: Int) throws {
    let stage = try Stage(old: old, new: 3)
    // One half of the calls after no older dumps, the other after some.
    for call in Soak.every(2, of: Array(stage.calls.dropFirst(Soak.isOn || old == 0 ? 0 : 1))) {
      for fault in [Fault.killed(before: call.number), .killed(within: call.number)] {
        let statuses = try stage.run([fault, .none, .none])
        #expect(statuses == [137, 0, 0], "call \(call.number), \(call.name) \(call.path)")
        #expect(try stage.output() == stage.expected, "call \(call.number), \(call.name) \(call.path)")
      }
    }
    print("events: killed at \(stage.calls.count) calls, before and within each")
  }

  @Test("A run that ends the work of a killed one may be killed too")
  func killedTwice() throws {
    let stage = try Stage(old: 1, new: 2)
    for first in Soak.every(2, of: stage.calls) {
      for second in Sweep.sample(Array(1...stage.calls.count + 2), 3, area: UInt64(300 + first.number)) {
        let statuses = try stage.run([.killed(within: first.number), .killed(within: second), .none, .none])
        #expect(statuses.suffix(2) == [0, 0], "calls \(first.number) and \(second)")
        #expect(try stage.output() == stage.expected, "calls \(first.number) and \(second)")
      }
    }
  }

  @Test("A call that fails, with all behind it, loses nothing and repeats nothing", arguments: [ENOSPC, EIO])
  func failing(error: Int32) throws {
    let stage = try Stage(old: 1, new: 2)
    for call in Soak.every(2, of: Array(stage.calls.dropFirst(Soak.isOn || error == EIO ? 0 : 1))) {
      for step in [0, 1] {
        let statuses = try stage.run([.failing(error, first: call.number, step: step), .none, .none])
        #expect(statuses.count == 3 && statuses.suffix(2) == [0, 0], "call \(call.number), \(call.name) \(call.path)")
        #expect(try stage.output() == stage.expected, "call \(call.number), \(call.name) \(call.path), step \(step)")
      }
    }
    // Short writes are no failures.
    #expect(try stage.run([.shortWrites]) == [0])
    #expect(try stage.output() == stage.expected)
  }

  @Test("On a disk that is full nothing is lost", .enabled(if: Machine.canMount, "no rights to mount"))
  func fullDisk() throws {
    let stage = try Stage(old: 1, new: 20)
    let script = """
      mkdir disk; mount -t tmpfs -o mode=755,size=64k none disk && cp -a before/. disk/ && cd disk &&
      { cat /dev/zero > filler 2>/dev/null; \(Self.onDisk); echo $?; rm filler; \(Self.onDisk); echo $?; cp out ../result; }
      """
    let result = try Tool.shell("unshare --mount \(Machine.mapping) sh -c '\(script)'", in: stage.folder)
    #expect(result.text == "74\n0\n", "\(result.text) \(result.errorText)")
    #expect(result.errorText.contains("No space left on device"))
    #expect(String(decoding: try stage.folder.bytes(of: "result"), as: UTF8.self) == stage.expected)
  }

  private static let onDisk = "crashpadctl events --no-system --jobs 1 --cursor cursor -o out ../dumps"

  /// `CRASHPADCTL_EVENT_DUMPS` and `…_RUNS` make it larger: 10000 and 20.
  private static let dumps = Sweep.number("CRASHPADCTL_EVENT_DUMPS", or: 300)
  private static let runs = Sweep.number("CRASHPADCTL_EVENT_RUNS", or: 8)

  @Test("Runs that overlap, each killed somewhere, write each dump once")
  func race() throws {
    let stage = try Stage(old: 0, new: Self.dumps)
    var random = SplitMix64(seed: Sweep.seed, area: 400)
    var script = "rm -rf state; mkdir state\n"
    let batches = (Self.dumps + 255) / 256
    for _ in 0..<Self.runs {
      let fault = Fault.killed(within: random.between(1, stage.calls.count / batches * 2 + 4))
      script += "( \(fault.prefix(stage.folder, root: "state")) \(Self.events); echo $? ) &\n"
    }
    script += "wait; \(Self.events); echo last $?; \(Self.events); echo last $?"
    let result = try Tool.shell(script, in: stage.folder, limit: 1800)
    let statuses = result.text.split(separator: "\n")
    #expect(statuses.suffix(2) == ["last 0", "last 0"], "\(result.errorText)")
    #expect(statuses.count == Self.runs + 2)
    #expect(statuses.dropLast(2).allSatisfy { ["0", "137"].contains($0) }, "\(statuses) \(result.errorText)")
    let lines = try stage.output().split(separator: "\n").sorted()
    #expect(lines == stage.expected.split(separator: "\n").sorted())
    print("events: \(Self.dumps) dumps, \(Self.runs) runs at once, \(statuses.count { $0 == "137" }) killed")
  }

  @Test("A dump has its events once: pending, as a report, uploaded, moved, and compressed")
  func states() throws {
    let folder = try TemporaryFolder()
    var plan = DatabasePlan()
    for number in 1...3 { plan.addDump("com.example.app@\(DatabasePlan.id(number))", DatabasePlan.dump(number)) }
    plan.addDump("no-uuid-in-the-name", DatabasePlan.dump(4))
    plan.addDump("com.example.app@\(DatabasePlan.id(5)).locked", DatabasePlan.dump(5))
    plan.addSettings()
    try plan.make(at: folder.url("db"))
    let events = "crashpadctl events --no-system --cursor cursor -o out"
    let result = try Tool.shell(
      """
      \(events) db 2> first; echo $? $(wc -l < out)
      crashpadctl process --database db --limit 2 --now \(DatabasePlan.now) --quiet; \(events) db; echo $? $(wc -l < out)
      crashpadctl process --database db --now \(DatabasePlan.now) --quiet; \(events) db; echo $? $(wc -l < out)
      cp -r db/pending copies; gzip copies/*.dmp; \(events) copies db copies; echo $? $(wc -l < out)
      mv out out.1; \(events) db; echo $? $(ls out 2> /dev/null)
      """, in: folder)
    #expect(result.text == "0 4\n0 4\n0 4\n0 4\n0\n", "\(result.errorText)")
    let clients = try String(decoding: folder.bytes(of: "out.1"), as: UTF8.self).split(separator: "\n").compactMap {
      try JSONDocument(Data($0.utf8))["distinct_id"].string
    }
    // The client id of the database, as their reports have it.
    #expect(clients.count == 4 && Set(clients).count == 1)
  }

  @Test("A run waits for another one that stands still while it writes")
  func waiting() throws {
    let stage = try Stage(old: 1, new: 2)
    for call in stage.calls {
      let first = Fault.pausing(before: call.number, file: "pause").prefix(stage.folder, root: "state")
      let result = try Tool.shell(
        """
        rm -rf state ended; cp -a before state
        \(first) \(Self.events) & first=$!
        while [ ! -e pause ]; do sleep 0.01; done
        { \(Self.events); echo second $?; : > ended; } &
        n=0; while [ ! -e ended ] && [ $n -lt 50 ]; do sleep 0.01; n=$((n + 1)); done
        rm pause; wait $first; echo first $?; wait
        """, in: stage.folder)
      #expect(Set(result.text.split(separator: "\n")) == ["first 0", "second 0"], "\(result.errorText)")
      #expect(try stage.output() == stage.expected, "call \(call.number), \(call.name) \(call.path)")
    }
  }
}
