// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpSynth
import CrashpadMinidump
import Testing

/// A damaged minidump, and the finding that it must give.
struct RuleCase: Sendable, CustomTestStringConvertible {
  let rule: Rule
  let path: String
  let offset: Int?
  let bytes: [UInt8]

  init(_ rule: Rule, _ path: String = "", at offset: Int?, _ bytes: [UInt8]) {
    (self.rule, self.path, self.offset, self.bytes) = (rule, path, offset, bytes)
  }

  var testDescription: String { "\(rule.code) \(path)" }

  private static let linux = Example.small(.x86_64, .linux)
  private static let windows = Example.small(.x86_64, .windows)
  private static let full = Example.small(.x86_64, .windows) { $0.usesMemory64 = true }

  static let all: [RuleCase] =
    [header, directory, streams, lists, entrySizes, strings, contexts, memory, codeView, crashpad].flatMap { $0 }

  private static let header: [RuleCase] = [
    RuleCase(MinidumpRules.tooShort, at: nil, []),
    RuleCase(MinidumpRules.tooShort, at: nil, Array(linux.bytes.prefix(31))),
    RuleCase(MinidumpRules.badSignature, at: 0, linux.writing(0x4d44_4d50, width: 4, at: 0)),
    RuleCase(MinidumpRules.badVersion, at: 4, linux.writing(0xa794, width: 2, at: 4)),
    RuleCase(
      MinidumpRules.directoryOutside, "Header.NumberOfStreams", at: 8, linux.setting("header.streams.count", to: 5000)),
    RuleCase(
      MinidumpRules.directoryOutside, "Header.NumberOfStreams", at: 8,
      linux.setting("header.directory.rva", to: UInt64(linux.bytes.count))),
  ]

  private static let directory: [RuleCase] = {
    let entry = linux.value("header.directory.rva") + 12
    let end = UInt64(linux.bytes.count)
    let rva = linux.value("miscInfo.rva")
    let second = Example.small(.x86_64, .linux) { $0.damage = [.duplicates] }
    // The second copy of MiscInfo; the first entry of the second half.
    let copy = second.value(second.fields.filter { $0.path == "miscInfo.rva" }[1])
    return [
      RuleCase(
        MinidumpRules.streamOutside, "Directory[1].MiscInfo", at: entry, linux.setting("miscInfo.rva", to: end)),
      RuleCase(
        MinidumpRules.streamOutside, "Directory[1].MiscInfo", at: entry,
        linux.setting("miscInfo.size", to: end - UInt64(rva) + 1)),
      RuleCase(
        MinidumpRules.misaligned, "Directory[1].MiscInfo", at: rva + 2,
        linux.setting("miscInfo.rva", to: UInt64(rva + 2))),
      RuleCase(MinidumpRules.duplicateStream, "MiscInfo", at: copy, second.bytes),
      RuleCase(
        MinidumpRules.overlappingStreams, "LinuxMaps", at: linux.value("linuxEnvironment.rva") + 4,
        linux.setting("linuxMaps.rva", to: UInt64(linux.value("linuxEnvironment.rva") + 4))),
      missing(.systemInfo, "SystemInfo"), missing(.threadList, "ThreadList"), missing(.moduleList, "ModuleList"),
      missing(.memoryList, "MemoryList"),
    ]
  }()

  private static func missing(_ stream: MinidumpStream, _ name: String) -> RuleCase {
    let needed: [MinidumpStream] = [.systemInfo, .threadList, .moduleList, .memoryList]
    let dump = Example.small(.x86_64, .linux) { $0.streams = needed.filter { $0 != stream } }
    return RuleCase(MinidumpRules.missingStream, name, at: nil, dump.bytes)
  }

  private static func short(_ dump: SynthMinidump, _ field: String, _ name: String, _ size: UInt64) -> RuleCase {
    RuleCase(
      MinidumpRules.streamTooShort, name, at: dump.value("\(field).rva"), dump.setting("\(field).size", to: size))
  }

  private static let streams: [RuleCase] = [
    short(linux, "systemInfo", "SystemInfo", 31), short(linux, "miscInfo", "MiscInfo", 23),
    short(linux, "threadList", "ThreadList", 3), short(linux, "threadNames", "ThreadNames", 0),
    short(linux, "exception", "Exception", 167), short(linux, "moduleList", "ModuleList", 3),
    short(linux, "memoryList", "MemoryList", 3), short(linux, "memoryInfoList", "MemoryInfoList", 15),
    short(linux, "crashpadInfo", "CrashpadInfo", 51), short(full, "memory64List", "Memory64List", 15),
    short(windows, "unloadedModuleList", "UnloadedModuleList", 11),
  ]

  /// `head`: where the entries begin.
  private static func count(
    _ dump: SynthMinidump, _ field: String, _ path: String, head: Int = 4, _ value: UInt64 = 0xffff_ffff
  ) -> RuleCase {
    RuleCase(
      MinidumpRules.countTooLarge, path, at: dump.value("\(field).rva") + head,
      dump.setting("\(field).count", to: value))
  }

