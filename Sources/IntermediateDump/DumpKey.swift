/// The key of a record. The numbers are persistent: they never change and are never reused.
///
/// Source of the numbers: Crashpad, `util/ios/ios_intermediate_dump_format.h`; 60000 to 60999 are crashpadctl's own,
/// which Crashpad's reader skips. The properties of the keys are in `KeyTable`.
@frozen
public struct DumpKey: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt16

  @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }

  @inlinable init(_ rawValue: UInt16) { self.rawValue = rawValue }
}

extension DumpKey {
  /// Not a valid key: reading stops at a record that has it.
  @inlinable public static var invalid: DumpKey { .init(0) }
  @inlinable public static var version: DumpKey { .init(1) }

  @inlinable public static var machException: DumpKey { .init(1000) }
  @inlinable public static var codes: DumpKey { .init(1001) }
  @inlinable public static var exception: DumpKey { .init(1002) }
  @inlinable public static var flavor: DumpKey { .init(1003) }
  @inlinable public static var state: DumpKey { .init(1004) }

  @inlinable public static var signalException: DumpKey { .init(2000) }
  @inlinable public static var signalNumber: DumpKey { .init(2001) }
  @inlinable public static var signalCode: DumpKey { .init(2002) }
  @inlinable public static var signalAddress: DumpKey { .init(2003) }

  @inlinable public static var nsException: DumpKey { .init(2500) }

  @inlinable public static var modules: DumpKey { .init(3000) }
  @inlinable public static var address: DumpKey { .init(3001) }
  @inlinable public static var fileType: DumpKey { .init(3002) }
  @inlinable public static var name: DumpKey { .init(3003) }
  @inlinable public static var size: DumpKey { .init(3004) }
  @inlinable public static var dylibCurrentVersion: DumpKey { .init(3005) }
  @inlinable public static var sourceVersion: DumpKey { .init(3006) }
  @inlinable public static var timestamp: DumpKey { .init(3007) }
  @inlinable public static var uuid: DumpKey { .init(3008) }
  @inlinable public static var annotationObjects: DumpKey { .init(3009) }
  @inlinable public static var annotationsSimpleMap: DumpKey { .init(3010) }
  @inlinable public static var annotationsVector: DumpKey { .init(3011) }
  @inlinable public static var annotationType: DumpKey { .init(3012) }
  @inlinable public static var annotationName: DumpKey { .init(3013) }
  @inlinable public static var annotationValue: DumpKey { .init(3014) }
  @inlinable public static var annotationsCrashInfo: DumpKey { .init(3015) }
  @inlinable public static var annotationsCrashInfoMessage1: DumpKey { .init(3016) }
  @inlinable public static var annotationsCrashInfoMessage2: DumpKey { .init(3017) }
  @inlinable public static var annotationsDyldErrorString: DumpKey { .init(3018) }
  @inlinable public static var moduleExtraMemoryRegions: DumpKey { .init(3019) }
  @inlinable public static var moduleExtraMemoryRegionAddress: DumpKey { .init(3020) }
  @inlinable public static var moduleExtraMemoryRegionData: DumpKey { .init(3021) }
  @inlinable public static var moduleIntermediateDumpExtraMemoryRegions: DumpKey { .init(3022) }
  @inlinable public static var moduleIntermediateDumpExtraMemoryRegionAddress: DumpKey { .init(3023) }
  @inlinable public static var moduleIntermediateDumpExtraMemoryRegionData: DumpKey { .init(3024) }

  @inlinable public static var processInfo: DumpKey { .init(4000) }
  @inlinable public static var parentPID: DumpKey { .init(4001) }
  @inlinable public static var pid: DumpKey { .init(4002) }
  @inlinable public static var startTime: DumpKey { .init(4003) }
  @inlinable public static var snapshotTime: DumpKey { .init(4004) }
  @inlinable public static var taskBasicInfo: DumpKey { .init(4005) }
  @inlinable public static var taskThreadTimes: DumpKey { .init(4006) }
  @inlinable public static var systemTime: DumpKey { .init(4007) }
  @inlinable public static var userTime: DumpKey { .init(4008) }

