// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadCore
import DumpSynth
import CrashpadFiles
import Foundation
import CrashpadMeaning
import CrashpadMinidump
import CrashpadSnapshot
import Testing
import ToolRunner

/// The seed, how many damaged files, and what must hold of each.
enum Sweep {
  /// `CRASHPADCTL_SWEEP` for the long run.
  static let count =
    ProcessInfo.processInfo.environment["CRASHPADCTL_SWEEP"].flatMap { Int($0) } ?? Soak.times(8_000, or: 600)

  /// `CRASHPADCTL_SEED` to see a failure again.
  static let seed = ProcessInfo.processInfo.environment["CRASHPADCTL_SEED"].flatMap { UInt64($0) } ?? 0x5eed

  /// Minidumps of some three kilobytes.
  static let bases: [SynthMinidump] = [
    (.x86_64, .linux), (.arm64, .ios), (.x86, .windows), (.arm, .android), (.arm64Old, .android), (.x86_64, .windows),
  ].map { (processor: MinidumpProcessor, system: MinidumpSystem) in
    Example.small(processor, system) {
      $0.threadCount = 1
      $0.stackBytes = 64
      $0.moduleCount = 2
      $0.memoryRegions = 1
      $0.memoryRegionBytes = 16
      $0.annotations = 1
      $0.usesMemory64 = processor == .x86_64 && system == .windows
    }
  }

  /// Looks at each content of a snapshot: one that lies outside traps.
  @discardableResult
  static func touch(_ reading: Reading) -> Int {
    guard let snapshot = reading.snapshot else { return 0 }
    var contents: [SnapshotBytes?] = [snapshot.system.osBuild, snapshot.system.machine, snapshot.system.cpuVendor]
    contents += [snapshot.system.timeZone.standardName, snapshot.system.timeZone.daylightName]
    for thread in snapshot.threads {
      contents += [thread.name, thread.stack?.region.content]
      contents += vectors(thread.context)
    }
    contents += vectors(snapshot.exception?.context)
    for module in snapshot.modules {
      contents += [module.name, module.debugName] + module.messages
      contents += (module.simpleAnnotations + snapshot.annotations).flatMap { [$0.name, $0.value] }
      contents += module.annotationObjects.flatMap { [$0.name, $0.value] }
      if case .buildID(let content)? = module.identity { contents.append(content) }
    }
    contents += snapshot.unloadedModules.map(\.name) + snapshot.extraMemory.map(\.content)
    if let linux = snapshot.linux {
      contents += [linux.cpuInfo, linux.processStatus, linux.release, linux.commandLine, linux.environment]
      contents += [linux.auxiliaryVector, linux.maps]
    }
    return withBytes(reading.bytes) { bytes in
      contents.reduce(0) { total, content in
        total + (content.map { snapshot.withBytes(of: $0, in: bytes) { $0.byteCount } } ?? 0)
      }
    }
  }

  private static func vectors(_ context: CPUContext?) -> [SnapshotBytes?] {
    switch context {
    case .arm64(let context): [context.vectors]
    case .x86_64(let context): [context.fxsave]
    default: []
    }
  }
}

@Suite("MinidumpReader: sweeps")
struct MinidumpSweepTests {
  @Test("No prefix traps, and each has an error finding or all that the whole has", arguments: Sweep.bases.indices)
  func prefixes(_ index: Int) {
    let bytes = Sweep.bases[index].bytes
    let whole = Outline(Reading(bytes))
    for count in stride(from: 0, to: bytes.count, by: Soak.times(1, or: 5)) {
      let reading = Reading(Array(bytes.prefix(count)))
      Sweep.touch(reading)
      if reading.errors.isEmpty { #expect(Outline(reading) == whole, "prefix of \(count): \(reading.codes)") }
    }
  }

  @Test("Changed bytes do not trap, and twice read are twice the same")
  func flips() throws {
    print("minidump sweep: \(Sweep.count) files, seed \(Sweep.seed)")
    let validation = Validation()
    for round in 0..<Sweep.count {
      var random = SplitMix64(seed: Sweep.seed, area: UInt64(round))
      let base = Sweep.bases[round % Sweep.bases.count].bytes
      let bytes = Damage.flippingAnywhere(base, count: random.between(1, 8), using: &random)
      let reading = Reading(bytes)
      Sweep.touch(reading)
      if round.isMultiple(of: 4) { try check(bytes, reading, validation, round) }
    }
  }

  private func check(_ bytes: [UInt8], _ reading: Reading, _ validation: Validation, _ round: Int) throws {
    let again = Reading(bytes)
    #expect(again.findings == reading.findings, "round \(round)")
    #expect(Outline(again) == Outline(reading), "round \(round)")
    // With another first byte it may look like another format, as which it can't be read.
    guard bytes.starts(with: Array("MDMP".utf8)) else { return }
    let input = try DumpInput(InputFile(bytes: bytes))
    let found = validation.validate(input)
    guard input.format == .minidump else { return }
    #expect(Array(found.prefix(reading.findings.count)) == reading.findings, "round \(round)")
    if let snapshot = reading.snapshot, let exception = snapshot.exception {
      #expect(!ExceptionDescription(exception, snapshot.system).title.isEmpty, "round \(round)")
    }
    for finding in found {
      #expect(Validation.rules.contains(finding.rule), "round \(round): \(finding.rule.code)")
    }
  }

  @Test("Streams that point anywhere do not trap")
  func directories() {
    for base in Sweep.bases {
      for index in base.streams.indices {
        for type in MinidumpStream.allCases {
          // Each stream read as each other.
          Sweep.touch(Reading(base.writing(UInt64(type.rawValue), width: 4, at: 32 + 12 * index)))
        }
        for rva in stride(from: 0, to: base.bytes.count, by: Soak.times(61, or: 183)) {
          Sweep.touch(Reading(base.writing(UInt64(rva), width: 4, at: 32 + 12 * index + 8)))
        }
      }
    }
  }
}
