// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpInterpretation
import DumpSynth
import Foundation
import IntermediateDump
import CrashpadMinidump
import CrashpadRedaction
import CrashpadSnapshot
import Testing

/// Hands an array's bytes to `body`.
func withBytes<Result>(_ array: [UInt8], _ body: (RawSpan) throws -> Result) rethrows -> Result {
  try unsafe body(array.span.bytes)
}

/// A redacted dump and what was said of it.
struct Redacted {
  let bytes: [UInt8]
  let report: RedactionReport

  init(_ bytes: [UInt8], _ policy: RedactionPolicy = RedactionPolicy()) throws {
    let output = MemoryOutput()
    report = try withBytes(bytes) { input in
      let plan = try Redaction(policy).plan(input)
      try plan.write(input, to: output)
      guard plan.byteCount == output.bytes.count else { throw OtherSize() }
      return plan.report
    }
    self.bytes = output.bytes
  }

  struct OtherSize: Error {}

  var snapshot: ProcessSnapshot? { Self.snapshot(of: bytes) }

  /// The bytes of an intermediate dump or a minidump.
  static func snapshot(of bytes: [UInt8]) -> ProcessSnapshot? {
    withBytes(bytes) { bytes in
      guard bytes.byteCount > 0, bytes.uint8(at: 0) == 6 else { return MinidumpReader.read(bytes).snapshot }
      return DumpInterpreter.interpret(DumpTree(parsing: bytes), in: bytes).snapshot
    }
  }

  func names(_ kind: RedactionReport.Kind) -> [String] {
    report.removals.filter { $0.kind == kind }.map(\.name)
  }

  /// "name=value" of all annotations of the process and its modules, and messages as they are.
  var annotations: [String] {
    guard let snapshot else { return [] }
    return withBytes(bytes) { bytes in
      func text(_ content: SnapshotBytes) -> String { snapshot.text(content, in: bytes) }
      let simple = (snapshot.annotations + snapshot.modules.flatMap(\.simpleAnnotations))
        .map { "\(text($0.name))=\(text($0.value))" }
      let objects = snapshot.modules.flatMap(\.annotationObjects).map { "\(text($0.name))=\(text($0.value))" }
      return simple + objects + snapshot.modules.flatMap(\.messages).map(text)
    }
  }

  /// Paths of modules.
  var paths: [String] {
    guard let snapshot else { return [] }
    return withBytes(bytes) { bytes in snapshot.modules.compactMap { $0.name.map { snapshot.text($0, in: bytes) } } }
  }
}

/// Makes the minidump of an intermediate dump.
func minidump(of dump: [UInt8]) throws -> [UInt8] {
  let output = MemoryOutput()
  try withBytes(dump) { bytes in
    let snapshot = try #require(DumpInterpreter.interpret(DumpTree(parsing: bytes), in: bytes).snapshot)
    var writer = ByteWriter(to: output)
    try MinidumpWriter(snapshot, input: bytes).write(to: &writer, bytes)
    try writer.finish()
  }
  return output.bytes
}

/// The texts that must not get out.
enum Secret {
  static let text = "S3CR3T"

  /// `count` bytes of it, with bytes in between that are no text.
  static func bytes(_ count: Int) -> [UInt8] {
    let unit = Array(text.utf8) + [0, 1]
    return (0..<count).map { unit[$0 % unit.count] }
  }

  /// As a register has it.
  static let word: UInt64 = bytes(8).little(at: 0, width: 8) ?? 0

  /// The offset at which it begins, as UTF-8 or UTF-16.
  static func offset(in bytes: [UInt8]) -> Int? {
    let narrow = Array(text.utf8)
    let wide = text.utf16.flatMap { Bytes.of($0) }
    return bytes.firstRange(of: narrow)?.lowerBound ?? bytes.firstRange(of: wide)?.lowerBound
  }
}

