// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
internal import CrashpadSnapshot
internal import Synchronization
internal import SystemPackage

/// All files with symbols below a folder by their ids, listed if none of the known layouts led to a file.
///
/// In a Breakpad store and a `.build-id` tree the path contains the id, so the file is not opened, and a folder with the
/// name of an id is listed only for that id. All others are opened once, to read their ids, which are kept for the next run.
final class SymbolFolder: Sendable {
  let path: FilePath
  private let faults: SymbolFaults
  private let store: IndexStore?

  private struct Index {
    var files: [UUIDBytes: [FilePath]] = [:]
    /// Folders that have the name of an id, and are not listed yet.
    var folders: [UUIDBytes: [FilePath]] = [:]
    /// Files whose paths contain no id, and those in folders that have one.
    var unread: [FilePath] = []
    var unreadInFolders: [FilePath] = []
    /// Whether there is a symbol file, of whatever module.
    var hasSymbols = false
    /// Whether there is a PDB, which is not read.
    var hasPDB = false
    /// Whether there is a file or folder that can't be read, which may have symbols.
    var hasUnreadable = false
    /// The index of an earlier run, which has the rest; whether all of the folder is as it was; and the ids for which folders
    /// in the index were listed.
    var kept: TreeIndex?
    var isVerified = false
    var listed: Set<UUIDBytes> = []
    /// The contents to be kept when all files have been read; nil if something could not be examined.
    var contents: TreeContents?

    func files(_ id: UUIDBytes) -> [FilePath] { (kept?.files(with: id) ?? []) + (files[id] ?? []) }

    mutating func takeFolders(_ id: UUIDBytes) -> [FilePath] {
      let own = folders.removeValue(forKey: id) ?? []
      guard let kept, listed.insert(id).inserted else { return own }
      return kept.folders(with: id) + own
    }
  }
  private let index = Mutex<Index?>(nil)

  init(_ path: FilePath, _ faults: SymbolFaults, _ store: IndexStore?) {
    (self.path, self.faults, self.store) = (path, faults, store)
  }

  /// Files that had this debug id in an earlier run. That there are none says nothing.
  func likelyFiles(with id: DebugID) -> [FilePath] {
    index.withLock { index in
      let known = index.take() ?? open()
      defer { index = known }
      return known.kept?.files(with: id.uuid) ?? []
    }
  }

  /// Files whose path or content has this debug id, whatever its age. Unread files are searched only if there is no such file.
  func files(with id: DebugID) -> [FilePath] { files(with: id, all: false) }

  /// All files with this debug id. Call it if the others could not be used.
  func allFiles(with id: DebugID) -> [FilePath] { files(with: id, all: true) }

  private func files(with id: DebugID, all: Bool) -> [FilePath] {
    index.withLock { index in
      // Taken out, as a change of a copy would copy thousands of paths.
      var known = index.take() ?? open()
      verify(&known)
      for folder in known.takeFolders(id.uuid) {
        let listing = TreeListing(folder)
        add(listing, of: folder, &known)
        known.unreadInFolders += listing.files
      }
      var found = known.files(id.uuid)
      // A store has the file at the path with its id; other files are opened only if there is none.
      if found.isEmpty || all {
        readAll(&known)
        found = known.files(id.uuid)
      }
      index = known
      return found
    }
  }

  /// Reads all files, so that their ids are kept for later runs. Returns whether they are.
  func prepare() -> Bool {
    index.withLock { index in
      var known = index.take() ?? open()
      verify(&known)
      defer { index = known }
      return readAll(&known) || known.kept != nil
    }
  }

  private func open() -> Index {
    guard let store, let kept = TreeIndex.current(path, in: store, .directories) else { return list() }
    var known = Index()
    (known.kept, known.unread, known.hasSymbols) = (kept, kept.unread, kept.hasSymbols)
    return known
  }

  /// Lists the folder if something in it changed since its index was made.
  private func verify(_ known: inout Index) {
    guard let kept = known.kept, !known.isVerified else { return }
    if !kept.isCurrent(.whole) { known = list() }
    known.isVerified = true
  }

  private func list() -> Index {
    var known = Index()
    let start = FileIdentity.now
    let listing = TreeListing(path)
    add(listing, of: path, &known)
    known.unread = listing.files
    if store != nil, listing.unreadable.isEmpty, !listing.isCut, let real = realPath(path) {
      var contents = TreeContents(root: path, realRoot: real, start: start)
      (contents.directories, contents.links) = (listing.directories, listing.links)
      (contents.named, contents.folders) = (listing.named, listing.folders)
      known.contents = contents
    }
    return known
  }

  private func add(_ listing: TreeListing, of folder: FilePath, _ known: inout Index) {
    for (path, errno) in listing.unreadable { faults.add(path, .unreadable(errno)) }
    if !listing.unreadable.isEmpty { known.hasUnreadable = true }
    if listing.isCut { faults.add(folder, .tooManyFiles(TreeListing.maximumFiles)) }
    for (id, file) in listing.named { known.files[id, default: []].append(file) }
    for (id, path) in listing.folders { known.folders[id, default: []].append(path) }
    if listing.hasPerfMap { known.hasSymbols = true }
  }

  /// Returns whether an index was kept.
  @discardableResult
  private func readAll(_ known: inout Index) -> Bool {
    for path in known.unreadInFolders { _ = read(path, &known) }
    for path in known.unread {
      if let file = read(path, &known) { known.contents?.files.append(file) } else { known.contents = nil }
    }
    (known.unread, known.unreadInFolders) = ([], [])
    if !known.hasSymbols, !known.hasUnreadable, known.files.isEmpty, known.folders.isEmpty {
      faults.add(path, known.hasPDB ? .onlyPDBs : .noSymbolFiles)
      // An index says nothing of them.
      if known.hasPDB { return false }
    }
    guard let store, var contents = known.contents.take(), contents.isToBeKept(store.thresholds) else { return false }
    contents.hasSymbols = known.hasSymbols
    return TreeIndex.keep(contents, in: store)
  }

  /// Reads the ids of a file. One that can't be read is a fault; nil if it can't even be looked at.
  private func read(_ path: FilePath, _ known: inout Index) -> TreeContents.File? {
    var identity: FileIdentity?
    do {
      let ids: [UUIDBytes]
      var isUnread = false
      do {
        let start = try SymbolInputs.start(of: path, count: SymbolFileIdentity.startLength)
        identity = start.file
        ids = try SymbolFileIdentity(path, start).debugIDs.map(\.uuid)
      } catch is SymbolInputs.SeveralFiles {
        identity = try FileStatus(at: path, followingLink: true).identity
        let files = try SymbolFileIdentity.all(inArchive: path)
        ids = files.known.flatMap(\.debugIDs).map(\.uuid)
        isUnread = files.failure != nil
        if let failure = files.failure { faults.add(path, SymbolRefusal.Reason(failure)) }
      }
      known.hasSymbols = true
      for id in ids { known.files[id, default: []].append(path) }
      return identity.map { TreeContents.File(path: path, identity: $0, ids: ids, isUnread: isUnread) }
    } catch {
      let reason = SymbolRefusal.Reason(error)
      if reason == .pdb { known.hasPDB = true }
      if reason.isUnreadable {
        faults.add(path, reason)
        known.hasUnreadable = true
      }
      let identity = identity ?? hint { try FileStatus(at: path, followingLink: true).identity }
      return identity.map { TreeContents.File(path: path, identity: $0, ids: [], isUnread: reason.isUnreadable) }
    }
  }
}
