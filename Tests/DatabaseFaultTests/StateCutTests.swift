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

  @Test("After a power failure at any moment, the next run counts each dump once", arguments: commands)
  func sweep(_ command: Command) throws {
    let stage = try StateStage(command)
    let (folder, calls) = (stage.folder, stage.calls)
    // One behind the last: the run comes to its end.
    let cuts = CutDisk.Names.allCases.flatMap { names in
      CutDisk.Bytes.allCases.flatMap { bytes in (1...calls.count + 1).map { (call: $0, names: names, bytes: bytes) } }
    }
    for index in Sweep.sample(Array(cuts.indices), Soak.times(cuts.count, or: 4), area: UInt64(80 + command.old)) {
      let cut = cuts[index]
      let place =
        cut.call > calls.count ? "the end" : "call \(cut.call), \(calls[cut.call - 1].name) \(calls[cut.call - 1].path)"
      let fault = Fault.killed(before: cut.call).recordingDisk("disk")
      let first = try stage.first(fault)
      #expect(first.status == (cut.call > calls.count ? 0 : 137), "\(place): \(first.errorText)")
      try FileManager.default.moveItem(at: folder.url("state"), to: folder.url("first"))
      try CutDisk(folder.url("disk"), cut.names, cut.bytes, of: folder.url("first")).make(at: folder.url("state"))
      let second = try stage.next()
      #expect(second.status == 0, "\(place), \(cut.names), \(cut.bytes): \(second.errorText)")
      #expect(try stage.output(second) == stage.expected, "\(place), \(cut.names), \(cut.bytes)")
    }
    print("\(command.name): \(calls.count) calls, the power failed at some of \(cuts.count) moments")
  }
}
