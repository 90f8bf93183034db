// SPDX-License-Identifier: Apache-2.0
/// The description of one key. The reader's sizes, the validator's rules, the tree printer, JSON and the man page are
/// all derived from these rows.
package struct KeyDescriptor: Sendable {
  /// The layout of a property's value, or the kind of container that the key opens.
  package enum Shape: Sendable, Hashable {
    case map
    /// An array; its elements are maps.
    case array
    case boolean
    /// Little-endian two's complement of `bytes` bytes.
    case integer(bytes: Int, signed: Bool)
    /// Darwin's `timeval`: i64 seconds, i32 microseconds, 4 bytes of padding with any value.
    case time
    /// Mach's `time_value_t`: i32 seconds, i32 microseconds.
    case duration
    case uuid
    /// UTF-8 without a terminator. Any length, 0 included.
    case text
    case bytes
    /// Little-endian u64 words.
    case words
    /// A Darwin thread state: its size depends on the architecture.
    case state(arm64: Int, x86_64: Int)
  }

  package enum Unit: String, Sendable {
    case none = ""
    case address = "address"
    case byteCount = "bytes"
    case pages = "pages"
    case seconds = "seconds"
    case nanoseconds = "nanoseconds"
    case mask = "bit mask"
  }

  package enum Presence: Sendable {
    /// Without it, Crashpad creates no minidump.
    case required
    /// Crashpad's handler always writes it.
    case expected
    case optional
  }

  /// The part of a value that redaction leaves. A row has to name one: the redactor switches over them without a default, so nothing is
  /// kept by mistake.
  package enum Privacy: Sendable {
    /// Facts about the program or the machine. A container is kept with what its members' own rows leave of it.
    case keep
    /// Nothing: the value becomes zeros, a container goes with all that it holds.
    case drop
    /// Text in which addresses of people, numbers and paths of users are hidden.
    case text
    /// The same for a name or a path, with the length limit of names.
    case name
    case threadName
    /// A message of the runtime: text, if the policy keeps messages.
    case message
    /// Annotations: those whose names the policy allows.
    case annotations
    case annotation
    /// A number that identifies a file, of at most 64 bytes.
    case identifier
    /// Memory: words that point into modules and stacks, unless the policy keeps all.
    case memory
    /// Regions of memory outside of stacks.
    case memoryRegions
    case registers
    /// Registers in a layout that the member kFlavor names.
    case exceptionState
    case exceptionCodes
    case returnAddresses
    /// The kernel's texts, each with rules for its members.
    case commandLine
    case environment
    case maps
    case processStatus
    case release
    case auxiliaryVector
  }

  package let key: DumpKey
  /// Crashpad's name, with the leading k.
  package let name: String
  /// The maps to which it belongs, named by the key of the map, or of the array whose elements they are.
  package let containers: [DumpKey]
  package let shape: Shape
  package let privacy: Privacy
  package let unit: Unit
  package let presence: Presence
  package let summary: String

  /// The sizes in bytes that Crashpad's reader accepts; nil for any size.
  package var sizes: [Int]? {
    switch shape {
    case .map, .array, .text, .bytes, .words: nil
    case .boolean: [1]
    case .integer(let bytes, _): [bytes]
    case .time, .uuid: [16]
    case .duration: [8]
    case .state(let arm64, let x86_64): [arm64, x86_64]
    }
  }
}

/// The table of all keys.
package enum KeyTable {
  /// Represents the root map in `containers`.
  package static let root = DumpKey.invalid

  /// All keys, in the order of their numbers.
  package static let all: [KeyDescriptor] =
    exceptionKeys + moduleKeys + processKeys + systemKeys + threadKeys + linuxKeys

  private static let byNumber: [UInt16: Int] = Dictionary(
    uniqueKeysWithValues: all.enumerated().map { ($1.key.rawValue, $0) })
  private static let byName: [String: Int] = Dictionary(
    uniqueKeysWithValues: all.enumerated().map { ($1.name, $0) })

  package static subscript(key: DumpKey) -> KeyDescriptor? { byNumber[key.rawValue].map { all[$0] } }
  package static subscript(name name: String) -> KeyDescriptor? { byName[name].map { all[$0] } }

  /// Crashpad's name of a key, or the number of an unknown key.
  package static func name(of key: DumpKey) -> String { self[key]?.name ?? String(key.rawValue) }

  /// The keys that belong in the map `container` and have this presence.
  package static func keys(in container: DumpKey, _ presence: KeyDescriptor.Presence) -> [KeyDescriptor] {
    all.filter { $0.presence == presence && $0.containers.contains(container) }
  }
}

