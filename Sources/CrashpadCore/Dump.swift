// SPDX-License-Identifier: Apache-2.0
public import CrashpadBytes
package import CrashpadFiles
package import IntermediateDump
package import CrashpadMinidump
public import CrashpadSnapshot
public import SystemPackage

/// One dump or report, read: the state of the process, with the bytes that its texts are in.
public struct Dump: Sendable {
  /// The format of the input.
  public let format: InputFormat
  package let file: InputFile
  /// The records of an intermediate dump; nil for other formats.
  package let tree: DumpTree?
  /// The streams of a minidump; empty for other formats.
  package let streams: [MinidumpReader.Stream]
  /// Nil if the input has no meaning that could be shown; `findings` says why.
  public let snapshot: ProcessSnapshot?
  /// The findings about the input.
  public let findings: FindingList
  /// The same with their offsets, which those of JSON have not.
  private let readingFindings: FindingList
  private let limits: Limits

  /// Opens and reads the dump at `path`. A damaged dump is read as far as possible; `findings` says what is wrong with it.
  ///
  /// - Parameters:
  ///   - path: the path of a dump in any format.
  ///   - architecture: overrides the one that an intermediate dump has. Without it, a dump whose threads do not show
  ///     theirs is taken for what its system looks like.
  public init(_ path: FilePath, architecture: CPUArchitecture? = nil) throws(DumpInputFailure) {
    self.init(try DumpInput(path), architecture: architecture)
    try checkReading()
  }

  /// The same of an input that is open.
  public init(_ input: DumpInput, architecture: CPUArchitecture? = nil) {
    self.init(input, architecture: architecture, limits: Limits())
  }

  package init(_ input: DumpInput, architecture: CPUArchitecture? = nil, limits: Limits) {
    format = input.format
    file = input.file
    var options = ReadingOptions()
    options.architecture = architecture
    options.limits = limits
    let reading = input.reading(options)
    tree = reading.tree
    streams = reading.streams
    snapshot = reading.snapshot
    var findings = reading.findings
    if input.format == .json { findings.removeOffsets() }
    self.findings = findings
    readingFindings = reading.findings
    self.limits = limits
  }

  /// Throws `DumpInputFailure.becameShorter` if some of the bytes read so far were not those of the file.
  package func checkReading() throws(DumpInputFailure) {
    do { try file.checkReading() } catch { throw DumpInputFailure(error) }
  }

  /// The findings of `Validation`: those of reading, and of all other rules.
  package var allFindings: FindingList {
    let reading = FormatReading(tree: tree, streams: streams, snapshot: snapshot, findings: readingFindings)
    return FormatRow.of(format).findings(of: reading, in: file, limits)
  }

  /// The thread that crashed, as an index of `snapshot.threads`.
  public var crashedThread: Int? { snapshot?.crashedThread }

  /// The path of a module's file, or the name in its place; nil without one.
  public func name(of module: ModuleSnapshot) throws(DumpInputFailure) -> String? { try text(module.name) }

  /// The name of a thread; nil without one.
  public func name(of thread: ThreadSnapshot) throws(DumpInputFailure) -> String? { try text(thread.name) }

  /// A text of this dump's snapshot, such as the value of an annotation. Every maximal part that is not UTF-8 becomes
  /// one U+FFFD.
  ///
  /// - Returns: the text; nil for no content.
  /// - Throws: `DumpInputFailure.becameShorter` if the file became shorter since it was opened.
  public func text(_ content: SnapshotBytes?) throws(DumpInputFailure) -> String? {
    guard let content else { return nil }
    return String(decoding: try bytes(content), as: UTF8.self)
  }

  /// The bytes of a part of this dump's snapshot, such as the memory of a stack.
  ///
  /// - Throws: `DumpInputFailure.becameShorter` if the file became shorter since it was opened.
  public func bytes(_ content: SnapshotBytes) throws(DumpInputFailure) -> [UInt8] {
    guard let snapshot else { preconditionFailure("a content is a part of a snapshot, and this dump has none") }
    let bytes = file.withBytes { snapshot.bytes(of: content, in: $0) }
    try checkReading()
    return bytes
  }

  /// The bytes that the process had in memory at `address`; nil if not all of them were captured as one region.
  ///
  /// - Throws: `DumpInputFailure.becameShorter` if the file became shorter since it was opened.
  public func memory(at address: UInt64, count: Int) throws(DumpInputFailure) -> [UInt8]? {
    guard let snapshot, count >= 0 else { return nil }
    let stacks = snapshot.threads.lazy.compactMap(\.stack).filter { !$0.isSynthetic }.map(\.region)
    func holds(_ region: MemoryRegion) -> Bool {
      // Without sums, which addresses of damaged dumps would overflow.
      address >= region.address && address - region.address <= UInt64(region.content.count)
        && count <= region.content.count - Int(address - region.address)
    }
    guard let region = stacks.first(where: holds) ?? snapshot.extraMemory.first(where: holds) else { return nil }
    return try bytes(region.content.part(at: Int(address - region.address), count: count))
  }
}
