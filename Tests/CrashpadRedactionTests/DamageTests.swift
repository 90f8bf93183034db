// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import CrashpadRedaction
import Testing
import ToolRunner

/// Whatever happens to a dump on its way, nothing gets out that must not.
@Suite("Sweep: damaged dumps and what is not to get out")
struct DamageTests {
  /// `CRASHPADCTL_SWEEP` for the long run.
  static let count =
    ProcessInfo.processInfo.environment["CRASHPADCTL_SWEEP"].flatMap { Int($0) } ?? Soak.times(800, or: 60)
  /// `CRASHPADCTL_SEED` to see a failure again.
  static let seed = ProcessInfo.processInfo.environment["CRASHPADCTL_SEED"].flatMap { UInt64($0) } ?? 0x5eed

  /// Redacts twice. Where structures share bytes, what is overwritten may be another structure, so that the second time need
  /// not give the same. Returns whether the bytes were taken for a dump.
  private func check(_ bytes: [UInt8], _ what: String, mayShare: Bool = false) -> Bool {
    guard let once = try? Redacted(bytes, Planted.policy) else { return false }
    if let offset = Secret.offset(in: once.bytes) {
      let around = once.bytes[max(0, offset - 32)..<min(offset + 32, once.bytes.count)]
      Issue.record("\(what): got out at \(offset): \(String(decoding: around, as: UTF8.self).debugDescription)")
    }
    do {
      let twice = try Redacted(once.bytes, Planted.policy)
      if Secret.offset(in: twice.bytes) != nil { Issue.record("\(what): got out the second time") }
      if twice.bytes != once.bytes, !mayShare { Issue.record("\(what): the second time is another") }
    } catch {
      Issue.record("\(what): what was made is no dump")
    }
    if once.bytes.count > bytes.count { Issue.record("\(what): \(once.bytes.count) bytes of \(bytes.count)") }
    return true
  }

  @Test("Intermediate dumps", arguments: SynthArchitecture.allCases)
  func dumps(_ architecture: SynthArchitecture) {
    let base = Planted.dump(architecture)
    for prefix in Damage.prefixes(of: base, stride: Soak.times(7, or: 83)) {
      _ = check(prefix, "prefix of \(prefix.count)")
    }
    var read = 0
    for round in 0..<Self.count / 4 {
      var random = SplitMix64(seed: Self.seed &+ UInt64(round), area: 301)
      var (bytes, applied) = Mutation.several(random.between(1, 4), on: base, using: &random)
      if random.oneIn(3) { bytes = Damage.flippingAnywhere(bytes, count: random.between(1, 8), using: &random) }
      if check(bytes, "CRASHPADCTL_SEED=\(Self.seed &+ UInt64(round)) CRASHPADCTL_SWEEP=4 \(applied)") { read += 1 }
    }
    print("sweep: \(Self.count / 4) mutations of a dump, of which \(read) were read, CRASHPADCTL_SEED=\(Self.seed)")
  }

  @Test("Minidumps of dumps", arguments: SynthArchitecture.allCases)
  func converted(_ architecture: SynthArchitecture) throws {
    sweep(try minidump(of: Planted.dump(architecture)), 302)
  }

  @Test("Minidumps of every system", arguments: Planted.minidumps.indices)
  func minidumps(_ index: Int) {
    let (processor, system, memory64) = Planted.minidumps[index]
    sweep(Planted.minidump(processor, system, memory64: memory64), 303 + UInt64(index))
  }

  /// Bits, bytes and numbers changed, mostly in the structures, which come first.
  private func sweep(_ base: [UInt8], _ area: UInt64) {
    for prefix in Damage.prefixes(of: base, stride: Soak.times(61, or: 183)) {
      _ = check(prefix, "prefix of \(prefix.count)")
    }
    var read = 0
    for round in 0..<Self.count / 8 {
      var random = SplitMix64(seed: Self.seed &+ UInt64(round), area: area)
      var bytes = base
      for _ in 0..<random.between(1, 4) {
        let reach = random.oneIn(2) ? min(bytes.count, 2048) : bytes.count
        let offset = random.below(reach - 8)
        switch random.below(4) {
        case 0: bytes[offset] ^= 1 << UInt8(random.below(8))
        case 1: bytes[offset] = UInt8(random.below(256))
        case 2: bytes.overwrite(UInt64(random.below(bytes.count)), width: 4, at: offset & ~3)
        default: bytes.overwrite([0, 1, 0xffff_ffff, 0x8000_0000][random.below(4)], width: 4, at: offset & ~3)
        }
      }
      if random.oneIn(8) { bytes.removeLast(random.below(bytes.count)) }
      if check(bytes, "CRASHPADCTL_SEED=\(Self.seed &+ UInt64(round)) CRASHPADCTL_SWEEP=8", mayShare: true) {
        read += 1
      }
    }
    print("sweep: \(Self.count / 8) mutations of a minidump, of which \(read) were read, CRASHPADCTL_SEED=\(Self.seed)")
  }

  @Test("Minidumps whose structures share bytes", arguments: MinidumpDamage.allCases)
  func shared(_ damage: MinidumpDamage) {
    for (processor, system, _) in Planted.minidumps {
      for seed in 0..<Soak.times(8, or: 2) {
        var parameters = SynthMinidumpParameters(processor, system, seed: UInt64(seed))
        parameters.stackBytes = 256
        parameters.damage = [damage]
        _ = check(SynthMinidump(parameters).bytes, "\(processor) \(system) \(damage) \(seed)", mayShare: true)
      }
    }
  }
}
