// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadElfCore
import DumpSynth
import CrashpadMinidump
import CrashpadSnapshot

/// Hands an array's bytes to `body`.
func withBytes<Result>(_ array: [UInt8], _ body: (RawSpan) throws -> Result) rethrows -> Result {
  try unsafe body(array.span.bytes)
}

/// A core, or a minidump, and what its reader made of it.
struct Reading: Sendable {
  let bytes: [UInt8]
  let snapshot: ProcessSnapshot?
  let findings: [Finding]

  init(core bytes: [UInt8], options: CoreReader.Options = CoreReader.Options(), limits: Limits = Limits()) {
    self.bytes = bytes
    let result = withBytes(bytes) { CoreReader.read($0, options: options, limits: limits) }
    snapshot = result.snapshot
    findings = Array(result.findings)
  }

  init(minidump bytes: [UInt8]) {
    self.bytes = bytes
    let result = withBytes(bytes) { MinidumpReader.read($0) }
    snapshot = result.snapshot
    findings = Array(result.findings)
  }

  /// The minidump of the snapshot.
  func minidump(_ selection: MemorySelection = .all) throws -> Reading {
    guard var snapshot else { throw NoSnapshot() }
    let written = try withBytes(bytes) { input in
      snapshot.reduceMemory(to: selection, in: input)
      let output = MemoryOutput()
      var writer = ByteWriter(to: output)
      let plan = try MinidumpWriter(snapshot, input: input)
      plan.write(to: &writer, input)
      try writer.finish()
      return output.bytes
    }
    return Reading(minidump: written)
  }

  struct NoSnapshot: Error {}

  var codes: [String] { findings.map(\.rule.code) }
  var errors: [Finding] { findings.filter { $0.severity == .error } }

  func data(_ content: SnapshotBytes?) -> [UInt8]? {
    guard let content, let snapshot else { return nil }
    return withBytes(bytes) { snapshot.bytes(of: content, in: $0) }
  }

  func text(_ content: SnapshotBytes?) -> String? { data(content).map { String(decoding: $0, as: UTF8.self) } }

  func buildID(_ module: ModuleSnapshot) -> [UInt8]? {
    guard case .buildID(let content)? = module.identity else { return nil }
    return data(content)
  }

  /// All captured memory as runs of bytes that touch nothing, by address.
  var memory: [(address: UInt64, bytes: [UInt8])] {
    guard let snapshot else { return [] }
    let regions = (snapshot.threads.compactMap { $0.stack?.region } + snapshot.extraMemory)
      .sorted { $0.address < $1.address }
    var runs: [(address: UInt64, bytes: [UInt8])] = []
    for region in regions {
      let bytes = data(region.content) ?? []
      if let last = runs.last, last.address + UInt64(last.bytes.count) == region.address {
        runs[runs.count - 1].bytes += bytes
      } else {
        runs.append((region.address, bytes))
      }
    }
    return runs
  }

  func bytes(at address: UInt64, count: Int) -> [UInt8]? {
    for run in memory where address >= run.address && address - run.address < UInt64(run.bytes.count) {
      let start = Int(address - run.address)
      return start + count <= run.bytes.count ? Array(run.bytes[start..<start + count]) : nil
    }
    return nil
  }
}

extension CPUContext {
  func register(_ name: String) -> UInt64? { generalRegisters.first { $0.name == name }?.value }
}