func row(
  _ key: DumpKey, _ name: String, in containers: [DumpKey], _ shape: KeyDescriptor.Shape,
  _ privacy: KeyDescriptor.Privacy,
  _ unit: KeyDescriptor.Unit = .none,
  _ presence: KeyDescriptor.Presence = .expected, _ summary: String
) -> KeyDescriptor {
  KeyDescriptor(
    key: key, name: name, containers: containers, shape: shape, privacy: privacy, unit: unit, presence: presence,
    summary: summary)
}

private let i32 = KeyDescriptor.Shape.integer(bytes: 4, signed: true)
let u32 = KeyDescriptor.Shape.integer(bytes: 4, signed: false)
let u64 = KeyDescriptor.Shape.integer(bytes: 8, signed: false)

private let exceptionKeys: [KeyDescriptor] = [
  row(
    .version, "kVersion", in: [KeyTable.root], .integer(bytes: 1, signed: false), .keep, .none, .required,
    "Format version: 1"),
  row(.machException, "kMachException", in: [KeyTable.root], .map, .keep, .none, .optional, "A Mach exception"),
  row(
    .codes, "kCodes", in: [.machException], .words, .exceptionCodes, .none, .expected,
    "Exception codes, 8 bytes each; usually two"),
  row(.exception, "kException", in: [.machException], i32, .keep, .none, .expected, "Exception type, EXC_*"),
  row(.flavor, "kFlavor", in: [.machException], i32, .keep, .none, .expected, "Thread state flavor of kState"),
  row(
    .state, "kState", in: [.machException], .bytes, .exceptionState, .none, .expected,
    "Thread state of the exception, by flavor"),
  row(.signalException, "kSignalException", in: [KeyTable.root], .map, .keep, .none, .optional, "A POSIX signal"),
  row(.signalNumber, "kSignalNumber", in: [.signalException], i32, .keep, .none, .expected, "si_signo"),
  row(.signalCode, "kSignalCode", in: [.signalException], i32, .keep, .none, .expected, "si_code"),
  row(.signalAddress, "kSignalAddress", in: [.signalException], u64, .keep, .address, .expected, "si_addr"),
  row(.nsException, "kNSException", in: [KeyTable.root], .map, .keep, .none, .optional, "An uncaught NSException"),
]

private let moduleKeys: [KeyDescriptor] = [
  row(
    .modules, "kModules", in: [KeyTable.root], .array, .keep, .none, .expected, "Loaded modules; the loader is the last"
  ),
  row(.address, "kAddress", in: [.modules], u64, .keep, .address, .expected, "Load address"),
  row(.fileType, "kFileType", in: [.modules], u32, .keep, .none, .expected, "Mach-O file type, MH_*"),
  row(.name, "kName", in: [.modules], .text, .name, .none, .expected, "Path"),
  row(.size, "kSize", in: [.modules], u64, .keep, .byteCount, .expected, "Size of __TEXT in memory"),
  row(
    .dylibCurrentVersion, "kDylibCurrentVersion", in: [.modules], u32, .keep, .none, .optional,
    "LC_ID_DYLIB current version: 16, 8 and 8 bits"),
  row(
    .sourceVersion, "kSourceVersion", in: [.modules], u64, .keep, .none, .optional,
    "LC_SOURCE_VERSION, read by Crashpad as four 16-bit parts"),
  row(.timestamp, "kTimestamp", in: [.modules], u64, .keep, .seconds, .optional, "Modification time of the file"),
  row(.uuid, "kUUID", in: [.modules], .uuid, .keep, .none, .expected, "LC_UUID"),
  row(
    .annotationObjects, "kAnnotationObjects", in: [.modules], .array, .annotations, .none, .optional,
    "Typed annotations"),
  row(
    .annotationsSimpleMap, "kAnnotationsSimpleMap", in: [.processInfo, .modules], .array, .annotations, .none,
    .optional,
    "Annotations with text values"),
  row(
    .annotationsVector, "kAnnotationsVector", in: [.modules], .array, .drop, .none, .optional,
    "Reserved by Crashpad; it neither writes nor reads it"),
  row(
    .annotationType, "kAnnotationType", in: [.annotationObjects], .integer(bytes: 2, signed: false), .keep, .none,
    .expected,
    "1 for text; from 0x8000 on the application's own"),
  row(
    .annotationName, "kAnnotationName", in: [.annotationObjects, .annotationsSimpleMap], .text, .name, .none, .expected,
    "Name; of a typed annotation 1 to 256 bytes"),
  row(
    .annotationValue, "kAnnotationValue", in: [.annotationObjects, .annotationsSimpleMap], .bytes, .annotation, .none,
    .expected,
    "Value; of a typed annotation 1 to 20,480 bytes"),
  row(
    .annotationsCrashInfo, "kAnnotationsCrashInfo", in: [.modules], .map, .keep, .none, .optional,
    "Messages of the module's __crash_info section"),
  row(
    .annotationsCrashInfoMessage1, "kAnnotationsCrashInfoMessage1", in: [.annotationsCrashInfo], .text, .message, .none,
    .optional,
    "First message"),
  row(
    .annotationsCrashInfoMessage2, "kAnnotationsCrashInfoMessage2", in: [.annotationsCrashInfo], .text, .message, .none,
    .optional,
    "Second message"),
  row(
    .annotationsDyldErrorString, "kAnnotationsDyldErrorString", in: [.modules], .text, .message, .none, .optional,
    "Error message of the dynamic loader"),
  row(
    .moduleExtraMemoryRegions, "kModuleExtraMemoryRegions", in: [.modules], .array, .memoryRegions, .none, .optional,
    "Memory that the application asked to capture"),
  row(
    .moduleExtraMemoryRegionAddress, "kModuleExtraMemoryRegionAddress", in: [.moduleExtraMemoryRegions], u64, .keep,
    .address,
    .expected, "Address of the first byte"),
  row(
    .moduleExtraMemoryRegionData, "kModuleExtraMemoryRegionData", in: [.moduleExtraMemoryRegions], .bytes, .memory,
    .none,
    .optional, "The bytes; missing where the memory could not be read"),
  row(
    .moduleIntermediateDumpExtraMemoryRegions, "kModuleIntermediateDumpExtraMemoryRegions", in: [.modules], .array,
    .memoryRegions,
    .none,
    .optional, "Memory for the intermediate dump alone; it never reaches a minidump"),
  row(
    .moduleIntermediateDumpExtraMemoryRegionAddress, "kModuleIntermediateDumpExtraMemoryRegionAddress",
    in: [.moduleIntermediateDumpExtraMemoryRegions], u64, .keep, .address, .expected, "Address of the first byte"),
  row(
    .moduleIntermediateDumpExtraMemoryRegionData, "kModuleIntermediateDumpExtraMemoryRegionData",
    in: [.moduleIntermediateDumpExtraMemoryRegions], .bytes, .memory, .none, .optional,
    "The bytes; missing where the memory could not be read"),
]

