// SPDX-License-Identifier: Apache-2.0
// The keys of an intermediate dump. Numbers are persisted, never changed and never used again.
// Source: Crashpad, util/ios/ios_intermediate_dump_format.h; from 60000 on crashpadctl's own, which Crashpad's reader
// skips.
#ifndef CRASHPADCTL_DUMP_KEYS_H
#define CRASHPADCTL_DUMP_KEYS_H

enum dump_key {
  kVersion = 1,

  kSignalException = 2000,
  kSignalNumber = 2001,
  kSignalCode = 2002,
  kSignalAddress = 2003,

  kModules = 3000,
  kAddress = 3001,
  kFileType = 3002,
  kName = 3003,
  kSize = 3004,
  kDylibCurrentVersion = 3005,
  kUUID = 3008,
  kAnnotationObjects = 3009,
  kAnnotationsSimpleMap = 3010,
  kAnnotationType = 3012,
  kAnnotationName = 3013,
  kAnnotationValue = 3014,
  kAnnotationsCrashInfo = 3015,
  kAnnotationsCrashInfoMessage1 = 3016,
  kAnnotationsCrashInfoMessage2 = 3017,
  kModuleExtraMemoryRegions = 3019,
  kModuleExtraMemoryRegionAddress = 3020,
  kModuleExtraMemoryRegionData = 3021,

  kProcessInfo = 4000,
  kParentPID = 4001,
  kPID = 4002,
  kStartTime = 4003,
  kSnapshotTime = 4004,
  kTaskBasicInfo = 4005,
  kTaskThreadTimes = 4006,
  kSystemTime = 4007,
  kUserTime = 4008,

  kSystemInfo = 5000,
  kCpuCount = 5001,
  kCpuVendor = 5002,
  kDaylightName = 5003,
  kDaylightOffsetSeconds = 5004,
  kHasDaylightSavingTime = 5005,
  kIsDaylightSavingTime = 5006,
  kMachineDescription = 5007,
  kOSVersionBugfix = 5008,
  kOSVersionBuild = 5009,
  kOSVersionMajor = 5010,
  kOSVersionMinor = 5011,
  kPageSize = 5012,
  kStandardName = 5013,
  kStandardOffsetSeconds = 5014,
  kVMStat = 5015,
  kActive = 5016,
  kFree = 5017,
  kInactive = 5018,
  kWired = 5019,
  kAddressMask = 5020,
  kCrashpadUptime = 5021,

  kThreads = 6000,
  kDebugState = 6001,
  kFloatState = 6002,
  kThreadState = 6003,
  kPriority = 6004,
  kStackRegionAddress = 6005,
  kStackRegionData = 6006,
  kSuspendCount = 6007,
  kThreadID = 6008,
  kThreadDataAddress = 6009,
  kThreadContextMemoryRegions = 6011,
  kThreadContextMemoryRegionAddress = 6012,
  kThreadContextMemoryRegionData = 6013,
  kThreadName = 6014,

  // Of a Linux process
  kLinux = 60000,
  kOSFamily = 60001,
  kKernelRelease = 60002,
  kKernelVersion = 60003,
  kDistribution = 60004,
  kCommandLine = 60005,
  kEnvironment = 60006,
  kAuxiliaryVector = 60007,
  kMaps = 60008,
  kProcessStatus = 60009,
  kRelease = 60010,
  kCaptureNotes = 60011,
  kCaptureDuration = 60012,
  kExecutable = 60013,
  kCPUModel = 60014,
  kCapture = 60015,
  kBuildID = 60100,
  kThreadCapture = 60200,
};

// Values of kThreadCapture.
enum thread_capture {
  // It crashed, or asked for the dump.
  kCapturedItself = 1,
  kCapturedBySignal = 2,
  kCapturedByPtrace = 3,
  // It could not be stopped; /proc told its stack pointer and program counter.
  kCapturedByProc = 4,
  // It could not be stopped; nothing is known of its registers.
  kNotCaptured = 5,
};

#endif
