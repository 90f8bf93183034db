// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// Cuts the power before each call by which `events --cursor` and `group --index` change their files. The dumps that they
/// read are not touched.
@Suite("Power failures, cursors and indexes")
struct StateCutTests {
  struct Command: Sendable, CustomTestStringConvertible {
    let name: String
    /// The files in `state` are its own.
    let text: String
    /// The file that has to have each dump once; nil for the standard output.
    let output: String?
    /// How many dumps an earlier run read.
    let old: Int

    var testDescription: String { "\(name), \(old) old" }
  }

  private static let events = "events --no-system --jobs 1 --cursor state/cursor -o state/out"
  private static let group = "group --no-system --jobs 1 --format json --index state/index"

  static let commands = [0, 2].flatMap { old in
    [
      Command(name: "events", text: events, output: "state/out", old: old),
      Command(name: "group", text: group, output: nil, old: old),
    ]
  }

  /// The output of a run that came to its end.
  private func output(_ command: Command, _ folder: TemporaryFolder, _ outcome: Tool.Outcome) throws -> [UInt8] {
    guard let output = command.output else { return Array(outcome.output) }
    return folder.exists(output) ? try folder.bytes(of: output) : []
  }

  @Test("After a power failure at any moment, the next run counts each dump once", arguments: commands)
  func sweep(_ command: Command) throws {
    let folder = try TemporaryFolder()
    for number in 1...3 { try folder.write(DatabasePlan.dump(number), to: "new/\(number).idump") }
    if command.old > 0 {
      for number in 1...command.old { try folder.write(DatabasePlan.dump(10 + number), to: "old/\(number).idump") }
    }
    let run = "crashpadctl \(command.text)"
    let start =
      "rm -rf state first disk; mkdir state" + (command.old > 0 ? "; \(run) old > /dev/null 2> errors || exit" : "")
    let dumps = command.old > 0 ? "old new" : "new"
    let whole = try Tool.shell(
      "\(start); exec \(Fault.none.prefix(folder, root: "state", log: "log")) \(run) \(dumps)", in: folder)
    try #require(whole.status == 0, "\(whole.errorText)")
    let expected = try output(command, folder, whole)
    let calls = try String(decoding: folder.bytes(of: "log"), as: UTF8.self).split(separator: "\n").compactMap {
      Call($0)
    }
    try #require(calls.count > 5, "the library counted nothing: was it loaded?")
    // One behind the last: the run comes to its end.
    let cuts = CutDisk.Names.allCases.flatMap { names in
      CutDisk.Bytes.allCases.flatMap { bytes in (1...calls.count + 1).map { (call: $0, names: names, bytes: bytes) } }
    }
    for index in Sweep.sample(Array(cuts.indices), Soak.times(cuts.count, or: 4), area: UInt64(80 + command.old)) {
      let cut = cuts[index]
      let place =
        cut.call > calls.count ? "the end" : "call \(cut.call), \(calls[cut.call - 1].name) \(calls[cut.call - 1].path)"
      let fault = Fault.killed(before: cut.call).recordingDisk("disk")
      let first = try Tool.shell("\(start); exec \(fault.prefix(folder, root: "state")) \(run) \(dumps)", in: folder)
      #expect(first.status == (cut.call > calls.count ? 0 : 137), "\(place): \(first.errorText)")
      try FileManager.default.moveItem(at: folder.url("state"), to: folder.url("first"))
      try CutDisk(folder.url("disk"), cut.names, cut.bytes, of: folder.url("first")).make(at: folder.url("state"))
      let second = try Tool.shell("exec \(run) \(dumps)", in: folder)
      #expect(second.status == 0, "\(place), \(cut.names), \(cut.bytes): \(second.errorText)")
      #expect(try output(command, folder, second) == expected, "\(place), \(cut.names), \(cut.bytes)")
    }
    print("\(command.name): \(calls.count) calls, the power failed at some of \(cuts.count) moments")
  }
}
