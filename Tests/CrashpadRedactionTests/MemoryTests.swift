// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpSynth
import CrashpadRedaction
import CrashpadSnapshot
import Testing

@Suite("Memory of redacted dumps")
struct MemoryTests {
  private func stack(_ bytes: [UInt8], _ index: Int) throws -> [UInt64] {
    let snapshot = try #require(Redacted.snapshot(of: bytes))
    let region = try #require(snapshot.threads[index].stack?.region)
    let data = withBytes(bytes) { snapshot.bytes(of: region.content, in: $0) }
    return (0..<data.count / 8).map { data.little(at: 8 * $0, width: 8) ?? 0 }
  }

  private static let defaced: UInt64 = 0x0def_aced_0def_aced

  @Test("A stack keeps zero, return addresses and frame pointers", arguments: SynthArchitecture.allCases)
  func words(_ architecture: SynthArchitecture) throws {
    var dump = SynthLinuxDump(architecture)
    let address = dump.threads[0].stackAddress
    let code = dump.modules[1].address + 0x100
    let signature: UInt64 = 0x1234 << 48
    let words: [(UInt64, Bool)] = [
      (0, true), (1, false), (4096, false), (code, true), (address + 8, true), (address + 9, false),
      (dump.threads[1].stackAddress, true), (Secret.word, false), (dump.extraMemory.address, false), (.max, false),
      // A signed address stays where a frame's record has one: behind a pointer to a frame further out.
      (Secret.word, false), (code | signature, false), (address + 256, true),
      (code | signature, architecture == .arm64),
      (address, true), (code | signature, false),
    ]
    for (index, word) in words.enumerated() { dump.threads[0].stack.overwrite(word.0, width: 8, at: 8 * index) }
    for bytes in [dump.bytes, try minidump(of: dump.bytes)] {
      let redacted = try stack(Redacted(bytes).bytes, 0)
      for (index, word) in words.enumerated() {
        #expect(redacted[index] == (word.1 ? word.0 : Self.defaced), "word \(index)")
      }
    }
  }

  @Test("Addresses in memory that can be executed stay, of modules or not", arguments: SynthArchitecture.allCases)
  func compiledCode(_ architecture: SynthArchitecture) throws {
    var dump = SynthLinuxDump(architecture)
    dump.mapped = [
      (0x4000_0000, 0x1_0000, "rwxp"), (0x5000_0000, 0x1_0000, "rw-p"), (0x6000_0000, 0x1_0000, "r-xp"),
      (0x7_0000_0000, 0x2_0000_0000, "rwxp"),
    ]
    let words: [(UInt64, Bool)] = [
      (0x4000_0123, true), (0x4001_0000, true), (0x4001_0001, false), (0x5000_0100, false), (0x6000_0100, true),
      // A range of 8 GiB would make too many words an address.
      (0x7_0000_1000, false),
    ]
    for (index, word) in words.enumerated() { dump.threads[0].stack.overwrite(word.0, width: 8, at: 8 * index) }
    for bytes in [dump.bytes, try minidump(of: dump.bytes)] {
      let redacted = try stack(Redacted(bytes).bytes, 0)
      #expect(Array(redacted.prefix(words.count)) == words.map { $0.1 ? $0.0 : Self.defaced })
    }
  }

  @Test("Small numbers stay if they are asked for")
  func numbers() throws {
    var dump = SynthLinuxDump(.x86_64)
    for (index, word) in [1, 4096, 4097, UInt64.max, 0 &- 4096, 0 &- 4097].enumerated() {
      dump.threads[0].stack.overwrite(word, width: 8, at: 8 * index)
    }
    var policy = RedactionPolicy()
    policy.keepsSmallNumbers = true
    let words = try stack(Redacted(dump.bytes, policy).bytes, 0).prefix(6)
    #expect(Array(words) == [1, 4096, Self.defaced, .max, 0 &- 4096, Self.defaced])
  }

  @Test("Words that a stack has only a part of are overwritten")
  func parts() throws {
    var dump = SynthLinuxDump(.x86_64)
    dump.threads[1].stackAddress += 3
    dump.threads[1].stack = Secret.bytes(30)
    let redacted = try Redacted(dump.bytes)
    let snapshot = try #require(redacted.snapshot)
    let region = try #require(snapshot.threads[1].stack?.region)
    let data = withBytes(redacted.bytes) { snapshot.bytes(of: region.content, in: $0) }
    #expect(Array(data.prefix(5)) == [0, 0, 0, 0, 0])
    #expect(data.suffix(1) == [0])
    #expect(data[5] == 0xed)
  }

