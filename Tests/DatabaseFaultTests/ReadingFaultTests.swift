// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// Lets looks fail of commands that change nothing, or write a file of their own: what could not be examined is not said to
/// be absent.
@Suite("Failing looks")
struct ReadingFaultTests {
  struct Command: Sendable, CustomTestStringConvertible {
    let text: String
    /// Whether symbols that could not be read are a warning, and the rest is printed with status 0.
    var warns = false

    var testDescription: String { text }
  }

  private static let now = "--now \(DatabasePlan.now)"
  private static let id = DatabasePlan.id(51)

  static let commands =
    [
      "database info -d db", "database list -d db \(now)", "database list -d db --limit 2 --sort size -f json \(now)",
      "database show -d db \(id) \(now)", "database check -d db \(now)", "find . ", "validate db", "inspect d.idump",
      "inspect --database db --last", "group --no-system --database db --last",
      "prune -d db --pending --max-reports 1 --dry-run \(now)", "process -d db --dry-run \(now)",
      "unlock -d db --dry-run \(now)", "group --no-system --jobs 1 db", "group --no-system --jobs 1 -f json d.idump db",
      "events --no-system --jobs 1 db", "convert d.idump -o -", "symbols info symbols -f json", "symbols index symbols",
      "symbols cache --symbols-cache cache -f json",
    ].map { Command(text: $0) }
    + ["symbolize", "symbols check", "explain", "report -o -"].map {
      Command(text: "\($0) --no-system -s symbols d.idump", warns: true)
    }

  private func stage() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    var plan = DatabasePlan.reports
    plan.addDump("com.example.app@\(DatabasePlan.id(80))", DatabasePlan.dump(80))
    try plan.make(at: folder.url("in/db"))
    try folder.write(DatabasePlan.dump(1), to: "in/d.idump")
    let symbols = "MODULE Linux x86_64 000102030405060708090A0B0C0D0E0F0 app\nPUBLIC 10 0 f\n"
    try folder.write(Array(symbols.utf8), to: "in/symbols/app.sym")
    try folder.write([], to: "in/cache/.keep")
    return folder
  }

  /// Runs a command with each of some faults, after `start`.
  private func sweep(_ command: Command, _ folder: TemporaryFolder, after start: String = ":") throws {
    func run(_ fault: Fault, log: String? = nil) throws -> Tool.Outcome {
      try Tool.shell(
        "cd in; \(start); \(fault.prefix(folder, root: "in", log: log)) crashpadctl \(command.text)", in: folder)
    }
    // None of them fails: it only counts.
    let whole = try run(.failing(EIO, first: 1_000_000, calls: Fault.looks), log: "log")
    let calls = try String(decoding: folder.bytes(of: "log"), as: UTF8.self).split(separator: "\n").compactMap {
      Call($0)
    }
    try #require(calls.count > 3, "the library counted nothing: was it loaded?")
    let faults = [EACCES, EIO, EMFILE, ENOMEM, ESTALE].flatMap { error in calls.map { (error: error, call: $0) } }
    let area = SplitMix64.mix(UInt64(command.text.utf8.count) &+ 900)
    // An input that can't be opened once is looked at in several ways.
    let ofInput = faults.indices.filter { faults[$0].error == EACCES && faults[$0].call.opens("db") }
    // The locks of a report are in two directories.
    let ofLocks = faults.indices.filter { index in
      faults[index].error == ENOMEM && faults[index].call.name == "look-open"
        && faults[index].call.path.hasSuffix(".lock")
    }
    for index in ofInput + ofLocks + Sweep.sample(Array(faults.indices), Soak.times(100, or: 3), area: area) {
      let (error, call) = faults[index]
      let place = "error \(error) at look \(call.number), \(call.name) \(call.path)"
      let outcome = try run(.failing(error, first: call.number, calls: Fault.looks))
      #expect(outcome.status < 128, "\(place): \(outcome.status)")
      if outcome.output == whole.output, outcome.status == whole.status { continue }
      // The findings of `database check` are its output.
      let isFound = outcome.text.contains("\(call.path): error: This can't be read")
      let isSaid = isFound || outcome.errorText != whole.errorText && !outcome.errorText.isEmpty
      // The status of a command that fails without the fault says no more.
      let isRight = isSaid && (outcome.status != whole.status || whole.status != 0 || command.warns)
      #expect(isRight, "\(place): \(outcome.status) \(outcome.errorText)")
    }
    let short = try run(.shortReads)
    #expect(short.output == whole.output && short.status == whole.status, "short reads: \(short.errorText)")
    print("\(command.text): \(calls.count) looks, \(faults.count) faults")
  }

  @Test("A look that fails once is said, or the output is the same", arguments: commands)
  func looks(_ command: Command) throws { try sweep(command, stage()) }

  private static let canBuild = (try? Tool.shell("command -v cc objcopy", in: TemporaryFolder()).status) == 0

  @Test(
    "Debug information in another file that can't be read is not said to be missing",
    .enabled(if: canBuild, "no cc or no objcopy"),
    arguments: [
      "symbols dump linked -o out.sym && cat out.sym", "symbols dump split -o out.sym && cat out.sym",
      "symbols lookup linked $(cat main)", "symbols lookup split $(cat main)", "symbols info linked split -f json",
    ])
  func otherFiles(_ text: String) throws {
    let folder = try TemporaryFolder()
    let source = "int f(int n) { return n * 3; }\nint main(int n, char **a) { return f(n); }\n"
    try folder.write(Array(source.utf8), to: "in/a.c")
    let made = try Tool.shell(
      """
      cd in && cc -g -O1 -Wl,--build-id a.c -o app && objcopy --only-keep-debug app app.debug && objcopy --strip-all app linked &&
      objcopy --add-gnu-debuglink=app.debug linked && cc -g -O1 -gsplit-dwarf a.c -o split &&
      nm split | sed -n 's/^\\([0-9a-f]*\\) T main$/0x\\1/p' >main
      """, in: folder)
    try #require(made.status == 0, "\(made.errorText)")
    try sweep(Command(text: text), folder, after: "rm -f out.sym")
  }
}

extension Call {
  fileprivate func opens(_ path: String) -> Bool { name == "look-open" && self.path == path }
}
