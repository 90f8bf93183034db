// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadFiles
package import CrashpadSnapshot
internal import Synchronization
package import SystemPackage

/// Everything below a directory in which symbols were looked for, as it was found.
struct TreeContents {
  struct Directory {
    let path: FilePath
    let identity: FileIdentity
    /// Whether it is the one with the files of a bundle.
    let isInBundle: Bool
  }

  struct File {
    let path: FilePath
    let identity: FileIdentity
    let ids: [UUIDBytes]
    /// Whether it could not be read as a whole, and has to be read again by each run.
    let isUnread: Bool
  }

  /// The directory as it was given, and without links.
  let root: FilePath
  let realRoot: FilePath
  /// The time before the first look.
  let start: Int64
  var directories: [Directory] = []
  /// Files that were read for their ids.
  var files: [File] = []
  /// Links that lead to no regular file.
  var links: [FilePath] = []
  /// Files whose paths have an id, and directories with the name of one, which are listed when they are needed.
  var named: [(id: UUIDBytes, path: FilePath)] = []
  var folders: [(id: UUIDBytes, path: FilePath)] = []
  /// Whether there is any file with symbols.
  var hasSymbols = false

  /// Whether it is worth an index, and nothing in it changed just before the first look.
  func isToBeKept(_ thresholds: IndexStore.Thresholds) -> Bool {
    let last = start - thresholds.age
    return directories.count + files.count >= thresholds.entries
      && directories.allSatisfy { $0.identity.changed < last } && files.allSatisfy { $0.identity.changed < last }
  }
}