  @Test("A module that takes the whole address space makes no word an address")
  func hugeModule() throws {
    var dump = SynthLinuxDump(.x86_64)
    dump.modules[1].address = 0
    dump.modules[1].size = .max
    dump.threads[0].stack.overwrite(Secret.word, width: 8, at: 0)
    #expect(try stack(Redacted(dump.bytes).bytes, 0)[0] == Self.defaced)
  }

  @Test("Registers keep the same addresses; program counter and stack pointer always stay")
  func registers() throws {
    var dump = SynthLinuxDump(.arm64)
    dump.threads[0].registers.values[3] = Secret.word
    dump.threads[0].registers.values[4] = dump.modules[0].address + 4
    dump.threads[0].registers.values[5] = dump.threads[0].stackAddress + 16
    dump.threads[0].registers.pc = 0x4141_4141
    dump.threads[0].registers.lr = dump.modules[1].address | 0x77 << 48
    for bytes in [dump.bytes, try minidump(of: dump.bytes)] {
      guard case .arm64(let context)? = try Redacted(bytes).snapshot?.threads[0].context else {
        Issue.record("no registers")
        continue
      }
      #expect(context.x[3] == Self.defaced)
      #expect(context.x[4] == dump.threads[0].registers.values[4])
      #expect(context.x[5] == dump.threads[0].registers.values[5])
      #expect(context.pc == 0x4141_4141)
      #expect(context.sp == dump.threads[0].registers.sp)
      #expect(context.fp == dump.threads[0].registers.fp)
      #expect(context.lr == dump.threads[0].registers.lr)
    }
  }

  @Test("Memory beside stacks goes, is treated as stacks are, or stays")
  func memory() throws {
    var dump = SynthLinuxDump(.x86_64)
    dump.extraMemory.bytes = Bytes.of([dump.modules[0].address, Secret.word, 0])
    for bytes in [dump.bytes, try minidump(of: dump.bytes)] {
      var sizes: [Int] = []
      for memory in RedactionPolicy.Memory.allCases {
        var policy = RedactionPolicy()
        policy.memory = memory
        let redacted = try Redacted(bytes, policy)
        let snapshot = try #require(redacted.snapshot)
        let words = withBytes(redacted.bytes) { bytes in
          snapshot.extraMemory.map { region in
            (0..<3).map { snapshot.bytes(of: region.content, in: bytes).little(at: 8 * $0, width: 8) ?? 1 }
          }
        }
        sizes.append(redacted.bytes.count)
        switch memory {
        case .stacks: #expect(words == [])
        case .pointers: #expect(words == [[dump.modules[0].address, Self.defaced, 0]])
        case .all: #expect(words == [[dump.modules[0].address, Secret.word, 0]])
        }
      }
      #expect(sizes[0] < sizes[1])
      #expect(sizes[2] == bytes.count)
    }
  }

  @Test("Memory at the frame pointer is kept as the stack where no stack was captured")
  func overflow() throws {
    var parameters = SynthParameters(architecture: .arm64, seed: 5)
    parameters.threadCount = 1
    let dump = SynthDump(parameters)
    #expect(try Redacted(dump.bytes).snapshot?.extraMemory == [])
    let stack = try #require(Damage.first(.stackRegionData, in: dump.bytes))
    var bytes = Damage.settingValue(dump.bytes, of: stack, to: [])
    // The frame pointer, x29, leads to memory that was captured for a register.
    let region = try #require(Damage.first(.threadContextMemoryRegionAddress, in: bytes)?.value)
    let state = try #require(Damage.first(.threadState, in: bytes)?.value)
    let fp = (bytes.little(at: region.lowerBound, width: 8) ?? 0) + 16
    bytes.overwrite(fp, width: 8, at: state.lowerBound + 232)
    for bytes in [bytes, try minidump(of: bytes)] {
      let all = try #require(Redacted.snapshot(of: bytes)).extraMemory
      let kept = try #require(Redacted(bytes).snapshot).extraMemory
      #expect(!kept.isEmpty && kept.count < all.count)
      for region in kept {
        let pointers = [fp, dump.threads[0].registers.sp]
        #expect(pointers.contains { region.address <= $0 && $0 - region.address < UInt64(region.content.count) })
      }
    }
  }
}