private let processKeys: [KeyDescriptor] = [
  row(.processInfo, "kProcessInfo", in: [KeyTable.root], .map, .keep, .none, .required, "The process"),
  row(.parentPID, "kParentPID", in: [.processInfo], i32, .keep, .none, .expected, "Process id of the parent"),
  row(.pid, "kPID", in: [.processInfo], i32, .keep, .none, .expected, "Process id"),
  row(.startTime, "kStartTime", in: [.processInfo], .time, .keep, .none, .expected, "When the process started"),
  row(.snapshotTime, "kSnapshotTime", in: [.processInfo], .time, .keep, .none, .expected, "When the dump was written"),
  row(
    .taskBasicInfo, "kTaskBasicInfo", in: [.processInfo], .map, .keep, .none, .expected, "Times of threads that ended"),
  row(
    .taskThreadTimes, "kTaskThreadTimes", in: [.processInfo], .map, .keep, .none, .expected,
    "Times of threads that live"),
  row(
    .systemTime, "kSystemTime", in: [.taskBasicInfo, .taskThreadTimes], .duration, .keep, .none, .expected,
    "CPU time in the kernel"),
  row(
    .userTime, "kUserTime", in: [.taskBasicInfo, .taskThreadTimes], .duration, .keep, .none, .expected,
    "CPU time in user mode"
  ),
]

