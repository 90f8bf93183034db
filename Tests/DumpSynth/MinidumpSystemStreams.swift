// SPDX-License-Identifier: Apache-2.0
/// Streams about the machine, the process and Windows' lists.
extension MinidumpStreams {
  /// 56 bytes: processor, version, platform, service pack or build, processor features.
  mutating func systemInfo() -> Range<Int> {
    let start = writer.reserve(56)
    writer.put(UInt64(parameters.processor.number), 2, at: start)
    writer.put(6, 2, at: start + 2)
    writer.put(0x9e0a, 2, at: start + 4)
    writer.put(8, 1, at: start + 6)
    writer.put(1, 1, at: start + 7)
    let (major, minor, build, text) =
      switch parameters.system {
      case .windows: (10, 0, 19045, "Service Pack 0")
      case .macos: (14, 4, 1, "23E224")
      case .ios: (17, 4, 1, "21E236")
      case .linux: (6, 1, 0, "Linux 6.1.0-18-amd64 #1 SMP Debian 6.1.76-1 x86_64")
      case .android: (14, 0, 0, "Linux 5.10.157-android13 #1 SMP aarch64")
      }
    writer.put32(major, at: start + 8)
    writer.put32(minor, at: start + 12)
    writer.put32(build, at: start + 16)
    writer.put(UInt64(parameters.system.platformID), 4, at: start + 20)
    switch parameters.processor {
    case .x86:
      for (index, byte) in "GenuineIntel".utf8.enumerated() {
        writer.put(UInt64(byte), 1, at: start + 32 + index)
      }
      writer.put(0x0009_06ea, 4, at: start + 44)
      writer.put(0xbfeb_fbff, 4, at: start + 48)
    case .arm, .arm64, .arm64Old:
      writer.put(0x410f_d0b0, 4, at: start + 32)
      writer.put(0x00ff, 4, at: start + 36)
    case .x86_64, .riscv64, .ppc64, .mips, .mips64:
      writer.put(0x1004, 8, at: start + 32)
    }
    writer.putRVA(writer.utf16(text, "systemInfo.csdVersion"), at: start + 24, "systemInfo.csdVersion")
    return start..<start + 56
  }

  /// `MINIDUMP_MISC_INFO` of 24 bytes, `_2` of 44, `_3` of 232 and `_4` of 832: each continues the one before.
  mutating func miscInfo() -> Range<Int> {
    let size = max(0, parameters.miscInfoSize)
    var data = Bytes.of(UInt32(size))
    // Which fields are valid: process id and times; processor power; the rest by size.
    let flags: UInt32 = 0x3 | (size >= 44 ? 0x4 : 0) | (size >= 232 ? 0x70 : 0) | (size >= 832 ? 0x100 : 0)
    for value in [flags, 4200, 0x6500_0000, 12, 3] { data.append(little: value) }
    for value: UInt32 in [3600, 2400, 3600, 2, 1] { data.append(little: value) }
    for value: UInt32 in [0x2000, 0, 0, 2] { data.append(little: value) }
    // TIME_ZONE_INFORMATION: 172 bytes.
    data.append(little: Int32(-60))
    data += Self.fixed("CET", units: 32) + [UInt8](repeating: 0, count: 16)
    data.append(little: Int32(0))
    data += Self.fixed("CEST", units: 32) + [UInt8](repeating: 0, count: 16)
    data.append(little: Int32(-60))
    data += Self.fixed("synthetic build 1.2.3", units: 260) + Self.fixed("synth", units: 40)
    data.appendZeros(size - data.count)
    return plain(Array(data.prefix(size)))
  }

  private static func fixed(_ text: String, units: Int) -> [UInt8] {
    var out: [UInt8] = []
    for unit in text.utf16.prefix(units - 1) { out.append(little: unit) }
    out.appendZeros(units * 2 - out.count)
    return out
  }

