// SPDX-License-Identifier: Apache-2.0
import DumpSynth

/// Minidumps of several systems, and damaged ones, whose names say the rule that must find the fault.
extension Samples {
  static func smallMinidump(
    _ processor: MinidumpProcessor, _ system: MinidumpSystem, seed: UInt64 = 1
  ) -> SynthMinidumpParameters {
    var parameters = SynthMinidumpParameters(processor, system, seed: seed)
    parameters.threadCount = 2
    parameters.stackBytes = 256
    parameters.moduleCount = 4
    parameters.memoryRegions = 1
    parameters.memoryRegionBytes = 32
    parameters.annotations = 1
    return parameters
  }

  static let minidumps: [String: [UInt8]] = [
    "crash.dmp": SynthMinidump(smallMinidump(.arm64, .ios)).bytes,
    "macos.dmp": SynthMinidump(smallMinidump(.x86_64, .macos)).bytes,
    "linux.dmp": SynthMinidump(smallMinidump(.x86_64, .linux)).bytes,
    "android.dmp": SynthMinidump(smallMinidump(.arm, .android)).bytes,
    "android-old.dmp": SynthMinidump(smallMinidump(.arm64Old, .android)).bytes,
    "windows.dmp": SynthMinidump(smallMinidump(.x86_64, .windows)).bytes,
    "windows-x86.mdmp": SynthMinidump(smallMinidump(.x86, .windows)).bytes,
    "windows-full.dmp": {
      var parameters = smallMinidump(.x86_64, .windows)
      parameters.usesMemory64 = true
      return SynthMinidump(parameters).bytes
    }(),
  ]

  /// A dump of Windows with another exception, whose crashed thread stands at `pc`.
  private static func windowsCrash(
    _ code: UInt32, _ parameters: [UInt64], _ processor: MinidumpProcessor = .x86_64, at pc: UInt64? = nil
  ) -> [UInt8] {
    let dump = SynthMinidump(smallMinidump(processor, .windows))
    var bytes = dump.bytes
    let start = dump.streams.first { $0.stream == .exception }?.range.lowerBound ?? 0
    bytes.overwrite(UInt64(code), width: 4, at: start + 8)
    bytes.overwrite(UInt64(parameters.count), width: 4, at: start + 32)
    for (index, value) in parameters.enumerated() { bytes.overwrite(value, width: 8, at: start + 40 + 8 * index) }
    let wide = processor == .x86_64
    for path in ["exception.context.rva", "threadList[0].context.rva"] {
      if let pc { bytes.overwrite(pc, width: wide ? 8 : 4, at: place(path, dump) + (wide ? 0xf8 : 184)) }
    }
    return bytes
  }

