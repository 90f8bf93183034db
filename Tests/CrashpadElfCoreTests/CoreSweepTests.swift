// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadElfCore
import DumpSynth
import Foundation
import CrashpadMinidump
import CrashpadSnapshot
import Testing
import ToolRunner

@Suite("CoreReader: sweeps")
struct CoreSweepTests {
  private static let count =
    ProcessInfo.processInfo.environment["CRASHPADCTL_SWEEP"].flatMap { Int($0) } ?? Soak.times(1000, or: 150)
  private static let seed =
    ProcessInfo.processInfo.environment["CRASHPADCTL_SEED"].flatMap { UInt64($0) } ?? .random(in: 0 ... .max)

  /// Looks at each content of a snapshot: one that lies outside traps. And writes the minidump of it.
  private func touch(_ reading: Reading) throws {
    guard let snapshot = reading.snapshot else { return }
    var contents: [SnapshotBytes?] = [snapshot.system.osBuild]
    for thread in snapshot.threads {
      contents += [thread.name, thread.stack?.region.content]
      switch thread.context {
      case .arm64(let context): contents.append(context.vectors)
      case .x86_64(let context): contents.append(context.fxsave)
      default: break
      }
    }
    for module in snapshot.modules {
      contents.append(module.name)
      if case .buildID(let content)? = module.identity { contents.append(content) }
    }
    contents += snapshot.extraMemory.map(\.content)
    if let linux = snapshot.linux {
      contents += [linux.processStatus, linux.commandLine, linux.environment, linux.auxiliaryVector, linux.maps]
    }
    withBytes(reading.bytes) { bytes in
      for content in contents.compactMap({ $0 }) {
        _ = snapshot.withBytes(of: content, in: bytes) { $0.byteCount }
      }
    }
    // No byte of memory is said twice.
    let regions = (snapshot.extraMemory + Set(snapshot.threads.compactMap { $0.stack?.region }))
    let total = regions.reduce(0) { $0 + $1.content.count }
    let shared = Set(snapshot.threads.compactMap { $0.stack?.region.address }).count
    if shared == Set(snapshot.threads.compactMap { $0.stack?.region }).count { #expect(total <= reading.bytes.count) }
    // Minidumps do not know this processor.
    for selection in MemorySelection.allCases where snapshot.system.architecture != .loongarch64 {
      let again = try reading.minidump(selection)
      #expect(again.snapshot?.threads.count == snapshot.threads.count)
      #expect(again.snapshot?.modules.count == snapshot.modules.count)
    }
  }

  @Test("No prefix traps, and each but the whole has an error", arguments: SynthCore.Machine.allCases)
  func prefixes(_ machine: SynthCore.Machine) throws {
    let bytes = SynthCore(machine, threads: 2).bytes
    for count in stride(from: 0, to: bytes.count, by: Soak.times(1, or: 11)) {
      let reading = Reading(core: Array(bytes.prefix(count)))
      #expect(!reading.errors.isEmpty, "prefix of \(count)")
      if count.isMultiple(of: 7) { try touch(reading) }
    }
    #expect(Reading(core: bytes).errors.isEmpty)
  }

  @Test("Changed bytes do not trap, and twice read are twice the same", arguments: SynthCore.Machine.allCases)
  func flips(_ machine: SynthCore.Machine) throws {
    print("core sweep: \(Self.count) files, seed \(Self.seed)")
    let file = SynthCore(machine, threads: 2).file()
    // Half of the changes in headers and notes, which are a small part of the file.
    let memory = file.fields["data[0]"] ?? file.bytes.count
    for round in 0..<Self.count {
      var random = SplitMix64(seed: Self.seed, area: UInt64(round))
      let head = round.isMultiple(of: 2) ? memory : file.bytes.count
      let changed = Damage.flippingAnywhere(Array(file.bytes.prefix(head)), count: random.between(1, 6), using: &random)
      let bytes = changed + file.bytes.dropFirst(head)
      let reading = Reading(core: bytes)
      #expect(Reading(core: bytes).findings == reading.findings, "round \(round), seed \(Self.seed)")
      try touch(reading)
    }
  }

  @Test("Fields with the numbers that break parsers do not trap")
  func fields() throws {
    let file = SynthCore(threads: 2).file()
    let numbers: [UInt64] = [0, 1, 7, 8, 0x7fff_ffff, 0xffff_ffff, 1 << 63, .max, .max - 7, .max - 4095, 0x1000]
    for (_, place) in file.fields.sorted(by: { $0.value < $1.value }) {
      for offset in stride(from: 0, to: 56, by: Soak.times(4, or: 8)) {
        for number in Soak.every(3, of: numbers) {
          var bytes = file.bytes
          bytes.overwrite(number, width: number > 0xffff_ffff ? 8 : 4, at: place + offset)
          try touch(Reading(core: bytes))
        }
      }
    }
  }
}
