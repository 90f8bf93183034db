// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles
internal import CrashpadSnapshot
internal import SystemPackage

/// Finds the faults of a database: each entry that breaks one of `DatabaseRules`. It only reads, and takes no locks.
struct FaultFinder {
  let probe: DatabaseProbe
  /// The bits of group and others that may reach entries of the database.
  private let rootSearch: UInt32
  private let report: (Fault) -> Void

  var database: CrashDatabase { probe.database }
  var now: Int64 { probe.now }

  /// - Parameter report: called with each fault, in order.
  init(_ probe: DatabaseProbe, _ report: @escaping (Fault) -> Void) {
    self.probe = probe
    self.report = report
    do { rootSearch = Self.search(try probe.database.root.status().permissions) } catch {
      rootSearch = 0
      report(Self.unreadable([], in: probe.database.root.path, error))
    }
  }

  /// - Parameter place: what was examined, such as a report: one of its files may have failed, or its lock in another directory.
  private static func unreadable(_ place: [FileName], in root: FilePath, _ failure: FileFailure) -> Fault {
    Fault(
      rule: DatabaseRules.unreadable, place: self.place(of: failure.path, in: root) ?? place,
      found: .text(failure.errno.description), failure: failure)
  }

  /// The names that lead from the database to a path; nil if it is elsewhere.
  private static func place(of path: FilePath, in root: FilePath) -> [FileName]? {
    var (place, rest): ([FileName], FilePath) = ([], path)
    while rest != root {
      guard let name = FileName(bytes: rest.lastBytes), rest.removeLastComponent() else { return nil }
      place.insert(name, at: 0)
    }
    return place
  }

  /// Finds the faults of the whole database.
  ///
  /// - Returns: the number of reports and dumps.
  @discardableResult
  func findAll() -> (pending: Int, completed: Int, dumps: Int) {
    findRoot()
    findNew()
    let pending = findReports(.pending, others: NameList())
    let completed = findReports(.completed, others: pending)
    findAttachments()
    let dumps = findPendingDumps()
    findRejected()
    return (pending.idCount, completed.idCount, dumps)
  }

  func add(_ fault: Fault) { report(fault) }

  func add(_ rule: Rule, _ place: [FileName], expected: Finding.Value? = nil, found: Finding.Value? = nil) {
    report(Fault(rule: rule, place: place, expected: expected, found: found))
  }

  /// Runs `body`; a failure is a fault.
  func reading(_ place: [FileName], _ body: () throws(FileFailure) -> Void) {
    do { try body() } catch { report(Self.unreadable(place, in: database.root.path, error)) }
  }

  /// The kind of an entry that is not a regular file.
  static func kind(_ kind: FileStatus.Kind) -> Finding.Value {
    switch kind {
    case .regular: .text("a file")
    case .directory: .text("a directory")
    case .symbolicLink: .text("a symbolic link")
    case .other: .text("a FIFO, socket or device")
    }
  }

  /// Adds an AppleDouble file without its main file, and any unknown entry.
  func addForeign(_ place: [FileName], in folder: Folder, as rule: Rule = DatabaseRules.foreignEntry)
    throws(FileFailure)
  {
    guard let name = place.last, let status = try folder.status(name) else { return }
    if status.kind == .regular, let main = name.mainOfAppleDouble {
      if try folder.status(main) == nil { add(DatabaseRules.orphanedAppleDouble, place) }
      return
    }
    add(rule, place, found: Self.kind(status.kind))
  }

  /// Whether a file has other names; if so, adds that.
  @discardableResult
  func checkLinks(_ status: FileStatus, _ place: [FileName]) -> Bool {
    guard status.kind == .regular, status.linkCount > 1 else { return false }
    add(DatabaseRules.hardLink, place, expected: .text("1"), found: .text("\(status.linkCount)"))
    return true
  }

  // MARK: Permissions

  /// The bits of group and others that have an effect below a directory with `permissions`, if `above` are those for
  /// the directory itself.
  static func search(_ permissions: UInt32, below above: UInt32 = 0o077) -> UInt32 {
    (permissions & 0o010 == 0 ? 0 : above & 0o070) | (permissions & 0o001 == 0 ? 0 : above & 0o007)
  }

  /// - Parameter search: the effective bits: users that the directories above keep out can do nothing.
  func checkPermissions(_ status: FileStatus, _ place: [FileName], search: UInt32) {
    guard status.kind == .regular || status.kind == .directory else { return }
    let rule: Rule
    switch status.permissions & search {
    case let bits where bits & 0o022 != 0: rule = DatabaseRules.writableByOthers
    case let bits where bits & 0o044 != 0: rule = DatabaseRules.readableByOthers
    default: return
    }
    func octal(_ bits: UInt32) -> Finding.Value { .text("0" + String(bits, radix: 8)) }
    add(rule, place, expected: octal(status.permissions & 0o700), found: octal(status.permissions))
  }

  // MARK: The root