  /// Facts that only dumps of Windows have.
  static let windowsMinidumps: [String: [UInt8]] = [
    "unloaded.dmp": windowsCrash(0xc000_0005, [8, 0x6f00_1234], at: 0x6f00_1234),
    "extended.dmp": windowsCrash(0xc000_0005, [0, 0xffff_ffff_0000_0045], .x86),
    "pagein.dmp": windowsCrash(0xc000_0006, [0, 0x7f22_1000_2000, 0xc000_00c9]),
    "fastfail.dmp": windowsCrash(0xc000_0409, [7]),
    "cookie.dmp": windowsCrash(0xc000_0409, [2]),
    "cpp.dmp": windowsCrash(0xe06d_7363, [0x1993_0520, 0x7ffc_1000_0100, 0x7f22_1000_3000, 0x7f22_1000_0000]),
    "lasterror.dmp": {
      let dump = SynthMinidump(smallMinidump(.x86_64, .windows))
      var bytes = dump.replacing(.crashpadInfo, with: 0x4767_0002) { _ in
        SynthMinidump.assertion("count < limit", "Table::add", "C:\\src\\table.cpp", line: 31, kind: 1)
      }
      // The environment block lies so that its error is in the stack.
      bytes.overwrite(dump.threads[0].stackAddress + 16 - 13 * 8, width: 8, at: place("threadList.rva", dump) + 4 + 16)
      bytes.overwrite(2, width: 4, at: place("threadList[0].stack.rva", dump) + 16)
      return bytes
    }(),
    "crashinfo.dmp": SynthMinidump(smallMinidump(.arm64, .macos)).replacing(.crashpadInfo, with: 0x4d7a_0001) {
      SynthMinidump.crashInfo(at: $0, ["/usr/lib/system/libsystem_c.dylib", "abort() called", "", "", "second"])
    },
    "softerrors.dmp": SynthMinidump(smallMinidump(.x86_64, .linux)).replacing(.crashpadInfo, with: 0x4d7a_0004) { _ in
      Array(#"[{"InitErrors":[{"StopProcessFailed":{"Stop":"EPERM","Code":1}},null,true]},"x"]"#.utf8)
    },
    "clr.dmp": windowsCrash(0xe043_4352, [0x8013_1509, 0, 0, 0, 0x7f22_1000_0000]),
  ]

  private static func microdump(
    _ processor: MinidumpProcessor = .arm64, _ system: MinidumpSystem = .android,
    _ change: (inout SynthMicrodump) -> Void = { _ in }
  ) -> [UInt8] {
    var dump = SynthMicrodump(processor, system)
    change(&dump)
    return dump.bytes
  }

  /// The index of the first line of a kind.
  private static func line(_ start: String, _ dump: SynthMicrodump) -> Int {
    dump.lines.firstIndex { $0.hasPrefix(start) } ?? 0
  }

  static let microdumps: [String: [UInt8]] = [
    "logcat.txt": microdump(),
    "stderr.log": microdump(.x86_64, .linux) { $0.tag = "" },
    "arm.microdump": microdump(.arm),
    "old.microdump": microdump(.arm64Old) { dump in dump.lines.removeAll { $0.hasPrefix("R ") } },
    "damaged-microdump-cut.microdump": microdump { $0.lines.removeLast(3) },
    "damaged-microdump-line.microdump": microdump { $0.lines[line("M ", $0)] = "M 0001" },
    "damaged-microdump-registers.microdump": microdump { $0.lines[line("C ", $0)] = "C 00112233" },
    "damaged-microdump-gap.microdump": microdump { $0.lines.remove(at: line("S 0000", $0) + 1) },
    "damaged-microdump-several.microdump": microdump { $0.lines += $0.lines },
  ]

  private static func changed(
    _ change: (inout SynthMinidumpParameters) -> Void = { _ in }, _ edit: (SynthMinidump, inout [UInt8]) -> Void
  ) -> [UInt8] {
    var parameters = smallMinidump(.x86_64, .linux)
    change(&parameters)
    let dump = SynthMinidump(parameters)
    var bytes = dump.bytes
    edit(dump, &bytes)
    return bytes
  }

  /// Writes over a field that the synthesiser noted.
  private static func field(_ path: String, _ value: UInt64) -> [UInt8] {
    changed { dump, bytes in
      guard let field = dump.fields.first(where: { $0.path == path }) else { preconditionFailure("no field \(path)") }
      bytes.overwrite(value, width: field.width, at: field.offset)
    }
  }

  /// The value of a field, for what it points to.
  private static func place(_ path: String, _ dump: SynthMinidump) -> Int {
    guard let field = dump.fields.first(where: { $0.path == path }) else { preconditionFailure("no field \(path)") }
    return Int(dump.bytes.little(at: field.offset, width: field.width) ?? 0)
  }

  private static func pointedTo(_ path: String, offset: Int = 0, _ value: UInt64, width: Int) -> [UInt8] {
    changed { dump, bytes in bytes.overwrite(value, width: width, at: place(path, dump) + offset) }
  }

  static let damagedMinidumps: [String: [UInt8]] = [
    "damaged-too-short.dmp": Array("MDMP".utf8) + [0x93, 0xa7, 0, 0, 1, 0, 0, 0],
    "damaged-signature.dmp": changed { _, bytes in bytes.overwrite(0x4d44_4d50, width: 4, at: 0) },
    "damaged-version.dmp": changed { _, bytes in bytes.overwrite(0xa794, width: 2, at: 4) },
    "damaged-directory-outside.dmp": changed { _, bytes in
      bytes.overwrite(UInt64(bytes.count - 8), width: 4, at: 12)
    },
    "damaged-stream-outside.dmp": field("miscInfo.rva", 0xffff_0000),
    "damaged-stream-too-short.dmp": field("miscInfo.size", 20),
    "damaged-duplicate-stream.dmp": changed({ $0.damage = [.duplicates] }) { _, _ in },
    "damaged-overlapping-streams.dmp": changed { dump, bytes in
      guard let field = dump.fields.first(where: { $0.path == "linuxCommandLine.rva" }) else { return }
      bytes.overwrite(UInt64(place("linuxEnvironment.rva", dump)), width: 4, at: field.offset)
    },
    "damaged-missing-stream.dmp": changed({ $0.streams = [.systemInfo, .threadList, .memoryList] }) { _, _ in },
    "damaged-misaligned.dmp": changed({
      $0.damage = [.odd]
      $0.moduleCount = 1
      $0.threadCount = 1
    }) { _, _ in },
    "damaged-count-too-large.dmp": field("threadList.count", 5000),
    // A directory of unused entries, more than a file of that size may have.
    "damaged-too-many-entries.dmp": Array("MDMP".utf8) + Bytes.of(UInt32(0xa793)) + Bytes.of(UInt32(1_000_000))
      + Bytes.of(UInt32(32)) + [UInt8](repeating: 0, count: 16 + 12 * 1_000_000),
    "damaged-string-outside.dmp": field("moduleList[1].name.rva", 0xffff_0000),
    "damaged-string-length.dmp": pointedTo("moduleList[1].name.rva", 21, width: 4),
    "damaged-string-encoding.dmp": pointedTo("moduleList[1].name.rva", offset: 6, 0xd83d, width: 2),
    "damaged-string-unterminated.dmp": pointedTo("moduleList[1].name.rva", 20, width: 4),
    "damaged-context-outside.dmp": field("threadList[1].context.rva", 0xffff_0000),
    "damaged-context-missing.dmp": field("threadList[1].context.rva", 0),
    "damaged-unknown-context.dmp": field("threadList[1].context.size", 100),
    "damaged-memory-outside.dmp": field("memoryList[2].rva", 0xffff_0000),
    "damaged-memory-missing.dmp": field("memoryList[2].rva", 0),
    "damaged-minidump-architecture.dmp": pointedTo("systemInfo.rva", 77, width: 2),
    "damaged-codeview-outside.dmp": field("moduleList[1].codeView.rva", 0xffff_0000),
    "damaged-unknown-codeview.dmp": pointedTo("moduleList[1].codeView.rva", 0x3133_4e42, width: 4),
    "damaged-annotation-outside.dmp": field("crashpadInfo.annotations[0].value.rva", 0xffff_0000),
    "damaged-module-index.dmp": pointedTo("crashpadInfo.modules.rva", offset: 4, 40, width: 4),
    "damaged-parameters.dmp": field("exception.parameters.count", 16),
    "damaged-truncated.dmp": Array(SynthMinidump(smallMinidump(.x86_64, .linux)).bytes.prefix(2000)),
  ]
}
