// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import CrashpadSnapshot
import CrashpadSymbolication
import Testing

@Suite(.enabled(if: Disassembly.isInstalled, "libcapstone is not installed"))
struct DisassemblyTests {
  struct Sample: CustomTestStringConvertible, Sendable {
    let architecture: CPUArchitecture
    var isThumb = false
    let before: [UInt8]
    let from: [UInt8]
    let texts: [String]
    var testDescription: String { architecture.rawValue + (isThumb ? ", thumb" : "") }
  }

  static let samples = [
    Sample(
      architecture: .x86_64, before: [0x55, 0x48, 0x89, 0xe5], from: [0x0f, 0x0b, 0x90],
      texts: ["push rbp", "mov rbp, rsp", "> ud2", "nop"]),
    Sample(
      architecture: .x86, before: [0x55, 0x89, 0xe5], from: [0x8b, 0x00, 0xc3],
      texts: ["push ebp", "mov ebp, esp", "> mov eax, dword ptr [eax]", "ret"]),
    Sample(
      architecture: .arm64, before: [0xfd, 0x7b, 0xbf, 0xa9], from: [0x00, 0x00, 0x20, 0xd4, 0xc0, 0x03, 0x5f, 0xd6],
      texts: ["stp x29, x30, [sp, #-0x10]!", "> brk #0", "ret"]),
    Sample(
      architecture: .arm, before: [0x00, 0x48, 0x2d, 0xe9], from: [0x00, 0x00, 0x90, 0xe5],
      texts: ["push {fp, lr}", "> ldr r0, [r0]"]),
    Sample(
      architecture: .arm, isThumb: true, before: [0x80, 0xb5], from: [0x00, 0x68, 0x70, 0x47],
      texts: ["push {r7, lr}", "> ldr r0, [r0]", "bx lr"]),
  ]

  @Test(arguments: samples)
  func `Instructions around an address have their texts and addresses`(sample: Sample) throws {
    let code = sample.before + sample.from
    let read = try #require(
      Disassembly(
        at: 0x4000, in: code, before: sample.before.count, sample.architecture, isThumb: sample.isThumb))
    #expect(
      read.lines.enumerated().map { ($0 == read.index ? "> " : "") + ($1.text ?? "-") } == sample.texts)
    #expect(read.lines[read.index].address == 0x4000)
    #expect(read.lines.flatMap(\.bytes) == code)
    #expect(read.lines.first?.address == 0x4000 - UInt64(sample.before.count))
  }

  @Test func `Bytes that are no instruction stay bytes`() throws {
    let read = try #require(Disassembly(at: 0x4000, in: [0x06, 0x90], before: 0, .x86_64))
    #expect(read.lines.map(\.text) == [nil])
    #expect(read.lines[0].bytes == [0x06])
    #expect(Disassembly(at: 0x4000, in: [0x90], before: 1, .x86_64) == nil)
    #expect(Disassembly(at: 0x4000, in: [0x90], before: 0, .unknown) == nil)
  }

  @Test(arguments: [CPUArchitecture.x86_64, .x86, .arm64, .arm], [false, true])
  func `Any bytes at any address make a few lines`(architecture: CPUArchitecture, isThumb: Bool) throws {
    var random = SplitMix64(seed: 3, area: 98)
    for round in 0..<500 {
      let code = (0..<random.between(1, 130)).map { _ in UInt8(random.below(256)) }
      let before = random.below(code.count)
      let address = round % 3 == 0 ? UInt64(random.below(60)) : .max - UInt64(random.below(60))
      let read = try #require(
        Disassembly(at: address, in: code, before: before, architecture, isThumb: isThumb))
      #expect(read.lines.count <= 11)
      #expect(read.lines[read.index].address == address)
      let first = before - read.lines[..<read.index].reduce(0) { $0 + $1.bytes.count }
      let bytes = read.lines.flatMap(\.bytes)
      #expect(Array(code[first..<first + bytes.count]) == bytes)
    }
  }
}