  @inlinable public static var systemInfo: DumpKey { .init(5000) }
  @inlinable public static var cpuCount: DumpKey { .init(5001) }
  @inlinable public static var cpuVendor: DumpKey { .init(5002) }
  @inlinable public static var daylightName: DumpKey { .init(5003) }
  @inlinable public static var daylightOffsetSeconds: DumpKey { .init(5004) }
  @inlinable public static var hasDaylightSavingTime: DumpKey { .init(5005) }
  @inlinable public static var isDaylightSavingTime: DumpKey { .init(5006) }
  @inlinable public static var machineDescription: DumpKey { .init(5007) }
  @inlinable public static var osVersionBugfix: DumpKey { .init(5008) }
  @inlinable public static var osVersionBuild: DumpKey { .init(5009) }
  @inlinable public static var osVersionMajor: DumpKey { .init(5010) }
  @inlinable public static var osVersionMinor: DumpKey { .init(5011) }
  @inlinable public static var pageSize: DumpKey { .init(5012) }
  @inlinable public static var standardName: DumpKey { .init(5013) }
  @inlinable public static var standardOffsetSeconds: DumpKey { .init(5014) }
  @inlinable public static var vmStat: DumpKey { .init(5015) }
  @inlinable public static var active: DumpKey { .init(5016) }
  @inlinable public static var free: DumpKey { .init(5017) }
  @inlinable public static var inactive: DumpKey { .init(5018) }
  @inlinable public static var wired: DumpKey { .init(5019) }
  @inlinable public static var addressMask: DumpKey { .init(5020) }
  @inlinable public static var crashpadUptime: DumpKey { .init(5021) }

  @inlinable public static var threads: DumpKey { .init(6000) }
  @inlinable public static var debugState: DumpKey { .init(6001) }
  @inlinable public static var floatState: DumpKey { .init(6002) }
  @inlinable public static var threadState: DumpKey { .init(6003) }
  @inlinable public static var priority: DumpKey { .init(6004) }
  @inlinable public static var stackRegionAddress: DumpKey { .init(6005) }
  @inlinable public static var stackRegionData: DumpKey { .init(6006) }
  @inlinable public static var suspendCount: DumpKey { .init(6007) }
  @inlinable public static var threadID: DumpKey { .init(6008) }
  @inlinable public static var threadDataAddress: DumpKey { .init(6009) }
  @inlinable public static var threadUncaughtNSExceptionFrames: DumpKey { .init(6010) }
  @inlinable public static var threadContextMemoryRegions: DumpKey { .init(6011) }
  @inlinable public static var threadContextMemoryRegionAddress: DumpKey { .init(6012) }
  @inlinable public static var threadContextMemoryRegionData: DumpKey { .init(6013) }
  @inlinable public static var threadName: DumpKey { .init(6014) }
}

/// Dumps of Linux processes.
extension DumpKey {
  @inlinable public static var linux: DumpKey { .init(60000) }
  @inlinable public static var osFamily: DumpKey { .init(60001) }
  @inlinable public static var kernelRelease: DumpKey { .init(60002) }
  @inlinable public static var kernelVersion: DumpKey { .init(60003) }
  @inlinable public static var distribution: DumpKey { .init(60004) }
  @inlinable public static var commandLine: DumpKey { .init(60005) }
  @inlinable public static var environment: DumpKey { .init(60006) }
  @inlinable public static var auxiliaryVector: DumpKey { .init(60007) }
  @inlinable public static var maps: DumpKey { .init(60008) }
  @inlinable public static var processStatus: DumpKey { .init(60009) }
  @inlinable public static var release: DumpKey { .init(60010) }
  @inlinable public static var captureNotes: DumpKey { .init(60011) }
  @inlinable public static var captureDuration: DumpKey { .init(60012) }
  @inlinable public static var executable: DumpKey { .init(60013) }
  @inlinable public static var cpuModel: DumpKey { .init(60014) }
  @inlinable public static var capture: DumpKey { .init(60015) }

  @inlinable public static var buildID: DumpKey { .init(60100) }

  @inlinable public static var threadCapture: DumpKey { .init(60200) }
}
