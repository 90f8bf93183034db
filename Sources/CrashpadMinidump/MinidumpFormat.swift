/// Constants of the minidump format.
///
/// Sources: Microsoft, `minidumpapiset.h`; Breakpad, `google_breakpad/common/minidump_format.h`; Crashpad,
/// `minidump/minidump_extensions.h`.
package enum MinidumpFormat {
  /// "MDMP"
  package static let signature: UInt32 = 0x504d_444d
  package static let version: UInt32 = 0x0000_a793
  package static let headerSize = 32
  package static let directoryEntrySize = 12

  package static let threadSize = 48
  package static let moduleSize = 108
  package static let memoryDescriptorSize = 16
  package static let exceptionStreamSize = 168
  package static let systemInfoSize = 56
  /// MINIDUMP_MISC_INFO, the first version: process id and times
  package static let miscInfoSize = 24
  package static let miscInfo4Size = 832
  package static let threadNameSize = 12
  package static let crashpadInfoSize = 64
  package static let moduleCrashpadInfoSize = 28

  package static let contextARM64Size = 912
  package static let contextAMD64Size = 1232
  package static let contextX86Size = 716

  package static let fixedFileInfoSignature: UInt32 = 0xfeef_04bd

  /// "RSDS": a CodeView record with GUID, age and file name.
  package static let codeViewPDB70: UInt32 = 0x5344_5352
  /// "BpEL": Breakpad's CodeView record with an ELF build id.
  package static let codeViewELFBuildID: UInt32 = 0x4270_454c
  /// "NB10": an older CodeView record with a time stamp.
  package static let codeViewPDB20: UInt32 = 0x3031_424e
}

/// The type numbers of minidump streams.
package struct MinidumpStreamType: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt32
  package init(rawValue: UInt32) { self.rawValue = rawValue }
  init(_ rawValue: UInt32) { self.rawValue = rawValue }

  package static let unused = MinidumpStreamType(0)
  package static let threadList = MinidumpStreamType(3)
  package static let moduleList = MinidumpStreamType(4)
  package static let memoryList = MinidumpStreamType(5)
  package static let exception = MinidumpStreamType(6)
  package static let systemInfo = MinidumpStreamType(7)
  package static let memory64List = MinidumpStreamType(9)
  package static let handleData = MinidumpStreamType(12)
  package static let unloadedModuleList = MinidumpStreamType(14)
  package static let miscInfo = MinidumpStreamType(15)
  package static let memoryInfoList = MinidumpStreamType(16)
  package static let threadNames = MinidumpStreamType(24)
  package static let crashpadInfo = MinidumpStreamType(0x4350_0001)
  package static let breakpadInfo = MinidumpStreamType(0x4767_0001)
  package static let linuxCPUInfo = MinidumpStreamType(0x4767_0003)
  package static let linuxProcessStatus = MinidumpStreamType(0x4767_0004)
  package static let linuxRelease = MinidumpStreamType(0x4767_0005)
  package static let linuxCommandLine = MinidumpStreamType(0x4767_0006)
  package static let linuxEnvironment = MinidumpStreamType(0x4767_0007)
  package static let linuxAuxiliaryVector = MinidumpStreamType(0x4767_0008)
  package static let linuxMaps = MinidumpStreamType(0x4767_0009)
  package static let linuxDSODebug = MinidumpStreamType(0x4767_000a)

  private static let names: [MinidumpStreamType: String] = [
    .unused: "Unused", .threadList: "ThreadList", .moduleList: "ModuleList", .memoryList: "MemoryList",
    .exception: "Exception", .systemInfo: "SystemInfo", .memory64List: "Memory64List", .handleData: "HandleData",
    .unloadedModuleList: "UnloadedModuleList", .miscInfo: "MiscInfo", .memoryInfoList: "MemoryInfoList",
    .threadNames: "ThreadNames", .crashpadInfo: "CrashpadInfo", .breakpadInfo: "BreakpadInfo",
    .linuxCPUInfo: "LinuxCPUInfo", .linuxProcessStatus: "LinuxProcStatus", .linuxRelease: "LinuxLSBRelease",
    .linuxCommandLine: "LinuxCmdLine", .linuxEnvironment: "LinuxEnviron", .linuxAuxiliaryVector: "LinuxAuxv",
    .linuxMaps: "LinuxMaps", .linuxDSODebug: "LinuxDSODebug",
    MinidumpStreamType(8): "ThreadExList", MinidumpStreamType(10): "CommentA", MinidumpStreamType(11): "CommentW",
    MinidumpStreamType(13): "FunctionTable", MinidumpStreamType(17): "ThreadInfoList",
    MinidumpStreamType(18): "HandleOperationList", MinidumpStreamType(19): "Token",
    MinidumpStreamType(21): "SystemMemoryInfo", MinidumpStreamType(22): "ProcessVmCounters",
  ]

  /// The name in the format, or the number in hexadecimal.
  package var name: String { Self.names[self] ?? "0x" + String(rawValue, radix: 16) }
}

/// A range of the file: 32-bit size and offset ("RVA").
struct LocationDescriptor {
  var size: Int
  var rva: Int

  static let none = LocationDescriptor(size: 0, rva: 0)
}

/// Conversions between the format's numbers and a snapshot's values.
enum MinidumpNumbers {}
