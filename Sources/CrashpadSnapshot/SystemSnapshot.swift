// SPDX-License-Identifier: Apache-2.0
/// The processor architectures of dumps. The texts are used by `--arch` and in JSON.
public enum CPUArchitecture: String, Sendable, CaseIterable {
  case arm64
  case x86_64
  case x86
  case arm
  /// 64-bit RISC-V.
  case riscv64
  /// 64-bit PowerPC; cores are read of little-endian systems.
  case ppc64
  /// 64-bit LoongArch.
  case loongarch64
  /// 32-bit MIPS, little-endian. Cores of it are not read.
  case mips
  /// 64-bit MIPS, little-endian. Cores of it are not read.
  case mips64
  case unknown

  /// Whether addresses have 32 bits.
  package var hasNarrowAddresses: Bool { self == .x86 || self == .arm || self == .mips }

  /// The names of the general registers by their numbers in DWARF, for processors that have 32 of them and no context of
  /// their own; else empty. Sources: the psABI documents of RISC-V, LoongArch, 64-bit PowerPC and MIPS.
  package var numberedRegisters: [String] {
    func row(_ prefix: String, _ numbers: ClosedRange<Int>) -> [String] { numbers.map { "\(prefix)\($0)" } }
    return switch self {
    case .riscv64:
      ["zero", "ra", "sp", "gp", "tp"] + row("t", 0...2) + row("s", 0...1) + row("a", 0...7) + row("s", 2...11)
        + row("t", 3...6)
    case .loongarch64:
      ["zero", "ra", "tp", "sp"] + row("a", 0...7) + row("t", 0...8) + ["r21", "fp"] + row("s", 0...8)
    case .ppc64: row("r", 0...31)
    case .mips, .mips64:
      ["zero", "at"] + row("v", 0...1) + row("a", 0...3) + row("t", 0...7) + row("s", 0...7) + row("t", 8...9)
        + row("k", 0...1) + ["gp", "sp", "fp", "ra"]
    case .arm64, .x86_64, .x86, .arm, .unknown: []
    }
  }

  /// The number that other processors have for a signal of Linux: MIPS has other ones, as Irix had. The rest of the code knows
  /// signals by these. Source: arch/mips/include/uapi/asm/signal.h.
  package func commonSignal(_ number: UInt32) -> UInt32 {
    guard self == .mips || self == .mips64 else { return number }
    let common: [UInt32: UInt32] = [
      // SIGEMT, which nothing sends, has the place of SIGSTKFLT, which nothing sends either.
      7: 16, 10: 7, 12: 31, 16: 10, 17: 12, 18: 17, 19: 30, 20: 28, 21: 23, 22: 29, 23: 19, 24: 20, 25: 18, 26: 21,
      27: 22, 28: 26, 29: 27, 30: 24, 31: 25,
    ]
    return common[number] ?? number
  }
}

/// The operating systems of dumps.
public enum OperatingSystem: String, Sendable {
  case ios = "iOS"
  case macos = "macOS"
  case linux = "Linux"
  case android = "Android"
  case windows = "Windows"
  case fuchsia = "Fuchsia"
  case unknown = "unknown"

  package var isApple: Bool { self == .ios || self == .macos }
}

/// The machine and its operating system.
public struct SystemSnapshot: Sendable {
  /// The architecture of the process.
  public var architecture: CPUArchitecture
  /// The operating system.
  public var operatingSystem: OperatingSystem
  /// The platform of Apple's, which `operatingSystem` only knows as iOS or macOS; nil if it is not known.
  public var platform: Platform?
  /// The first number of the system's version; nil if unknown.
  public var osMajor: Int32?
  /// The second number of the system's version; nil if unknown.
  public var osMinor: Int32?
  /// The third number of the system's version; nil if unknown.
  public var osBugfix: Int32?
  /// Such as "21E236"; on Windows the service pack.
  public var osBuild: SnapshotBytes?
  /// Such as "iPhone14,2".
  public var machine: SnapshotBytes?
  package var cpuVendor: SnapshotBytes?
  /// The processor's numbers in a minidump.
  package var processor: ProcessorSnapshot?
  package var cpuCount: Int32?
  package var pageSize: UInt64?
  /// The bits of a pointer that are not part of the address, such as pointer authentication codes and tags.
  package var addressMask: UInt64?
  /// The time since the handler started, in nanoseconds.
  package var crashpadUptime: UInt64?
  package var timeZone = TimeZoneSnapshot()
  package var memory: SystemMemory?

  /// Whether the version is known. Breakpad's writer for Linux leaves zeros in it.
  package var hasVersion: Bool {
    let isUnknown = osMajor == nil && osMinor == nil && osBugfix == nil
    let isZero = (osMajor ?? 0, osMinor ?? 0, osBugfix ?? 0) == (0, 0, 0)
    return !isUnknown && !(isZero && (operatingSystem == .linux || operatingSystem == .android))
  }

  /// The parts of the version that are known, such as "17.4.1" or "7.0"; nil without any.
  package var version: String? {
    guard hasVersion, let major = osMajor else { return nil }
    guard let minor = osMinor else { return String(major) }
    return osBugfix.map { "\(major).\(minor).\($0)" } ?? "\(major).\(minor)"
  }

  package init(architecture: CPUArchitecture, operatingSystem: OperatingSystem) {
    self.architecture = architecture
    self.operatingSystem = operatingSystem
  }
}

/// The model of a processor as minidumps have it.
package struct ProcessorSnapshot: Sendable, Hashable {
  /// The family of x86, or the version of the ARM architecture.
  package var level: UInt16
  /// The model of x86 in the upper byte, and the stepping in the lower one.
  package var revision: UInt16
  /// The main id register of ARM; 0 if unknown.
  package var id: UInt32 = 0
  /// The features of ARM: AT_HWCAP of Linux; 0 if unknown.
  package var features: UInt32 = 0

  package init(level: UInt16, revision: UInt16) {
    self.level = level
    self.revision = revision
  }
}

/// Physical memory by use, in pages.
package struct SystemMemory: Sendable, Hashable {
  package var active: UInt32?
  package var inactive: UInt32?
  package var wired: UInt32?
  package var free: UInt32?

  package init(active: UInt32? = nil, inactive: UInt32? = nil, wired: UInt32? = nil, free: UInt32? = nil) {
    self.active = active
    self.inactive = inactive
    self.wired = wired
    self.free = free
  }
}

package struct TimeZoneSnapshot: Sendable {
  package enum DaylightSaving: Sendable {
    case doesNotObserve
    case standardTime
    case daylightTime
  }

  package var daylightSaving: DaylightSaving?
  /// The offsets in seconds east of UTC.
  package var standardOffset: Int32?
  package var daylightOffset: Int32?
  package var standardName: SnapshotBytes?
  package var daylightName: SnapshotBytes?

  package init() {}
}

/// Text files of a Linux system that Breakpad's writer copies into a minidump.
package struct LinuxSnapshot: Sendable {
  /// /proc/cpuinfo, or the known part of it.
  package var cpuInfo: SnapshotBytes?
  package var processStatus: SnapshotBytes?
  package var release: SnapshotBytes?
  package var commandLine: SnapshotBytes?
  package var environment: SnapshotBytes?
  package var auxiliaryVector: SnapshotBytes?
  package var maps: SnapshotBytes?
  /// /proc/self/limits
  package var limits: SnapshotBytes?

  package init() {}
}
