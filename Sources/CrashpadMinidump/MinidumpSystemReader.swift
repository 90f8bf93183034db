// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Reads SystemInfo and MiscInfo.
extension MinidumpReader {
  mutating func readSystemInfo(_ range: ByteRange, _ bytes: RawSpan) {
    guard check(range, has: 32, "SystemInfo") else { return }
    let offset = range.offset
    hasSystemInfo = true
    snapshot.system.architecture = architecture(bytes.uint16(at: offset), at: offset)
    readProcessor(range, bytes)
    snapshot.system.cpuCount = Int32(bytes.uint8(at: offset + 6))
    // On Linux and Android, a count of 0 means unknown.
    if snapshot.system.cpuCount == 0, [0x8201, 0x8203].contains(bytes.uint32(at: offset + 20)) {
      snapshot.system.cpuCount = nil
    }
    snapshot.system.osMajor = bytes.int32(at: offset + 8)
    snapshot.system.osMinor = bytes.int32(at: offset + 12)
    snapshot.system.osBugfix = bytes.int32(at: offset + 16)
    snapshot.system.operatingSystem = MinidumpNumbers.operatingSystem(ofPlatform: bytes.uint32(at: offset + 20))
    let buildRVA = Int(bytes.uint32(at: offset + 24))
    if buildRVA != 0 {
      snapshot.system.osBuild = string(at: buildRVA, field: offset + 24, "SystemInfo.CSDVersionRva", bytes)
    }
    if [.x86, .x86_64].contains(snapshot.system.architecture), range.count >= 44 {
      // Three CPUID registers spell the vendor's name; writers for x86_64 have processor features here instead.
      let vendor = SnapshotBytes(inputOffset: offset + 32, count: 12)
      let isText = bytes.array(in: ByteRange(offset: offset + 32, count: 12)).allSatisfy { (0x20..<0x7f).contains($0) }
      if isText { snapshot.system.cpuVendor = vendor }
    }
  }

  /// Reads family, model and stepping of x86, and what ARM has in their place. Crashpad and this tool write zeros.
  private mutating func readProcessor(_ range: ByteRange, _ bytes: RawSpan) {
    let offset = range.offset
    var processor = ProcessorSnapshot(level: bytes.uint16(at: offset + 2), revision: bytes.uint16(at: offset + 4))
    guard processor.level != 0 || processor.revision != 0 else { return }
    if snapshot.system.architecture == .arm, range.count >= 40 {
      processor.id = bytes.uint32(at: offset + 32)
      processor.features = bytes.uint32(at: offset + 36)
    }
    snapshot.system.processor = processor
  }

  private mutating func architecture(_ number: UInt16, at offset: Int) -> CPUArchitecture {
    switch number {
    case 0: return .x86
    case 1: return .mips
    case 5: return .arm
    case 9: return .x86_64
    case 12, 0x8003: return .arm64  // 0x8003 was Breakpad's own number.
    case 0x8002: return .ppc64
    case 0x8004: return .mips64
    case 0x8006: return .riscv64
    default:
      findings.append(
        Finding(MinidumpRules.unknownArchitecture, at: offset, path: "SystemInfo", found: .number(UInt64(number))))
      return .unknown
    }
  }

  mutating func readMiscInfo(_ range: ByteRange, _ bytes: RawSpan) {
    guard check(range, has: 24, "MiscInfo") else { return }
    let offset = range.offset
    let size = min(range.count, Int(bytes.uint32(at: offset)))
    let flags = bytes.uint32(at: offset + 4)
    if flags & 1 != 0 { snapshot.processID = Int32(truncatingIfNeeded: bytes.uint32(at: offset + 8)) }
    if flags & 2 != 0 {
      let start = bytes.uint32(at: offset + 12)
      // A core has no start time of its process, so a minidump converted from one has none either.
      if start != 0 || !snapshot.system.isLinux { snapshot.startTime = Timestamp(seconds: Int64(start)) }
      snapshot.userTime = Timestamp(seconds: Int64(bytes.uint32(at: offset + 16)))
      snapshot.systemTime = Timestamp(seconds: Int64(bytes.uint32(at: offset + 20)))
    }
    if flags & 0x40 != 0, size >= 232 { readTimeZone(at: offset + 56, bytes) }
    if flags & 0x100 != 0, size >= 752 {
      readBuildString(ByteRange(offset: offset + 232, count: 520), bytes)
    }
  }

  private mutating func readTimeZone(at offset: Int, _ bytes: RawSpan) {
    switch bytes.uint32(at: offset) {
    case 0: snapshot.system.timeZone.daylightSaving = .doesNotObserve
    case 1: snapshot.system.timeZone.daylightSaving = .standardTime
    case 2: snapshot.system.timeZone.daylightSaving = .daylightTime
    default: break
    }
    let bias = bytes.int32(at: offset + 4)
    let standardBias = bytes.int32(at: offset + 88)
    let daylightBias = bytes.int32(at: offset + 172)
    snapshot.system.timeZone.standardOffset = (0 &- bias &- standardBias) &* 60
    snapshot.system.timeZone.daylightOffset = (0 &- bias &- daylightBias) &* 60
    snapshot.system.timeZone.standardName = fixedString(
      ByteRange(offset: offset + 8, count: 64), "MiscInfo.TimeZone.StandardName", bytes)
    snapshot.system.timeZone.daylightName = fixedString(
      ByteRange(offset: offset + 92, count: 64), "MiscInfo.TimeZone.DaylightName", bytes)
  }

  /// Reads "17.4.1 21E236; iPhone14,2": the text after the semicolon is the machine.
  private mutating func readBuildString(_ range: ByteRange, _ bytes: RawSpan) {
    let build = fixedString(range, "MiscInfo.BuildString", bytes)
    let text = snapshot.bytes(of: build, in: bytes)
    guard let separator = text.indices.dropLast().first(where: { text[$0] == 0x3b && text[$0 + 1] == 0x20 }) else {
      return
    }
    snapshot.system.machine = build.part(at: separator + 2, count: build.count - separator - 2)
  }
}