/// Dumps with the secret in every place that has room for one.
enum Planted {
  /// The annotations that `policy` keeps have none.
  static var policy: RedactionPolicy {
    var policy = RedactionPolicy()
    policy.keptAnnotations = [NamePattern("ver"), NamePattern("state")]
    return policy
  }

  static func dump(_ architecture: SynthArchitecture) -> [UInt8] {
    var dump = SynthLinuxDump(architecture, threads: 3)
    for index in dump.threads.indices {
      let secret = Secret.bytes(120)
      dump.threads[index].stack.replaceSubrange(0..<120, with: secret)
      dump.threads[index].stack.replaceSubrange(384..<504, with: secret)
      let registers = architecture == .arm64 ? [0, 7, 28] : [0, 5, 15]
      for register in registers { dump.threads[index].registers.values[register] = Secret.word }
      dump.threads[index].floatState = Secret.bytes(dump.threads[index].floatState.count)
    }
    dump.extraMemory = (0x7fff_8000_0000, Secret.bytes(96))
    dump.arguments += ["--token=\(Secret.text)", Secret.text]
    dump.environment += ["TOKEN=\(Secret.text)", Secret.text]
    dump.annotations += [("secret", Secret.text), ("token", "a\(Secret.text)b")]
    dump.modules[0].objects += [("counts", 0x8002, Secret.bytes(32)), ("name", 1, Array(Secret.text.utf8))]
    dump.modules[1].message2 = "message with \(Secret.text)"
    // Unknown records, one of them with others inside.
    var unknown = DumpBuilder()
    unknown.property(number: 61000, Secret.bytes(40))
    unknown.map(number: 61001) { $0.property(.threadName, Secret.text) }
    unknown.property(number: 4321, Array(Secret.text.utf8))
    return Damage.inserting(unknown.bytes, into: dump.bytes, at: 1)
  }

  static func minidump(_ processor: MinidumpProcessor, _ system: MinidumpSystem, memory64: Bool = false) -> [UInt8] {
    var parameters = SynthMinidumpParameters(processor, system, seed: 3)
    parameters.threadCount = 2
    parameters.stackBytes = 512
    parameters.memoryRegions = 3
    parameters.memoryRegionBytes = 64
    parameters.moduleCount = 3
    parameters.usesMemory64 = memory64
    let dump = SynthMinidump(parameters)
    var bytes = dump.bytes
    func fill(_ range: Range<Int>, _ content: [UInt8]) {
      for index in 0..<min(range.count, content.count) { bytes[range.lowerBound + index] = content[index] }
    }
    for (stream, range) in dump.streams {
      switch stream {
      case .linuxEnvironment: fill(range, Array("HOME=/home/\(Secret.text)\0T=\(Secret.text)\0\(Secret.text)\0".utf8))
      case .linuxCommandLine: fill(range, Array("a \(Secret.text)\0\(Secret.text)\0--x=\(Secret.text)\0".utf8))
      case .linuxMaps, .linuxLSBRelease, .linuxCPUInfo, .linuxProcStatus:
        fill(range, Array("\(Secret.text)\nx: \(Secret.text)\n".utf8))
      case .linuxDSODebug, .handleData: fill(range, Secret.bytes(range.count))
      default: break
      }
    }
    guard let snapshot = Redacted.snapshot(of: bytes) else { return bytes }
    let regions = snapshot.extraMemory.map(\.content) + snapshot.threads.compactMap { $0.stack?.region.content }
    for region in regions {
      fill(region.offset..<region.offset + min(64, region.count), Secret.bytes(64))
      fill(region.offset + region.count / 2..<region.offset + region.count, Secret.bytes(40))
    }
    return bytes
  }

  static let minidumps: [(MinidumpProcessor, MinidumpSystem, Bool)] = [
    (.x86_64, .linux, false), (.arm64, .ios, false), (.x86, .windows, false), (.arm, .android, false),
    (.arm64Old, .android, false), (.x86_64, .windows, true), (.arm64, .macos, true),
  ]
}