  /// Header of 16 bytes, then 32 (or 40) for each: handle, names of type and object, attributes, access, counts.
  mutating func handleData() -> Range<Int> {
    let handles = [("File", "\\Device\\HarddiskVolume1\\log.txt"), ("Event", ""), ("Mutant", "\\Sessions\\1\\x")]
    let entry = parameters.wideHandles ? 40 : 32
    let start = writer.reserve(16 + handles.count * entry)
    writer.putEntrySize(16, at: start, "handleData.headerSize")
    writer.putEntrySize(entry, at: start + 4, "handleData.entrySize")
    writer.putCount(handles.count, at: start + 8, "handleData")
    for (index, handle) in handles.enumerated() {
      let at = start + 16 + index * entry
      let path = "handleData[\(index)]"
      writer.put32(4 * (index + 1), at: at)
      writer.putRVA(writer.utf16(handle.0, path + ".type"), at: at + 8, path + ".type")
      if !handle.1.isEmpty {
        writer.putRVA(writer.utf16(handle.1, path + ".name"), at: at + 12, path + ".name")
      }
      writer.put32(0x12019f, at: at + 20)
      writer.put32(2, at: at + 24)
      writer.put32(65_537, at: at + 28)
    }
    return start..<start + 16 + handles.count * entry
  }

  /// Header of 12 bytes, then 24 for each: base, size, checksum, time, name.
  mutating func unloadedModules() -> Range<Int> {
    let names = ["old.dll", "C:\\Windows\\System32\\gone.dll"]
    let start = writer.reserve(12 + names.count * 24)
    writer.putEntrySize(12, at: start, "unloadedModuleList.headerSize")
    writer.putEntrySize(24, at: start + 4, "unloadedModuleList.entrySize")
    writer.putCount(names.count, at: start + 8, "unloadedModuleList")
    for (index, name) in names.enumerated() {
      let at = start + 12 + index * 24
      writer.put(0x6f00_0000 + UInt64(index) * 0x10_0000, 8, at: at)
      writer.put32(0x20000, at: at + 8)
      writer.put32(0x5f00_0000, at: at + 16)
      let path = "unloadedModuleList[\(index)].name"
      writer.putRVA(writer.utf16(name, path), at: at + 20, path)
    }
    return start..<start + 12 + names.count * 24
  }

  /// Header of 16 bytes (count of 64 bits), then 48 for each: base, allocation, protection, size, state, type.
  mutating func memoryInfo() -> Range<Int> {
    let ranges =
      process.modules.map { ($0.base, UInt64($0.size), UInt64(0x20), UInt64(0x100_0000)) }
      + process.threads.map { ($0.stackAddress, UInt64($0.stackBytes), UInt64(0x04), UInt64(0x2_0000)) }
    let start = writer.reserve(16 + ranges.count * 48)
    writer.putEntrySize(16, at: start, "memoryInfoList.headerSize")
    writer.putEntrySize(48, at: start + 4, "memoryInfoList.entrySize")
    writer.putCount(ranges.count, width: 8, at: start + 8, "memoryInfoList")
    for (index, range) in ranges.enumerated() {
      let at = start + 16 + index * 48
      writer.put(range.0, 8, at: at)
      writer.put(range.0, 8, at: at + 8)
      writer.put(range.2, 4, at: at + 16)
      writer.put(range.1, 8, at: at + 24)
      writer.put(0x1000, 4, at: at + 32)
      writer.put(range.2, 4, at: at + 36)
      writer.put(range.3, 4, at: at + 40)
    }
    return start..<start + 16 + ranges.count * 48
  }

  /// 64 bytes: version, two UUIDs, dictionary, modules, reserved, address mask.
  mutating func crashpadInfo() -> Range<Int> {
    let start = writer.reserve(64)
    var random = SplitMix64(seed: parameters.seed, area: 12)
    writer.put32(1, at: start)
    for (index, byte) in random.bytes(32).enumerated() { writer.put(UInt64(byte), 1, at: start + 4 + index) }
    let dictionary = simpleDictionary(parameters.annotations, "crashpadInfo.annotations")
    writer.putLocation(
      size: dictionary.count, rva: dictionary.lowerBound, at: start + 36, "crashpadInfo.annotations")
    if !process.modules.isEmpty {
      let list = crashpadModules()
      writer.putLocation(size: list.count, rva: list.lowerBound, at: start + 44, "crashpadInfo.modules")
    }
    if parameters.processor == .arm64 { writer.put(0xffff_ff80_0000_0000, 8, at: start + 56) }
    return start..<start + 64
  }