private let systemKeys: [KeyDescriptor] = [
  row(.systemInfo, "kSystemInfo", in: [KeyTable.root], .map, .keep, .none, .required, "The machine and its system"),
  row(.cpuCount, "kCpuCount", in: [.systemInfo], i32, .keep, .none, .expected, "Number of processors"),
  row(.cpuVendor, "kCpuVendor", in: [.systemInfo], .text, .name, .none, .expected, "Vendor; empty on arm64"),
  row(.daylightName, "kDaylightName", in: [.systemInfo], .text, .name, .none, .expected, "Time zone's name in summer"),
  row(
    .daylightOffsetSeconds, "kDaylightOffsetSeconds", in: [.systemInfo], i32, .keep, .seconds, .expected,
    "East of UTC, in summer"),
  row(
    .hasDaylightSavingTime, "kHasDaylightSavingTime", in: [.systemInfo], .boolean, .keep, .none, .expected,
    "Whether the zone has summer time"),
  row(
    .isDaylightSavingTime, "kIsDaylightSavingTime", in: [.systemInfo], .boolean, .keep, .none, .expected,
    "Whether it was in force"),
  row(
    .machineDescription, "kMachineDescription", in: [.systemInfo], .text, .name, .none, .expected,
    "Model, as iPhone14,2"),
  row(
    .osVersionBugfix, "kOSVersionBugfix", in: [.systemInfo], i32, .keep, .none, .expected,
    "Third part of the OS version"),
  row(
    .osVersionBuild, "kOSVersionBuild", in: [.systemInfo], .text, .name, .none, .expected, "Build of the OS, as 21E236"),
  row(
    .osVersionMajor, "kOSVersionMajor", in: [.systemInfo], i32, .keep, .none, .expected, "First part of the OS version"),
  row(
    .osVersionMinor, "kOSVersionMinor", in: [.systemInfo], i32, .keep, .none, .expected, "Second part of the OS version"
  ),
  row(.pageSize, "kPageSize", in: [.systemInfo], u64, .keep, .byteCount, .expected, "Size of a memory page"),
  row(.standardName, "kStandardName", in: [.systemInfo], .text, .name, .none, .expected, "Time zone's name in winter"),
  row(
    .standardOffsetSeconds, "kStandardOffsetSeconds", in: [.systemInfo], i32, .keep, .seconds, .expected,
    "East of UTC, in winter"),
  row(.vmStat, "kVMStat", in: [.systemInfo], .map, .keep, .none, .expected, "Use of physical memory"),
  row(.active, "kActive", in: [.vmStat], u32, .keep, .pages, .expected, "Active"),
  row(.free, "kFree", in: [.vmStat], u32, .keep, .pages, .expected, "Free"),
  row(.inactive, "kInactive", in: [.vmStat], u32, .keep, .pages, .expected, "Inactive"),
  row(.wired, "kWired", in: [.vmStat], u32, .keep, .pages, .expected, "Wired down"),
  row(
    .addressMask, "kAddressMask", in: [.systemInfo], u64, .keep, .mask, .expected,
    "Bits of a pointer that are not part of the address"),
  row(
    .crashpadUptime, "kCrashpadUptime", in: [.systemInfo], u64, .keep, .nanoseconds, .expected,
    "Time since the handler was started"),
]

private let threadKeys: [KeyDescriptor] = [
  row(.threads, "kThreads", in: [KeyTable.root], .array, .keep, .none, .expected, "All threads"),
  row(
    .debugState, "kDebugState", in: [.threads], .state(arm64: 520, x86_64: 64), .registers, .none, .expected,
    "Debug registers"),
  row(
    .floatState, "kFloatState", in: [.threads, .signalException], .state(arm64: 528, x86_64: 524), .registers, .none,
    .expected,
    "Floating-point and vector registers"),
  row(
    .threadState, "kThreadState", in: [.threads, .signalException], .state(arm64: 272, x86_64: 168), .registers, .none,
    .expected,
    "General registers"),
  row(.priority, "kPriority", in: [.threads], i32, .keep, .none, .expected, "Scheduling importance"),
  row(
    .stackRegionAddress, "kStackRegionAddress", in: [.threads], u64, .keep, .address, .optional,
    "Address of the first byte of the stack's captured part"),
  row(
    .stackRegionData, "kStackRegionData", in: [.threads], .bytes, .memory, .none, .optional, "The stack's captured part"
  ),
  row(.suspendCount, "kSuspendCount", in: [.threads], i32, .keep, .none, .expected, "How often it was suspended"),
  row(
    .threadID, "kThreadID", in: [.threads, .machException, .signalException, .nsException], u64, .keep, .none,
    .required,
    "Thread id; an exception without one is refused"),
  row(
    .threadDataAddress, "kThreadDataAddress", in: [.threads], u64, .keep, .address, .expected,
    "Address of thread-local data"),
  row(
    .threadUncaughtNSExceptionFrames, "kThreadUncaughtNSExceptionFrames", in: [.threads], .words, .returnAddresses,
    .address, .optional,
    "Return addresses of an uncaught NSException, innermost first"),
  row(
    .threadContextMemoryRegions, "kThreadContextMemoryRegions", in: [.threads, .signalException], .array,
    .memoryRegions, .none,
    .optional,
    "Memory around the pointers in the registers"),
  row(
    .threadContextMemoryRegionAddress, "kThreadContextMemoryRegionAddress", in: [.threadContextMemoryRegions], u64,
    .keep,
    .address, .expected, "Address of the first byte"),
  row(
    .threadContextMemoryRegionData, "kThreadContextMemoryRegionData", in: [.threadContextMemoryRegions], .bytes,
    .memory, .none,
    .optional, "The bytes; missing where the memory could not be read"),
  row(.threadName, "kThreadName", in: [.threads], .text, .threadName, .none, .optional, "Name; empty for most"),
]
