// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// Commands that write files of their own: a call that fails or a run that is killed leaves the whole file or none.
@Suite("Outputs under faults")
struct OutputFaultTests {
  static let commands = [
    "convert d.idump -o out/result.dmp", "redact d.idump -o out/result.idump",
    "report d.idump --no-system -o out/result.html", "group --no-system d.idump --html out/result.html",
    "symbolize --no-system d.idump --html out/result.html", "events --no-system d.idump -o out/result",
    "symbols index symbols --copy -o out/store", "symbols upload symbols --to s3-layout=out/store",
  ]
  private static let errors = [EACCES, EIO, EMFILE, ENOMEM, ENOSPC, EDQUOT, EROFS, ESTALE, EINTR]

  private func stage() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    try folder.write(DatabasePlan.dump(1), to: "d.idump")
    let symbols = "MODULE Linux x86_64 000102030405060708090A0B0C0D0E0F0 app\nPUBLIC 10 0 f\n"
    try folder.write(Array(symbols.utf8), to: "symbols/app.sym")
    return folder
  }

  private func run(
    _ command: String, _ folder: TemporaryFolder, _ fault: Fault, log: String? = nil
  ) throws -> (outcome: Tool.Outcome, tree: Tree) {
    let prefix = fault.prefix(folder, root: "out", log: log)
    let outcome = try Tool.shell("rm -rf out; mkdir out; exec \(prefix) crashpadctl \(command)", in: folder)
    return (outcome, try Tree(at: folder.url("out")))
  }

  private func files(_ tree: Tree) -> [String] {
    tree.entries.compactMap { name, entry in if case .file = entry { name } else { nil } }
  }

  @Test("A call that fails is said, or makes no difference; no part of a file is left", arguments: commands)
  func failing(_ command: String) throws {
    let folder = try stage()
    let whole = try run(command, folder, .none, log: "log")
    try #require(whole.outcome.status == 0, "\(whole.outcome.errorText)")
    let calls = try String(decoding: folder.bytes(of: "log"), as: UTF8.self).split(separator: "\n").compactMap {
      Call($0)
    }
    try #require(calls.count > 1, "the library counted nothing: was it loaded?")
    let faults = Self.errors.flatMap { error in calls.map { (error: error, call: $0) } }
    for index in Sweep.sample(Array(faults.indices), Soak.times(faults.count, or: 2), area: 560) {
      let (error, call) = faults[index]
      let place = "error \(error) at call \(call.number), \(call.name) \(call.path)"
      let (outcome, tree) = try run(command, folder, .failing(error, first: call.number))
      if outcome.status == 0 {
        #expect(tree.differences(from: whole.tree).isEmpty, "\(place), status 0")
      } else {
        #expect(outcome.status < 128 && !outcome.errorText.isEmpty, "\(place): \(outcome.status)")
        // Events are appended, and their first part may be there; a file that can't be removed stays.
        let isPart = command.hasPrefix("events") || call.name == "unlinkat"
        let left = files(tree).filter { tree[$0] != whole.tree[$0] }
        #expect(isPart || left.isEmpty, "\(place): \(left)")
      }
    }
    let short = try run(command, folder, .shortWrites)
    #expect(short.outcome.status == 0 && short.tree == whole.tree, "short writes: \(short.outcome.errorText)")
    print("\(command): \(calls.count) calls, \(faults.count) faults")
  }

  @Test("A run that is killed leaves the whole file, or none with its name", arguments: commands)
  func killed(_ command: String) throws {
    let folder = try stage()
    let whole = try run(command, folder, .none, log: "log")
    let count = try String(decoding: folder.bytes(of: "log"), as: UTF8.self).split(separator: "\n").count
    for call in Sweep.sample(Array(1...count), Soak.times(count, or: 1), area: 570) {
      let (outcome, tree) = try run(command, folder, .killed(before: call))
      #expect(outcome.status == 137, "before call \(call)")
      if command.hasPrefix("events") { continue }
      for name in files(tree) where whole.tree[name] != nil {
        #expect(tree[name] == whole.tree[name], "before call \(call): \(name)")
      }
    }
  }
}
