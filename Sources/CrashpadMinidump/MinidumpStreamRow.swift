// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// The number of a stream in the directory. Only the streams that code refers to have a constant.
package struct MinidumpStreamType: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
  package let rawValue: UInt32
  package init(rawValue: UInt32) { self.rawValue = rawValue }
  package init(integerLiteral: UInt32) { rawValue = integerLiteral }

  package static let unused: MinidumpStreamType = 0
  package static let moduleList: MinidumpStreamType = 4
  package static let memoryList: MinidumpStreamType = 5
  package static let exception: MinidumpStreamType = 6
  package static let systemInfo: MinidumpStreamType = 7
  package static let memory64List: MinidumpStreamType = 9
  package static let crashpadInfo: MinidumpStreamType = 0x4350_0001

  /// The name in the format, or the number in hexadecimal.
  package var name: String { MinidumpStreamRow[self]?.name ?? "0x" + String(rawValue, radix: 16) }
}

/// The description of one kind of stream. The reader, the writer and the redactor work from these rows.
package struct MinidumpStreamRow: Sendable {
  /// The part of a stream that redaction leaves. A row has to name one, and the redactor switches over them without a default.
  package enum Privacy: Sendable {
    /// Nothing: the stream is removed, like one without a row.
    case drop
    case systemInfo
    case miscInfo
    case threads
    case threadNames
    case exception
    case modules
    case unloadedModules
    case crashpadInfo
    case memory
    case memory64
    case memoryInfo
    case breakpadInfo
    /// The kernel's texts, each with rules for its entries.
    case processors
    case processStatus
    case release
    case commandLine
    case environment
    case maps
    case auxiliaryVector
  }

  package let type: MinidumpStreamType
  package let name: String
  package let privacy: Privacy
  /// Whether a minidump without the stream does not describe a crash.
  let isNeeded: Bool
  let read: @Sendable (inout MinidumpReader, ByteRange, RawSpan) -> Void
  /// The size in the directory, without the objects that the stream refers to; nil if the stream is not written.
  let size: @Sendable (MinidumpWriter) -> Int?
  let write: @Sendable (MinidumpWriter, inout ByteWriter, RawSpan) -> Void

  private init(
    _ type: MinidumpStreamType, _ name: String, _ privacy: Privacy, isNeeded: Bool = false,
    read: @escaping @Sendable (inout MinidumpReader, ByteRange, RawSpan) -> Void = { _, _, _ in },
    size: @escaping @Sendable (MinidumpWriter) -> Int? = { _ in nil },
    write: @escaping @Sendable (MinidumpWriter, inout ByteWriter, RawSpan) -> Void = { _, _, _ in }
  ) {
    self.type = type
    self.name = name
    self.privacy = privacy
    self.isNeeded = isNeeded
    self.read = read
    self.size = size
    self.write = write
  }

  /// A file of /proc or /etc, which the stream holds unchanged. Source: Breakpad,
  /// `client/linux/minidump_writer/minidump_writer.cc`.
  private static func linuxFile(
    _ type: MinidumpStreamType, _ name: String, _ privacy: Privacy,
    _ member: any WritableKeyPath<LinuxSnapshot, SnapshotBytes?> & Sendable
  ) -> MinidumpStreamRow {
    MinidumpStreamRow(
      type, name, privacy,
      read: { reader, range, _ in
        reader.snapshot.linux = reader.snapshot.linux ?? LinuxSnapshot()
        reader.snapshot.linux?[keyPath: member] = SnapshotBytes(inputOffset: range.offset, count: range.count)
      },
      size: { $0.snapshot.system.isLinux ? $0.snapshot.linux?[keyPath: member]?.count : nil },
      write: { $0.append($0.snapshot.linux?[keyPath: member] ?? .empty, to: &$1, $2) })
  }

  /// All streams with a name, in the order in which they are written, and read: each after those that it depends on.
  package static let all: [MinidumpStreamRow] = [
    MinidumpStreamRow(
      .systemInfo, "SystemInfo", .systemInfo, isNeeded: true, read: { $0.readSystemInfo($1, $2) },
      size: { _ in MinidumpFormat.systemInfoSize }, write: { $0.writeSystemInfo(to: &$1, $2) }),
    MinidumpStreamRow(
      15, "MiscInfo", .miscInfo, read: { $0.readMiscInfo($1, $2) },
      size: { $0.snapshot.system.isLinux ? MinidumpFormat.miscInfoSize : MinidumpFormat.miscInfo4Size },
      write: { $0.writeMiscInfo(to: &$1, $2) }),
    MinidumpStreamRow(
      3, "ThreadList", .threads, isNeeded: true, read: { $0.readThreadList($1, $2) },
      size: { 4 + MinidumpFormat.threadSize * $0.snapshot.threads.count },
      write: { $0.writeThreadList(to: &$1, $2) }),
    MinidumpStreamRow(
      24, "ThreadNames", .threadNames, read: { $0.readThreadNames($1, $2) }, size: { $0.threadNamesSize },
      write: { $0.writeThreadNames(to: &$1, $2) }),
    MinidumpStreamRow(
      6, "Exception", .exception, read: { $0.readException($1, $2) },
      size: { $0.snapshot.exception == nil ? nil : MinidumpFormat.exceptionStreamSize },
      write: { $0.writeException(to: &$1, $2) }),
    MinidumpStreamRow(
      .moduleList, "ModuleList", .modules, isNeeded: true, read: { $0.readModuleList($1, $2) },
      size: { 4 + MinidumpFormat.moduleSize * $0.snapshot.modules.count },
      write: { $0.writeModuleList(to: &$1, $2) }),
    MinidumpStreamRow(14, "UnloadedModuleList", .unloadedModules, read: { $0.readUnloadedModuleList($1, $2) }),
    MinidumpStreamRow(
      .crashpadInfo, "CrashpadInfo", .crashpadInfo, read: { $0.readCrashpadInfo($1, $2) },
      size: { $0.hasCrashpadInfo ? MinidumpFormat.crashpadInfoSize : nil },
      write: { $0.writeCrashpadInfo(to: &$1, $2) }),
    linuxFile(0x4767_0003, "LinuxCPUInfo", .processors, \.cpuInfo),
    linuxFile(0x4767_0004, "LinuxProcStatus", .processStatus, \.processStatus),
    linuxFile(0x4767_0005, "LinuxLSBRelease", .release, \.release),
    linuxFile(0x4767_0006, "LinuxCmdLine", .commandLine, \.commandLine),
    linuxFile(0x4767_0007, "LinuxEnviron", .environment, \.environment),
    linuxFile(0x4767_0008, "LinuxAuxv", .auxiliaryVector, \.auxiliaryVector),
    linuxFile(0x4767_0009, "LinuxMaps", .maps, \.maps),
    linuxFile(0x4d7a_0003, "LinuxLimits", .drop, \.limits),
    MinidumpStreamRow(
      0x4767_000a, "LinuxDSODebug", .drop,
      read: { reader, _, _ in reader.snapshot.linux = reader.snapshot.linux ?? LinuxSnapshot() }),
    MinidumpStreamRow(
      .memoryList, "MemoryList", .memory, read: { $0.readMemoryList($1, $2) },
      size: { 4 + MinidumpFormat.memoryDescriptorSize * $0.memoryListCount },
      write: { writer, output, _ in writer.writeMemoryList(to: &output) }),
    MinidumpStreamRow(
      .memory64List, "Memory64List", .memory64, read: { $0.readMemory64List($1, $2) },
      size: { $0.isWide ? 16 + MinidumpFormat.memoryDescriptorSize * $0.memoryCount : nil },
      write: { writer, output, _ in writer.writeMemory64List(to: &output) }),
    MinidumpStreamRow(16, "MemoryInfoList", .memoryInfo, read: { $0.readMemoryInfoList($1, $2) }),
    MinidumpStreamRow(0x4767_0001, "BreakpadInfo", .breakpadInfo),
    MinidumpStreamRow(0x4767_0002, "AssertionInfo", .drop, read: { $0.readAssertion($1, $2) }),
    MinidumpStreamRow(0x4d7a_0001, "MacCrashInfo", .drop, read: { $0.readCrashInfo($1, $2) }),
    MinidumpStreamRow(0x4d7a_0002, "MacBootArgs", .drop, read: { $0.readBootArguments($1, $2) }),
    MinidumpStreamRow(
      0x4d7a_0004, "SoftErrors", .drop,
      read: { reader, range, _ in
        reader.snapshot.softErrors = SnapshotBytes(inputOffset: range.offset, count: range.count)
      }),
    MinidumpStreamRow(.unused, "Unused", .drop),
    MinidumpStreamRow(8, "ThreadExList", .drop),
    MinidumpStreamRow(10, "CommentA", .drop),
    MinidumpStreamRow(11, "CommentW", .drop),
    MinidumpStreamRow(12, "HandleData", .drop, read: { $0.readHandles($1, $2) }),
    MinidumpStreamRow(13, "FunctionTable", .drop, read: { $0.readFunctionTables($1, $2) }),
    MinidumpStreamRow(17, "ThreadInfoList", .drop),
    MinidumpStreamRow(18, "HandleOperationList", .drop),
    MinidumpStreamRow(19, "Token", .drop),
    MinidumpStreamRow(21, "SystemMemoryInfo", .drop),
    MinidumpStreamRow(22, "ProcessVmCounters", .drop),
  ]

  private static let byType = Dictionary(uniqueKeysWithValues: all.enumerated().map { ($1.type, $0) })

  package static subscript(type: MinidumpStreamType) -> MinidumpStreamRow? { byType[type].map { all[$0] } }
}
