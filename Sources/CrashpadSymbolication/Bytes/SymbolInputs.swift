// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadFiles
internal import Glibc
internal import Synchronization
package import SystemPackage

/// The files that were opened for the symbols of one module. Thread-safe.
package final class SymbolInputs: Sendable {
  /// A file that became shorter while it was read, or whose disk can't be read.
  package struct NotWhole: Error { package let path: FilePath }

  /// A file or directory that may be there, but could not be opened.
  package struct NotOpened: Error {
    package let failure: FileFailure

    init(_ path: FilePath, _ errno: Errno) { failure = FileFailure(path, errno) }
  }

  /// The files whose reading may still fail.
  private let files = Mutex<[(path: FilePath, input: InputFile)]>([])

  private let unopened = Mutex<[NotOpened]>([])

  private let openQuestion = Atomic(false)

  /// The place of the indexes of files; nil to keep none.
  let indexes: IndexStore?

  /// The section of object files to which addresses are relative; nil for that of the program's code.
  let section: String?

  /// Whether a file of an archive with several is the one to use, by its first bytes; nil to use none.
  typealias Choice = @Sendable (_ start: [UInt8], _ open: () throws -> InputFile) -> Bool

  private let choice: Choice?

  package convenience init(indexes: IndexStore? = nil, section: String? = nil) {
    self.init(indexes: indexes, section: section, choice: nil)
  }

  init(indexes: IndexStore?, section: String?, choice: Choice?) {
    (self.indexes, self.section, self.choice) = (indexes, section, choice)
  }

  /// Returns the index that is kept of a file, or nil if none is kept or the file has changed since.
  func index(of file: IndexedFile) -> FileIndex? {
    guard let indexes, let index = FileIndex.current(file, in: indexes) else { return nil }
    if index.input.isGuarded { files.withLock { $0.append((indexes.place(.files, of: file.path), index.input)) } }
    return index
  }

  /// Adds the files that others opened.
  func add(_ other: SymbolInputs) {
    let more = other.files.withLock { $0 }
    files.withLock { $0 += more }
    add(unopened: other.notOpened)
    if other.hasOpenQuestion { addOpenQuestion() }
  }

  /// Adds files that could not be opened. Without them, symbols that are there would pass for missing ones.
  func add(unopened failures: [NotOpened]) { unopened.withLock { $0 += failures } }

  /// Call it when a server did not answer that may have a file to which another one refers.
  func addOpenQuestion() { openQuestion.store(true, ordering: .relaxed) }

  /// Whether a server may have a file to which another one refers, and did not answer.
  var hasOpenQuestion: Bool { openQuestion.load(ordering: .relaxed) }

  /// The files that could not be opened: what they have is not known.
  package var notOpened: [NotOpened] { unopened.withLock { $0 } }

  /// A compressed file that can't be decompressed.
  package struct Compressed: Error {
    package let compression: String
    package let reason: DecompressionFailure
  }

  /// A zip archive with several files with symbols, of which one would have to be chosen.
  package struct SeveralFiles: Error { package let count: Int }

  /// Whether a member has symbols: of a dSYM, of Breakpad, or of a library of Android.
  private static func hasSymbols(_ member: ZipArchive.Member) -> Bool {
    // Finder adds files with the attributes of others.
    member.size > 0 && !member.name.hasPrefix("__MACOSX/")
      && (member.name.contains(".dSYM/Contents/Resources/DWARF/")
        || [".sym", ".dbg", ".debug", ".so"].contains { member.name.hasSuffix($0) })
  }

  /// The files with symbols in a zip archive; nil for other files.
  private static func members(_ bytes: RawSpan) -> (archive: ZipArchive, members: [ZipArchive.Member])? {
    ZipArchive(bytes).map { ($0, $0.members.filter(hasSymbols)) }
  }

  /// Throws `Compressed` if members of an archive may not have been found.
  private static func checkMembers(_ archive: ZipArchive) throws(Compressed) {
    if let failure = archive.failure { throw Compressed(compression: "zip", reason: failure) }
  }

  /// The number of bytes by which a file of an archive is chosen.
  static let startLength = 8192

  /// The only file with symbols in a zip archive, or of several the one that is chosen; nil for other files.
  private static func member(_ bytes: RawSpan, _ input: InputFile, _ choice: Choice?) throws
    -> (archive: ZipArchive, member: ZipArchive.Member)?
  {
    guard let (archive, members) = members(bytes) else { return nil }
    if members.count < 2 {
      try checkMembers(archive)
      return members.first.map { (archive, $0) }
    }
    // Which of the files is meant is asked for each, and the rest of the directory is looked at there.
    guard let choice else { throw SeveralFiles(count: members.count) }
    for member in members {
      // A member that can't be read is not chosen; if no other is, the archive is refused.
      let start = hint { try archive.start(of: member, in: bytes, count: startLength) } ?? []
      if choice(start, { try archive.unpack(member, in: bytes, like: input) }) { return (archive, member) }
    }
    try checkMembers(archive)
    throw SeveralFiles(count: members.count)
  }

  /// Calls `body` with the first bytes of each file in an archive and a function that opens it, or `unreadable` for one of which
  /// these, or what `body` opens, can't be read.
  static func forEachMember(
    of path: FilePath, unreadable: (Compressed) -> Void,
    _ body: (_ start: [UInt8], _ open: () throws -> InputFile) throws -> Void
  ) throws {
    let input = try InputFile(regular: path)
    try input.checkingReading {
      try input.withBytes { bytes in
        guard let (archive, members) = members(bytes) else { return }
        for member in members {
          do {
            try unpacking("zip") {
              let start = try archive.start(of: member, in: bytes, count: startLength)
              try body(start) { try archive.unpack(member, in: bytes, like: input) }
            }
          } catch let failure as Compressed { unreadable(failure) }
        }
        do throws(Compressed) { try checkMembers(archive) } catch { unreadable(error) }
      }
    }
  }

  /// Opens a regular file; of a compressed one, or an archive of one, what it holds. Throws `Errno`, `InputFile.NotReadable`,
  /// `Compressed` or `SeveralFiles`.
  package func open(_ path: FilePath) throws -> InputFile {
    let input = try InputFile(regular: path)
    if input.isGuarded { files.withLock { $0.append((path, input)) } }
    let unpacked = try input.withBytes { bytes in
      try Self.member(bytes, input, choice).map { found in
        try Self.unpacking("zip") { try found.archive.unpack(found.member, in: bytes, like: input) }
      }
    }
    if let unpacked { return unpacked }
    guard let compression = Self.compression(of: input) else { return input }
    return try Self.decompressing(compression, input) { try Decompression.unpack($0, compression, like: input) }
  }

  /// The first bytes of a file, and the file before they were read.
  struct Start {
    let bytes: [UInt8]
    let file: FileIdentity
    /// Whether the bytes are not the file's own, but those of what it holds.
    let isUnpacked: Bool
  }

  /// The first bytes of a regular file; of a compressed one, those of what it holds. Throws as `open`.
  static func start(of path: FilePath, count: Int) throws -> Start { try start(of: path, count: count, nil) }

  /// The same; of an archive with several files, those of the one that is chosen.
  func start(of path: FilePath, count: Int) throws -> Start { try Self.start(of: path, count: count, choice) }

  private static func start(of path: FilePath, count: Int, _ choice: Choice?) throws -> Start {
    // The start of a FIFO would be empty, and taken for that of a file in no known format.
    let (start, file) = try InputFile.start(of: path, count: count)
    let unpacked = try unpackedStart(of: path, start, count, choice)
    return Start(bytes: unpacked ?? start, file: file, isUnpacked: unpacked != nil)
  }

  private static func unpackedStart(
    of path: FilePath, _ start: [UInt8], _ count: Int, _ choice: Choice?
  ) throws -> [UInt8]? {
    if start.starts(with: Array("PK\u{3}\u{4}".utf8)) {
      let input = try InputFile(regular: path)
      return try input.withBytes { bytes in
        try member(bytes, input, choice).map { found in
          try unpacking("zip") { try found.archive.start(of: found.member, in: bytes, count: count) }
        }
      }
    }
    guard let compression = unsafe Compression.of(start.span.bytes) else { return nil }
    let input = try InputFile(regular: path)
    return try decompressing(compression, input) { try Decompression.start(of: $0, compression, count: count) }
  }

  private static func compression(of input: InputFile) -> Compression? { input.withBytes { Compression.of($0) } }

  private static func decompressing<Value>(
    _ compression: Compression, _ input: InputFile, _ body: (RawSpan) throws -> Value
  ) throws -> Value {
    try input.checkingReading { try unpacking(compression.rawValue) { try input.withBytes(body) } }
  }

  private static func unpacking<Value>(_ compression: String, _ body: () throws -> Value) throws -> Value {
    do { return try body() } catch let reason as DecompressionFailure {
      throw Compressed(compression: compression, reason: reason)
    }
  }

  /// The files of which some bytes could not be read.
  package var notWhole: [FilePath] { files.withLock { $0.filter(\.input.hasFailed).map(\.path) } }

  /// Whether results may rest on bytes that could not be read.
  var hasFailed: Bool { files.withLock { $0.contains(where: \.input.hasFailed) } }

  /// Throws `NotWhole` if results may rest on bytes that could not be read; `InputFile.NotReadable` if these are of the
  /// file at `own`; `NotOpened` if a file could not be opened that may have more symbols.
  package func checkReading(of own: FilePath? = nil) throws {
    let paths = notWhole
    if let own, paths.contains(own) { throw InputFile.NotReadable(reason: .unreadable) }
    if let path = paths.first { throw NotWhole(path: path) }
    if let failure = notOpened.first { throw failure }
  }
}

/// The path without symbolic links; nil if the file is gone.
func realPath(_ path: FilePath) -> FilePath? {
  guard let real = unsafe path.withPlatformString({ unsafe realpath($0, nil) }) else { return nil }
  defer { unsafe free(real) }
  return unsafe FilePath(platformString: real)
}
