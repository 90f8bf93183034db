/// The key of a record. Numbers are persisted: they are never changed and never used again.
///
/// Source of the numbers: Crashpad, `util/ios/ios_intermediate_dump_format.h`; those from 60000 to 60999 are crashpadctl's
/// own, which Crashpad's reader skips. What belongs to a key is in `KeyTable`.
@frozen
package struct DumpKey: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt16

  @inlinable package init(rawValue: UInt16) { self.rawValue = rawValue }

  @inlinable init(_ rawValue: UInt16) { self.rawValue = rawValue }
}

extension DumpKey {
  /// Not a key: a record that carries it ends the reading.
  @inlinable package static var invalid: DumpKey { .init(0) }
  @inlinable package static var version: DumpKey { .init(1) }

  @inlinable package static var machException: DumpKey { .init(1000) }
  @inlinable package static var codes: DumpKey { .init(1001) }
  @inlinable package static var exception: DumpKey { .init(1002) }
  @inlinable package static var flavor: DumpKey { .init(1003) }
  @inlinable package static var state: DumpKey { .init(1004) }

  @inlinable package static var signalException: DumpKey { .init(2000) }
  @inlinable package static var signalNumber: DumpKey { .init(2001) }
  @inlinable package static var signalCode: DumpKey { .init(2002) }
  @inlinable package static var signalAddress: DumpKey { .init(2003) }

  @inlinable package static var nsException: DumpKey { .init(2500) }

  @inlinable package static var modules: DumpKey { .init(3000) }
  @inlinable package static var address: DumpKey { .init(3001) }
  @inlinable package static var fileType: DumpKey { .init(3002) }
  @inlinable package static var name: DumpKey { .init(3003) }
  @inlinable package static var size: DumpKey { .init(3004) }
  @inlinable package static var dylibCurrentVersion: DumpKey { .init(3005) }
  @inlinable package static var sourceVersion: DumpKey { .init(3006) }
  @inlinable package static var timestamp: DumpKey { .init(3007) }
  @inlinable package static var uuid: DumpKey { .init(3008) }
  @inlinable package static var annotationObjects: DumpKey { .init(3009) }
  @inlinable package static var annotationsSimpleMap: DumpKey { .init(3010) }
  @inlinable package static var annotationsVector: DumpKey { .init(3011) }
  @inlinable package static var annotationType: DumpKey { .init(3012) }
  @inlinable package static var annotationName: DumpKey { .init(3013) }
  @inlinable package static var annotationValue: DumpKey { .init(3014) }
  @inlinable package static var annotationsCrashInfo: DumpKey { .init(3015) }
  @inlinable package static var annotationsCrashInfoMessage1: DumpKey { .init(3016) }
  @inlinable package static var annotationsCrashInfoMessage2: DumpKey { .init(3017) }
  @inlinable package static var annotationsDyldErrorString: DumpKey { .init(3018) }
  @inlinable package static var moduleExtraMemoryRegions: DumpKey { .init(3019) }
  @inlinable package static var moduleExtraMemoryRegionAddress: DumpKey { .init(3020) }
  @inlinable package static var moduleExtraMemoryRegionData: DumpKey { .init(3021) }
  @inlinable package static var moduleIntermediateDumpExtraMemoryRegions: DumpKey { .init(3022) }
  @inlinable package static var moduleIntermediateDumpExtraMemoryRegionAddress: DumpKey { .init(3023) }
  @inlinable package static var moduleIntermediateDumpExtraMemoryRegionData: DumpKey { .init(3024) }

  @inlinable package static var processInfo: DumpKey { .init(4000) }
  @inlinable package static var parentPID: DumpKey { .init(4001) }
  @inlinable package static var pid: DumpKey { .init(4002) }
  @inlinable package static var startTime: DumpKey { .init(4003) }
  @inlinable package static var snapshotTime: DumpKey { .init(4004) }
  @inlinable package static var taskBasicInfo: DumpKey { .init(4005) }
  @inlinable package static var taskThreadTimes: DumpKey { .init(4006) }
  @inlinable package static var systemTime: DumpKey { .init(4007) }
  @inlinable package static var userTime: DumpKey { .init(4008) }

