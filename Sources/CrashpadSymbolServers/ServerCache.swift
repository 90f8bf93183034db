// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles
package import CrashpadSymbolication
internal import CrashpadUpload
internal import Glibc
package import SystemPackage

/// The files that servers gave, in the layout of each server, and a hidden folder with what is known about them.
///
/// Runs at once share it. A file appears whole, by rename; until then it is in the hidden folder, and locked by the process
/// that downloads it.
package struct ServerCache: Sendable {
  package let path: FilePath
  /// How long a server is not asked for a file again that it did not have, in seconds.
  package static let absenceLifetime: Int64 = 3600

  /// The folder has files, but none of them is known to be from a server.
  package struct NotACache: Error {}

  package init(_ path: FilePath) { self.path = path }

  /// The folder of a user: `$XDG_CACHE_HOME/crashpadctl/symbols`. Nil if the environment names no home.
  package static var standardPath: FilePath? {
    let home = Environment.path("HOME").map { $0.appending(".cache") }
    return (Environment.path("XDG_CACHE_HOME") ?? home).map { $0.appending("crashpadctl").appending("symbols") }
  }

  static let hiddenName = ".crashpadctl"

  var hidden: FilePath { path.appending(Self.hiddenName) }
  /// Files that are being downloaded.
  var parts: FilePath { hidden.appending("parts") }
  /// A file for each file that a server did not have.
  var absences: FilePath { hidden.appending("absent") }
  /// A file for each kept file, with its address.
  var origins: FilePath { hidden.appending("origins") }

  /// The indexes of large symbol files and directories.
  package var indexes: IndexStore { IndexStore(hidden.appending("indexes")) }

  func place(_ request: ServerRequest) -> FilePath { request.place.reduce(path) { $0.appending($1) } }

  /// A name for a text of any length.
  static func key(_ text: String) -> String {
    hexadecimalDigits(unsafe Array(SHA256.digest(Array(text.utf8).span.bytes).prefix(20)))
  }

  // MARK: Facts about files

  /// The file with the address of a kept file, whose place in the cache is given.
  func originFile(_ place: String) -> FilePath { origins.appending(Self.key(place)) }

  private func originFile(_ request: ServerRequest) -> FilePath { originFile(request.place.joined(separator: "/")) }

  /// The address from which a kept file is; nil if it is not known.
  func origin(of request: ServerRequest) -> String? { originWords(request)?.last }

  /// The size and the address of a kept file; nil if the cache has nothing about it, or not all of its line.
  private func originWords(_ request: ServerRequest) -> [String]? {
    guard let bytes = hint({ try InputFile.prefix(of: originFile(request), count: 16 << 10) }), bytes.last == 0x0a
    else { return nil }
    let line = bytes.prefix { $0 != 0x0a }
    return String(decoding: line, as: UTF8.self).split(separator: " ").map(String.init)
  }

  /// Whether a file at its place has all of its bytes, so far as is known.
  ///
  /// Neither the file nor what is known about it is synced: a power failure may leave either with a part of its bytes.
  func isWhole(_ request: ServerRequest) -> Bool {
    switch FileKind.look(at: originFile(request)) {
    // Another program may have put the file there.
    case .absent: return true
    case .found, .failed: break
    }
    guard let words = originWords(request), let size = words.first else { return false }
    // Earlier versions kept the address alone.
    guard words.count > 1 else { return true }
    let status = hint { try FileStatus(at: place(request), followingLink: true) }
    return status.map { String($0.size) == size } ?? false
  }

  /// Keeps the address and the size of a file. Call it before the file gets its place: one that is cut is then always known to be.
  func keepOrigin(_ url: String, size: Int64, of request: ServerRequest) throws {
    try write("\(size) \(url)", to: originFile(request))
  }

  /// Whether the server had no such file a short time ago. `question` has all that the server was sent, as it may show other files
  /// with other credentials.
  func isAbsent(_ question: String, now: Int64) -> Bool {
    let file = absences.appending(Self.key(question))
    guard let status = hint({ try FileStatus(at: file, followingLink: false) }) else { return false }
    return status.kind == .regular && status.modified <= now && now - status.modified < Self.absenceLifetime
  }

  func keepAbsence(_ question: String, name: String) throws {
    try write(name, to: absences.appending(Self.key(question)))
  }

  /// Writes a line to a file of its own by one call. A file without a line end, as a kill before that call leaves, has no line; and what
  /// is left of a longer one is behind the new one, so that a run that reads meanwhile finds either.
  private func write(_ line: String, to file: FilePath) throws {
    func open() throws -> FileDescriptor {
      try FileDescriptor.open(
        file, .readWrite, options: [.create, .closeOnExec], permissions: FilePermissions(rawValue: 0o666))
    }
    let descriptor: FileDescriptor
    do { descriptor = try open() } catch Errno.noSuchFileOrDirectory {
      try createDirectories(file.removingLastComponent())
      descriptor = try open()
    }
    let bytes = Array((line + "\n").utf8)
    try descriptor.closeAfter {
      try descriptor.writeAll(bytes)
      if try descriptor.seek(offset: 0, from: .end) > bytes.count { try descriptor.resize(to: Int64(bytes.count)) }
    }
  }
}

