/// Processor architectures that dumps come from. The texts are those of `--arch` and of JSON.
public enum CPUArchitecture: String, Sendable, CaseIterable {
  case arm64
  case x86_64
  case x86
  case arm
  case unknown
}

public enum OperatingSystem: String, Sendable {
  case ios = "iOS"
  case macos = "macOS"
  case linux = "Linux"
  case android = "Android"
  case windows = "Windows"
  case fuchsia = "Fuchsia"
  case unknown = "unknown"
}

/// The machine and its operating system.
public struct SystemSnapshot: Sendable {
  public var architecture: CPUArchitecture
  public var operatingSystem: OperatingSystem
  public var osMajor: Int32?
  public var osMinor: Int32?
  public var osBugfix: Int32?
  /// "21E236"; on Windows the service pack.
  public var osBuild: Content?
  /// "iPhone14,2"
  public var machine: Content?
  public var cpuVendor: Content?
  public var cpuCount: Int32?
  public var pageSize: UInt64?
  /// Bits of a pointer that are not part of the address (pointer authentication, tags).
  public var addressMask: UInt64?
  /// Time since the handler was started, in nanoseconds.
  public var crashpadUptime: UInt64?
  public var timeZone = TimeZoneSnapshot()
  public var memory: SystemMemory?

  public init(architecture: CPUArchitecture, operatingSystem: OperatingSystem) {
    self.architecture = architecture
    self.operatingSystem = operatingSystem
  }
}

/// Physical memory by use, in pages.
public struct SystemMemory: Sendable, Hashable {
  public var active: UInt32?
  public var inactive: UInt32?
  public var wired: UInt32?
  public var free: UInt32?

  public init(active: UInt32?, inactive: UInt32?, wired: UInt32?, free: UInt32?) {
    self.active = active
    self.inactive = inactive
    self.wired = wired
    self.free = free
  }
}

public struct TimeZoneSnapshot: Sendable {
  public enum DaylightSaving: Sendable {
    case doesNotObserve
    case standardTime
    case daylightTime
  }

  public var daylightSaving: DaylightSaving?
  /// Seconds east of UTC.
  public var standardOffset: Int32?
  public var daylightOffset: Int32?
  public var standardName: Content?
  public var daylightName: Content?

  public init() {}
}

/// Text files of a Linux system that Breakpad's writer copies into a minidump.
public struct LinuxSnapshot: Sendable {
  /// /proc/cpuinfo, or that part of it which is known.
  public var cpuInfo: Content?
  public var processStatus: Content?
  public var release: Content?
  public var commandLine: Content?
  public var environment: Content?
  public var auxiliaryVector: Content?
  public var maps: Content?

  public init() {}
}
