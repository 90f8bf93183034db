// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadCore
import DumpSynth
import Foundation
import CrashpadSnapshot
import SystemPackage
import Testing

/// A file, and the findings that it must give, in any order.
struct SnapshotRuleCase: Sendable, CustomTestStringConvertible {
  let rule: Rule?
  let name: String
  let bytes: [UInt8]
  /// The place in the snapshot, and further rules that must fire with it.
  var path = ""
  var others: Set<String> = []

  var testDescription: String { "\(rule?.code ?? "clean"): \(name)" }

  private static let linux = Example.small(.x86_64, .linux)
  private static let list = linux.value("threadList.rva") + 4
  private static let modules = linux.value("moduleList.rva") + 4
  private static let memory = linux.value("memoryList.rva") + 4
  /// rsp of the second thread's record.
  private static let sp = linux.value("threadList[1].context.rva") + 0x98

  private static func dump(_ change: (inout SynthParameters) -> Void = { _ in }) -> SynthDump {
    var parameters = SynthParameters.tiny()
    parameters.threadCount = 2
    parameters.moduleCount = 3
    change(&parameters)
    return SynthDump(parameters)
  }

  private static func edited(_ change: (inout [UInt8]) -> Void) -> [UInt8] {
    var bytes = linux.bytes
    change(&bytes)
    return bytes
  }

  /// A dump with another value in the n-th property of a key.
  private static func setting(_ key: DumpKey, _ number: Int, to value: UInt64) -> [UInt8] {
    var bytes = dump().bytes
    let records = DumpRecords.walk(bytes).records.filter { $0.key == key.rawValue }
    if let range = records[number].value { bytes.overwrite(value, width: 8, at: range.lowerBound) }
    return bytes
  }

  static let clean: [SnapshotRuleCase] =
    MinidumpProcessor.allCases.flatMap { processor in
      MinidumpSystem.allCases.map { system in
        SnapshotRuleCase(rule: nil, name: "\(processor), \(system)", bytes: Example.small(processor, system).bytes)
      }
    }
    + SynthArchitecture.allCases.flatMap { architecture in
      [SynthException.badAccess, .simulated, .abort, .nsException(frames: 9)].map { exception in
        var parameters = SynthParameters(architecture: architecture, seed: 5)
        parameters.exception = exception
        let name = "dump, \(architecture), \(exception)"
        return SnapshotRuleCase(rule: nil, name: name, bytes: SynthDump(parameters).bytes)
      }
    }

  static let provoked: [SnapshotRuleCase] = threads + moduleCases + memoryCases

  private static let threads: [SnapshotRuleCase] = [
    SnapshotRuleCase(
      rule: SnapshotRules.noThreads, name: "minidump",
      bytes: Example.small(.x86_64, .linux) {
        $0.threadCount = 0
        $0.hasException = false
      }.bytes, others: ["no-exception"]),
    SnapshotRuleCase(
      rule: SnapshotRules.noException, name: "minidump",
      bytes: Example.small(.arm64, .ios) { $0.hasException = false }.bytes),
    SnapshotRuleCase(rule: SnapshotRules.noException, name: "dump", bytes: dump { $0.exception = .none }.bytes),
    SnapshotRuleCase(
      rule: SnapshotRules.exceptionThreadMissing, name: "minidump",
      bytes: linux.writing(1, width: 4, at: linux.value("exception.rva"))),
    SnapshotRuleCase(
      rule: SnapshotRules.exceptionThreadMissing, name: "dump", bytes: dump { $0.crashedThread = 2 }.bytes),
    SnapshotRuleCase(
      rule: SnapshotRules.duplicateThread, name: "minidump",
      bytes: linux.writing(UInt64(linux.threads[0].id), width: 4, at: list + 48), path: "threads[1]"),
    SnapshotRuleCase(
      rule: SnapshotRules.threadIDCollision, name: "dump",
      // The first is the exception's.
      bytes: setting(.threadID, 2, to: dump().threads[0].id | 1 << 40), path: "threads[1]"),
    SnapshotRuleCase(
      rule: SnapshotRules.stackPointerOutside, name: "below",
      bytes: linux.writing(linux.threads[1].stackAddress - 1, width: 8, at: sp), path: "threads[1]"),
    SnapshotRuleCase(
      rule: SnapshotRules.stackPointerOutside, name: "above",
      bytes: linux.writing(linux.threads[1].stackAddress + 257, width: 8, at: sp), path: "threads[1]"),
    SnapshotRuleCase(
      rule: SnapshotRules.overlappingStacks, name: "minidump",
      bytes: edited {
        $0.overwrite(linux.threads[0].stackAddress + 255, width: 8, at: list + 48 + 24)
        $0.overwrite(linux.threads[0].stackAddress + 300, width: 8, at: sp)
      }, path: "threads[1]"),
    SnapshotRuleCase(
      rule: SnapshotRules.timeOrder, name: "minidump", bytes: linux.writing(1, width: 4, at: 20)),
    SnapshotRuleCase(
      rule: SnapshotRules.timeOrder, name: "dump",
      bytes: setting(.startTime, 0, to: UInt64(dump().process.snapshotSeconds + 1))),
  ]

