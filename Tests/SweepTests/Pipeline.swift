// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpInterpretation
import DumpSynth
import Foundation
import IntermediateDump
import CrashpadJSON
import CrashpadMinidump
import CrashpadSnapshot
import Testing
import ToolRunner

/// Hands an array's bytes to `body`.
func withBytes<Result>(_ array: [UInt8], _ body: (RawSpan) throws -> Result) rethrows -> Result {
  try unsafe body(array.span.bytes)
}

/// The way of a dump from its bytes to a minidump and to JSON: all that may trap, and what must hold of the results.
enum Pipeline {
  /// A statement that does not hold.
  struct Broken: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }

  /// All that came out, to compare two runs.
  struct Outcome: Equatable {
    var minidumps: [[UInt8]?] = []
    var findings: [[Finding]] = []
    var json: [UInt8] = []
    var whole: [UInt8] = []
  }

  /// Takes a dump through everything and throws what is wrong. JSON is most of the work, so only every fourth `round` has
  /// it; every sixteenth is run twice, to compare.
  static func check(dump array: [UInt8], round: Int) throws {
    let withJSON = round.isMultiple(of: 4)
    let outcome = try run(array, withJSON)
    if round.isMultiple(of: 16), try run(array, withJSON) != outcome { throw Broken("two runs differ") }
  }

  private static func run(_ array: [UInt8], _ withJSON: Bool) throws -> Outcome {
    try withBytes(array) { bytes in
      let tree = DumpTree(parsing: bytes)
      var outcome = Outcome()
      guard tree.stopOffset <= bytes.byteCount, tree.root.contentEnd <= max(1, tree.stopOffset) else {
        throw Broken("the tree reaches beyond the file")
      }
      try interpret(tree, bytes, &outcome)
      if withJSON { outcome.json = try json(tree, bytes) }
      // Neither form has a place for the container that is too deep.
      if tree.incomplete?.rule == DumpRules.tooDeep { return outcome }
      let output = MemoryOutput()
      guard try tree.write(to: output, bytes) == output.bytes.count else { throw Broken("wrong count of bytes") }
      outcome.whole = output.bytes
      if withJSON, !array.isEmpty { try checkBack(outcome, isComplete: tree.incomplete == nil, array) }
      return outcome
    }
  }

  /// As the dump says, as a guess if it does not say, and as each architecture that it is not.
  private static func interpret(_ tree: DumpTree, _ bytes: RawSpan, _ outcome: inout Outcome) throws {
    var done: CPUArchitecture?
    for architecture in [nil, nil, CPUArchitecture.arm64, .x86_64] where architecture == nil || architecture != done {
      var options = DumpInterpreter.Options()
      options.architecture = architecture
      options.guessesArchitecture = !outcome.findings.isEmpty
      options.annotations = [("from outside", "é")]
      if architecture == nil, done != nil { continue }
      let result = DumpInterpreter.interpret(tree, in: bytes, options: options)
      outcome.findings.append(Array(result.findings))
      outcome.minidumps.append(try result.snapshot.map { try minidump($0, bytes) })
      if result.snapshot == nil, result.findings.count(of: .error) == 0 { throw Broken("rejected without an error") }
      if architecture == nil { done = result.snapshot?.system.architecture }
    }
  }

  private static func minidump(_ snapshot: ProcessSnapshot, _ bytes: RawSpan) throws -> [UInt8] {
    let plan = try MinidumpWriter(snapshot, input: bytes)
    let output = MemoryOutput()
    var writer = ByteWriter(to: output)
    plan.write(to: &writer, bytes)
    try writer.finish()
    guard output.bytes.count == plan.byteCount else { throw Broken("minidump of another size than planned") }
    guard output.bytes.starts(with: Array("MDMP".utf8)) else { throw Broken("no minidump") }
    return output.bytes
  }

  /// JSON gives the dump back, and the dump the JSON.
  private static func checkBack(_ outcome: Outcome, isComplete: Bool, _ array: [UInt8]) throws {
    let back = try dump(fromJSON: outcome.json)
    if back != outcome.whole { throw Broken("JSON gives another dump than the tree") }
    if isComplete {
      if back != array { throw Broken("JSON does not give the dump back") }
      return
    }
    let again = try withBytes(back) { bytes in
      let tree = DumpTree(parsing: bytes)
      if let cause = tree.incomplete { throw Broken("a whole dump is incomplete: \(cause.rule.code)") }
      return try json(tree, bytes)
    }
    if try dump(fromJSON: again) != back { throw Broken("JSON of a whole dump does not give it back") }
  }

  static func json(_ tree: DumpTree, _ bytes: RawSpan) throws -> [UInt8] {
    let text = MemoryOutput()
    var writer = JSONWriter(.compact) { text.write($0) }
    DumpJSON.write(tree, bytes, to: &writer)
    try writer.finish()
    return text.bytes
  }

  static func dump(fromJSON text: [UInt8]) throws -> [UInt8] {
    let output = MemoryOutput()
    try withBytes(text) { try DumpJSON.read($0, to: output) }
    return output.bytes
  }

  /// Takes a text that may be JSON through everything, and throws what is wrong. Returns whether it was a dump.
  @discardableResult
  static func check(json text: [UInt8]) throws -> Bool {
    let first: [UInt8]
    do {
      first = try dump(fromJSON: text)
    } catch let failure as DumpJSON.Failure {
      guard (0...text.count).contains(failure.offset) else { throw Broken("a failure at \(failure.offset)") }
      return false
    }
    try withBytes(first) { bytes in
      let tree = DumpTree(parsing: bytes)
      if tree.incomplete?.rule == DumpRules.tooDeep { return }
      if let cause = tree.incomplete { throw Broken("JSON gives an incomplete dump: \(cause.rule.code)") }
      if try dump(fromJSON: json(tree, bytes)) != first { throw Broken("JSON, dump, JSON is not stable") }
    }
    return true
  }
}

