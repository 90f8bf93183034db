internal import BinaryFormat
package import FileSystem

/// An input is compressed, and what it holds can't be read.
public struct CompressedInput: Error {
  /// "zstd"
  public let compression: String
  package let reason: Decompression.Failure

  package init(_ compression: Compression, _ reason: Decompression.Failure) {
    self.compression = compression == .deflate ? "zip" : compression.rawValue
    self.reason = reason
  }
}

/// An archive with more than one dump or report.
public struct ArchiveOfMany: Error {
  /// The names of those members, in the archive's order.
  public let names: [String]
}

/// Inputs that are compressed, or the one dump or report of a zip archive.
enum PackedInput {
  /// An archive's member may be compressed once more.
  private static let maximumLayers = 3
  /// Of larger archives the rest is not looked at.
  private static let maximumMembers = 4096

  /// What `file` holds, or `file` itself if it is not packed. Throws `CompressedInput`, `NotADump` or `ArchiveOfMany`.
  static func open(_ file: InputFile) throws -> InputFile {
    var file = file
    for _ in 0..<maximumLayers {
      guard let inner = try file.checkingReading({ try unpacked(file) }) else { return file }
      file = inner
    }
    if let compression = file.withBytes({ Compression.of($0) }) { throw CompressedInput(compression, .bomb) }
    return file
  }

  private static func unpacked(_ file: InputFile) throws -> InputFile? {
    try file.withBytes { bytes in
      if let compression = Compression.of(bytes) {
        do { return try Decompression.unpack(bytes, compression, like: file) } catch {
          throw (error as? Decompression.Failure).map { CompressedInput(compression, $0) } ?? error
        }
      }
      guard let archive = ZipArchive(bytes) else { return nil }
      return try member(of: archive, bytes, file)
    }
  }

  private static func member(of archive: ZipArchive, _ bytes: RawSpan, _ file: InputFile) throws -> InputFile {
    let members = archive.members.prefix(maximumMembers).filter { member in
      member.size > 0 && !member.name.hasSuffix("/") && !member.name.hasPrefix("__MACOSX/")
    }
    let found = members.filter { isDump($0, archive, bytes) }
    guard let member = found.first else {
      if members.contains(where: \.isEncrypted) {
        throw NotADump(kind: "an encrypted zip archive; unpack it first", isContainer: true)
      }
      throw NotADump(kind: "a zip archive without a dump or report", isContainer: true)
    }
    guard found.count == 1 else { throw ArchiveOfMany(names: found.map(\.name)) }
    do { return try archive.unpack(member, in: bytes, like: file) } catch {
      throw (error as? Decompression.Failure).map { CompressedInput(.deflate, $0) } ?? error
    }
  }

  private static func isDump(_ member: ZipArchive.Member, _ archive: ZipArchive, _ bytes: RawSpan) -> Bool {
    guard let start = try? archive.start(of: member, in: bytes, count: InputFormat.startLength), !start.isEmpty else {
      return false
    }
    let span = unsafe start.span.bytes
    switch InputFormat.of(span) {
    case nil, .json: return Compression.of(span) != nil
    case .core: return InputFormat.isCore(start)
    // One byte tells of it, which any file may begin with.
    case .intermediateDump: return FormatRow.named(member.name) == .intermediateDump
    default: return true
    }
  }
}
