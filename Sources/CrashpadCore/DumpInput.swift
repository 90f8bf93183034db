// SPDX-License-Identifier: Apache-2.0
internal import CrashpadAppleReports
internal import CrashpadBytes
package import CrashpadFiles
internal import IntermediateDump
public import SystemPackage

/// One input, opened.
public struct DumpInput: Sendable {
  /// The format, by the first bytes.
  public let format: InputFormat
  /// The bytes that were read. Of JSON, the intermediate dump that it describes; of a compressed file or an archive, what it
  /// holds.
  package let file: InputFile
  /// The wrappings that were removed; nil for other inputs.
  let unwrapping: Unwrapping?

  /// Opens the file at `path`. A file of more than 4 GiB is mapped, and must not become shorter as long as its bytes are used.
  ///
  /// Below a file the path names one of its parts: a member of an archive, a process of a stackshot by its id or name, a
  /// diagnostic of MetricKit or one of several reports by its number, from 1 on.
  public init(_ path: FilePath) throws(DumpInputFailure) {
    do { try self.init(opening: path) } catch { throw DumpInputFailure(error) }
  }

  private init(opening path: FilePath) throws {
    let file: InputFile
    do { file = try InputFile(path) } catch Errno.notDirectory {
      guard let part = ArchiveMemberPath(path) else { throw Errno.notDirectory }
      try self.init(InputFile(part.file), name: path, part: part.name, hasPath: true)
      return
    }
    try self.init(file, name: path, hasPath: true)
  }

  /// The dumps and reports in a zip or tar archive, as paths below `path`; empty if the file is not an archive.
  package static func members(of path: FilePath) throws(DumpInputFailure) -> [String] {
    do { return try ArchiveInput.members(of: InputFile(path)) } catch { throw DumpInputFailure(error) }
  }

  /// The number of reports in a text that holds several, which are parts of it; 0 for other files, for one that can't be
  /// read, which the next open reports, and for a pipe, which can be read once.
  package static func reportCount(of path: FilePath) -> Int {
    guard InputIdentity(at: path) != nil, !isBinary(path), let file = hint({ try InputFile(path) }) else { return 0 }
    var part = ""
    guard let inner = hint({ try ArchiveInput.open(file, &part) }) else { return 0 }
    let count = WrappedInput.count(of: inner)
    return count > 0 ? count : diagnosticCount(of: inner)
  }

  /// The bytes that are read to take out all diagnostics of a payload: each of them takes one reading of the whole.
  private static let maximumReading = 256 << 20

  /// The number of diagnostics in a payload of MetricKit that has several, each of which is a report; 0 for other files, and
  /// for payloads with more than can be read in a few seconds.
  private static func diagnosticCount(of file: InputFile) -> Int {
    let count = file.withBytes { ReportParts.count(InputFormat.of($0)?.reportFormat, in: $0) }
    return count > 1 && count <= maximumReading / max(1, file.byteCount) ? count : 0
  }

  /// Whether the first bytes are those of a dump, which is opened once.
  private static func isBinary(_ path: FilePath) -> Bool {
    guard let start = hint({ try InputFile.prefix(of: path, count: InputFormat.startLength) }) else { return false }
    let format = unsafe InputFormat.of(start.span.bytes)
    return format == .intermediateDump || format == .minidump || format == .core
  }

  /// Reads standard input to its end. Throws `DumpInputFailure`.
  public static func standardInput() throws(DumpInputFailure) -> DumpInput {
    do { return try DumpInput(InputFile.standardInput()) } catch { throw DumpInputFailure(error) }
  }

  /// Bytes that were read from standard input.
  package static func reading(_ file: InputFile) throws(DumpInputFailure) -> DumpInput {
    do { return try DumpInput(file) } catch { throw DumpInputFailure(error) }
  }

  /// Bytes of a file that is open already. Throws `Errno`, `InputFile.NotReadable`, `DumpInputFailure` or `DumpJSON.Failure`.
  package init(_ file: InputFile) throws { try self.init(file, name: nil) }

  /// Bytes that came without a file. Throws as the others do.
  ///
  /// - Parameter name: a name or path, whose extension decides the format where the bytes do not.
  package init(_ file: InputFile, named name: FilePath) throws { try self.init(file, name: name) }

  /// Takes the bytes for an intermediate dump's, whatever they are.
  init(dump file: InputFile) {
    format = .intermediateDump
    self.file = file
    unwrapping = nil
  }

  /// - Parameters:
  ///   - name: decides on the format of content that does not show its own.
  ///   - hasPath: whether parts can be asked for by paths below that of the file.
  private init(_ file: InputFile, name: FilePath?, part: String = "", hasPath: Bool = false) throws {
    var part = part
    let packed = try ArchiveInput.open(file, &part)
    let wrapped = try packed.checkingReading { try WrappedInput.open(packed, &part) }
    let whole = wrapped?.file ?? packed
    if part.isEmpty, hasPath, case let count = try whole.checkingReading({ Self.diagnosticCount(of: whole) }),
      count > 0
    {
      throw DumpInputFailure.severalReports(count)
    }
    let file = part.isEmpty ? whole : try Self.part(part, of: whole)
    // A part of a part has offsets of its own.
    unwrapping = part.isEmpty ? wrapped?.unwrapping : nil
    let known = file.withBytes { InputFormat.of($0) }
    let foreign = file.withBytes { Self.foreign($0, known) }
    // A first page that can't be read has no format.
    try file.checkReading()
    if let foreign { throw foreign }
    format = known ?? name.flatMap(FormatRow.named) ?? .intermediateDump
    guard format == .json else {
      self.file = file
      return
    }
    let output = MemoryOutput()
    try file.checkingReading { try file.withBytes { try DumpJSON.read($0, to: output) } }
    self.file = InputFile(bytes: output.bytes)
  }

  /// The failure for bytes of another kind; nil for those that may be a dump's or report's.
  private static func foreign(_ bytes: RawSpan, _ known: InputFormat?) -> DumpInputFailure? {
    let kind = FileMagic.known(bytes)
    switch known {
    case nil: break
    // A text is found behind other bytes, too.
    case .crash, .swiftBacktrace: if FileMagic.notText(bytes) == nil { return nil }
    case .json: return FileMagic.notJSON(bytes).map { .notADump(kind: $0) }
    default: return nil
    }
    if let kind, kind.isPacked {
      return .noDumpIn(archive: "\(kind.name), which is not read; unpack it first")
    }
    return FileMagic.kind(bytes).map { .notADump(kind: $0) }
  }

  private static func part(_ name: String, of file: InputFile) throws -> InputFile {
    let bytes = try file.checkingReading {
      try file.withBytes { bytes in
        // A path below a file that is not a report fails with ENOTDIR, as it does in the kernel.
        guard let form = ReportFormat.of(bytes) else { throw Errno.notDirectory }
        return ReportParts.report(of: name, form, in: bytes)
      }
    }
    guard let bytes else { throw DumpInputFailure.noSuchPart(name) }
    return InputFile(bytes: bytes)
  }
}
