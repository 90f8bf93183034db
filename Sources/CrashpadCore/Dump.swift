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
  /// The records of an intermediate dump; nil of others.
  package let tree: DumpTree?
  /// The streams of a minidump; empty of others.
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

  /// The path of a module's file, or the name in its place; nil without one.
  public func name(of module: ModuleSnapshot) -> String? { module.name.flatMap { text($0) } }

  /// Nil without a name.
  public func name(of thread: ThreadSnapshot) -> String? { thread.name.flatMap { text($0) } }

  /// A text of the snapshot, such as the value of an annotation; nil if the input became shorter meanwhile. Every maximal part that is
  /// not UTF-8 becomes one U+FFFD.
  public func text(_ content: Content) -> String? {
    guard let snapshot else { return nil }
    let text = file.withBytes { snapshot.text(content, in: $0) }
    return (try? file.checkReading()) == nil ? nil : text
  }
}
