// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// Signals that ask a command to end, at each call by which it changes the disk.
@Suite("Commands that are asked to end")
struct EndedCommandTests {
  private static let signals = [SIGTERM, SIGINT, SIGHUP]

  /// The commands with a database that end in good order.
  static let scenarios =
    KillSweepTests.scenarios.filter { scenario in
      ["process ", "prune ", "database check "].contains { scenario.command.hasPrefix($0) }
    } + [
      Scenario(
        "check --repair of uploaded reports", .uploaded,
        "database check --database db --repair --now \(DatabasePlan.now)")
    ]

  @Test(
    "A command that is asked to end leaves no lock, and the next run does the rest",
    arguments: Soak.every(3, of: scenarios))
  func database(_ scenario: Scenario) throws {
    let stage = try Stage(scenario)
    var partial = 0
    let cases = Self.signals.flatMap { signal in stage.calls.map { (signal: signal, call: $0) } }
    let chosen = Sweep.sample(
      Array(cases.indices), Soak.times(100, or: 2), area: UInt64(scenario.name.utf8.count + 500))
    for index in chosen {
      let (signal, call) = cases[index]
      let place = "signal \(signal) before call \(call.number), \(call.name) \(call.path)"
      try stage.make("copy")
      let first = try stage.run("copy", .ended(by: signal, before: call.number))
      let isWhole = scenario.status == -1 ? first.status < 64 : first.status == scenario.status
      #expect(first.status == 75 || isWhole, "\(place): \(first.status) \(first.errorText)")
      if first.status == 75 {
        partial += 1
        #expect(!first.errorText.isEmpty, "\(place)")
      }
      let left = try stage.tree("copy").names(in: "new").filter { $0.hasPrefix(".crashpadctl-") }
      #expect(left.isEmpty, "\(place)")
      let second = try stage.run("copy")
      #expect(second.status < 64 && !second.errorText.contains("busy"), "\(place): \(second.errorText)")
      #expect(try stage.tree("copy").differences(from: stage.expected).isEmpty, "\(place)")
      try stage.remove("copy")
    }
    print("\(scenario.name): asked to end \(chosen.count) times, \(partial) runs left something to the next one")
  }

  @Test("A cursor or an index has each dump once after a run that was asked to end", arguments: StateCutTests.commands)
  func state(_ command: StateCutTests.Command) throws {
    let stage = try StateStage(command)
    let cases = Self.signals.flatMap { signal in stage.calls.map { (signal: signal, call: $0) } }
    for index in Sweep.sample(Array(cases.indices), Soak.times(60, or: 2), area: UInt64(520 + command.old)) {
      let (signal, call) = cases[index]
      let place = "signal \(signal) before call \(call.number), \(call.name) \(call.path)"
      let first = try stage.first(.ended(by: signal, before: call.number))
      #expect(first.status == 0 || first.status == 75, "\(place): \(first.status) \(first.errorText)")
      #expect(first.status == 0 || first.errorText.contains("the next run reads the rest"), "\(first.errorText)")
      let second = try stage.next()
      #expect(second.status == 0, "\(place): \(second.errorText)")
      #expect(try stage.output(second) == stage.expected, "\(place)")
    }
  }

  @Test(
    "A second signal ends a command at once",
    arguments: Soak.every(
      2,
      of: [
        Scenario("process", .plain(3), Scenario.process),
        Scenario("prune", .reports, "prune --database db --pending --max-reports 3 --now \(DatabasePlan.now)"),
        Scenario(
          "check --repair", .reports, "database check --database db --repair --now \(DatabasePlan.now)", status: -1),
        Scenario("events", .plain(3), "events --cursor db/cursor db/pending-serialized-ios-dump"),
        Scenario("group", .plain(3), "group --index db/index db/pending-serialized-ios-dump"),
      ]))
  func second(_ scenario: Scenario) throws {
    let stage = try Stage(scenario)
    try stage.make("copy")
    let call = stage.calls[stage.calls.count / 2].number
    let prefix = Fault.pausing(before: call, file: "pause").prefix(stage.folder, root: "copy/db")
    let result = try Tool.shell(
      """
      cd copy; \(prefix) crashpadctl \(scenario.command) & tool=$!
      while [ ! -e ../pause ] && kill -0 $tool; do sleep 0.01; done
      kill -TERM $tool; sleep 0.1; kill -0 $tool || echo "ended by the first signal"; kill -TERM $tool; wait $tool; echo $?
      """, in: stage.folder)
    #expect(result.text.hasSuffix("143\n") && !result.text.contains("first"), "\(result.text) \(result.errorText)")
    try FileManager.default.removeItem(at: stage.folder.url("pause"))
    let second = try stage.run("copy")
    #expect(second.status < 64, "\(second.errorText)")
  }

