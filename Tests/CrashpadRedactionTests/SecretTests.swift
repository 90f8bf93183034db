// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import CrashpadRedaction
import CrashpadSnapshot
import Testing

@Suite("Secrets")
struct SecretTests {
  @Test("Dumps lose it wherever it stands", arguments: SynthArchitecture.allCases)
  func dump(_ architecture: SynthArchitecture) throws {
    let bytes = Planted.dump(architecture)
    #expect(Secret.offset(in: bytes) != nil)
    let redacted = try Redacted(bytes, Planted.policy)
    #expect(Secret.offset(in: redacted.bytes) == nil)
    #expect(redacted.bytes.count < bytes.count)
    #expect(redacted.names(.annotation).contains("secret"))
    #expect(redacted.names(.key).sorted() == ["4321", "61000", "61001"])
    #expect(redacted.names(.variable).contains("TOKEN"))
    #expect(redacted.report.count(of: .argument) == 4)
    #expect(redacted.report.count(of: .memory) == 1)
    #expect(redacted.annotations.contains("ver=2.0.1"))
    #expect(redacted.annotations.contains("state=loading"))
  }

  @Test("Minidumps of these dumps lose it, before and after they are made", arguments: SynthArchitecture.allCases)
  func conversion(_ architecture: SynthArchitecture) throws {
    let bytes = Planted.dump(architecture)
    let before = try minidump(of: bytes)
    #expect(Secret.offset(in: before) != nil)
    #expect(Secret.offset(in: try Redacted(before, Planted.policy).bytes) == nil)
    #expect(Secret.offset(in: try minidump(of: Redacted(bytes, Planted.policy).bytes)) == nil)
  }

  @Test("Minidumps of every system lose it", arguments: Planted.minidumps.indices)
  func minidumps(_ index: Int) throws {
    let (processor, system, memory64) = Planted.minidumps[index]
    let bytes = Planted.minidump(processor, system, memory64: memory64)
    #expect(Secret.offset(in: bytes) != nil)
    let redacted = try Redacted(bytes)
    #expect(Secret.offset(in: redacted.bytes) == nil)
    #expect(redacted.bytes.count <= bytes.count)
    #expect(redacted.snapshot?.threads.count == 2)
    #expect(redacted.snapshot?.modules.count == 3)
  }

  @Test("A second time changes nothing and removes nothing")
  func twice() throws {
    for architecture in SynthArchitecture.allCases {
      for bytes in [Planted.dump(architecture), try minidump(of: Planted.dump(architecture))] {
        let once = try Redacted(bytes, Planted.policy)
        let twice = try Redacted(once.bytes, Planted.policy)
        #expect(once.bytes == twice.bytes)
        #expect(twice.report.removals == [])
      }
    }
    for (processor, system, memory64) in Planted.minidumps {
      let once = try Redacted(Planted.minidump(processor, system, memory64: memory64))
      let twice = try Redacted(once.bytes)
      #expect(once.bytes == twice.bytes)
      if !memory64 { #expect(twice.report.removals == []) }
    }
  }

  @Test("Parts that the policy keeps stay")
  func kept() throws {
    var policy = RedactionPolicy()
    policy.memory = .all
    policy.keepsRegisters = true
    policy.keepsArguments = true
    policy.keptVariables = [NamePattern("*")]
    policy.keptKinds = Set(PersonalKind.allCases)
    let bytes = SynthLinuxDump(.x86_64).bytes
    let redacted = try Redacted(bytes, policy)
    // Only the annotation with a value of an unknown type.
    #expect(redacted.report.removals.map(\.kind) == [.value])
    #expect(redacted.bytes.count == bytes.count)
    let file = try minidump(of: bytes)
    #expect(try Redacted(file, policy).report.removals.map(\.kind) == [.value])
  }

  @Test("A file that is neither a dump nor a minidump is refused")
  func refused() {
    for bytes in [[], [UInt8](repeating: 0x7f, count: 100), Array("MDMP".utf8)] {
      #expect(throws: Redaction.NotADump.self) { try Redacted(bytes) }
    }
  }
}