/// The seed, how many mutations, and the dumps that they start from.
enum Sweep {
  /// `CRASHPADCTL_SWEEP` for the long run.
  static let count =
    ProcessInfo.processInfo.environment["CRASHPADCTL_SWEEP"].flatMap { Int($0) } ?? Soak.times(8_000, or: 600)

  /// `CRASHPADCTL_SEED` to see a failure again.
  static let seed = ProcessInfo.processInfo.environment["CRASHPADCTL_SEED"].flatMap { UInt64($0) } ?? 0x5eed

  /// A dump of some two kilobytes with each kind of record.
  static func smallDump(_ architecture: SynthArchitecture, _ exception: SynthException, seed: UInt64 = 1) -> [UInt8] {
    var parameters = SynthParameters.tiny(architecture: architecture, seed: seed)
    parameters.exception = exception
    parameters.stackBytes = 24
    parameters.contextRegionsPerThread = 2
    parameters.contextRegionBytes = 16
    parameters.moduleCount = 2
    parameters.annotatedModules = 1
    parameters.annotationsPerModule = 2
    parameters.extraMemoryRegionBytes = 8
    parameters.intermediateOnlyRegionsPerModule = 1
    parameters.crashInfo = true
    parameters.processAnnotations = 1
    return SynthDump(parameters).bytes
  }

  /// The dump of a Linux process, with a thread of each way to capture one.
  static func linuxDump(_ architecture: SynthArchitecture) -> [UInt8] {
    var dump = SynthLinuxDump(architecture, threads: 3)
    for index in dump.threads.indices { dump.threads[index].stack.removeLast(512 - 24) }
    dump.threads[1].capture = 4
    dump.threads[2].capture = 5
    dump.captureNotes = ["one", "two"]
    dump.modules.removeSubrange(1...2)
    return dump.bytes
  }

  static let bases: [[UInt8]] = SynthArchitecture.allCases.flatMap { architecture in
    [SynthException.none, .badAccess, .abort, .nsException(frames: 4)].map { smallDump(architecture, $0) }
      + [linuxDump(architecture)]
  }
}
