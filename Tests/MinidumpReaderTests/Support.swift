// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpSynth
import CrashpadMinidump
import CrashpadSnapshot
import Testing

/// Hands an array's bytes to `body`.
func withBytes<Result>(_ array: [UInt8], _ body: (RawSpan) throws -> Result) rethrows -> Result {
  try unsafe body(array.span.bytes)
}

/// A minidump and what the reader made of it.
struct Reading: Sendable {
  let bytes: [UInt8]
  let snapshot: ProcessSnapshot?
  let streams: [MinidumpReader.Stream]
  let list: FindingList

  init(_ bytes: [UInt8], limits: Limits = Limits()) {
    self.bytes = bytes
    let result = withBytes(bytes) { MinidumpReader.read($0, limits: limits) }
    snapshot = result.snapshot
    streams = result.streams
    list = result.findings
  }

  var findings: [Finding] { Array(list) }
  var codes: [String] { findings.map(\.rule.code) }
  var errors: [Finding] { findings.filter { $0.severity == .error } }

  func data(_ content: SnapshotBytes?) -> [UInt8]? {
    guard let content, let snapshot else { return nil }
    return withBytes(bytes) { snapshot.bytes(of: content, in: $0) }
  }

  func text(_ content: SnapshotBytes?) -> String? { data(content).map { String(decoding: $0, as: UTF8.self) } }

  /// "name=value" of each annotation.
  func texts(_ annotations: [Annotation]) -> [String] {
    annotations.map { "\(text($0.name) ?? "")=\(text($0.value) ?? "")" }
  }

  func region(_ region: MemoryRegion) -> Region { Region(address: region.address, bytes: data(region.content) ?? []) }
}

/// A run of memory with its bytes.
struct Region: Hashable {
  var address: UInt64
  var bytes: [UInt8]
}

/// A minidump of the synthesiser and what the reader made of it.
struct Example: Sendable, CustomStringConvertible {
  let dump: SynthMinidump
  let reading: Reading

  init(_ parameters: SynthMinidumpParameters) {
    dump = SynthMinidump(parameters)
    reading = Reading(dump.bytes)
  }

  var description: String { "\(dump.parameters.processor), \(dump.parameters.system)" }

  /// Few and small parts, but each kind of them.
  static func small(
    _ processor: MinidumpProcessor, _ system: MinidumpSystem,
    _ change: (inout SynthMinidumpParameters) -> Void = { _ in }
  ) -> SynthMinidump {
    var parameters = SynthMinidumpParameters(processor, system, seed: 3)
    parameters.threadCount = 2
    parameters.stackBytes = 256
    parameters.moduleCount = 4
    parameters.memoryRegions = 2
    parameters.memoryRegionBytes = 32
    parameters.annotations = 2
    change(&parameters)
    return SynthMinidump(parameters)
  }
}

/// Legal layouts of minidumps, each for every processor and system.
enum Layout: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case plain, memory64, padded, odd, wideHandles, misc24, misc44, misc232, unnamed, otherSeed

  var testDescription: String { rawValue }

  private func change(_ parameters: inout SynthMinidumpParameters) {
    switch self {
    case .plain: break
    case .memory64: parameters.usesMemory64 = true
    case .padded: parameters.paddedLists = true
    case .odd: parameters.damage = [.odd]
    case .wideHandles: parameters.wideHandles = true
    case .misc24: parameters.miscInfoSize = 24
    case .misc44: parameters.miscInfoSize = 44
    case .misc232: parameters.miscInfoSize = 232
    case .unnamed:
      parameters.namesThreads = false
      parameters.hasException = false
    case .otherSeed: parameters.seed = 77
    }
  }

  var examples: [Example] { Self.all[self] ?? [] }

  private static let all: [Layout: [Example]] = Dictionary(
    uniqueKeysWithValues: allCases.map { layout in
      let examples = MinidumpProcessor.allCases.flatMap { processor in
        MinidumpSystem.allCases.map { system in
          var parameters = SynthMinidumpParameters(processor, system)
          parameters.stackBytes = 1024
          layout.change(&parameters)
          return Example(parameters)
        }
      }
      return (layout, examples)
    })
}

extension SynthMinidump {
  /// The offset of a field that the synthesizer noted.
  func field(_ path: String) -> MinidumpField {
    guard let field = fields.first(where: { $0.path == path }) else { preconditionFailure("no field \(path)") }
    return field
  }

  func value(_ path: String) -> Int { value(field(path)) }

  func value(_ field: MinidumpField) -> Int {
    Int(truncatingIfNeeded: bytes.little(at: field.offset, width: field.width) ?? 0)
  }

  /// The bytes with another number in a field.
  func setting(_ path: String, to value: UInt64) -> [UInt8] { setting(field(path), to: value) }

  func setting(_ field: MinidumpField, to value: UInt64) -> [UInt8] {
    writing(value, width: field.width, at: field.offset)
  }

  func writing(_ value: UInt64, width: Int, at offset: Int) -> [UInt8] {
    var copy = bytes
    copy.overwrite(value, width: width, at: offset)
    return copy
  }
}

extension UUIDBytes {
  /// From a GUID as it lies in a file: its first three groups are little endian.
  init(guid: [UInt8]) {
    func number(_ order: [Int]) -> UInt64 { order.reduce(0) { $0 << 8 | UInt64(guid[$1]) } }
    self.init(high: number([3, 2, 1, 0, 5, 4, 7, 6]), low: number([8, 9, 10, 11, 12, 13, 14, 15]))
  }
}
