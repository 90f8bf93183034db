internal import BinaryFormat
public import FileSystem
internal import IntermediateDump
public import SystemPackage

/// What an input is, by its first bytes. A file with others is taken for a damaged one of the format that its name says, or
/// else for a damaged intermediate dump: then its bytes get explained.
public enum InputFormat: String, Sendable {
  case intermediateDump = "intermediate-dump"
  case minidump
  /// The JSON form of an intermediate dump.
  case json
  /// An ELF file: a core, or one that is none.
  case core

  /// How many bytes of a file tell whether it is a core.
  public static let coreStart = 18

  /// Whether a file that begins so is a core, and not another ELF file: a program, a library.
  public static func isCore(_ start: [UInt8]) -> Bool {
    start.count >= coreStart && start.starts(with: [0x7f, 0x45, 0x4c, 0x46]) && start[16] == 4 && start[17] == 0
  }

  /// Nil if they are those of no format.
  public static func of(_ bytes: RawSpan) -> InputFormat? {
    let count = bytes.byteCount
    if count >= 1, bytes.uint8(at: 0) == 0x06 { return .intermediateDump }
    if count >= 4, bytes.uint32(at: 0) == 0x504d_444d { return .minidump }
    if count >= 4, bytes.uint32(at: 0) == 0x464c_457f { return .core }
    var index = 0
    while index < count, index < 1024 {
      switch bytes.uint8(at: index) {
      case 0x20, 0x0a, 0x0d, 0x09: index += 1
      case UInt8(ascii: "{"): return .json
      default: return nil
      }
    }
    return nil
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
    let isNamedMinidump = ["dmp", "mdmp"].contains(path.extension)
    let isNamedCore = path.extension == "core" || path.lastComponent?.string == "core"
    try self.init(
      InputFile(path), unknownIs: isNamedMinidump ? .minidump : isNamedCore ? .core : .intermediateDump)
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