/// A file of which this process has the lock, for a download.
final class PartialFile: DownloadSink {
  private let folder: Folder
  private let name: String
  private let file: OpenFile
  /// Whether the file has its place, or is left for the next run.
  private var isDone = false
  /// The server's mark of the file of which the bytes are; nil if the download can't continue.
  private var tag: String?
  /// Whether the mark is on the disk, for other runs; nil before the first try.
  private var isTagKept: Bool?
  /// The number of its bytes.
  private(set) var count: Int64 = 0
  /// Whether other runs know the name.
  private let isShared: Bool
  /// Throws if a file that begins with the bytes that are there is of no use. Returns whether it is what it should be, whatever follows.
  var check: ((PartialFile) throws -> Bool)?
  private var isChecked = false
  /// Whether the file is what it should be, by its first bytes.
  private(set) var isCertain = false
  /// Why the file is of no use.
  private(set) var refusal: (any Error)?

  var path: FilePath { folder.path.appending(name) }

  private init(_ folder: Folder, _ name: String, _ file: OpenFile, isShared: Bool = false) {
    (self.folder, self.name, self.file, self.isShared) = (folder, name, file, isShared)
  }

  deinit {
    guard !isDone else { return }
    _ = try? folder.remove(Self.fileName(name))
    removeTag()
  }

  func write(_ bytes: RawSpan) throws(FileFailure) {
    try file.write(bytes)
    count += Int64(bytes.byteCount)
    if !isChecked, count >= Self.checkedSize { checkStart() }
    if count >= Self.continuedSize, isTagKept == nil { keepTag() }
  }

  /// A smaller file is checked when it is whole.
  private static let checkedSize: Int64 = 64 << 10

  private func checkStart() {
    isChecked = true
    do { isCertain = try check?(self) ?? false } catch {
      // A look that failed says nothing; neither does the start of a compressed file that can't be read here.
      let failure = error as? DecompressionFailure
      if !(error is Errno || error is FileFailure), failure == nil || failure == .damaged { refusal = error }
    }
  }

  var isWanted: Bool { refusal == nil }

  // MARK: Continuing

  /// The place where the download can continue; nil if it has to begin anew.
  var start: DownloadStart? { tag.flatMap { count > 0 ? DownloadStart(offset: count, tag: $0) : nil } }

  func begin(_ tag: String?) throws(FileFailure) {
    // Without its mark a part is never continued: it goes before the bytes do, and comes when they are many.
    removeTag()
    // A file that was emptied once goes to the disk when it is closed, on ext4 and others, which takes longer than a download from a
    // near server.
    if count > 0 { try file.empty() }
    count = 0
    (isChecked, isCertain, refusal) = (false, false, nil)
    if isShared { self.tag = tag }
  }

  /// A smaller part is not continued after a kill: the file for its mark costs as much as its bytes.
  private static let continuedSize: Int64 = 1 << 20

  private func keepTag() {
    guard isShared, let tag else { return }
    do {
      let output = try OutputFile(tagFile)
      try unsafe output.write((BootID.text + Array("\(tag)\n".utf8)).span.bytes)
      try output.commit(durable: false)
      isTagKept = true
    } catch { isTagKept = false }
  }

  /// Discards what is there.
  func restart() throws(FileFailure) { try begin(nil) }

