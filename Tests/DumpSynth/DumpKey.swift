// SPDX-License-Identifier: Apache-2.0
/// The key numbers of the intermediate dump, spelled here a second time.
///
/// They are Crashpad's `IntermediateDumpKey` (`util/ios/ios_intermediate_dump_format.h`, revision 48b459d7) and never
/// change once they are in use. The product has its own table; a test that compares the two, or reads a dump made
/// here, fails when either is wrong.
public enum DumpKey: UInt16, CaseIterable, Sendable {
  case version = 1

  case machException = 1000
  case codes = 1001
  case exception = 1002
  case flavor = 1003
  case state = 1004

  case signalException = 2000
  case signalNumber = 2001
  case signalCode = 2002
  case signalAddress = 2003

  case nsException = 2500

  case modules = 3000
  case address = 3001
  case fileType = 3002
  case name = 3003
  case size = 3004
  case dylibCurrentVersion = 3005
  case sourceVersion = 3006
  case timestamp = 3007
  case uuid = 3008
  case annotationObjects = 3009
  case annotationsSimpleMap = 3010
  case annotationsVector = 3011
  case annotationType = 3012
  case annotationName = 3013
  case annotationValue = 3014
  case annotationsCrashInfo = 3015
  case annotationsCrashInfoMessage1 = 3016
  case annotationsCrashInfoMessage2 = 3017
  case annotationsDyldErrorString = 3018
  case moduleExtraMemoryRegions = 3019
  case moduleExtraMemoryRegionAddress = 3020
  case moduleExtraMemoryRegionData = 3021
  case moduleIntermediateDumpExtraMemoryRegions = 3022
  case moduleIntermediateDumpExtraMemoryRegionAddress = 3023
  case moduleIntermediateDumpExtraMemoryRegionData = 3024

  case processInfo = 4000
  case parentPID = 4001
  case pid = 4002
  case startTime = 4003
  case snapshotTime = 4004
  case taskBasicInfo = 4005
  case taskThreadTimes = 4006
  case systemTime = 4007
  case userTime = 4008

  case systemInfo = 5000
  case cpuCount = 5001
  case cpuVendor = 5002
  case daylightName = 5003
  case daylightOffsetSeconds = 5004
  case hasDaylightSavingTime = 5005
  case isDaylightSavingTime = 5006
  case machineDescription = 5007
  case osVersionBugfix = 5008
  case osVersionBuild = 5009
  case osVersionMajor = 5010
  case osVersionMinor = 5011
  case pageSize = 5012
  case standardName = 5013
  case standardOffsetSeconds = 5014
  case vmStat = 5015
  case active = 5016
  case free = 5017
  case inactive = 5018
  case wired = 5019
  case addressMask = 5020
  case crashpadUptime = 5021

  case threads = 6000
  case debugState = 6001
  case floatState = 6002
  case threadState = 6003
  case priority = 6004
  case stackRegionAddress = 6005
  case stackRegionData = 6006
  case suspendCount = 6007
  case threadID = 6008
  case threadDataAddress = 6009
  case threadUncaughtNSExceptionFrames = 6010
  case threadContextMemoryRegions = 6011
  case threadContextMemoryRegionAddress = 6012
  case threadContextMemoryRegionData = 6013
  case threadName = 6014

  // Not Crashpad's: dumps of Linux processes.
  case linux = 60000
  case osFamily = 60001
  case kernelRelease = 60002
  case kernelVersion = 60003
  case distribution = 60004
  case commandLine = 60005
  case environment = 60006
  case auxiliaryVector = 60007
  case maps = 60008
  case processStatus = 60009
  case release = 60010
  case captureNotes = 60011
  case captureDuration = 60012
  case executable = 60013
  case cpuModel = 60014
  case capture = 60015
  case buildID = 60100
  case threadCapture = 60200
  case raisedAgain = 60300

  /// The name as Crashpad spells it, with its `k`.
  public var crashpadName: String {
    switch self {
    case .nsException: "kNSException"
    case .pid: "kPID"
    case .vmStat: "kVMStat"
    case .uuid: "kUUID"
    case .osVersionBugfix: "kOSVersionBugfix"
    case .osVersionBuild: "kOSVersionBuild"
    case .osVersionMajor: "kOSVersionMajor"
    case .osVersionMinor: "kOSVersionMinor"
    case .osFamily: "kOSFamily"
    case .cpuModel: "kCPUModel"
    default: "k" + Self.capitalized("\(self)")
    }
  }

  private static func capitalized(_ text: String) -> String {
    text.prefix(1).uppercased() + text.dropFirst()
  }
}

/// The seven commands that the framing knows.
public enum DumpCommand: UInt8, CaseIterable, Sendable {
  case mapStart = 1
  case mapEnd = 2
  case arrayStart = 3
  case arrayEnd = 4
  case property = 5
  case rootStart = 6
  case rootEnd = 7
}