  private mutating func simpleDictionary(_ count: Int, _ path: String) -> Range<Int> {
    let start = writer.reserve(4 + count * 8)
    writer.putCount(count, at: start, path)
    for index in 0..<count {
      let at = start + 4 + index * 8
      writer.putRVA(writer.utf8("key-\(index)", path), at: at, "\(path)[\(index)].key")
      writer.putRVA(writer.utf8("wért \(index)", path), at: at + 4, "\(path)[\(index)].value")
    }
    return start..<start + 4 + count * 8
  }

  /// One entry, for module 0: a list annotation, a dictionary and an annotation object.
  private mutating func crashpadModules() -> Range<Int> {
    let start = writer.reserve(4 + 12)
    writer.putCount(1, at: start, "crashpadInfo.modules")
    let info = writer.reserve(28)
    writer.putLocation(size: 28, rva: info, at: start + 8, "crashpadInfo.modules[0]")
    writer.put32(1, at: info)
    let vector = writer.reserve(8)
    writer.putCount(1, at: vector, "crashpadInfo.modules[0].list")
    writer.putRVA(writer.utf8("abort() called", "list"), at: vector + 4, "crashpadInfo.modules[0].list[0]")
    writer.putLocation(size: 8, rva: vector, at: info + 4, "crashpadInfo.modules[0].list")
    let dictionary = simpleDictionary(2, "crashpadInfo.modules[0].simple")
    writer.putLocation(
      size: dictionary.count, rva: dictionary.lowerBound, at: info + 12, "crashpadInfo.modules[0].simple")
    let objects = writer.reserve(16)
    writer.putCount(1, at: objects, "crashpadInfo.modules[0].objects")
    writer.putRVA(writer.utf8("object", "objects"), at: objects + 4, "crashpadInfo.modules[0].objects[0].name")
    writer.put(1, 2, at: objects + 8)
    let value = writer.append(Bytes.of(UInt32(5)) + Array("value".utf8))
    writer.putRVA(value, at: objects + 12, "crashpadInfo.modules[0].objects[0].value")
    writer.putLocation(size: 16, rva: objects, at: info + 20, "crashpadInfo.modules[0].objects")
    return start..<start + 16
  }

  /// Breakpad's `MDRawDebug64` (40 bytes; the compiler pads it) or `MDRawDebug32` (24), with its link maps of 24
  /// or 12 bytes.
  mutating func dsoDebug() -> Range<Int> {
    let wide = parameters.processor.is64Bit
    let (size, entry, word) = wide ? (40, 24, 8) : (24, 12, 4)
    let start = writer.reserve(size)
    let modules = process.modules
    writer.put32(1, at: start)
    writer.putCount(modules.count, at: start + 8, "linuxDSODebug")
    let tail = wide ? start + 16 : start + 12
    writer.put(modules.last?.base ?? 0, word, at: tail + word)
    writer.put((modules.first?.base ?? 0) &+ 0x3000, word, at: tail + 2 * word)
    let maps = writer.reserve(modules.count * entry)
    writer.putRVA(maps, at: start + 4, "linuxDSODebug.map")
    for (index, module) in modules.enumerated() {
      let at = maps + index * entry
      let path = "linuxDSODebug[\(index)].name"
      writer.put(module.base, word, at: at)
      writer.putRVA(writer.utf16(module.path, path), at: at + word, path)
      writer.put(module.base &+ 0x2000, word, at: at + (wide ? 16 : 8))
    }
    return start..<start + size
  }
}