  /// Leaves the bytes for the next run, if that can continue.
  func leave() {
    guard start != nil else { return }
    if isTagKept == nil { keepTag() }
    isDone = isTagKept == true
  }

  private var tagFile: FilePath { folder.path.appending("\(name).tag") }

  private func removeTag() {
    (tag, isTagKept) = (nil, nil)
    if isShared { unsafe tagFile.withPlatformString { unsafe _ = unlink($0) } }
  }

  /// Takes the bytes that an earlier run left. Returns false if they may not be continued: those from before a restart of the
  /// system may never have reached the disk.
  private func takeRest(_ size: Int64) throws -> Bool {
    let text = hint { try InputFile.prefix(of: tagFile, count: 1024) } ?? []
    guard !BootID.text.isEmpty, text.starts(with: BootID.text), text.last == UInt8(ascii: "\n") else { return false }
    (tag, count) = (String(decoding: text.dropFirst(BootID.text.count).dropLast(), as: UTF8.self), size)
    isTagKept = true
    try file.seekToEnd()
    return true
  }

  func input() throws -> InputFile { try InputFile(regular: path) }

  func prefix(_ count: Int) throws -> [UInt8] { try file.prefix(count) }

  /// The compression of the file; nil if it is not compressed.
  func compression() throws -> Compression? {
    let start = try file.prefix(16)
    return unsafe Compression.of(start.span.bytes)
  }

  /// Gives the file its place. The lock goes with it.
  func move(to place: FilePath) throws {
    // Folder's files are for their owner only; symbols are what other users of the cache are to read.
    try file.setPermissions(0o644)
    if !isRenamed(to: place) {
      guard errno == ENOENT else { throw FileFailure(place, Errno(rawValue: errno)) }
      try createDirectories(place.removingLastComponent())
      guard isRenamed(to: place) else { throw FileFailure(place, Errno(rawValue: errno)) }
    }
    isDone = true
    if isTagKept != nil { removeTag() }
  }

  private func isRenamed(to place: FilePath) -> Bool {
    unsafe path.withPlatformString { from in unsafe place.withPlatformString { unsafe rename(from, $0) } } == 0
  }

  /// Waits until no other process downloads the same file. Nil if `isThere` turned true meanwhile. A process that makes no
  /// progress for `patience` is not waited for: its file gets another name.
  static func claim(
    _ key: String, in parts: FilePath, patience: Duration, until isThere: () -> Bool
  ) throws -> PartialFile? {
    let folder = try folder(parts)
    let name = fileName(key)
    var progress = (size: -1, at: Duration.sinceBoot)
    while true {
      let file = try folder.open(name, .readWriteOrCreate)
      switch file.takeOwnership() {
      case .taken:
        guard let status = try folder.status(name), try status.isSameFile(as: file.status()) else { continue }
        let part = PartialFile(folder, key, file, isShared: true)
        // The other process may have ended, and its file have got its place, before this one was made.
        if isThere() { return nil }
        // The rest of a download that was killed.
        if try status.size == 0 || part.takeRest(Int64(status.size)) { return part }
      case .busy:
        if isThere() { return nil }
        let size = try file.status().size
        if size != progress.size { progress = (size, .sinceBoot) }
        if .sinceBoot - progress.at > patience { return try own(key, folder) }
        usleep(20_000)
      case .unsupported: return try own(key, folder)
      }
    }
  }

  private static func folder(_ path: FilePath) throws -> Folder {
    do { return try Folder(path) } catch {
      guard error.errno == .noSuchFileOrDirectory else { throw error }
      try createDirectories(path)
      return try Folder(path)
    }
  }

  /// A file that no other process claims. It is locked like the others, so that `trim` leaves it alone.
  private static func own(_ key: String, _ folder: Folder) throws -> PartialFile {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<8 {
      let name = "\(key)-\(String(generator.next(), radix: 36))"
      let file = try folder.open(fileName(name), .create)
      // Before it is locked, `trim` may take it for a rest.
      if file.takeOwnership() != .busy { return PartialFile(folder, name, file) }
    }
    throw FileFailure(folder.path, .wouldBlock)
  }

  /// A second file for the same download, for what a compressed one holds.
  func companion() throws -> PartialFile { try Self.own(name, folder) }

  private static func fileName(_ text: String) -> FileName {
    guard let name = FileName(text) else { preconditionFailure("a key is a name") }
    return name
  }
}
