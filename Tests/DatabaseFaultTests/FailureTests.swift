// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// Lets calls fail by which a run of `process` changes the disk.
@Suite("Failing calls")
struct FailureTests {
  static let scenario = Scenario("process", .mixedWithSettings, Scenario.process, status: 1)

  /// Runs with the fault, and once more without. The first says what failed, or nothing failed that matters; nothing is
  /// lost; and the second leaves what an undisturbed run leaves.
  private func check(_ stage: Stage, _ fault: Fault, _ name: String) throws {
    try stage.make("copy")
    let first = try stage.run("copy", fault, log: "failed.log")
    let failed = try stage.log("failed.log").filter(\.failed)
    #expect(!failed.isEmpty, "\(name): nothing failed")
    #expect([0, 1, 73, 74, 75, 77].contains(first.status), "\(name): \(first.errorText)")
    let losses = try stage.losses("copy")
    #expect(losses.isEmpty, "\(name)")
    // Files that are removed at the end of a run do not disturb others.
    let serious = failed.filter { $0.name != "unlinkat" || $0.path.hasPrefix("pending-serialized-ios-dump/") }
    if !serious.isEmpty {
      #expect(first.status != 0, "\(name): a failure, but status 0")
      let names = serious.flatMap { [$0.path, $0.newPath ?? $0.path] }.map { $0 == "." ? "db" : $0 }
      #expect(names.contains { first.errorText.contains($0) }, "\(name): not named in: \(first.errorText)")
    }
    let second = try stage.run("copy")
    #expect([0, 1].contains(second.status), "\(name), second run: \(second.errorText)")
    #expect(!second.errorText.contains("busy"), "\(name), second run: \(second.errorText)")
    // A lock that could not be removed is its report's next owner's to remove.
    let tree = serious.count == failed.count ? try stage.tree("copy") : try stage.tree("copy").withoutLeftovers
    let differences = tree.differences(from: stage.expected)
    #expect(differences.isEmpty, "\(name), and run again")
    try stage.remove("copy")
    try FileManager.default.removeItem(at: stage.folder.url("failed.log"))
  }

  @Test("On a disk that is full for one call, nothing is lost", arguments: [ENOSPC])
  func once(_ error: Int32) throws {
    let stage = try Stage(Self.scenario)
    for call in Sweep.sample(stage.calls.map(\.number), Soak.times(10, or: 4), area: 10) {
      let text = stage.calls[call - 1]
      try check(stage, .failing(error, first: call), "error \(error) at call \(call), \(text.name) \(text.path)")
    }
    print("error \(error): \(stage.calls.count) calls")
  }

  @Test("On a disk that is full from one call on, nothing is lost")
  func full() throws {
    let stage = try Stage(Self.scenario)
    for call in Sweep.sample(stage.calls.map(\.number), Soak.times(6, or: 3), area: 11) {
      // Files can be removed from a full disk.
      let calls = ["open", "mkdirat", "linkat", "renameat", "renameat2", "write", "pwrite", "fsync", "syncfs"]
      let made = stage.calls.filter { calls.contains($0.name) }
      guard call <= made.count else { continue }
      try check(stage, .failing(ENOSPC, first: call, step: 1, calls: calls), "full from call \(call) on")
    }
  }

  @Test(
    "When every fourth call fails, nothing is lost",
    arguments: [EIO, EACCES, EROFS, EDQUOT], Soak.every(2, of: [1, 2, 3, 4]))
  func everyFourth(_ error: Int32, _ first: Int) throws {
    let stage = try Stage(Self.scenario)
    try check(stage, .failing(error, first: first, step: 4), "error \(error) at every fourth call from \(first) on")
  }

