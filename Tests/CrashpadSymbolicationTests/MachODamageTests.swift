// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import CrashpadFiles
@testable import CrashpadSymbolication
import Testing
import ToolRunner

@Suite("Damaged Mach-O files")
struct MachODamageTests {
  /// Asks for everything. Nothing may trap, and nothing grows beyond the file.
  private func exercise(_ bytes: [UInt8]) {
    let input = InputFile(bytes: bytes)
    let whole = try? MachOFile(input)
    let slices = MachOFile.slices(of: input).slices.prefix(4).compactMap { try? MachOFile(input, in: $0.range) }
    for file in (whole.map { [$0] } ?? []) + slices {
      _ = file.symbols()
      for address in [0, file.textAddress, 0x1_0000_1000, 0x1_0000_1024, 0x1_0000_1061, .max] as [UInt64] {
        _ = file.symbol(containing: address)
        _ = file.function(containing: address)
        var registers = FrameRegisters(file.architecture.isX86_64 ? .x86_64 : .arm64)
        (registers.stackPointer, registers.framePointer, registers.link) = (.max - 7, .max - 3, 8)
        _ = file.caller(of: registers, at: address, isInnermost: true) { $0 &+ 1 }
        _ = file.caller(of: registers, at: address, isInnermost: false) { _ in nil }
      }
      if let dwarf = file.dwarf { #expect(dwarf.contents(".debug_info").count < bytes.count) }
      _ = (try? BreakpadInput(file, name: "a"))?.files.frameSections
      _ = file.findings
    }
  }

  private var universal: [UInt8] {
    let synth = MachOSynth.sample()
    return MachOSynth.universal([(synth.cpu, synth.bytes())])
  }

  @Test("Every prefix is read as far as it goes")
  func prefixes() {
    let bytes = MachOSynth.sample().bytes()
    for count in 0...bytes.count { exercise(Array(bytes.prefix(count))) }
    for count in stride(from: 0, to: universal.count, by: 61) { exercise(Array(universal.prefix(count))) }
  }

  @Test("Every byte may be another")
  func bytes() {
    let bytes = MachOSynth.sample().bytes()
    for offset in Soak.every(3, of: Array(bytes.indices)) {
      for value in [0x00, 0x7f, 0x80, 0xff] as [UInt8] where bytes[offset] != value {
        exercise(Damage.replacing(bytes, at: offset, with: value))
      }
    }
  }

  @Test("Numbers anywhere may be extreme, and several at once")
  func random() {
    let seed = UInt64.random(in: 0 ... .max)
    print("seed \(seed)")
    var random = SplitMix64(seed: seed)
    let samples = [MachOSynth.sample().bytes(), universal]
    let extremes: [UInt64] = [0, 1, 0x7fff_ffff, 0xffff_ffff, 0x8000_0000_0000_0000, .max, .max - 15, 0x10_0000]
    for round in 0..<Soak.times(4000, or: 1000) {
      var bytes = samples[round % 2]
      for _ in 0...random.below(6) {
        let value = random.oneIn(3) ? random.next() : extremes[random.below(extremes.count)]
        // Mostly among the load commands.
        let limit = random.oneIn(3) ? bytes.count : min(bytes.count, 1200)
        let start = round % 2 == 1 && random.oneIn(2) ? min(4096, bytes.count - 1) : 0
        bytes.overwrite(value, width: [1, 2, 4, 8][random.below(4)], at: start + random.below(limit))
      }
      exercise(bytes)
    }
  }
}
