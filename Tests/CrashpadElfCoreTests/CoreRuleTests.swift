// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadElfCore
import DumpSynth
import CrashpadSnapshot
import Testing

/// A core with one fault, and the rule that finds it.
struct CoreFault: Sendable, CustomTestStringConvertible {
  let rule: Rule
  let bytes: [UInt8]
  let offset: Int?
  var testDescription: String { rule.code }

  static let all: [CoreFault] = {
    let file = SynthCore().file()
    func place(_ field: String) -> Int { file.fields[field] ?? -1 }
    func fault(_ rule: Rule, _ bytes: [UInt8], at offset: Int?) -> CoreFault {
      CoreFault(rule: rule, bytes: bytes, offset: offset)
    }
    var stray = SynthCore()
    stray.firstNotes = [SynthCore.Note("CORE", 2, [UInt8](repeating: 0, count: 512))]
    var bare = SynthCore()
    bare.hasNotes = false
    var noFiles = SynthCore()
    noFiles.hasFileNote = false
    let foreign = SynthCore.ofForeignSystem().file()
    func overwritten(_ value: UInt64, width: Int, at offset: Int) -> [UInt8] {
      var copy = file.bytes
      copy.overwrite(value, width: width, at: offset)
      return copy
    }
    var bigEndian = overwritten(2, width: 1, at: 5)
    bigEndian.replaceSubrange(16..<20, with: [0, 4, 0, 22])
    return [
      fault(CoreRules.tooShort, Array(file.bytes.prefix(63)), at: nil),
      fault(CoreRules.badSignature, overwritten(0x7e, width: 1, at: 0), at: 0),
      fault(CoreRules.notACore, overwritten(3, width: 2, at: 16), at: 16),
      fault(CoreRules.unsupportedClass, overwritten(3, width: 1, at: 4), at: 4),
      fault(CoreRules.unsupportedClass, bigEndian, at: 5),
      fault(CoreRules.unsupportedMachine, overwritten(1, width: 1, at: 4), at: 18),
      fault(CoreRules.unsupportedMachine, overwritten(43, width: 2, at: 18), at: 18),
      fault(CoreRules.foreignSystem, foreign.bytes, at: foreign.fields["note[0]"]),
      fault(CoreRules.headersOutside, overwritten(UInt64(file.bytes.count - 80), width: 8, at: 32), at: 32),
      fault(CoreRules.headersOutside, overwritten(40, width: 2, at: 54), at: 32),
      fault(CoreRules.truncated, Array(file.bytes.dropLast()), at: place("phdr[\(SynthCore().segments.count)]")),
      fault(
        CoreRules.sharedBytes, file.setting("phdr[1]", plus: 8, to: 0, width: 8, size: UInt64(file.bytes.count)),
        at: nil),
      fault(
        CoreRules.overlappingSegments,
        file.setting("phdr[2]", plus: 16, to: SynthCore().segments[0].address + 8, width: 8), at: nil),
      fault(CoreRules.noNotes, bare.bytes, at: nil),
      fault(CoreRules.noteOutside, file.setting("note[1]", plus: 4, to: 0xffff_ffff, width: 4), at: place("note[1]")),
      fault(CoreRules.noteOutside, file.setting("note[1]", to: 0xffff_fff0, width: 4), at: place("note[1]")),
      fault(CoreRules.noteTooShort, file.setting("note[2]", plus: 4, to: 8, width: 4), at: place("note[2]")),
      fault(CoreRules.strayNote, stray.bytes, at: stray.file().fields["note[0]"]),
      fault(CoreRules.noFileNote, noFiles.bytes, at: nil),
      fault(CoreRules.fileCount, file.setting("NT_FILE", to: 1 << 40, width: 8), at: place("NT_FILE")),
      fault(CoreRules.tooManyEntries, SynthCore.sharingOneName().bytes, at: nil),
    ]
  }()
}