  @Test(
    "A report whose attachments can't be made leaves neither files nor an empty directory",
    arguments: [ENOSPC, EMFILE])
  func attachments(_ error: Int32) throws {
    let command =
      "database import --database db --id \(DatabasePlan.id(70)) --created \(DatabasePlan.now) "
      + "db/pending-serialized-ios-dump/locked.locked --attachment log=db/settings.dat"
    let stage = try Stage(Scenario("new", .reports, command))
    let calls = stage.calls.filter { ["open", "mkdirat"].contains($0.name) && !$0.path.hasPrefix("pending") }
    try #require(calls.contains { $0.path.hasPrefix("attachments/") && $0.name == "open" }, "\(stage.calls)")
    for call in calls {
      try stage.make("copy")
      let before = try stage.tree("copy")
      let result = try stage.run("copy", .failing(error, first: call.number), log: "failed.log")
      #expect(result.status >= 73, "\(call.name) \(call.path): \(result.errorText)")
      let after = try stage.tree("copy")
      for folder in ["new", "attachments", "attachments/\(DatabasePlan.id(70))"] {
        #expect(after.names(in: folder) == before.names(in: folder), "\(call.name) \(call.path)")
      }
      let path = stage.folder.url("copy/db/attachments/\(DatabasePlan.id(70))").path
      #expect(!FileManager.default.fileExists(atPath: path), "\(call.name) \(call.path)")
      try stage.remove("copy")
      try FileManager.default.removeItem(at: stage.folder.url("failed.log"))
    }
  }

  @Test("A signal that comes into each call changes nothing")
  func interrupted() throws {
    let stage = try Stage(Self.scenario)
    try stage.make("copy")
    // Each call is tried again, so every second succeeds.
    let result = try stage.run("copy", .failing(EINTR, first: 1, step: 2), log: "log")
    #expect(result.status == stage.scenario.status, "\(result.errorText)")
    #expect(try stage.tree("copy").differences(from: stage.expected).isEmpty)
    #expect(try stage.log("log").count >= 2 * stage.calls.count)
  }

  @Test("Writes that take half of the bytes change nothing")
  func shortWrites() throws {
    let stage = try Stage(Self.scenario)
    try stage.make("copy")
    let result = try stage.run("copy", .shortWrites, log: "log")
    #expect(result.status == stage.scenario.status, "\(result.errorText)")
    #expect(try stage.tree("copy").differences(from: stage.expected).isEmpty)
    #expect(try stage.log("log").count > stage.calls.count)
  }

  @Test("Reads that return half of the bytes change nothing", arguments: changes)
  func shortReads(_ scenario: Scenario) throws {
    let stage = try Stage(scenario)
    try stage.make("copy")
    let result = try stage.run("copy", .shortReads, log: "log")
    #expect(scenario.status == -1 || result.status == scenario.status, "\(result.errorText)")
    #expect(try stage.tree("copy").differences(from: stage.expected).isEmpty)
    #expect(try !stage.log("log").isEmpty, "the library counted nothing: was it loaded?")
  }

  @Test(
    "On file systems that lack something, every dump becomes its report all the same",
    arguments: [
      ("hard links", "linkat", EPERM), ("hard links", "linkat", EOPNOTSUPP), ("locks", "fcntl", EINVAL),
      ("renaming without replacing", "renameat2", EINVAL), ("renaming without replacing", "renameat2", ENOSYS),
    ])
  func lacking(_ what: String, _ call: String, _ error: Int32) throws {
    let stage = try Stage(Self.scenario)
    try stage.make("copy")
    let result = try stage.run("copy", .failing(error, first: 1, step: 1, calls: [call]), log: "log")
    #expect(result.status == stage.scenario.status, "\(result.errorText)")
    #expect(try !stage.log("log").isEmpty, "\(call) was never called")
    #expect(try stage.tree("copy").differences(from: stage.expected).isEmpty, "without \(what)")
  }

