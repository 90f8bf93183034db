public import CrashpadBytes
package import CrashpadFiles
package import IntermediateDump
package import CrashpadMinidump
public import CrashpadSnapshot

/// Everything that one input tells, ready to be shown.
public struct Inspection: Sendable {
  public let format: InputFormat
  package let file: InputFile
  /// The records of an intermediate dump; nil of others.
  package let tree: DumpTree?
  /// The streams of a minidump; empty of others.
  package let streams: [MinidumpReader.Stream]
  /// Nil if the input has no meaning that could be shown; `findings` says why.
  public let snapshot: ProcessSnapshot?
  public let findings: FindingList
  /// The same with their offsets, which those of JSON have not.
  private let readingFindings: FindingList
  private let limits: Limits

  /// `architecture` overrides what an intermediate dump says of it. Without it, a dump whose threads do not tell is taken
  /// for what the system looks like.
  public init(_ input: DumpInput, architecture: CPUArchitecture? = nil) {
    self.init(input, architecture: architecture, limits: Limits())
  }

  package init(_ input: DumpInput, architecture: CPUArchitecture? = nil, limits: Limits) {
    format = input.format
    file = input.file
    var options = ReadingOptions()
    options.architecture = architecture
    options.limits = limits
    let reading = FormatRow.of(input.format).read(input.file, options)
    tree = reading.tree
    streams = reading.streams
    snapshot = reading.snapshot
    var findings = reading.findings
    if input.format == .json { findings.removeOffsets() }
    self.findings = findings
    readingFindings = reading.findings
    self.limits = limits
  }

  /// The findings of `Validation`: those of reading, and of all other rules.
  package var allFindings: FindingList {
    let reading = FormatReading(tree: tree, streams: streams, snapshot: snapshot, findings: readingFindings)
    return FormatRow.of(format).findings(of: reading, in: file, limits)
  }

  /// The thread that crashed, as an index of `snapshot.threads`.
  public var crashedThread: Int? { snapshot?.crashedThread }

  /// A text of the snapshot, such as a module's name; nil if the input became shorter meanwhile. Every maximal part that is
  /// not UTF-8 becomes one U+FFFD.
  public func text(_ content: Content) -> String? {
    guard let snapshot else { return nil }
    let text = file.withBytes { snapshot.text(content, in: $0) }
    return (try? file.checkReading()) == nil ? nil : text
  }
}

/// Finds the module that an address lies in.
package struct ModuleMap: Sendable {
  /// Modules with a size, by address.
  private let ranges: [(start: UInt64, end: UInt64, index: Int)]

  package init(_ modules: [ModuleSnapshot]) {
    ranges = modules.enumerated().compactMap { index, module in
      guard let start = module.address, let size = module.size, size > 0 else { return nil }
      return (start, start.addingReportingOverflow(size).overflow ? .max : start + size, index)
    }.sorted { $0.start < $1.start }
  }

  /// The module's index and the offset in it.
  package func lookup(_ address: UInt64) -> (module: Int, offset: UInt64)? {
    let behind = ranges.indices.partitioningIndex { ranges[$0].start > address }
    guard behind > 0, address < ranges[behind - 1].end else { return nil }
    return (ranges[behind - 1].index, address - ranges[behind - 1].start)
  }
}

extension ProcessSnapshot {
  /// All captured memory: the threads' stacks, then the rest. Synthetic stacks are none.
  package var capturedMemory: [MemoryRegion] {
    threads.compactMap { $0.stack?.isSynthetic == false ? $0.stack?.region : nil }.filter { !$0.content.isEmpty }
      + extraMemory
  }
}
