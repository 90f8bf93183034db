// SPDX-License-Identifier: Apache-2.0
/// The state of a process when it crashed. Every reader creates one and every writer takes one; it
/// is independent of file formats.
///
/// A nil member was not recorded. Text is kept as the recorded bytes (`SnapshotBytes`), which may be invalid UTF-8.
public struct ProcessSnapshot: Sendable {
  /// Bytes that are not in the input; see `SnapshotBytes`.
  @usableFromInline package var arena: [UInt8] = []

  /// False if the input is truncated, so that threads, modules or memory may be missing.
  public var isComplete = true

  /// The process id; nil if unknown.
  public var processID: Int32?
  /// The id of the parent process; nil if unknown.
  public var parentProcessID: Int32?
  /// The start of the process; nil if unknown.
  public var startTime: Timestamp?
  /// The time at which the process was captured.
  public var snapshotTime: Timestamp?
  /// The CPU time in user mode and in system mode.
  package var userTime: Timestamp?
  package var systemTime: Timestamp?

  /// The system on which the process ran.
  public var system: SystemSnapshot
  /// The threads, in the order of the input.
  public var threads: [ThreadSnapshot] = []
  /// The modules.
  public var modules: [ModuleSnapshot] = []
  package var unloadedModules: [UnloadedModuleSnapshot] = []
  /// The exception or signal; nil if the dump is not of a crash, or has one that can't be read.
  public var exception: ExceptionSnapshot?
  /// Whether the input has an exception that can't be read, or lacks the part where one would be: then it may be of a crash
  /// without one.
  package var hasLostException = false

  /// Memory other than the threads' stacks, in recorded order; ranges may overlap.
  public var extraMemory: [MemoryRegion] = []
  /// Memory meant only for the intermediate dump (`kModuleIntermediateDumpExtraMemoryRegions`).
  package var intermediateDumpExtraMemory: [MemoryRegion] = []
  package var memoryMap: [MemoryMapRegion] = []
  /// The functions that a program made while it ran, in recorded order; they may overlap.
  package var madeFunctions: [MadeFunction] = []

  /// Process annotations, sorted by the bytes of their names, each name once.
  public var annotations: [Annotation] = []

  /// The id of the report; zero if the dump is not a report in a database yet.
  public var reportID = UUIDBytes.zero
  /// The id of the installation that wrote the report.
  public var clientID = UUIDBytes.zero

  /// The handles that a process of Windows had, or the descriptors of one of Linux; nil if the dump does not list them.
  package var handles: [HandleSnapshot]?
  /// The assertion that ended the process.
  package var assertion: AssertionSnapshot?
  /// The texts that modules of macOS left in `__crash_info`, if the writer of the dump gathered them.
  package var crashInfo: [CrashInfoSnapshot] = []
  /// The arguments that the kernel of macOS was started with.
  package var bootArguments: SnapshotBytes?
  /// JSON about what the dump's writer could not capture.
  package var softErrors: SnapshotBytes?

  /// System files that a Linux minidump contains as text.
  package var linux: LinuxSnapshot?

  /// The additional facts in a crash report; nil for a dump.
  public var report: ReportSnapshot?

  package init(system: SystemSnapshot) { self.system = system }

  /// The index of the program's own module; nil if the input does not show which one it is.
  ///
  /// Windows lists it first, and its libraries have the type of an executable too. Other dumps without types list it first.
  package var executableIndex: Int? {
    // A text that only names the modules of its frames does not begin with the program's.
    if system.operatingSystem == .windows { return modules.first?.address == nil ? nil : 0 }
    if let index = modules.firstIndex(where: { $0.fileType == .executable }) { return index }
    return report == nil && !modules.isEmpty && modules.allSatisfy { $0.fileType == nil } ? 0 : nil
  }
}

extension ProcessSnapshot {
  /// The annotations in which Crashpad's clients put the version of the program, the most frequent first.
  package static let versionAnnotations = ["ver", "version", "_version", "app_version"]

  /// The value of the first of these annotations of the process that it has; nil if it has none.
  ///
  /// - Parameter input: the bytes of the input that the snapshot was read from.
  package func annotation(named names: [String], in input: RawSpan) -> SnapshotBytes? {
    for name in names {
      let found = annotations.first { $0.name.count == name.utf8.count && text($0.name, in: input) == name }
      if let found { return found.value }
    }
    return nil
  }
}

extension ProcessSnapshot {
  /// The number by which a report names the thread at an index of `threads`; in other inputs the index.
  package func threadNumber(_ index: Int) -> Int {
    threads.indices.contains(index) ? threads[index].number ?? index : index
  }

  /// The index in `threads` of the thread that crashed; nil if none crashed or the list does not contain it.
  public var crashedThread: Int? {
    if let index = report?.faultingThread { return threads.indices.contains(index) ? index : nil }
    // A microdump has one thread, and not its id.
    if report == nil, exception != nil, threads.count == 1, threads[0].id == nil { return 0 }
    return exception.flatMap { exception in threads.firstIndex { $0.id == exception.threadID } }
  }
}
