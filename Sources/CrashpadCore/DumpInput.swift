// SPDX-License-Identifier: Apache-2.0
package import CrashpadAppleReports
internal import CrashpadBytes
package import CrashpadFiles
internal import IntermediateDump
public import SystemPackage

/// The format of an input, by its first bytes. A file with others is taken for a damaged one of the format that its name says, or
/// else for a damaged intermediate dump: then its bytes get explained.
///
/// `FormatRow.all` says the rest of each.
public enum InputFormat: String, Sendable, CaseIterable {
  case intermediateDump = "intermediate-dump"
  case minidump
  /// The lines that Breakpad writes into a log.
  case microdump
  /// The JSON form of an intermediate dump.
  case json
  /// An ELF core file. Other ELF files are read as this, too, and refused with the reason.
  case core
  /// Apple's `.ips`.
  case ips
  /// Apple's `.crash` text.
  case crash
  /// The JSON of MetricKit's diagnostics.
  case metricKit = "metrickit"
  /// The JSON of KSCrash.
  case ksCrash = "kscrash"
  /// The output of swift-backtrace.
  case swiftBacktrace = "swift-backtrace"

  /// The number of bytes that show whether a file is a core.
  package static let coreStart = 18

  /// The number of bytes that show the format of a file.
  package static let startLength = ReportFormat.startLength

  /// Whether a file that begins so is a core, and not another ELF file: a program, a library.
  package static func isCore(_ start: [UInt8]) -> Bool {
    start.count >= coreStart && start.starts(with: [0x7f, 0x45, 0x4c, 0x46]) && start[16] == 4 && start[17] == 0
  }

  /// Nil if they are those of no format.
  package static func of(_ bytes: RawSpan) -> InputFormat? {
    FormatRow.all.first { $0.recognises(bytes) }?.format
  }

  /// Formats whose inputs hold names and stacks in place of memory.
  package var reportFormat: ReportFormat? {
    switch self {
    case .ips: .ips
    case .crash: .crash
    case .metricKit: .metricKit
    case .ksCrash: .ksCrash
    case .swiftBacktrace: .swiftBacktrace
    case .intermediateDump, .minidump, .microdump, .json, .core: nil
    }
  }
}

/// One input, opened.
public struct DumpInput: Sendable {
  /// The format, by the first bytes.
  public let format: InputFormat
  /// The bytes that were read. Of JSON, the intermediate dump that it describes; of a compressed file or a zip archive, what
  /// it holds.
  package let file: InputFile

  /// Opens the file at `path`. A file of more than 4 GiB is mapped, and must not become shorter as long as its bytes are used.
  ///
  /// Below a file the path names one of its parts: a member of a zip archive, a process of a stackshot by its id or name, a
  /// diagnostic of MetricKit by its number, from 1 on.
  public init(_ path: FilePath) throws(DumpInputFailure) {
    do { try self.init(opening: path) } catch { throw DumpInputFailure(error) }
  }

  private init(opening path: FilePath) throws {
    let file: InputFile
    do { file = try InputFile(path) } catch Errno.notDirectory {
      guard let part = ArchiveMemberPath(path) else { throw Errno.notDirectory }
      try self.init(InputFile(part.file), name: path, part: part.name)
      return
    }
    try self.init(file, name: path)
  }

  /// The dumps and reports in a zip archive, as paths below `path`; empty if the file is not an archive.
  package static func members(of path: FilePath) -> [String] {
    guard let file = try? InputFile(path) else { return [] }
    return ArchiveInput.members(of: file).map { ArchiveMemberPath.path(of: $0) }
  }

  /// Reads standard input to its end. Throws `DumpInputFailure`.
  public static func standardInput() throws(DumpInputFailure) -> DumpInput {
    do { return try DumpInput(InputFile.standardInput()) } catch { throw DumpInputFailure(error) }
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
  }

  /// - Parameter name: decides on the format of content that does not show its own.
  private init(_ file: InputFile, name: FilePath?, part: String = "") throws {
    var part = part
    let packed = try ArchiveInput.open(file, &part)
    let file = part.isEmpty ? packed : try Self.part(part, of: packed)
    let known = file.withBytes { InputFormat.of($0) }
    let foreign = known == nil ? file.withBytes { FileMagic.kind($0) } : nil
    // A first page that can't be read has no format.
    try file.checkReading()
    if let foreign { throw DumpInputFailure.notADump(kind: foreign) }
    format = known ?? name.flatMap(FormatRow.named) ?? .intermediateDump
    guard format == .json else {
      self.file = file
      return
    }
    let output = MemoryOutput()
    try file.checkingReading { try file.withBytes { try DumpJSON.read($0, to: output) } }
    self.file = InputFile(bytes: output.bytes)
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
