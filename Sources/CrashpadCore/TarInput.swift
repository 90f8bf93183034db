// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles
internal import Synchronization

/// Dumps and reports of tar archives, which may be compressed: these are read in passes, and not unpacked as a whole.
enum TarInput {
  static func isArchive(_ file: InputFile) -> Bool {
    file.withBytes { bytes in
      guard let compression = Compression.of(bytes) else { return TarReader.recognises(bytes) }
      guard let start = hint({ try Decompression.start(of: bytes, compression, count: TarReader.blockSize) }) else {
        return false
      }
      return unsafe TarReader.recognises(start.span.bytes)
    }
  }

  /// The member that `part` begins with, or the only dump or report. Throws `DumpInputFailure`.
  static func open(_ file: InputFile, _ part: inout String) throws -> InputFile {
    let contents = try TarContents.of(file)
    if let (member, rest) = contents.member(of: part) {
      part = rest
      return try open(member, contents, file)
    }
    if !part.isEmpty, let (member, rest) = try extract(part, file) {
      part = rest
      return member
    }
    return try open(ArchiveChoice.only(of: contents.members, in: "a tar archive", part) { $0.path }, contents, file)
  }

  private static func open(_ member: TarContents.Member, _ contents: TarContents, _ file: InputFile) throws -> InputFile
  {
    try refuse(member.kind)
    if let range = member.kept {
      return InputFile(bytes: contents.kept.withBytes { $0.extracting(range).array() }, like: file)
    }
    guard let (result, _) = try extract(member.path, file) else { throw DumpInputFailure.noSuchPart(member.path) }
    return result
  }

  private static func extract(_ part: String, _ file: InputFile) throws -> (InputFile, rest: String)? {
    let visitor = TarExtraction(part)
    try pass(over: file, visitor)
    guard let (kind, rest) = visitor.found else { return nil }
    try refuse(kind)
    return (try visitor.bytes.input(like: file), rest)
  }

  private static func refuse(_ kind: TarMember.Kind) throws(DumpInputFailure) {
    switch kind {
    case .file: break
    case .sparse: throw .noDumpIn(archive: "a sparse file in a tar archive; unpack it first")
    case .hardLink(let target):
      throw .noDumpIn(archive: "a link in a tar archive to \(target); name that, or unpack it")
    case .symbolicLink: throw .noDumpIn(archive: "a symbolic link in a tar archive; name the file that it leads to")
    case .other: throw .noDumpIn(archive: "a directory or device in a tar archive")
    }
  }

  /// Reads the whole archive, so that damage anywhere is found. Throws `DumpInputFailure`.
  static func pass(over file: InputFile, _ visitor: some TarVisitor) throws {
    try file.checkingReading {
      try file.withBytes { bytes in
        var reader = TarReader()
        do {
          if let compression = Compression.of(bytes) {
            try Decompression.forEachBlock(of: bytes, compression) { try reader.read($0, visitor) }
          } else {
            try reader.read(bytes, visitor)
          }
          try reader.finish()
        } catch { throw failure(error, Compression.of(bytes)) }
      }
    }
  }

  private static func failure(_ error: any Error, _ compression: Compression?) -> any Error {
    switch error {
    case let reason as DecompressionFailure:
      compression.map { ArchiveChoice.failure($0, reason) } ?? DumpInputFailure.compressed("tar", reason)
    case TarFailure.damaged: DumpInputFailure.noDumpIn(archive: "a tar archive that is damaged")
    case TarFailure.cut: DumpInputFailure.noDumpIn(archive: "a tar archive that ends early")
    case TarFailure.unsupported:
      DumpInputFailure.noDumpIn(
        archive: "a tar archive of several volumes, or with global names or sizes; unpack it first")
    default: error
    }
  }
}

/// Finds one member by its path; of several with this path the last, which replaces the others when they are unpacked.
private final class TarExtraction: TarVisitor {
  private let part: String
  private(set) var found: (kind: TarMember.Kind, rest: String)?
  private(set) var bytes = UnpackedBytes()

  init(_ part: String) { self.part = part }

  func begin(_ member: TarMember) -> Bool {
    guard member.kind != .other, let rest = ArchiveMemberPath.rest(of: part, behind: member.name) else { return false }
    found = (member.kind, rest)
    bytes = UnpackedBytes()
    return member.kind == .file
  }

  func content(_ bytes: RawSpan) throws -> Bool {
    try self.bytes.append(bytes)
    return true
  }