  @inlinable package static var systemInfo: DumpKey { .init(5000) }
  @inlinable package static var cpuCount: DumpKey { .init(5001) }
  @inlinable package static var cpuVendor: DumpKey { .init(5002) }
  @inlinable package static var daylightName: DumpKey { .init(5003) }
  @inlinable package static var daylightOffsetSeconds: DumpKey { .init(5004) }
  @inlinable package static var hasDaylightSavingTime: DumpKey { .init(5005) }
  @inlinable package static var isDaylightSavingTime: DumpKey { .init(5006) }
  @inlinable package static var machineDescription: DumpKey { .init(5007) }
  @inlinable package static var osVersionBugfix: DumpKey { .init(5008) }
  @inlinable package static var osVersionBuild: DumpKey { .init(5009) }
  @inlinable package static var osVersionMajor: DumpKey { .init(5010) }
  @inlinable package static var osVersionMinor: DumpKey { .init(5011) }
  @inlinable package static var pageSize: DumpKey { .init(5012) }
  @inlinable package static var standardName: DumpKey { .init(5013) }
  @inlinable package static var standardOffsetSeconds: DumpKey { .init(5014) }
  @inlinable package static var vmStat: DumpKey { .init(5015) }
  @inlinable package static var active: DumpKey { .init(5016) }
  @inlinable package static var free: DumpKey { .init(5017) }
  @inlinable package static var inactive: DumpKey { .init(5018) }
  @inlinable package static var wired: DumpKey { .init(5019) }
  @inlinable package static var addressMask: DumpKey { .init(5020) }
  @inlinable package static var crashpadUptime: DumpKey { .init(5021) }

  @inlinable package static var threads: DumpKey { .init(6000) }
  @inlinable package static var debugState: DumpKey { .init(6001) }
  @inlinable package static var floatState: DumpKey { .init(6002) }
  @inlinable package static var threadState: DumpKey { .init(6003) }
  @inlinable package static var priority: DumpKey { .init(6004) }
  @inlinable package static var stackRegionAddress: DumpKey { .init(6005) }
  @inlinable package static var stackRegionData: DumpKey { .init(6006) }
  @inlinable package static var suspendCount: DumpKey { .init(6007) }
  @inlinable package static var threadID: DumpKey { .init(6008) }
  @inlinable package static var threadDataAddress: DumpKey { .init(6009) }
  @inlinable package static var threadUncaughtNSExceptionFrames: DumpKey { .init(6010) }
  @inlinable package static var threadContextMemoryRegions: DumpKey { .init(6011) }
  @inlinable package static var threadContextMemoryRegionAddress: DumpKey { .init(6012) }
  @inlinable package static var threadContextMemoryRegionData: DumpKey { .init(6013) }
  @inlinable package static var threadName: DumpKey { .init(6014) }
}

/// Dumps of Linux processes.
extension DumpKey {
  @inlinable package static var linux: DumpKey { .init(60000) }
  @inlinable package static var osFamily: DumpKey { .init(60001) }
  @inlinable package static var kernelRelease: DumpKey { .init(60002) }
  @inlinable package static var kernelVersion: DumpKey { .init(60003) }
  @inlinable package static var distribution: DumpKey { .init(60004) }
  @inlinable package static var commandLine: DumpKey { .init(60005) }
  @inlinable package static var environment: DumpKey { .init(60006) }
  @inlinable package static var auxiliaryVector: DumpKey { .init(60007) }
  @inlinable package static var maps: DumpKey { .init(60008) }
  @inlinable package static var processStatus: DumpKey { .init(60009) }
  @inlinable package static var release: DumpKey { .init(60010) }
  @inlinable package static var captureNotes: DumpKey { .init(60011) }
  @inlinable package static var captureDuration: DumpKey { .init(60012) }
  @inlinable package static var executable: DumpKey { .init(60013) }
  @inlinable package static var cpuModel: DumpKey { .init(60014) }
  @inlinable package static var capture: DumpKey { .init(60015) }

  @inlinable package static var buildID: DumpKey { .init(60100) }

  @inlinable package static var threadCapture: DumpKey { .init(60200) }
}
