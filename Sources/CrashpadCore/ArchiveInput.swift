// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles

/// Inputs that are compressed, and dumps and reports that are parts of other files: of a zip or tar archive, of an upload's body, of
/// a report of apport.
enum ArchiveInput {
  /// An archive's member may be compressed once more.
  private static let maximumLayers = 3

  /// The content of `file`, or `file` itself if it is not packed. Throws `DumpInputFailure`.
  ///
  /// - Parameter part: begins with the path of the archive's member, which is taken off; empty for the only one.
  static func open(_ file: InputFile, _ part: inout String) throws -> InputFile {
    var file = file
    for _ in 0..<maximumLayers {
      guard let inner = try file.checkingReading({ try unpacked(file, &part) }) else { return file }
      file = inner
    }
    if let compression = file.withBytes({ Compression.of($0) }) { throw ArchiveChoice.failure(compression, .bomb) }
    guard !TarInput.isArchive(file), file.withBytes({ ZipArchive($0) == nil }) else {
      throw DumpInputFailure.noDumpIn(archive: "an archive nested too deeply in other archives; unpack it first")
    }
    return file
  }

  /// The paths of an archive's dumps and reports; empty if `file` is not an archive. Throws `DumpInputFailure`.
  static func members(of file: InputFile) throws -> [String] {
    if TarInput.isArchive(file) { return try TarContents.of(file).members.map(\.path) }
    return try file.withBytes { bytes in
      if let body = UploadBody(bytes) { return body.dumps(bytes).map { ArchiveMemberPath.path(of: $0.name) } }
      guard let archive = ZipArchive(bytes) else { return [] }
      try checkDirectory(of: archive)
      return dumps(in: archive, bytes).map { ArchiveMemberPath.path(of: $0.name) }
    }
  }

  /// Throws if the archive may have more members than were found.
  private static func checkDirectory(of archive: ZipArchive) throws(DumpInputFailure) {
    switch archive.failure {
    case nil: break
    case .unsupported:
      throw .noDumpIn(archive: "one of the parts of a zip archive in several; join and unpack them first")
    case .bomb: throw .noDumpIn(archive: "a zip archive with too many files; unpack it first")
    case .some(let reason): throw .compressed("zip", reason)
    }
  }

  private static func dumps(in archive: ZipArchive, _ bytes: RawSpan) -> [ZipArchive.Member] {
    files(in: archive).filter { isDump($0, archive, bytes) }
  }

  private static func files(in archive: ZipArchive) -> [ZipArchive.Member] {
    archive.members.filter { member in
      member.size > 0 && !member.name.hasSuffix("/") && !ArchiveChoice.isCompanion(member.name)
    }
  }

  private static func unpacked(_ file: InputFile, _ part: inout String) throws -> InputFile? {
    if TarInput.isArchive(file) { return try TarInput.open(file, &part) }
    return try file.withBytes { bytes in
      if let compression = Compression.of(bytes) {
        do { return try Decompression.unpack(bytes, compression, like: file) } catch {
          throw (error as? DecompressionFailure).map { ArchiveChoice.failure(compression, $0) } ?? error
        }
      }
      if let body = UploadBody(bytes) { return try member(of: body, &part, bytes, file) }
      if let core = try ApportReport.core(in: bytes) { return try core.input(like: file) }
      guard let archive = ZipArchive(bytes) else { return nil }
      return try member(of: archive, &part, bytes, file)
    }
  }

  private static func member(
    of archive: ZipArchive, _ part: inout String, _ bytes: RawSpan, _ file: InputFile
  ) throws -> InputFile {
    if !part.isEmpty {
      for member in files(in: archive) {
        guard let rest = ArchiveMemberPath.rest(of: part, behind: member.name) else { continue }
        part = rest
        return try unpack(member, archive, bytes, file)
      }
    }
    try checkDirectory(of: archive)
    let found = dumps(in: archive, bytes)
    if found.isEmpty, files(in: archive).contains(where: \.isEncrypted) {
      throw DumpInputFailure.noDumpIn(archive: "an encrypted zip archive; unpack it first")
    }
    return try unpack(ArchiveChoice.only(of: found, in: "a zip archive", part) { $0.name }, archive, bytes, file)
  }

  private static func member(
    of body: UploadBody, _ part: inout String, _ bytes: RawSpan, _ file: InputFile
  ) throws -> InputFile {
    for member in body.parts {
      guard let rest = ArchiveMemberPath.rest(of: part, behind: member.name) else { continue }
      part = rest
      return InputFile(bytes: bytes.array(in: member.content), like: file)
    }
    let member = try ArchiveChoice.only(of: body.dumps(bytes), in: "the body of an upload", part) { $0.name }
    return InputFile(bytes: bytes.array(in: member.content), like: file)
  }

  private static func unpack(
    _ member: ZipArchive.Member, _ archive: ZipArchive, _ bytes: RawSpan, _ file: InputFile
  ) throws -> InputFile {
    do { return try archive.unpack(member, in: bytes, like: file) } catch {
      throw (error as? DecompressionFailure).map { ArchiveChoice.failure(.deflate, $0) } ?? error
    }
  }

  private static func isDump(_ member: ZipArchive.Member, _ archive: ZipArchive, _ bytes: RawSpan) -> Bool {
    guard let start = try? archive.start(of: member, in: bytes, count: InputFormat.startLength), !start.isEmpty else {
      return false
    }
    return ArchiveChoice.isDump(start, named: member.name)
  }
}