  func findRoot() {
    reading([]) { () throws(FileFailure) in
      let root = database.root
      checkPermissions(try root.status(), [], search: 0o077)
      let names = try root.names().sorted()
      for name in DatabaseLayout.directories {
        if try root.status(name) == nil { add(DatabaseRules.missingDirectory, [name]) }
      }
      if try root.status(DatabaseLayout.settings) == nil {
        add(DatabaseRules.settingsMissing, [DatabaseLayout.settings])
      }
      for name in names { reading([name]) { () throws(FileFailure) in try checkRoot(name) } }
    }
  }

  private func checkRoot(_ name: FileName) throws(FileFailure) {
    guard let status = try database.root.status(name), name != DatabaseLayout.settingsLock else { return }
    if name == DatabaseLayout.settings {
      guard status.kind == .regular else { return add(DatabaseRules.notAFile, [name], found: Self.kind(status.kind)) }
      checkPermissions(status, [name], search: rootSearch)
      return try checkSettings(status, [name])
    }
    if DatabaseLayout.all.contains(name) {
      guard status.kind == .directory else {
        return add(DatabaseRules.notADirectory, [name], found: Self.kind(status.kind))
      }
      return checkPermissions(status, [name], search: rootSearch)
    }
    if name.hasPrefix(CrashDatabase.damagedSettings.text), status.kind == .regular {
      checkPermissions(status, [name], search: rootSearch)
      return add(DatabaseRules.settingsKeptAside, [name], found: .byteCount(UInt64(status.size)))
    }
    if name == DatabaseLayout.uploadPauses {
      guard status.kind == .regular else { return add(DatabaseRules.notAFile, [name], found: Self.kind(status.kind)) }
      if checkLinks(status, [name]) { return }
      return checkPermissions(status, [name], search: rootSearch)
    }
    try addForeign([name], in: database.root, as: DatabaseRules.unknownEntry)
  }

  private func checkSettings(_ status: FileStatus, _ place: [FileName]) throws(FileFailure) {
    if checkLinks(status, place) { return }
    switch try database.settings(waits: false) {
    case .missing: add(DatabaseRules.settingsMissing, place)
    case .damaged(.truncated(let count)):
      add(
        DatabaseRules.settingsDamaged, place, expected: .byteCount(UInt64(DatabaseSettings.size)),
        found: .byteCount(UInt64(count)))
    case .damaged(.badMagic(let magic)): add(DatabaseRules.settingsDamaged, place, found: .code(UInt64(magic)))
    case .damaged(.unknownVersion(let version)):
      add(DatabaseRules.settingsDamaged, place, found: .text("version \(version)"))
    case .found(let settings):
      if status.size > DatabaseSettings.size {
        let count = UInt64(status.size - DatabaseSettings.size)
        add(DatabaseRules.settingsExtraBytes, place, found: .byteCount(count))
      }
      if settings.clientID == .zero { add(DatabaseRules.zeroClientID, place) }
      checkTime(settings.lastUploadAttemptTime, "last upload attempt", place)
    }
  }

  func checkTime(_ time: Int64?, _ what: String, _ place: [FileName]) {
    guard let time else { return }
    if time < 0 {
      add(DatabaseRules.negativeTime, place, found: .text("\(what), \(time) s"))
    } else if probe.isFuture(time) {
      add(DatabaseRules.futureTime, place, found: .text("\(what), in \(Self.span(from: now, to: time))"))
    }
  }

  /// The duration in its largest unit: "45 s", "12 min", "5 h", "3 d". Damaged files may contain any times.
  static func span(from start: Int64, to end: Int64) -> String {
    let (seconds, overflow) = end.subtractingReportingOverflow(start)
    switch overflow ? Int64.max : seconds {
    case ..<60: return "\(seconds) s"
    case ..<3600: return "\(seconds / 60) min"
    case ..<86400: return "\(seconds / 3600) h"
    case .max: return "more seconds than can be counted"
    default: return "\(seconds / 86400) d"
    }
  }

  // MARK: Directories

  /// Calls `body` for all names in a directory of the database, sorted, if there is such a directory.
  func inFolder(
    _ folderName: FileName,
    _ body: (Folder, FileName, _ place: [FileName], _ search: UInt32) throws(FileFailure) -> Void
  ) {
    reading([folderName]) { () throws(FileFailure) in
      guard let (folder, search) = try openFolder(folderName) else { return }
      for name in try NameList(folder) {
        let place = [folderName, name]
        reading(place) { () throws(FileFailure) in try body(folder, name, place, search) }
      }
    }
  }

  /// Returns nil if there is no such directory; another entry with that name is a fault of the root.
  func openFolder(_ name: FileName) throws(FileFailure) -> (Folder, search: UInt32)? {
    guard try database.root.status(name)?.kind == .directory, let folder = try database.folder(name) else { return nil }
    return (folder, Self.search(try folder.status().permissions, below: rootSearch))
  }
}
