// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpSynth
import IntermediateDump
import Testing
import ToolRunner

@Suite("Sweep: intermediate dumps")
struct DumpSweepTests {
  @Test("Every prefix of a dump goes through")
  func prefixes() throws {
    for prefix in Damage.prefixes(of: Sweep.smallDump(.arm64, .nsException(frames: 3)), stride: Soak.times(1, or: 3)) {
      do { try Pipeline.check(dump: prefix, round: prefix.count) } catch {
        Issue.record("prefix of \(prefix.count): \(error)")
      }
    }
  }

  @Test("Bytes of the framing changed to each of some values goes through")
  func framing() throws {
    let dump = Sweep.smallDump(.x86_64, .badAccess)
    for offset in Soak.every(6, of: Damage.framingOffsets(of: dump)) {
      for (round, value) in [UInt8]([0, 1, 2, 3, 5, 0x7f, 0xff]).enumerated() where dump[offset] != value {
        do { try Pipeline.check(dump: Damage.replacing(dump, at: offset, with: value), round: offset + round) } catch {
          Issue.record("byte \(offset) as \(value): \(error)")
        }
      }
    }
  }

  @Test("Bytes flipped go through")
  func everyByte() throws {
    let dump = Sweep.smallDump(.arm64, .abort)
    for offset in stride(from: 0, to: dump.count, by: Soak.times(1, or: 6)) {
      do { try Pipeline.check(dump: Damage.flipping(dump, at: offset), round: offset) } catch {
        Issue.record("byte \(offset) flipped: \(error)")
      }
    }
  }

  @Test("Every prefix of a Linux process' dump goes through, and bytes of it flipped")
  func linux() throws {
    let dump = Sweep.linuxDump(.x86_64)
    for prefix in Damage.prefixes(of: dump, stride: Soak.times(1, or: 3)) {
      do { try Pipeline.check(dump: prefix, round: prefix.count) } catch {
        Issue.record("prefix of \(prefix.count): \(error)")
      }
    }
    for offset in stride(from: 0, to: dump.count, by: Soak.times(1, or: 15)) {
      do { try Pipeline.check(dump: Damage.flipping(dump, at: offset), round: offset) } catch {
        Issue.record("byte \(offset) flipped: \(error)")
      }
    }
  }

  /// Equal parts of the count, so that they run side by side.
  @Test("Mutated dumps go through", arguments: Sweep.bases.indices)
  func mutations(_ part: Int) throws {
    let base = Sweep.bases[part]
    for round in 0..<Sweep.count / Sweep.bases.count {
      var random = SplitMix64(seed: Sweep.seed &+ UInt64(round), area: UInt64(part))
      let (mutated, applied) = Mutation.several(random.between(1, 4), on: base, using: &random)
      var bytes = mutated
      if random.oneIn(4) { bytes = Damage.flippingAnywhere(bytes, count: random.between(1, 8), using: &random) }
      if random.oneIn(8) { bytes.removeLast(random.below(bytes.count)) }
      do { try Pipeline.check(dump: bytes, round: round &+ Int(truncatingIfNeeded: Sweep.seed)) } catch {
        Issue.record(
          "CRASHPADCTL_SEED=\(Sweep.seed &+ UInt64(round)) CRASHPADCTL_SWEEP=\(Sweep.bases.count) (part \(part), \(applied)): \(error)"
        )
      }
    }
    print("sweep: \(Sweep.count / Sweep.bases.count) mutations of base \(part), CRASHPADCTL_SEED=\(Sweep.seed)")
  }

  @Test("Mutations that leave a dump whole or broken both occur")
  func variety() {
    var codes: Set<String> = []
    for round in 0..<2000 {
      var random = SplitMix64(seed: UInt64(round))
      let bytes = Mutation.several(2, on: Sweep.bases[round % Sweep.bases.count], using: &random).bytes
      codes.insert(withBytes(bytes) { DumpTree(parsing: $0).incomplete?.rule.code ?? "whole" })
    }
    for code in [
      "whole", "bad-command", "truncated-value", "value-too-long", "too-deep", "wrong-end", "trailing-bytes",
      "zero-key",
    ] {
      #expect(codes.contains(code), "\(code)")
    }
  }
}