/// The kept form of `TreeContents`: its files by their ids, and the state in which each file and directory was.
///
/// An index counts only if nothing changed: it has no answer of its own to the question whether a file is there.
///
///     0   "CPCTREE1"
///     8   checksum of all that follows
///     16  the numbers of directories, files, ids, folders and links, then 1 if there is a symbol file; 32 bits each
///     40  size of the texts
///     48  tables in this order, then the texts, each ended by a zero; the first one is the path of the tree
package final class TreeIndex: Sendable {
  private let input: InputFile
  private let layout: Layout
  private let folder: FilePath

  private static let magic: UInt64 = 0x3145_4552_5443_5043
  private static let headerSize = 48
  private static let identitySize = 32
  /// Flags of directories and files.
  private static let inBundle: UInt32 = 1
  private static let isUnread: UInt32 = 1

  private struct Table: Sendable {
    let start: Int
    let count: Int
    let stride: Int

    func place(_ index: Int) -> Int { start + index * stride }
    var end: Int { start + count * stride }
  }

  private struct Layout: Sendable {
    let directories: Table
    let files: Table
    let ids: Table
    let folders: Table
    let links: Table
    let hasSymbols: Bool
    let texts: ByteRange

    /// Nil if the sizes are not those of the file.
    init?(_ bytes: RawSpan) {
      guard bytes.byteCount > headerSize, bytes.uint64(at: 0) == magic else { return nil }
      var end = headerSize
      func table(_ place: Int, _ stride: Int) -> Table {
        let table = Table(start: end, count: Int(bytes.uint32(at: place)), stride: stride)
        end = table.end
        return table
      }
      directories = table(16, 8 + identitySize)
      files = table(20, 8 + identitySize)
      ids = table(24, 24)
      folders = table(28, 24)
      links = table(32, 8)
      hasSymbols = bytes.uint32(at: 36) == 1
      guard end < bytes.byteCount, bytes.uint64(at: 40) == UInt64(bytes.byteCount - end),
        bytes.uint8(at: bytes.byteCount - 1) == 0
      else { return nil }
      texts = ByteRange(offset: end, count: bytes.byteCount - end)
    }
  }

  /// Nil if there is no index of the directory, or something in it changed.
  static func current(_ folder: FilePath, in store: IndexStore, _ extent: Extent) -> TreeIndex? {
    guard let real = realPath(folder), let input = store.open(store.place(.trees, of: real)),
      let index = TreeIndex(input, folder, real), index.isCurrent(extent), !input.hasFailed
    else { return nil }
    return index
  }

  /// Nil if the bytes are not an index of the directory.
  package init?(_ input: InputFile, _ folder: FilePath, _ real: FilePath) {
    // Not all texts are copied, which have megabytes.
    let name = real.bytes + [0]
    let found = input.withBytes { bytes -> Layout? in
      guard let layout = Layout(bytes),
        bytes.uint64(at: 8) == IndexChecksum.of(bytes.extracting(16..<bytes.byteCount)),
        bytes.array(in: ByteRange(offset: layout.texts.offset, count: min(name.count, layout.texts.count))) == name
      else { return nil }
      return layout
    }
    guard let found else { return nil }
    (self.input, self.folder, layout) = (input, folder, found)
  }

  /// Whether there is any file with symbols.
  package var hasSymbols: Bool { layout.hasSymbols || layout.ids.count > 0 || layout.folders.count > 0 }

  // MARK: Ids

  /// The files with an id.
  package func files(with id: UUIDBytes) -> [FilePath] { paths(id, layout.ids) }

  /// The directories with the name of an id.
  package func folders(with id: UUIDBytes) -> [FilePath] { paths(id, layout.folders) }

  private func paths(_ id: UUIDBytes, _ table: Table) -> [FilePath] {
    input.withBytes { bytes in
      func isBehind(_ index: Int, _ isEqualBehind: Bool) -> Bool {
        let place = table.place(index)
        let own = (bytes.uint64(at: place), bytes.uint64(at: place + 8))
        return own > (id.high, id.low) || (isEqualBehind && own == (id.high, id.low))
      }
      let first = (0..<table.count).partitioningIndex { isBehind($0, true) }
      let last = (first..<table.count).partitioningIndex { isBehind($0, false) }
      return (first..<last).compactMap { path(at: bytes.uint32(at: table.place($0) + 16), bytes) }
    }
  }

  /// The files that each run has to read.
  package var unread: [FilePath] {
    input.withBytes { bytes in
      (0..<layout.files.count).compactMap { index in
        let place = layout.files.place(index)
        return bytes.uint32(at: place + 4) == Self.isUnread ? path(at: bytes.uint32(at: place), bytes) : nil
      }
    }
  }

  /// Nil for a path that leads out of the tree.
  private func path(at offset: UInt32, _ bytes: RawSpan) -> FilePath? {
    guard Int(offset) < layout.texts.count else { return nil }
    let start = layout.texts.offset + Int(offset)
    let end = bytes.firstZero(in: ByteRange(offset: start, count: layout.texts.end - start))
    let text = bytes.array(in: ByteRange(offset: start, count: end - start))
    guard !text.isEmpty, text[0] != UInt8(ascii: "/"),
      !text.split(separator: UInt8(ascii: "/")).contains(where: { $0.elementsEqual("..".utf8) })
    else { return nil }
    let folder = folder.bytes
    return FilePath(bytes: folder + (folder.last == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")]) + text)
  }

  // MARK: Changes

  /// The number of entries of each table that are compared one after the other: a file is looked at soon after its directory, while
  /// the kernel's entries for the names in both paths are in the processor's cache.
  private static let blockSize = 64
  private static let mostThreads = 8

  /// The part of a tree that is compared with its index.
  package enum Extent: Sendable {
    /// Directories outside of bundles: enough to use a file that the index names, as that is read itself.
    case directories
    /// Each directory and file: only then the index shows that a file is not there.
    case whole
  }

  /// Whether a tree is what it was.
  package func isCurrent(_ extent: Extent) -> Bool {
    guard let folder = hint({ try Folder(folder) }) else { return false }
    guard extent == .whole else {
      return unsafe input.withUnsafeBytes { buffer in
        let bytes = unsafe RawSpan(_unsafeBytes: buffer)
        return (0..<layout.directories.count).allSatisfy { number in
          let place = layout.directories.place(number)
          return unsafe bytes.uint32(at: place + 4) == Self.inBundle || isUnchanged(place, .directory, folder, buffer)
        }
      }
    }
    let tables = [layout.directories, layout.files, layout.links]
    let blockCount = ((tables.map(\.count).max() ?? 0) + Self.blockSize - 1) / Self.blockSize
    let next = Atomic(0)
    let isCurrent = Atomic(true)
    onThreads(min(activeProcessorCount(), Self.mostThreads)) {
      while isCurrent.load(ordering: .relaxed) {
        let block = next.add(1, ordering: .relaxed).oldValue
        guard block < blockCount else { return }
        if !isUnchanged(block, of: blockCount, folder) { isCurrent.store(false, ordering: .relaxed) }
      }
    }
    return isCurrent.load(ordering: .relaxed)
  }

  /// Whether nothing changed in one of the equal parts of the tables, which list files in the order of their directories.
  private func isUnchanged(_ block: Int, of blockCount: Int, _ folder: Folder) -> Bool {
    func all(_ table: Table, _ isSame: (Int) -> Bool) -> Bool {
      (block * table.count / blockCount..<(block + 1) * table.count / blockCount).allSatisfy {
        isSame(table.place($0))
      }
    }
    // Once for all entries: a generic function of another target is slow, and there are many thousand of them.
    return unsafe input.withUnsafeBytes { buffer in
      all(layout.directories) { unsafe isUnchanged($0, .directory, folder, buffer) }
        && all(layout.files) { unsafe isUnchanged($0, .regular, folder, buffer) }
        && all(layout.links) { unsafe isNoFile($0, folder, buffer) }
    }
  }

  /// Whether a link leads to no regular file.
  private func isNoFile(_ place: Int, _ folder: Folder, _ buffer: UnsafeRawBufferPointer) -> Bool {
    do throws(Errno) { return try unsafe status(place, folder, buffer).kind != .regular } catch {
      return [.noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels].contains(error)
    }
  }

  private func isUnchanged(
    _ place: Int, _ kind: FileStatus.Kind, _ folder: Folder, _ buffer: UnsafeRawBufferPointer
  ) -> Bool {
    let status: FileStatus
    // One that can't be looked at may have become anything.
    do throws(Errno) { status = try unsafe self.status(place, folder, buffer) } catch { return false }
    let known = unsafe FileIdentity(RawSpan(_unsafeBytes: buffer), at: place + 8)
    return status.kind == kind && status.identity.isUnchanged(since: known)
  }

  /// The status of the file whose path is named at a place of a table.
  private func status(
    _ place: Int, _ folder: Folder, _ buffer: UnsafeRawBufferPointer
  ) throws(Errno) -> FileStatus {
    let offset = unsafe RawSpan(_unsafeBytes: buffer).uint32(at: place)
    guard Int(offset) < layout.texts.count, let start = buffer.baseAddress else { throw .noSuchFileOrDirectory }
    return try unsafe folder.status(
      at: (start + layout.texts.offset + Int(offset)).assumingMemoryBound(to: CChar.self))
  }
}

// MARK: Writing

extension TreeIndex {
  /// Keeps what was found for the next run. Returns whether that succeeded.
  static func keep(_ contents: TreeContents, in store: IndexStore) -> Bool {
    let bytes = bytes(of: contents)
    return store.write(.trees, at: store.place(.trees, of: contents.realRoot), byteCount: bytes.count) { output in
      try unsafe output.write(bytes.span.bytes)
    }
  }

  static func bytes(of contents: TreeContents) -> [UInt8] {
    var texts = contents.realRoot.bytes + [0]
    func add(_ path: FilePath) -> UInt32 {
      defer {
        texts += path == contents.root ? [UInt8(ascii: ".")] : path.relative(to: contents.root).bytes
        texts.append(0)
      }
      return UInt32(clamping: texts.count)
    }
    let tables = MemoryOutput()
    var writer = ByteWriter(to: tables)
    for directory in contents.directories {
      writer.state(add(directory.path), directory.identity, directory.isInBundle ? inBundle : 0)
    }
    var ids = contents.named.map { ($0.id, add($0.path)) }
    for file in contents.files {
      let text = add(file.path)
      writer.state(text, file.identity, file.isUnread ? isUnread : 0)
      ids += file.ids.map { ($0, text) }
    }
    writer.ids(ids)
    writer.ids(contents.folders.map { ($0.id, add($0.path)) })
    for link in contents.links { writer.entry(add(link), 0) }
    try? writer.finish()
    let counts = [contents.directories.count, contents.files.count, ids.count, contents.folders.count]
    return whole(counts + [contents.links.count, contents.hasSymbols ? 1 : 0], tables.bytes, texts)
  }

  private static func whole(_ counts: [Int], _ tables: [UInt8], _ texts: [UInt8]) -> [UInt8] {
    let body = MemoryOutput()
    var writer = ByteWriter(to: body)
    for count in counts { writer.uint32(UInt32(clamping: count)) }
    writer.uint64(UInt64(texts.count))
    writer.bytes(tables)
    writer.bytes(texts)
    try? writer.finish()
    return sealed(body.bytes)
  }

  /// The bytes behind the magic number and their checksum.
  package static func sealed(_ body: [UInt8]) -> [UInt8] {
    let whole = MemoryOutput()
    var writer = ByteWriter(to: whole)
    writer.uint64(magic)
    writer.uint64(unsafe IndexChecksum.of(body.span.bytes))
    writer.bytes(body)
    try? writer.finish()
    return whole.bytes
  }
}

extension ByteWriter {
  fileprivate mutating func entry(_ text: UInt32, _ flags: UInt32) {
    uint32(text)
    uint32(flags)
  }

  fileprivate mutating func state(_ text: UInt32, _ identity: FileIdentity, _ flags: UInt32) {
    entry(text, flags)
    uint64(identity.number)
    for value in [identity.size, identity.modified, identity.changed] { uint64(UInt64(bitPattern: value)) }
  }

  /// In the order of the ids, and of the files with one id.
  fileprivate mutating func ids(_ ids: [(id: UUIDBytes, text: UInt32)]) {
    for index in ids.indices.sorted(by: {
      (ids[$0].id.high, ids[$0].id.low, $0) < (ids[$1].id.high, ids[$1].id.low, $1)
    }) {
      uint64(ids[index].id.high)
      uint64(ids[index].id.low)
      entry(ids[index].text, 0)
    }
  }
}

extension FileIdentity {
  fileprivate init(_ bytes: RawSpan, at place: Int) {
    func time(_ offset: Int) -> Int64 { Int64(bitPattern: bytes.uint64(at: place + offset)) }
    self.init(number: bytes.uint64(at: place), size: time(8), modified: time(16), changed: time(24))
  }
}
