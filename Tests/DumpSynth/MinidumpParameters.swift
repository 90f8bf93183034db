// SPDX-License-Identifier: Apache-2.0
/// The processors whose contexts minidumps hold here.
public enum MinidumpProcessor: String, CaseIterable, Sendable {
  case arm64
  /// Breakpad's first layout for arm64 (0x8003, context flags 0x80000000), still in old Android dumps.
  case arm64Old = "arm64-old"
  case x86_64
  case x86
  case arm
  case riscv64
  case ppc64
  case mips
  case mips64

  /// `PROCESSOR_ARCHITECTURE_*` and Breakpad's own number.
  public var number: UInt16 {
    switch self {
    case .x86: 0
    case .arm: 5
    case .x86_64: 9
    case .arm64: 12
    case .arm64Old: 0x8003
    case .riscv64: 0x8006
    case .ppc64: 0x8002
    case .mips: 1
    case .mips64: 0x8004
    }
  }

  public var contextSize: Int {
    switch self {
    case .x86: 716
    case .arm: 368
    case .x86_64: 1232
    case .arm64: 912
    case .arm64Old: 796
    case .riscv64: 528
    case .ppc64: 1152
    case .mips, .mips64: 600
    }
  }

  var is64Bit: Bool { self != .x86 && self != .arm && self != .mips }
}

/// `PlatformId` of the system information.
public enum MinidumpSystem: String, CaseIterable, Sendable {
  case windows
  case macos
  case ios
  case linux
  case android

  public var platformID: UInt32 {
    switch self {
    case .windows: 2
    case .macos: 0x8101
    case .ios: 0x8102
    case .linux: 0x8201
    case .android: 0x8203
    }
  }

  var isLinux: Bool { self == .linux || self == .android }
}

/// The numbers of streams, from Microsoft's `MINIDUMP_STREAM_TYPE` and Breakpad's `minidump_format.h`.
public enum MinidumpStream: UInt32, CaseIterable, Sendable {
  case threadList = 3
  case moduleList = 4
  case memoryList = 5
  case exception = 6
  case systemInfo = 7
  case memory64List = 9
  case handleData = 12
  case unloadedModuleList = 14
  case miscInfo = 15
  case memoryInfoList = 16
  case threadNames = 24
  case linuxCPUInfo = 0x4767_0003
  case linuxProcStatus = 0x4767_0004
  case linuxLSBRelease = 0x4767_0005
  case linuxCommandLine = 0x4767_0006
  case linuxEnvironment = 0x4767_0007
  case linuxAuxiliaryVector = 0x4767_0008
  case linuxMaps = 0x4767_0009
  case linuxDSODebug = 0x4767_000a
  case crashpadInfo = 0x4350_0001
}

/// Ways in which a minidump can be wrong.
public enum MinidumpDamage: String, CaseIterable, Sendable {
  /// A third of all RVAs points behind the file, just before its end or to the last byte of the address space.
  case rva
  /// Directory entries point into each other's streams.
  case overlap
  /// Streams and contexts stand at odd offsets. Legal, but no reader may rely on alignment.
  case odd
  /// Lengths of strings are odd, too large or run behind the file; the UTF-16 has lone surrogates.
  case strings
  /// Counts of lists claim up to 2^32 - 1 entries.
  case counts
  /// Directory at a wrong place, or a stream count that is too large.
  case header
  /// Each stream twice in the directory.
  case duplicates
}

/// The contents of a minidump.
public struct SynthMinidumpParameters: Sendable {
  public var processor = MinidumpProcessor.x86_64
  public var system = MinidumpSystem.linux
  public var seed: UInt64 = 1
  public var threadCount = 4
  public var stackBytes = 4096
  public var moduleCount = 8
  public var memoryRegions = 4
  public var memoryRegionBytes = 256
  /// Simple annotations in the CrashpadInfo stream.
  public var annotations = 3
  public var hasException = true
  /// 24, 44, 232 or 832; other sizes are cut or filled with zeros.
  public var miscInfoSize = 832
  /// Memory as Memory64List (full dumps of Windows) in place of MemoryList.
  public var usesMemory64 = false
  /// Names of threads that take a 64-bit RVA; Breakpad's and Microsoft's layout.
  public var namesThreads = true
  /// Descriptors of 40 bytes (`MINIDUMP_HANDLE_DESCRIPTOR_2`) in place of 32.
  public var wideHandles = false
  /// MemoryList's count followed by 4 bytes of padding, as Breakpad writes lists on some systems; the same for
  /// ThreadList and ModuleList. Readers tell it by the size of the stream.
  public var paddedLists = false
  /// Streams to write, in this order. Nil: what the system usually has.
  public var streams: [MinidumpStream]?
  public var damage: Set<MinidumpDamage> = []

  public init() {}

  public init(_ processor: MinidumpProcessor, _ system: MinidumpSystem, seed: UInt64 = 1) {
    self.processor = processor
    self.system = system
    self.seed = seed
  }

  /// The streams that these parameters lead to.
  public var effectiveStreams: [MinidumpStream] {
    if let streams { return streams }
    let memory: MinidumpStream = usesMemory64 ? .memory64List : .memoryList
    var list: [MinidumpStream] = [.systemInfo, .miscInfo, .threadList]
    if namesThreads { list.append(.threadNames) }
    if hasException { list.append(.exception) }
    list.append(.moduleList)
    if system == .windows { list += [.unloadedModuleList, .handleData] }
    if system == .windows || system == .linux { list.append(.memoryInfoList) }
    if system.isLinux {
      list += [
        .linuxCPUInfo, .linuxProcStatus, .linuxLSBRelease, .linuxCommandLine, .linuxEnvironment,
        .linuxAuxiliaryVector, .linuxMaps, .linuxDSODebug,
      ]
    }
    return list + [.crashpadInfo, memory]
  }

  /// These parameters, changed until the file is about `target` bytes: by larger stacks, or by many regions of 64
  /// bytes.
  public func scaled(to target: Int, smallRecords: Bool = false) -> SynthMinidumpParameters {
    var scaled = self
    if smallRecords {
      scaled.memoryRegionBytes = 64
      scaled.memoryRegions = 0
      let rest = target - SynthMinidump(scaled).bytes.count
      scaled.memoryRegions = max(0, rest / 80)
    } else {
      scaled.stackBytes = 1024
      let rest = target - SynthMinidump(scaled).bytes.count
      if rest > 0, threadCount > 0 { scaled.stackBytes += rest / threadCount / 16 * 16 }
    }
    return scaled
  }
}