  private static let moduleCases: [SnapshotRuleCase] = [
    SnapshotRuleCase(
      rule: SnapshotRules.noModules, name: "minidump", bytes: Example.small(.arm, .android) { $0.moduleCount = 0 }.bytes
    ),
    SnapshotRuleCase(
      rule: SnapshotRules.overlappingModules, name: "one byte",
      bytes: linux.writing(linux.modules[1].base + UInt64(linux.modules[1].size) - 1, width: 8, at: modules + 216),
      path: "modules[2]"),
    SnapshotRuleCase(
      rule: SnapshotRules.moduleWithoutName, name: "empty",
      bytes: edited { $0.overwrite(0, width: 6, at: linux.value("moduleList[1].name.rva")) }, path: "modules[1]"),
    SnapshotRuleCase(
      rule: SnapshotRules.moduleWithoutIdentity, name: "no record",
      bytes: linux.setting("moduleList[1].codeView.size", to: 0), path: "modules[1]"),
    SnapshotRuleCase(
      rule: SnapshotRules.memoryWraps, name: "module",
      bytes: linux.writing(0xffff_ffff_ffff_f000, width: 8, at: modules + 324), path: "modules[3]"),
  ]

  private static let memoryCases: [SnapshotRuleCase] = [
    SnapshotRuleCase(
      rule: SnapshotRules.memoryWraps, name: "memory",
      bytes: linux.writing(0xffff_ffff_ffff_fff0, width: 8, at: memory + 48), path: "memory[1]"),
    SnapshotRuleCase(
      rule: SnapshotRules.memoryWraps, name: "stack",
      bytes: linux.writing(0xffff_ffff_ffff_fff0, width: 8, at: list + 48 + 24), path: "threads[1]"),
  ]

  /// 32 bytes of memory whose last is the last of all.
  static let atTheEnd = linux.writing(0xffff_ffff_ffff_ffe0, width: 8, at: memory + 48)

  /// Stacks, modules and stack pointers that just touch a border.
  static let touching: [[UInt8]] = [
    linux.writing(linux.modules[1].base + UInt64(linux.modules[1].size), width: 8, at: modules + 216),
    linux.writing(linux.threads[1].stackAddress, width: 8, at: sp),
    linux.writing(linux.threads[1].stackAddress + 256, width: 8, at: sp),
    linux.writing(UInt64(0x6500_0000), width: 4, at: 20),
    edited {
      $0.overwrite(linux.threads[0].stackAddress + 256, width: 8, at: list + 48 + 24)
      $0.overwrite(linux.threads[0].stackAddress + 300, width: 8, at: sp)
    },
  ]
}

@Suite("Validation: rules of snapshots")
struct SnapshotRuleTests {
  /// The findings of a file, by the tool's own way.
  private func validate(_ bytes: [UInt8]) throws -> [Finding] {
    let file = FileManager.default.temporaryDirectory.appending(path: "crashpadctl-\(UUID().uuidString).dmp")
    try Data(bytes).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    return Array(Validation().validate(try DumpInput(FilePath(file.path))))
  }

  @Test("A whole file has no findings", arguments: SnapshotRuleCase.clean)
  func clean(_ example: SnapshotRuleCase) throws {
    #expect(try validate(example.bytes).map(\.rule.code) == [])
  }

  @Test("Each contradiction is found once, at its place, and nothing else is", arguments: SnapshotRuleCase.provoked)
  func provoked(_ example: SnapshotRuleCase) throws {
    let rule = try #require(example.rule)
    let findings = try validate(example.bytes)
    #expect(findings.filter { $0.rule == rule }.map(\.path) == [example.path], "\(findings.map(\.rule.code))")
    #expect(Set(findings.map(\.rule.code)) == example.others.union([rule.code]))
  }

  @Test("Each rule of snapshots is provoked here; codes of all rules are different")
  func complete() {
    #expect(Set(SnapshotRules.all.map(\.code)) == Set(SnapshotRuleCase.provoked.compactMap { $0.rule?.code }))
    #expect(Set(Validation.rules.map(\.code)).count == Validation.rules.count)
    #expect(Set(SnapshotRules.all).isSubset(of: Validation.rules))
  }

  @Test("Ranges that touch a border do not cross it", arguments: SnapshotRuleCase.touching)
  func touching(_ bytes: [UInt8]) throws {
    #expect(try validate(bytes).map(\.rule.code) == [])
  }

  @Test("Memory that ends where all memory ends does not wrap")
  func lastByte() throws {
    #expect(try validate(SnapshotRuleCase.atTheEnd).map(\.rule.code) == [])
  }

  @Test("A module inside of another that reaches over several is found")
  func nested() throws {
    let dump = Example.small(.x86_64, .linux)
    let size = dump.modules[3].base + 1 - dump.modules[1].base
    let bytes = dump.writing(size, width: 4, at: dump.value("moduleList.rva") + 4 + 108 + 8)
    let findings = try validate(bytes)
    #expect(findings.map(\.rule.code) == ["overlapping-modules", "overlapping-modules"])
    #expect(findings.map(\.path) == ["modules[2]", "modules[3]"])
    #expect(findings.map(\.found) == [.text("overlaps modules[1]"), .text("overlaps modules[1]")])
  }
}
