// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// A command that keeps something in `state`, in one test.
struct StateStage {
  let folder: TemporaryFolder
  /// After an undisturbed run.
  let expected: [UInt8]
  /// The changes of the disk by an undisturbed run.
  let calls: [Call]
  private let command: StateCutTests.Command
  /// Makes the state before the run.
  private let start: String
  private let run: String

  init(_ command: StateCutTests.Command) throws {
    self.command = command
    folder = try TemporaryFolder()
    for number in 1...3 { try folder.write(DatabasePlan.dump(number), to: "new/\(number).idump") }
    if command.old > 0 {
      for number in 1...command.old { try folder.write(DatabasePlan.dump(10 + number), to: "old/\(number).idump") }
    }
    let tool = "crashpadctl \(command.text)"
    start =
      "rm -rf state first disk; mkdir state" + (command.old > 0 ? "; \(tool) old > /dev/null 2> errors || exit" : "")
    run = "\(tool) \(command.old > 0 ? "old new" : "new")"
    let whole = try Tool.shell(
      "\(start); exec \(Fault.none.prefix(folder, root: "state", log: "log")) \(run)", in: folder)
    try #require(whole.status == 0, "\(whole.errorText)")
    expected = try Self.output(command, folder, whole)
    calls = try String(decoding: folder.bytes(of: "log"), as: UTF8.self).split(separator: "\n").compactMap { Call($0) }
    try #require(calls.count > 5, "the library counted nothing: was it loaded?")
  }

  private static func output(
    _ command: StateCutTests.Command, _ folder: TemporaryFolder, _ outcome: Tool.Outcome
  ) throws -> [UInt8] {
    guard let output = command.output else { return Array(outcome.output) }
    return folder.exists(output) ? try folder.bytes(of: output) : []
  }

  /// The output of a run that came to its end.
  func output(_ outcome: Tool.Outcome) throws -> [UInt8] { try Self.output(command, folder, outcome) }

  /// A run with the fault, on the state before it.
  func first(_ fault: Fault) throws -> Tool.Outcome {
    try Tool.shell("\(start); exec \(fault.prefix(folder, root: "state")) \(run)", in: folder)
  }

  /// A run on what another left.
  func next() throws -> Tool.Outcome { try Tool.shell("exec \(run)", in: folder) }
}