  @Test("A deletion that failed anywhere is ended by the next one, which finds the rest", arguments: [EIO, EACCES])
  func deletion(_ error: Int32) throws {
    let id = DatabasePlan.id(61)
    let stage = try Stage(Scenario("delete", .reports, "database delete --database db \(id)"))
    for call in Sweep.sample(stage.calls.map(\.number), Soak.times(stage.calls.count, or: 6), area: 12) {
      let name = "call \(call), \(stage.calls[call - 1].name) \(stage.calls[call - 1].path)"
      try stage.make("copy")
      let first = try stage.run("copy", .failing(error, first: call))
      #expect([0, 73, 74, 75, 77].contains(first.status), "\(name): \(first.errorText)")
      let second = try stage.run("copy")
      #expect(second.status == 0 || second.status == 66, "\(name): \(second.errorText)")
      let rest = try stage.tree("copy").withoutLeftovers.entries.keys.filter { $0.contains(id) }
      #expect(rest.isEmpty, "\(name)")
      try stage.remove("copy")
    }
  }

  // MARK: All commands

  /// The first of two dumps with one id keeps it, and a failure may change which that is.
  private static let changes =
    [scenario] + KillSweepTests.scenarios.filter { !$0.plan.isMissing && $0.name != "process" }

  /// Runs with a fault, and then without. The first run says that it failed, or has done all; the second does the rest.
  private func checkEither(_ stage: Stage, _ fault: Fault, _ name: String) throws {
    let scenario = stage.scenario
    try stage.make("copy")
    defer { try? stage.remove("copy") }
    let first = try stage.run("copy", fault)
    #expect([0, 1, 2, 66, 73, 74, 75, 77].contains(first.status), "\(name): \(first.status) \(first.errorText)")
    #expect(first.status == 0 || !first.errorText.isEmpty, "\(name): says nothing")
    if first.status == 0, scenario.status == 0 {
      let differences = try stage.tree("copy").withoutLeftovers.differences(from: stage.expected.withoutLeftovers)
      #expect(differences.isEmpty, "\(name): not done, and status 0: \(first.errorText)")
    }
    let second = try stage.run("copy")
    #expect(second.status < 77, "\(name), second run: \(second.errorText)")
    let third = try stage.run("copy", command: "process --database db --now \(DatabasePlan.now) --limit 0")
    #expect(third.status == 0, "\(name), third run: \(third.errorText)")
    let differences = try stage.tree("copy").withoutLeftovers.differences(from: stage.expected.withoutLeftovers)
    #expect(differences.isEmpty, "\(name), and run again")
  }

  @Test("A call that fails once in any command: it is done, or said and done by the next run", arguments: changes)
  func anyCommand(_ scenario: Scenario) throws {
    let stage = try Stage(scenario)
    let errors = [EACCES, EIO, EMFILE, ENOMEM, ENOSPC, EDQUOT, EROFS, ESTALE, EINTR]
    let faults = errors.flatMap { error in stage.calls.map { (error: error, call: $0) } }
    for index in Sweep.sample(Array(faults.indices), Soak.times(60, or: 2), area: 13) {
      let (error, call) = faults[index]
      let name = "error \(error) at call \(call.number), \(call.name) \(call.path)"
      try checkEither(stage, .failing(error, first: call.number), name)
    }
    print("\(scenario.name): \(stage.calls.count) calls, \(faults.count) faults")
  }

  @Test("A look that fails once in any command is no absence: it is said, or makes no difference", arguments: changes)
  func anyLook(_ scenario: Scenario) throws {
    let stage = try Stage(scenario)
    try stage.make("copy")
    // None of them fails: it only counts.
    _ = try stage.run("copy", .failing(EIO, first: 1_000_000, calls: Fault.looks), log: "looks.log")
    let calls = try stage.log("looks.log")
    try stage.remove("copy")
    try #require(calls.count > 10, "the library counted nothing: was it loaded?")
    let errors = [EACCES, EIO, EMFILE, ENOMEM, ESTALE]
    let faults = errors.flatMap { error in calls.map { (error: error, call: $0) } }
    for index in Sweep.sample(Array(faults.indices), Soak.times(80, or: 2), area: 14) {
      let (error, call) = faults[index]
      let name = "error \(error) at look \(call.number), \(call.name) \(call.path)"
      try checkEither(stage, .failing(error, first: call.number, calls: Fault.looks), name)
    }
    print("\(scenario.name): \(calls.count) looks, \(faults.count) faults")
  }
}
