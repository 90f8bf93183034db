// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpSynth
import CrashpadMinidump
import CrashpadSnapshot
import Testing

@Suite("MinidumpReader: rules")
struct MinidumpRuleTests {
  @Test("Each fault gives its finding, with its offset and its path", arguments: RuleCase.all)
  func finding(_ example: RuleCase) {
    let reading = Reading(example.bytes)
    let found = reading.findings.map { "\($0.rule.code) \($0.path) \($0.offset ?? -1)" }
    let expected = "\(example.rule.code) \(example.path) \(example.offset ?? -1)"
    #expect(found.contains(expected), "expected \(expected), found \(found.prefix(8))")
  }

  @Test("Each rule has a fault here")
  func complete() {
    #expect(Set(MinidumpRules.all.map(\.code)).subtracting(RuleCase.all.map(\.rule.code)) == [])
    #expect(Set(MinidumpRules.all.map(\.code)).count == MinidumpRules.all.count)
  }

  @Test("Without a header there is no snapshot; any other fault leaves one", arguments: RuleCase.all)
  func snapshot(_ example: RuleCase) {
    let hasHeader = ![MinidumpRules.tooShort, MinidumpRules.badSignature].contains(example.rule)
    #expect((Reading(example.bytes).snapshot != nil) == hasHeader)
  }

  @Test(
    "The offset of a finding lies in the file, however far outside the fault points",
    arguments: [
      "miscInfo", "moduleList[1].name", "moduleList[1].codeView", "threadList[1].context", "threadList[1].stack",
      "exception.context", "systemInfo.csdVersion", "memoryList[2]", "threadNames[1]", "crashpadInfo.annotations",
      "crashpadInfo.annotations[0].key", "crashpadInfo.modules[0]", "crashpadInfo.modules[0].list[0]",
    ])
  func offsetInside(_ field: String) {
    let reading = Reading(Example.small(.x86_64, .linux).setting("\(field).rva", to: 0xffff_0000))
    #expect(!reading.errors.isEmpty)
    for finding in reading.findings {
      #expect(
        finding.offset ?? 0 < reading.bytes.count, "\(finding.rule.code) \(finding.path) at \(finding.offset ?? 0)")
    }
  }

  @Test("A fault of one entry does not cost the others")
  func others() throws {
    let dump = Example.small(.x86_64, .linux)
    let modules = try #require(Reading(dump.setting("moduleList[1].name.rva", to: 0xffff_0000)).snapshot?.modules)
    #expect(modules.map { $0.name == nil } == [false, true, false, false])
    #expect(modules.map(\.address) == dump.modules.map(\.base))
    let reading = Reading(dump.setting("memoryList[2].rva", to: 0xffff_0000))
    #expect(reading.snapshot?.extraMemory.map(\.address) == [dump.regions[1].address])
    let names = Reading(dump.setting("threadNames[0].rva", to: 0xffff_0000))
    #expect(names.snapshot?.threads.map { names.text($0.name) } == [nil, dump.threads[1].name])
  }

  @Test("A list that says too much is read as far as it goes")
  func shortList() {
    let dump = Example.small(.x86_64, .linux)
    for (field, count) in [("threadList", 2), ("moduleList", 4)] {
      let reading = Reading(dump.setting("\(field).count", to: 0xffff_ffff))
      let snapshot = reading.snapshot
      #expect((field == "threadList" ? snapshot?.threads.count : snapshot?.modules.count) == count)
    }
  }

  @Test("Strings with faults are read as text all the same")
  func strings() {
    let dump = Example.small(.x86_64, .linux)
    let name = dump.value("moduleList[0].name.rva")
    func text(_ bytes: [UInt8]) -> String? {
      let reading = Reading(bytes)
      return reading.text(reading.snapshot?.modules.first?.name)
    }
    #expect(text(dump.bytes) == "/usr/bin/example")
    #expect(text(dump.writing(0xd800, width: 2, at: name + 4)) == "\u{fffd}usr/bin/example")
    #expect(text(dump.writing(0xdc00, width: 2, at: name + 4)) == "\u{fffd}usr/bin/example")
    #expect(text(dump.writing(0xdc00_d83d, width: 4, at: name + 4)) == "\u{1f400}sr/bin/example")
    #expect(text(dump.writing(0xd83d_d83d, width: 4, at: name + 4)) == "\u{fffd}\u{fffd}sr/bin/example")
    #expect(text(dump.writing(7, width: 4, at: name)) == "/us")
    #expect(text(dump.writing(0, width: 4, at: name)) == "")
  }

  @Test("Findings beyond the limit are counted")
  func limit() {
    var parameters = SynthMinidumpParameters(.x86_64, .linux)
    parameters.moduleCount = 40
    let dump = SynthMinidump(parameters)
    var bytes = dump.bytes
    for field in dump.fields where field.path.hasPrefix("moduleList[") && field.path.hasSuffix("name.rva") {
      bytes.overwrite(0xffff_ffff, width: 4, at: field.offset)
    }
    var limits = Limits()
    limits.maximumFindings = 3
    let reading = Reading(bytes, limits: limits)
    #expect(reading.findings.count == 3)
    #expect(reading.list.count(of: .error) == 40)
  }

  @Test("Strings of Windows may lie at any even offset")
  func stringsOfWindows() {
    let dump = Example.small(.x86_64, .windows)
    let name = dump.value("moduleList[1].name.rva")
    // A string of two bytes where the first unit of another was.
    var bytes = dump.setting("moduleList[1].name.rva", to: UInt64(name + 2))
    bytes.overwrite(2, width: 4, at: name + 2)
    #expect(!Reading(bytes).codes.contains("misaligned"))
  }

  @Test(
    "Streams of further writers that are too short give a finding", arguments: [0x4767_0002, 0x4d7a_0001, 0x4d7a_0002])
  func shortExtras(_ type: UInt64) {
    let dump = Example.small(.x86_64, .linux)
    let entry = dump.field("linuxDSODebug.size").offset - 4
    var bytes = dump.writing(type, width: 4, at: entry)
    bytes.overwrite(8, width: 4, at: entry + 4)
    #expect(Reading(bytes).codes.contains("stream-too-short"))
  }

  @Test("The first of two streams of one type counts")
  func duplicates() throws {
    let dump = Example.small(.x86_64, .linux) { $0.damage = [.duplicates] }
    let reading = Reading(dump.bytes)
    #expect(Set(reading.codes) == ["duplicate-stream"])
    #expect(reading.codes.count == dump.streams.count)
    let second = dump.value(dump.fields.filter { $0.path == "miscInfo.rva" }[1])
    let changed = Reading(dump.writing(1, width: 4, at: second + 8))
    #expect(changed.snapshot?.processID == 4200)
  }
}
