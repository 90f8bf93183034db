// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpSynth
import CrashpadMinidump

/// Rules of registers, memory, CodeView records and Crashpad's stream.
extension RuleCase {
  private static let linux = Example.small(.x86_64, .linux)
  private static let full = Example.small(.x86_64, .windows) { $0.usesMemory64 = true }
  private static let size = UInt64(linux.bytes.count)

  private static func context(_ processor: MinidumpProcessor, flags: UInt64, at offset: Int, width: Int = 4) -> RuleCase
  {
    let dump = Example.small(processor, .android)
    let place = dump.value("threadList[1].context.rva")
    return RuleCase(
      MinidumpRules.unknownContext, "ThreadList[1].ThreadContext", at: place,
      dump.writing(flags, width: width, at: place + offset))
  }

  private static func context(_ processor: MinidumpProcessor, size: UInt64) -> RuleCase {
    let dump = Example.small(processor, .android)
    return RuleCase(
      MinidumpRules.unknownContext, "Exception.ThreadContext", at: dump.value("exception.context.rva"),
      dump.setting("exception.context.size", to: size))
  }

  static let contexts: [RuleCase] = {
    let system = linux.value("systemInfo.rva")
    return [
      RuleCase(
        MinidumpRules.contextOutside, "ThreadList[1].ThreadContext",
        at: linux.field("threadList[1].context.size").offset,
        linux.setting("threadList[1].context.rva", to: size - 1231)),
      RuleCase(
        MinidumpRules.contextOutside, "Exception.ThreadContext", at: linux.field("exception.context.size").offset,
        linux.setting("exception.context.size", to: 0xffff_ffff)),
      RuleCase(
        MinidumpRules.missingContext, "ThreadList[0].ThreadContext",
        at: linux.field("threadList[0].context.size").offset, linux.setting("threadList[0].context.rva", to: 0)),
      context(.x86_64, flags: 0x1f, at: 0x30), context(.arm64, flags: 0x0010_001f, at: 0),
      context(.arm64Old, flags: 6, at: 0, width: 8), context(.x86, flags: 0x3f, at: 0), context(.arm, flags: 6, at: 0),
      context(.x86_64, size: 1231), context(.arm64, size: 795), context(.arm64Old, size: 795), context(.x86, size: 203),
      context(.arm, size: 71), context(.x86, size: 1),
      RuleCase(
        MinidumpRules.unknownContext, "ThreadList[0].ThreadContext", at: linux.value("threadList[0].context.rva"),
        linux.writing(77, width: 2, at: system)),
      RuleCase(MinidumpRules.unknownArchitecture, "SystemInfo", at: system, linux.writing(77, width: 2, at: system)),
    ]
  }()

  static let memory: [RuleCase] = {
    let list = linux.value("memoryList.rva")
    let stack = linux.value("threadList.rva") + 4 + 24
    let list64 = full.value("memory64List.rva")
    return [
      RuleCase(
        MinidumpRules.memoryOutside, "MemoryList[2]", at: list + 4 + 32,
        linux.setting("memoryList[2].rva", to: size - 31)),
      RuleCase(
        MinidumpRules.memoryOutside, "MemoryList[2]", at: list + 4 + 32,
        linux.setting("memoryList[2].size", to: 0xffff_ffff)),
      RuleCase(
        MinidumpRules.memoryOutside, "ThreadList[0].Stack", at: stack,
        linux.setting("threadList[0].stack.rva", to: 0xffff_fff0)),
      RuleCase(
        MinidumpRules.missingMemory, "MemoryList[2]", at: list + 4 + 32, linux.setting("memoryList[2].rva", to: 0)),
      RuleCase(
        MinidumpRules.memoryOutside, "Memory64List[0]", at: list64 + 16, full.setting("memory64List.base.rva", to: .max)
      ),
      RuleCase(
        MinidumpRules.memoryOutside, "Memory64List[1]", at: list64 + 32,
        full.writing(.max, width: 8, at: list64 + 40)),
    ]
  }()

  static let codeView: [RuleCase] = {
    let record = linux.value("moduleList[1].codeView.rva")
    let place = linux.field("moduleList[1].codeView.size").offset
    let path = "ModuleList[1].CvRecord"
    return [
      RuleCase(
        MinidumpRules.codeViewOutside, path, at: place, linux.setting("moduleList[1].codeView.rva", to: size)),
      RuleCase(
        MinidumpRules.codeViewOutside, path, at: place, linux.setting("moduleList[1].codeView.size", to: 0xffff_ffff)),
      RuleCase(MinidumpRules.codeViewOutside, path, at: place, linux.setting("moduleList[1].codeView.size", to: 3)),
      RuleCase(MinidumpRules.unknownCodeView, path, at: record, linux.writing(0x3131_424e, width: 4, at: record)),
    ]
  }()

  static let crashpad: [RuleCase] = {
    let info = linux.value("crashpadInfo.modules[0].rva")
    let modules = linux.value("crashpadInfo.modules.rva")
    let path = "CrashpadInfo.ModuleList[0]"
    func outside(_ field: String, _ path: String) -> RuleCase {
      // The size of a place is given first, if it has one.
      let isSized = linux.fields.contains { $0.path == "\(field).size" }
      return RuleCase(
        MinidumpRules.annotationOutside, path, at: linux.field(isSized ? "\(field).size" : "\(field).rva").offset,
        linux.setting("\(field).rva", to: size))
    }
    return [
      outside("crashpadInfo.annotations", "CrashpadInfo.SimpleAnnotations"),
      outside("crashpadInfo.annotations[1].key", "CrashpadInfo.SimpleAnnotations"),
      outside("crashpadInfo.annotations[0].value", "CrashpadInfo.SimpleAnnotations"),
      outside("crashpadInfo.modules", "CrashpadInfo.ModuleList"), outside("crashpadInfo.modules[0]", path),
      outside("crashpadInfo.modules[0].list", path + ".ListAnnotations"),
      outside("crashpadInfo.modules[0].list[0]", path), outside("crashpadInfo.modules[0].objects[0].name", path),
      outside("crashpadInfo.modules[0].objects[0].value", path),
      RuleCase(
        MinidumpRules.annotationOutside, path, at: linux.field("crashpadInfo.modules[0].size").offset,
        linux.setting("crashpadInfo.modules[0].size", to: 19)),
      RuleCase(
        MinidumpRules.annotationOutside, "CrashpadInfo.SimpleAnnotations",
        at: linux.value("crashpadInfo.annotations[0].key.rva"),
        linux.writing(0xffff_ffff, width: 4, at: linux.value("crashpadInfo.annotations[0].key.rva"))),
      RuleCase(
        MinidumpRules.moduleIndex, "CrashpadInfo.ModuleList[4]", at: modules + 4,
        linux.writing(4, width: 4, at: modules + 4)),
      RuleCase(
        MinidumpRules.moduleIndex, "CrashpadInfo.ModuleList[4294967295]", at: modules + 4,
        linux.writing(0xffff_ffff, width: 4, at: modules + 4)),
    ]
  }()
}