  func end() {}
}

/// The dumps and reports of a tar archive, found in one pass.
///
/// They are chosen as in directories: by their names, or else by their first bytes.
struct TarContents: Sendable {
  struct Member: Sendable {
    let path: String
    let kind: TarMember.Kind
    /// The place in `kept`; nil for one that is too large.
    let kept: Range<Int>?
  }

  let members: [Member]
  /// The bytes of small members, one after the other.
  let kept: InputFile
  private let places: [String: Int]

  fileprivate init(_ listing: TarListing, like file: InputFile) throws {
    members = listing.members.compactMap { $0 }
    kept = try listing.bytes.input(like: file)
    places = Dictionary(members.enumerated().map { ($1.path, $0) }) { $1 }
  }

  /// The member with whose path `part` begins, and the rest behind it.
  func member(of part: String) -> (Member, rest: String)? {
    var path = part
    while !path.isEmpty {
      if let place = places[path] { return (members[place], String(part.dropFirst(path.count + 1))) }
      guard let slash = path.lastIndex(of: "/") else { return nil }
      path = String(path[..<slash])
    }
    return nil
  }

  // MARK: The last archives

  /// Their members are opened one by one, and each pass may take seconds.
  private static let last = Mutex<[(file: FileIdentity, contents: TarContents)]>([])
  private static let maximumLast = 2

  /// Throws `DumpInputFailure`.
  static func of(_ file: InputFile) throws -> TarContents {
    if let known = last.withLock({ $0.first { $0.file == file.identity } }) { return known.contents }
    let listing = TarListing()
    try TarInput.pass(over: file, listing)
    let contents = try TarContents(listing, like: file)
    if let identity = file.identity {
      last.withLock { $0 = $0.suffix(maximumLast - 1) + [(identity, contents)] }
    }
    return contents
  }
}

/// Collects the dumps and reports.
private final class TarListing: TarVisitor {
  private static let maximumMembers = 65_536
  /// In bytes, of all paths.
  private static let maximumNames = 16 << 20
  /// In bytes, of one member and of all: others are read again when they are opened.
  private static let maximumKept = (single: 8 << 20, all: 128 << 20)

  /// Nil where a later member of the same path replaces one.
  private(set) var members: [TarContents.Member?] = []
  let bytes = UnpackedBytes()
  private var places: [String: Int] = [:]
  private var namesSize = 0
  private var current = TarMember(name: "", kind: .other, size: 0)
  private var start: [UInt8] = []
  /// Whether the current member's bytes are kept.
  private var isKept = false

  func begin(_ member: TarMember) throws -> Bool {
    current = member
    start = []
    isKept = false
    let path = ArchiveMemberPath.path(of: member.name)
    if let place = places.removeValue(forKey: path) { members[place] = nil }
    guard !path.isEmpty, !ArchiveChoice.isCompanion(path) else { return false }
    switch member.kind {
    case .file: return member.size > 0
    case .sparse, .hardLink:
      if FormatRow.named(path) != nil { try add(path, nil) }
      return false
    // As in directories.
    case .symbolicLink, .other: return false
    }
  }

  func content(_ bytes: RawSpan) throws -> Bool {
    if isKept {
      try self.bytes.append(bytes)
      return true
    }
    start += bytes.array()
    return start.count < min(InputFormat.startLength, current.size) ? true : try decide()
  }

  /// Whether more of the member is kept.
  private func decide() throws -> Bool {
    let path = ArchiveMemberPath.path(of: current.name)
    guard FormatRow.named(path) != nil || ArchiveChoice.begins(start, named: path) == true else { return false }
    let room = min(Self.maximumKept.all, InputFile.pipeLimit) - bytes.count
    isKept = current.size <= min(Self.maximumKept.single, room)
    try add(path, isKept ? bytes.count..<bytes.count + current.size : nil)
    let kept = start
    if isKept { try unsafe bytes.append(kept.span.bytes) }
    return isKept
  }

  func end() {}

  private func add(_ path: String, _ kept: Range<Int>?) throws(DumpInputFailure) {
    namesSize += path.utf8.count
    guard members.count < Self.maximumMembers, namesSize <= Self.maximumNames else {
      throw .noDumpIn(archive: "a tar archive with more than \(Self.maximumMembers) dumps or reports; unpack it first")
    }
    places[path] = members.count
    members.append(TarContents.Member(path: path, kind: current.kind, kept: kept))
  }
}
