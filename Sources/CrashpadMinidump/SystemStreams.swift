// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Writes SystemInfo and MiscInfo. Source: Crashpad, `minidump/minidump_{system,misc}_info_writer.cc`.
extension MinidumpWriter {
  func writeSystemInfo(to writer: inout ByteWriter, _ input: RawSpan) {
    let start = writer.position
    let system = snapshot.system
    let isAMD64 = system.architecture == .x86_64
    writer.uint16(MinidumpNumbers.processor(of: system.architecture))
    writer.uint16(0)  // ProcessorLevel
    writer.uint16(0)  // ProcessorRevision
    writer.uint8(UInt8(truncatingIfNeeded: system.cpuCount ?? 0))  // NumberOfProcessors
    writer.uint8(1)  // ProductType: workstation
    writer.int32(system.osMajor ?? 0)
    writer.int32(system.osMinor ?? 0)
    writer.int32(system.osBugfix ?? 0)
    writer.uint32(MinidumpNumbers.platformID(of: system.operatingSystem))
    // CSDVersionRva: the string follows the record.
    writer.uint32(UInt32(truncatingIfNeeded: start + MinidumpFormat.systemInfoSize))
    writer.uint16(0)  // SuiteMask
    writer.uint16(0)  // Reserved2
    // ProcessorFeatures: for AMD64, those of every such processor: PF_COMPARE_EXCHANGE_DOUBLE and PF_NX_ENABLED.
    writer.uint64(isAMD64 ? 0x1004 : 0)
    writer.fill(from: start, to: MinidumpFormat.systemInfoSize)
    snapshot.withBytes(of: system.osBuild ?? .empty, in: input) { writer.utf16String($0) }
  }

  func writeMiscInfo(to writer: inout ByteWriter, _ input: RawSpan) {
    if snapshot.system.isLinux {
      writeShortMiscInfo(to: &writer)
      return
    }
    if writer.isMeasuring {
      writer.skip(MinidumpFormat.miscInfo4Size)
      return
    }
    let start = writer.position
    writer.uint32(UInt32(MinidumpFormat.miscInfo4Size))
    // Flags1: process id, process times, processor power info, time zone, build string.
    writer.uint32(0x147)
    writer.uint32(UInt32(clamping: max(0, snapshot.processID ?? 0)))
    writer.uint32(UInt32(truncatingIfNeeded: snapshot.startTime?.seconds ?? 0))
    writer.uint32(Self.roundedSeconds(snapshot.userTime))
    writer.uint32(Self.roundedSeconds(snapshot.systemTime))
    // Five processor power fields, integrity level, execute flags, protected process: unknown.
    writer.zeros(8 * 4)
    writeTimeZone(to: &writer, input)
    let build = buildString(input)
    unsafe writer.fixedUTF16(build.span.bytes, units: 260)
    let debugBuild = Array(debugBuildString.utf8)
    unsafe writer.fixedUTF16(debugBuild.span.bytes, units: 40)
    writer.fill(from: start, to: MinidumpFormat.miscInfo4Size)
  }

  /// Rounds to whole seconds; a time out of range becomes the largest number.
  static func roundedSeconds(_ time: Timestamp?) -> UInt32 {
    guard let time else { return 0 }
    guard let seconds = UInt32(exactly: time.seconds) else { return .max }
    return time.microseconds >= 500_000 && seconds != .max ? seconds + 1 : seconds
  }

  private func writeTimeZone(to writer: inout ByteWriter, _ input: RawSpan) {
    let zone = snapshot.system.timeZone
    let standard = zone.standardOffset ?? 0
    let daylight = zone.daylightOffset ?? 0
    switch zone.daylightSaving {
    case .doesNotObserve, nil: writer.uint32(0)
    case .standardTime: writer.uint32(1)
    case .daylightTime: writer.uint32(2)
    }
    writer.int32(standard / -60)  // Bias: minutes west of UTC
    snapshot.withBytes(of: zone.standardName ?? .empty, in: input) { writer.fixedUTF16($0, units: 32) }
    writer.zeros(16)  // StandardDate
    writer.int32(0)  // StandardBias
    snapshot.withBytes(of: zone.daylightName ?? .empty, in: input) { writer.fixedUTF16($0, units: 32) }
    writer.zeros(16)  // DaylightDate
    writer.int32((standard &- daylight) / 60)  // DaylightBias
  }

  /// Makes "17.4.1 21E236; iPhone14,2". Both texts end at their first NUL.
  private func buildString(_ input: RawSpan) -> [UInt8] {
    func text(_ content: SnapshotBytes?) -> [UInt8] {
      Array(snapshot.bytes(of: content ?? .empty, in: input).prefix { $0 != 0 })
    }
    let system = snapshot.system
    var build = Array("\(system.osMajor ?? 0).\(system.osMinor ?? 0).\(system.osBugfix ?? 0) ".utf8)
    build += text(system.osBuild)
    if let machine = system.machine, !machine.isEmpty { build += Array("; ".utf8) + text(machine) }
    return build
  }

  /// The name of the writer. It is that of Crashpad 0.8.0, whose output this file matches: readers depend on it.
  private var debugBuildString: String {
    let cpu = snapshot.system.architecture == .x86_64 ? "amd64" : "arm64"
    return "crashpad.\(cpu),0.8.0,\(MinidumpNumbers.buildName(of: snapshot.system.operatingSystem))"
  }
}

extension MinidumpNumbers {
  /// PROCESSOR_ARCHITECTURE_*
  static func processor(of architecture: CPUArchitecture) -> UInt16 {
    switch architecture {
    case .x86: 0
    case .arm: 5
    case .x86_64: 9
    // Breakpad's own numbers.
    case .mips: 1
    case .ppc64: 0x8002
    case .mips64: 0x8004
    case .riscv64: 0x8006
    case .arm64, .loongarch64, .unknown: 12
    }
  }

  static func platformID(of system: OperatingSystem) -> UInt32 {
    switch system {
    case .windows: 2
    case .macos: 0x8101
    case .ios: 0x8102
    case .linux: 0x8201
    case .android: 0x8203
    case .fuchsia: 0x8206
    case .unknown: 0
    }
  }

  static func operatingSystem(ofPlatform id: UInt32) -> OperatingSystem {
    switch id {
    case 1, 2: .windows
    case 0x8101: .macos
    case 0x8102: .ios
    case 0x8201: .linux
    case 0x8203: .android
    case 0x8206: .fuchsia
    default: .unknown
    }
  }

  static func buildName(of system: OperatingSystem) -> String {
    switch system {
    case .ios: "ios"
    case .macos: "mac"
    case .android: "android"
    case .windows: "win"
    case .fuchsia: "fuchsia"
    case .linux, .unknown: "linux"
    }
  }
}
