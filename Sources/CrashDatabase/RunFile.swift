internal import FileSystem
internal import SystemPackage

/// The file of one run in `new/`: `.crashpadctl-<number>`. For as long as the run lives it holds the file's
/// open-file-description lock.
///
/// The locks that the run takes are hard links of this file, so a lock appears with content, mark and living owner in one
/// call. What the run writes in between is named after it, `.crashpadctl-<number>-<n>`; whoever comes later and finds that
/// the run is dead takes all of that away. Crashpad removes such files from `new/` after three days.
final class RunFile: Sendable {
  static let prefix = ".crashpadctl-"

  let name: FileName
  let file: OpenFile
  let content: LockContent
  private let folder: Folder

  private init(name: FileName, file: OpenFile, content: LockContent, folder: Folder) {
    self.name = name
    self.file = file
    self.content = content
    self.folder = folder
  }

  /// Makes the file of a new run in `folder`, the database's `new/`.
  static func make(in folder: Folder, now: Int64) throws(FileFailure) -> RunFile {
    while true {
      let name = FileName.numbered(prefix, UInt64.random(in: .min ... .max))
      let file: OpenFile
      do { file = try folder.open(name, .create) } catch {
        if error.errno == .fileExists { continue }
        throw error
      }
      let taking = file.takeOwnership()
      let content = LockContent(time: now, isMarked: taking == .taken)
      do {
        // Whoever cleans up may have come between the two calls and taken it for a dead run's.
        guard taking != .busy, try file.status().linkCount > 0 else { continue }
        try file.write(content.bytes)
      } catch {
        _ = try? folder.remove(name)
        throw error
      }
      return RunFile(name: name, file: file, content: content, folder: folder)
    }
  }

  /// Another file of this run.
  func temporaryName(_ number: Int) -> FileName { name.appending("-\(number)") }

  func remove() { _ = try? folder.remove(name) }

  /// A run that died.
  struct Abandoned {
    /// All files of it: journals first, its own last.
    let names: [FileName]
    var journals: [FileName] { names.filter { $0.hasSuffix(PublicationJournal.suffix) } }
    /// Open until the files are removed: of a run that was just about to begin, this is what tells it to begin anew.
    fileprivate let file: OpenFile
  }

  /// The dead runs that left something in `folder`.
  static func abandoned(in folder: Folder) throws(FileFailure) -> [Abandoned] {
    var runs: [FileName: [FileName]] = [:]
    for name in try folder.names() where name.hasPrefix(prefix) { runs[runName(of: name), default: []].append(name) }
    var abandoned: [Abandoned] = []
    for (run, names) in runs {
      let others = names.filter { $0 != run }
      // Where a run's own file is gone, somebody removed it: the run may live. What it left waits for its third day.
      guard let file = try? folder.openIfPresent(run, .readAndWrite), try isDead(file) else { continue }
      let isJournal = { (name: FileName) in name.hasSuffix(PublicationJournal.suffix) }
      let ordered = others.filter(isJournal) + others.filter { !isJournal($0) } + [run]
      abandoned.append(Abandoned(names: ordered, file: file))
    }
    return abandoned
  }

  /// The locks of a run are links of its file. So a file with the mark is not taken to find out, or the locks would look held
  /// by a program that lives. Without the mark the run may just be about to take it, and has no locks: then one gets it.
  private static func isDead(_ file: OpenFile) throws(FileFailure) -> Bool {
    if LockContent(try file.prefix(LockContent.maximumSize))?.isMarked == true { return file.ownership() == .free }
    return file.takeOwnership() == .taken
  }

  /// Takes away what a dead run left. What cannot be removed stays: it is in nobody's way.
  static func remove(_ run: Abandoned, in folder: Folder) {
    defer { withExtendedLifetime(run.file) {} }
    for name in run.names { _ = try? folder.remove(name) }
  }

  /// `.crashpadctl-<number>` of `.crashpadctl-<number>-<n>`.
  static func runName(of name: FileName) -> FileName {
    let rest = name.bytes.dropFirst(prefix.utf8.count)
    guard let hyphen = rest.firstIndex(of: UInt8(ascii: "-")) else { return name }
    return FileName(bytes: Array(name.bytes[..<hyphen])) ?? name
  }
}

extension FileName {
  fileprivate static func numbered(_ prefix: String, _ number: UInt64) -> FileName {
    guard let name = FileName(prefix + String(number, radix: 36)) else { preconditionFailure("digits have no slash") }
    return name
  }
}
