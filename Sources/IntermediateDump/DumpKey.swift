// SPDX-License-Identifier: Apache-2.0
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
  package static var invalid: DumpKey { .init(0) }
  package static var version: DumpKey { .init(1) }

  package static var machException: DumpKey { .init(1000) }
  package static var codes: DumpKey { .init(1001) }
  package static var exception: DumpKey { .init(1002) }
  package static var flavor: DumpKey { .init(1003) }
  package static var state: DumpKey { .init(1004) }

  package static var signalException: DumpKey { .init(2000) }
  package static var signalNumber: DumpKey { .init(2001) }
  package static var signalCode: DumpKey { .init(2002) }
  package static var signalAddress: DumpKey { .init(2003) }

  package static var nsException: DumpKey { .init(2500) }

  package static var modules: DumpKey { .init(3000) }
  package static var address: DumpKey { .init(3001) }
  package static var fileType: DumpKey { .init(3002) }
  package static var name: DumpKey { .init(3003) }
  package static var size: DumpKey { .init(3004) }
  package static var dylibCurrentVersion: DumpKey { .init(3005) }
  package static var sourceVersion: DumpKey { .init(3006) }
  package static var timestamp: DumpKey { .init(3007) }
  package static var uuid: DumpKey { .init(3008) }
  package static var annotationObjects: DumpKey { .init(3009) }
  package static var annotationsSimpleMap: DumpKey { .init(3010) }
  package static var annotationsVector: DumpKey { .init(3011) }
  package static var annotationType: DumpKey { .init(3012) }
  package static var annotationName: DumpKey { .init(3013) }
  package static var annotationValue: DumpKey { .init(3014) }
  package static var annotationsCrashInfo: DumpKey { .init(3015) }
  package static var annotationsCrashInfoMessage1: DumpKey { .init(3016) }
  package static var annotationsCrashInfoMessage2: DumpKey { .init(3017) }
  package static var annotationsDyldErrorString: DumpKey { .init(3018) }
  package static var moduleExtraMemoryRegions: DumpKey { .init(3019) }
  package static var moduleExtraMemoryRegionAddress: DumpKey { .init(3020) }
  package static var moduleExtraMemoryRegionData: DumpKey { .init(3021) }
  package static var moduleIntermediateDumpExtraMemoryRegions: DumpKey { .init(3022) }
  package static var moduleIntermediateDumpExtraMemoryRegionAddress: DumpKey { .init(3023) }
  package static var moduleIntermediateDumpExtraMemoryRegionData: DumpKey { .init(3024) }

  package static var processInfo: DumpKey { .init(4000) }
  package static var parentPID: DumpKey { .init(4001) }
  package static var pid: DumpKey { .init(4002) }
  package static var startTime: DumpKey { .init(4003) }
  package static var snapshotTime: DumpKey { .init(4004) }
  package static var taskBasicInfo: DumpKey { .init(4005) }
  package static var taskThreadTimes: DumpKey { .init(4006) }
  package static var systemTime: DumpKey { .init(4007) }
  package static var userTime: DumpKey { .init(4008) }

  package static var systemInfo: DumpKey { .init(5000) }
  package static var cpuCount: DumpKey { .init(5001) }
  package static var cpuVendor: DumpKey { .init(5002) }
  package static var daylightName: DumpKey { .init(5003) }
  package static var daylightOffsetSeconds: DumpKey { .init(5004) }
  package static var hasDaylightSavingTime: DumpKey { .init(5005) }
  package static var isDaylightSavingTime: DumpKey { .init(5006) }
  package static var machineDescription: DumpKey { .init(5007) }
  package static var osVersionBugfix: DumpKey { .init(5008) }
  package static var osVersionBuild: DumpKey { .init(5009) }
  package static var osVersionMajor: DumpKey { .init(5010) }
  package static var osVersionMinor: DumpKey { .init(5011) }
  package static var pageSize: DumpKey { .init(5012) }
  package static var standardName: DumpKey { .init(5013) }
  package static var standardOffsetSeconds: DumpKey { .init(5014) }
  package static var vmStat: DumpKey { .init(5015) }
  package static var active: DumpKey { .init(5016) }
  package static var free: DumpKey { .init(5017) }
  package static var inactive: DumpKey { .init(5018) }
  package static var wired: DumpKey { .init(5019) }
  package static var addressMask: DumpKey { .init(5020) }
  package static var crashpadUptime: DumpKey { .init(5021) }

  package static var threads: DumpKey { .init(6000) }
  package static var debugState: DumpKey { .init(6001) }
  package static var floatState: DumpKey { .init(6002) }
  package static var threadState: DumpKey { .init(6003) }
  package static var priority: DumpKey { .init(6004) }
  package static var stackRegionAddress: DumpKey { .init(6005) }
  package static var stackRegionData: DumpKey { .init(6006) }
  package static var suspendCount: DumpKey { .init(6007) }
  package static var threadID: DumpKey { .init(6008) }
  package static var threadDataAddress: DumpKey { .init(6009) }
  package static var threadUncaughtNSExceptionFrames: DumpKey { .init(6010) }
  package static var threadContextMemoryRegions: DumpKey { .init(6011) }
  package static var threadContextMemoryRegionAddress: DumpKey { .init(6012) }
  package static var threadContextMemoryRegionData: DumpKey { .init(6013) }
  package static var threadName: DumpKey { .init(6014) }
}

/// Dumps of Linux processes.
extension DumpKey {
  package static var linux: DumpKey { .init(60000) }
  package static var osFamily: DumpKey { .init(60001) }
  package static var kernelRelease: DumpKey { .init(60002) }
  package static var kernelVersion: DumpKey { .init(60003) }
  package static var distribution: DumpKey { .init(60004) }
  package static var commandLine: DumpKey { .init(60005) }
  package static var environment: DumpKey { .init(60006) }
  package static var auxiliaryVector: DumpKey { .init(60007) }
  package static var maps: DumpKey { .init(60008) }
  package static var processStatus: DumpKey { .init(60009) }
  package static var release: DumpKey { .init(60010) }
  package static var captureNotes: DumpKey { .init(60011) }
  package static var captureDuration: DumpKey { .init(60012) }
  package static var executable: DumpKey { .init(60013) }
  package static var cpuModel: DumpKey { .init(60014) }
  package static var capture: DumpKey { .init(60015) }

  package static var buildID: DumpKey { .init(60100) }

  package static var threadCapture: DumpKey { .init(60200) }

  package static var raisedAgain: DumpKey { .init(60300) }
}
