package import AppleReports
internal import BinaryFormat
public import FileSystem
internal import IntermediateDump
public import SystemPackage

/// What an input is, by its first bytes. A file with others is taken for a damaged one of the format that its name says, or
/// else for a damaged intermediate dump: then its bytes get explained.
///
/// `FormatRow.all` says the rest of each.
public enum InputFormat: String, Sendable, CaseIterable {
  case intermediateDump = "intermediate-dump"
  case minidump
  /// The JSON form of an intermediate dump.
  case json
  /// An ELF file: a core, or one that is none.
  case core
  /// Apple's `.ips`.
  case ips
  /// Apple's `.crash` text.
  case crash
  /// The JSON of MetricKit's diagnostics.
  case metricKit = "metrickit"
  /// The JSON of KSCrash.
  case ksCrash = "kscrash"
  /// What swift-backtrace writes.
  case swiftBacktrace = "swift-backtrace"

  /// How many bytes of a file tell whether it is a core.
  public static let coreStart = 18

  /// How many bytes of a file tell its format.
  package static let startLength = ReportForm.startLength

  /// Whether a file that begins so is a core, and not another ELF file: a program, a library.
  public static func isCore(_ start: [UInt8]) -> Bool {
    start.count >= coreStart && start.starts(with: [0x7f, 0x45, 0x4c, 0x46]) && start[16] == 4 && start[17] == 0
  }

  /// Nil if they are those of no format.
  public static func of(_ bytes: RawSpan) -> InputFormat? {
    FormatRow.all.first { $0.recognises(bytes) }?.format
  }

  /// Formats whose inputs hold names and stacks in place of memory.
  package var reportForm: ReportForm? {
    switch self {
    case .ips: .ips
    case .crash: .crash
    case .metricKit: .metricKit
    case .ksCrash: .ksCrash
    case .swiftBacktrace: .swiftBacktrace
    case .intermediateDump, .minidump, .json, .core: nil
    }
  }
}

/// An input is compressed: its bytes have to be those of the dump itself.
public struct CompressedInput: Error {
  /// "zstd"
  public let compression: String

  /// Nil if `bytes` begin like no compressed file that systemd-coredump and others write.
  init?(_ bytes: RawSpan) {
    guard bytes.byteCount >= 4 else { return nil }
    switch bytes.uint32(at: 0) {
    case 0xfd2f_b528: compression = "zstd"
    case 0x184d_2204: compression = "lz4"
    case 0x587a_37fd: compression = "xz"
    case let start where start & 0xff_ffff == 0x08_8b1f: compression = "gzip"
    default: return nil
    }
  }
}

/// One input, opened.
public struct DumpInput: Sendable {
  public let format: InputFormat
  /// The bytes that were read. Of JSON, the intermediate dump that it describes.
  public let file: InputFile

  /// Opens the file at `path`; throws `Errno`, `InputFile.NotReadable`, `CompressedInput` or `DumpJSON.Failure`.
  public init(_ path: FilePath) throws {
    try self.init(InputFile(path), unknownIs: FormatRow.named(path) ?? .intermediateDump)
  }

  public static func standardInput() throws -> DumpInput { try DumpInput(InputFile.standardInput()) }

  public init(_ file: InputFile) throws { try self.init(file, unknownIs: .intermediateDump) }

  /// Takes the bytes for an intermediate dump's, whatever they are.
  init(dump file: InputFile) {
    format = .intermediateDump
    self.file = file
  }

  private init(_ file: InputFile, unknownIs unknown: InputFormat) throws {
    if let compressed = file.withBytes({ CompressedInput($0) }) { throw compressed }
    // A first page that can't be read has no format.
    try file.checkReading()
    format = file.withBytes { InputFormat.of($0) ?? unknown }
    guard format == .json else {
      self.file = file
      return
    }
    let output = MemoryOutput()
    try file.checkingReading { try file.withBytes { try DumpJSON.read($0, to: output) } }
    self.file = InputFile(bytes: output.bytes)
  }
}