extension SynthCoreFile {
  /// A program header whose bytes are `size` from `value` on.
  fileprivate func setting(_ field: String, plus offset: Int, to value: UInt64, width: Int, size: UInt64) -> [UInt8] {
    var copy = setting(field, plus: offset, to: value, width: width)
    guard let place = fields[field] else { return copy }
    copy.overwrite(size, width: 8, at: place + 32)
    copy.overwrite(size, width: 8, at: place + 40)
    return copy
  }
}

@Suite("CoreReader: rules")
struct CoreRuleTests {
  @Test("Each fault gives its finding, with its offset", arguments: CoreFault.all)
  func finding(_ fault: CoreFault) {
    let reading = Reading(core: fault.bytes)
    let found = reading.findings.first { $0.rule == fault.rule }
    #expect(found != nil, "\(reading.codes)")
    if let offset = fault.offset { #expect(found?.offset == offset) }
    for finding in reading.findings { #expect(finding.offset ?? 0 < fault.bytes.count) }
  }

  @Test("Each rule has a fault here, and no two share a code")
  func complete() {
    #expect(Set(CoreFault.all.map(\.rule.code)) == Set(CoreRules.all.map(\.code)))
    #expect(Set(CoreRules.all.map(\.code)).count == CoreRules.all.count)
  }

  @Test("A file that is no core of ours has no snapshot; any other fault leaves one", arguments: CoreFault.all)
  func snapshot(_ fault: CoreFault) {
    let fatal: [Rule] = [
      CoreRules.tooShort, CoreRules.badSignature, CoreRules.notACore, CoreRules.unsupportedClass,
      CoreRules.unsupportedMachine, CoreRules.foreignSystem,
    ]
    #expect((Reading(core: fault.bytes).snapshot == nil) == fatal.contains(fault.rule))
  }

  @Test(
    "The core of a processor that is not read is refused by its name",
    arguments: [
      (62, 1, "x32"), (3, 2, "i386, 64-bit little-endian"), (40, 2, "ARM, 64-bit little-endian"),
      (183, 1, "AArch64, 32-bit little-endian"), (243, 1, "RISC-V, 32-bit little-endian"),
      (21, 1, "PowerPC 64, 32-bit little-endian"), (8, 1, "MIPS, 32-bit little-endian"),
      (2, 1, "SPARC, 32-bit little-endian"), (4, 1, "m68k, 32-bit little-endian"),
      (15, 1, "PA-RISC, 32-bit little-endian"),
      (18, 1, "SPARC, 32-bit little-endian"), (20, 1, "PowerPC, 32-bit little-endian"),
      (22, 2, "S/390, 64-bit little-endian"), (42, 1, "SuperH, 32-bit little-endian"),
      (43, 2, "SPARC V9, 64-bit little-endian"), (50, 2, "Itanium, 64-bit little-endian"),
      (258, 1, "LoongArch, 32-bit little-endian"), (16, 2, "machine 16, 64-bit little-endian"),
      (9999, 2, "machine 9999, 64-bit little-endian"),
    ])
  func machines(machine: UInt64, wordClass: UInt64, name: String) {
    var bytes = SynthCore().bytes
    bytes.overwrite(wordClass, width: 1, at: 4)
    bytes.overwrite(machine, width: 2, at: 18)
    let reading = Reading(core: bytes)
    #expect(reading.codes == ["core-machine"] && reading.findings.first?.found == .text(name))
    #expect(reading.snapshot == nil)
  }

  @Test("Threads are kept up to the number that the size of the file allows")
  func manyThreads() {
    var core = SynthCore(threads: 1)
    core.extraNotes = [SynthCore.Note](
      repeating: SynthCore.Note("CORE", 1, [UInt8](repeating: 0, count: 336)), count: 60_000)
    let reading = Reading(core: core.bytes)
    let count = reading.snapshot?.threads.count ?? 0
    #expect(count > 1000 && count < 60_000 && count * 1024 <= reading.bytes.count + 32 << 20)
    #expect(reading.codes.contains("core-too-many-entries"))
  }
}
