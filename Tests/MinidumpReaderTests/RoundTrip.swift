// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpInterpretation
import DumpSynth
import IntermediateDump
import CrashpadMinidump
import CrashpadSnapshot
import Testing

/// A dump, what the interpreter made of it, and what the reader made of the minidump written from that.
struct RoundTrip: Sendable {
  let bytes: [UInt8]
  let original: ProcessSnapshot
  let reading: Reading

  struct Rejected: Error {}

  init(_ bytes: [UInt8], _ options: DumpInterpreter.Options = DumpInterpreter.Options()) throws {
    self.bytes = bytes
    let snapshot = withBytes(bytes) {
      DumpInterpreter.interpret(DumpTree(parsing: $0), in: $0, options: options).snapshot
    }
    guard let snapshot else { throw Rejected() }
    original = snapshot
    reading = Reading(
      try withBytes(bytes) { bytes in
        let output = MemoryOutput()
        var writer = ByteWriter(to: output)
        try MinidumpWriter(snapshot, input: bytes).write(to: &writer, bytes)
        try writer.finish()
        return output.bytes
      })
  }

  /// The bytes of a content of the original.
  func data(_ content: SnapshotBytes?) -> [UInt8]? {
    content.map { content in withBytes(bytes) { original.bytes(of: content, in: $0) } }
  }

  /// A text of the original; what was not recorded is written as an empty text.
  func text(_ content: SnapshotBytes?) -> String { data(content).map { String(decoding: $0, as: UTF8.self) } ?? "" }

  func texts(_ annotations: [Annotation]) -> [String] {
    annotations.map { "\(text($0.name))=\(text($0.value))" }
  }
}

struct RoundTripCase: Sendable, CustomTestStringConvertible {
  let dump: SynthDump
  let trip: RoundTrip?

  private init(_ parameters: SynthParameters) {
    dump = SynthDump(parameters)
    var options = DumpInterpreter.Options()
    options.reportID = Self.reportID
    options.clientID = Self.clientID
    options.annotations = [("from outside", "Füße \u{1f463}")]
    trip = try? RoundTrip(dump.bytes, options)
  }

  static let reportID = UUIDBytes(high: 0x0011_2233_4455_6677, low: 0x8899_aabb_ccdd_eeff)
  static let clientID = UUIDBytes(high: 0xfedc_ba98_7654_3210, low: 0x0123_4567_89ab_cdef)

  var testDescription: String {
    "\(dump.parameters.architecture), seed \(dump.parameters.seed), \(dump.parameters.exception)"
  }

  static let exceptions: [SynthException] = [
    .none, .badAccess, .simulated, .abort, .nsException(frames: 12), .nsException(frames: 1),
    .signal(number: 11, code: 2),
    .mach(type: 1, codes: [13, 0]), .mach(type: 6, codes: [1, 0]), .mach(type: 10, codes: [0x0b10_0001, 0x10]),
    .mach(type: 11, codes: [Int64(bitPattern: 0x6000_0000_0000_0000), -1]), .mach(type: 12, codes: []),
  ]

  static let all: [RoundTripCase] = SynthArchitecture.allCases.flatMap { architecture in
    exceptions.enumerated().flatMap { index, exception in
      [1, 40, 900].map { seed in
        var parameters = SynthParameters(architecture: architecture, seed: UInt64(seed + index))
        parameters.exception = exception
        parameters.threadCount = 4
        parameters.crashedThread = index % 4
        parameters.stackBytes = 1024
        parameters.moduleCount = 10
        parameters.annotatedModules = 2
        parameters.intermediateOnlyRegionsPerModule = 1
        parameters.extraMemoryRegionsPerModule = index % 3
        return RoundTripCase(parameters)
      }
    }
  }
}
