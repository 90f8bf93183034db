// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// A command on a database, and what it makes of that when nothing comes between.
struct Scenario: Sendable, CustomTestStringConvertible {
  let name: String
  let plan: DatabasePlan
  /// Behind `crashpadctl`, in a directory where the database is `db`.
  let command: String
  /// How the command ends; -1 if that does not matter.
  let status: Int32

  init(_ name: String, _ plan: DatabasePlan, _ command: String, status: Int32 = 0) {
    self.name = name
    self.plan = plan
    self.command = command
    self.status = status
  }

  var testDescription: String { name }

  static let process = "process --database db --now \(DatabasePlan.now) --jobs 1"
}

/// One scenario in one test.
struct Stage {
  let scenario: Scenario
  let folder: TemporaryFolder
  /// After an undisturbed run.
  let expected: Tree
  /// The changes of the disk by an undisturbed run.
  let calls: [Call]
  /// By a dump's name the report that it becomes.
  private let fates: [String: String]

  init(_ scenario: Scenario) throws {
    self.scenario = scenario
    folder = try TemporaryFolder()
    try scenario.plan.make(at: folder.url("whole/db"))
    let result = try Tool.shell(
      "cd whole && exec \(Fault.none.prefix(folder, root: "whole/db", log: "log")) crashpadctl \(scenario.command)",
      in: folder)
    let isAsExpected = scenario.status == -1 ? result.status < 64 : result.status == scenario.status
    try #require(isAsExpected, "status \(result.status): \(result.errorText)")
    expected = try Tree(at: folder.url("whole/db")).withFixedClientID()
    calls = try String(decoding: folder.bytes(of: "log"), as: UTF8.self).split(separator: "\n").compactMap { Call($0) }
    try #require(!calls.isEmpty, "the library counted nothing: was it loaded?")
    var fates: [String: String] = [:]
    if scenario.command.hasPrefix("process") {
      try scenario.plan.make(at: folder.url("told/db"))
      let told = try Tool.shell("cd told && exec crashpadctl \(scenario.command) --format json", in: folder)
      for dump in try JSONDocument(told.output)["dumps"].array {
        if let name = dump["name"].string, let report = dump["report"].string { fates[name] = report }
      }
    }
    self.fates = fates
  }

  /// A fresh copy of the database, in a directory of that name.
  func make(_ name: String) throws { try scenario.plan.make(at: folder.url("\(name)/db")) }

  func remove(_ name: String) throws { try FileManager.default.removeItem(at: folder.url(name)) }

  func tree(_ name: String) throws -> Tree { try Tree(at: folder.url("\(name)/db")).withFixedClientID() }

  /// Runs the scenario's command on a copy, or another.
  func run(_ name: String, _ fault: Fault = .none, command: String? = nil, log: String? = nil) throws -> Tool.Outcome {
    let prefix = fault.prefix(folder, root: "\(name)/db", log: log)
    return try Tool.shell("cd \(name) && exec \(prefix) crashpadctl \(command ?? scenario.command)", in: folder)
  }

  /// The calls that the last run with that log made.
  func log(_ name: String) throws -> [Call] {
    guard folder.exists(name) else { return [] }
    return try String(decoding: folder.bytes(of: name), as: UTF8.self).split(separator: "\n").compactMap { Call($0) }
  }

  /// The faults of a database in which a run of `process` ended somewhere: a dump is neither there any more nor a
  /// whole report or in `rejected/`, or a report is there that has not all of its bytes, or no metadata.
  func losses(_ name: String) throws -> [String] {
    let tree = try tree(name)
    var losses: [String] = []
    for report in tree.names(in: "pending") where report.hasSuffix(".dmp") {
      let stem = "pending/\(report.dropLast(4))"
      if tree[stem + ".dmp"] != expected[stem + ".dmp"] { losses.append("\(report) has other bytes") }
      if tree[stem + ".meta"] != expected[stem + ".meta"] { losses.append("\(report) has other metadata, or none") }
    }
    let rejected = tree.names(in: "rejected").map { tree["rejected/\($0)"] }
    for dump in scenario.plan.dumps {
      let names = [dump.name, dump.unlockedName]
      if names.contains(where: { tree["pending-serialized-ios-dump/\($0)"] == dump.bytes }) { continue }
      if rejected.contains(dump.bytes) { continue }
      if let report = fates[dump.name], tree["pending/\(report).dmp"] != nil { continue }
      // The file of a program that did not crash.
      if dump.bytes.isEmpty { continue }
      losses.append("\(dump.name) is lost")
    }
    return losses
  }
}