  @Test("A run that is stuck is given up after the grace, and says so", .enabled(if: Soak.isOn, "takes seconds"))
  func stuck() throws {
    let stage = try Stage(Scenario("process", .plain(3), Scenario.process + " --grace 0s"))
    try stage.make("copy")
    let prefix = Fault.pausing(before: stage.calls.count / 2, file: "pause").prefix(stage.folder, root: "copy/db")
    let result = try Tool.shell(
      """
      cd copy; \(prefix) crashpadctl \(stage.scenario.command) & tool=$!
      while [ ! -e ../pause ] && kill -0 $tool; do sleep 0.01; done
      kill -TERM $tool; wait $tool; echo $?
      """, in: stage.folder)
    #expect(
      result.text == "75\n" && result.errorText.contains("what was in progress is not done"), "\(result.errorText)")
  }

  @Test("Ctrl-C at a terminal is status 130", .enabled(if: Machine.hasTerminals, "\(Machine.noTerminals)"))
  func terminal() throws {
    let stage = try Stage(Scenario("process", .plain(8), Scenario.process))
    let call = try #require(stage.calls.first { $0.name == "linkat" }).number
    for (signal, status) in [(SIGINT, Int32(130)), (SIGTERM, 75)] {
      try stage.make("copy")
      let prefix = Fault.ended(by: signal, before: call).prefix(stage.folder, root: "copy/db")
      try stage.folder.write(Array("\(prefix) crashpadctl \(stage.scenario.command)\n".utf8), to: "command")
      let result = try Tool.shell("cd copy && script -qec 'sh ../command' /dev/null < /dev/null", in: stage.folder)
      #expect(result.status == status, "\(result.text) \(result.errorText)")
      #expect(result.text.hasSuffix("\r\n"), "\(result.text)")
      try stage.remove("copy")
    }
  }

  @Test("With run --process, a signal behind the program's end leaves the other dumps to the next run")
  func collected() throws {
    let folder = try TemporaryFolder()
    let library = try HandlerLibrary.path()
    let crash = "sh -c 'for i in 1 2 3; do sh -c \"kill -SEGV \\$\\$\"; done; exit 7'"
    let run = "crashpadctl run --handler-library '\(library)' --database db --process --no-system -q -- \(crash)"
    let whole = try Tool.shell(
      "\(Fault.none.prefix(folder, root: "db", log: "log")) \(run); echo $?; ls db/pending/*.dmp | wc -l", in: folder)
    try #require(whole.text == "7\n3\n", "\(whole.text) \(whole.errorText)")
    let calls = try String(decoding: folder.bytes(of: "log"), as: UTF8.self).split(separator: "\n").compactMap {
      Call($0)
    }.filter { $0.path.hasPrefix("new/.crashpadctl-") }
    for call in Sweep.sample(calls.map(\.number), Soak.times(calls.count, or: 1), area: 540) {
      let first = try Tool.shell(
        """
        rm -rf db; \(Fault.ended(by: SIGTERM, before: call).prefix(folder, root: "db")) \(run); echo $?
        ls -A db/new; crashpadctl process -d db; ls db/pending/*.dmp | wc -l
        """, in: folder)
      #expect(first.text == "7\n3\n", "before call \(call): \(first.text) \(first.errorText)")
    }
  }

  // MARK: The table of commands

  private enum Ending {
    /// Has `--grace`.
    case inOrder
    /// Changes something, and ends at the first signal: the next command completes it, or nothing of it is there.
    case atOnce
    /// Has a program that gets the signal.
    case passesOn
    case reads
  }

  private static let endings: [String: Ending] = [
    "process": .inOrder, "upload": .inOrder, "prune": .inOrder, "database check": .inOrder, "group": .inOrder,
    "events": .inOrder, "worker": .inOrder, "symbols upload": .inOrder,
    "unlock": .atOnce, "database create": .atOnce, "database import": .atOnce,
    "database delete": .atOnce, "database request-upload": .atOnce, "database settings": .atOnce, "convert": .atOnce,
    "redact": .atOnce, "report": .atOnce, "symbols dump": .atOnce, "symbols index": .atOnce, "symbols cache": .atOnce,
    "run": .passesOn,
    "inspect": .reads, "validate": .reads, "database info": .reads, "database list": .reads, "database show": .reads,
    "find": .reads, "symbolize": .reads, "explain": .reads, "symbols check": .reads, "symbols info": .reads,
    "symbols lookup": .reads, "doctor": .reads,
  ]

  @Test("Each command has its way to end at a signal, and the manual names those that end in good order")
  func table() throws {
    let folder = try TemporaryFolder()
    #expect(Set(Self.endings.keys) == Set(CommandTree.commands))
    for (name, ending) in Self.endings {
      let help = try Tool.shell("crashpadctl \(name) --help", in: folder).text
      #expect(help.contains("--grace") == (ending == .inOrder), "\(name)")
    }
    let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../../man/crashpadctl.1")
    let text = try String(contentsOf: page, encoding: .utf8)
    let start = try #require(text.range(of: "SIGTERM, SIGINT and SIGHUP end\n"))
    let end = try #require(text.range(of: "in good order", range: start.upperBound..<text.endIndex))
    let paragraph = text[start.upperBound..<end.lowerBound]
    for (name, ending) in Self.endings where ending == .inOrder {
      #expect(paragraph.contains(name), "\(name)")
    }
  }
}