  private static let lists: [RuleCase] = [
    count(linux, "threadList", "ThreadList"), count(linux, "threadList", "ThreadList", 3),
    count(linux, "threadNames", "ThreadNames", 3), count(linux, "moduleList", "ModuleList", 0x1000_0000),
    count(linux, "memoryList", "MemoryList", 5), count(full, "memory64List", "Memory64List", head: 16, .max),
    count(linux, "memoryInfoList", "MemoryInfoList", head: 16, 1 << 63),
    count(windows, "unloadedModuleList", "UnloadedModuleList", head: 12, 3),
    count(linux, "crashpadInfo.annotations", "CrashpadInfo.SimpleAnnotations", 3),
    count(linux, "crashpadInfo.modules", "CrashpadInfo.ModuleList", 2),
    count(linux, "crashpadInfo.modules[0].list", "CrashpadInfo.ModuleList[0].ListAnnotations", 2),
    count(linux, "crashpadInfo.modules[0].simple", "CrashpadInfo.ModuleList[0].SimpleAnnotations", 3),
    count(linux, "crashpadInfo.modules[0].objects", "CrashpadInfo.ModuleList[0].AnnotationObjects", 2),
    RuleCase(
      MinidumpRules.countTooLarge, "Exception.NumberParameters", at: windows.value("exception.rva") + 32,
      windows.setting("exception.parameters.count", to: 16)),
    // A directory of unused entries, more than a file of that size may have.
    RuleCase(
      MinidumpRules.tooManyEntries, "Directory", at: 32,
      Array("MDMP".utf8) + Bytes.of(UInt32(0xa793)) + Bytes.of(UInt32(1_000_000)) + Bytes.of(UInt32(32))
        + [UInt8](repeating: 0, count: 16 + 12 * 1_000_000)),
  ]

  /// Windows' newer lists say how large their header and their entries are.
  private static func entrySizes(
    _ dump: SynthMinidump, _ field: String, _ path: String, head: Int, entry: Int
  ) -> [RuleCase] {
    let wrong: [(member: String, value: Int)] = [
      ("headerSize", head - 1), ("headerSize", 0), ("headerSize", 0xffff_ffff), ("entrySize", 0),
      ("entrySize", entry - 1),
    ]
    let rva = dump.value("\(field).rva")
    let short = wrong.map {
      RuleCase(
        MinidumpRules.streamTooShort, path, at: rva, dump.setting("\(field).\($0.member)", to: UInt64($0.value)))
    }
    let huge = dump.setting("\(field).entrySize", to: 0xffff_ffff)
    return short + [RuleCase(MinidumpRules.countTooLarge, path, at: rva + head, huge)]
  }

  private static let entrySizes: [RuleCase] =
    entrySizes(linux, "memoryInfoList", "MemoryInfoList", head: 16, entry: 48)
    + entrySizes(windows, "unloadedModuleList", "UnloadedModuleList", head: 12, entry: 24)

  private static let strings: [RuleCase] = {
    let name = linux.value("moduleList[1].name.rva")
    let path = "ModuleList[1].ModuleNameRva"
    let size = UInt64(linux.bytes.count)
    let threadName = linux.value("threadNames.rva") + 4 + 12
    let zone = linux.value("miscInfo.rva")
    // A string of two bytes where the first unit of another was.
    var shifted = linux.setting("moduleList[1].name.rva", to: UInt64(name + 2))
    shifted.overwrite(2, width: 4, at: name + 2)
    let windowsName = windows.value("moduleList[1].name.rva")
    var windowsOdd = windows.setting("moduleList[1].name.rva", to: UInt64(windowsName - 1))
    windowsOdd.overwrite(2, width: 4, at: windowsName - 1)
    return [
      RuleCase(
        MinidumpRules.stringOutside, path, at: linux.field("moduleList[1].name.rva").offset,
        linux.setting("moduleList[1].name.rva", to: size - 3)),
      RuleCase(MinidumpRules.stringOutside, path, at: name, linux.writing(size, width: 4, at: name)),
      RuleCase(
        MinidumpRules.stringOutside, "ThreadNames[1]", at: threadName,
        linux.setting("threadNames[1].rva", to: 1 << 63)),
      RuleCase(
        MinidumpRules.stringOutside, "SystemInfo.CSDVersionRva", at: linux.field("systemInfo.csdVersion.rva").offset,
        linux.setting("systemInfo.csdVersion.rva", to: size - 1)),
      RuleCase(
        MinidumpRules.stringOutside, "UnloadedModuleList",
        at: windows.field("unloadedModuleList[0].name.rva").offset,
        windows.setting("unloadedModuleList[0].name.rva", to: UInt64(windows.bytes.count))),
      RuleCase(MinidumpRules.stringLength, path, at: name, linux.writing(21, width: 4, at: name)),
      RuleCase(MinidumpRules.stringEncoding, path, at: name + 4, linux.writing(0xd83d, width: 2, at: name + 6)),
      RuleCase(MinidumpRules.stringEncoding, path, at: name + 4, linux.writing(0xdc00, width: 2, at: name + 4)),
      RuleCase(
        MinidumpRules.stringEncoding, "MiscInfo.TimeZone.StandardName", at: zone + 64,
        linux.writing(0xd800, width: 2, at: zone + 64)),
      RuleCase(MinidumpRules.stringUnterminated, path, at: name, linux.writing(20, width: 4, at: name)),
      RuleCase(MinidumpRules.misaligned, path, at: name + 2, shifted),
      RuleCase(MinidumpRules.misaligned, path, at: windowsName - 1, windowsOdd),
    ]
  }()
}
