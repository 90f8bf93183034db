package import CrashpadBytes
internal import CrashpadFiles
internal import CrashpadSnapshot
internal import SystemPackage

/// Checks a database directory against `DatabaseRules`. It only reads, takes no locks, and may run while programs use
/// the database: faults that last only for a moment are not reported.
package struct DatabaseCheck: Sendable {
  private let database: CrashDatabase
  private let now: Int64
  private let ignored: Set<String>

  /// - Parameters:
  ///   - database: the database to check; any part of it may be missing.
  ///   - now: the time from which ages are computed, in seconds since 1970.
  ///   - ignored: codes of rules that are left out.
  package init(_ database: CrashDatabase, now: Int64, ignoring ignored: Set<String> = []) {
    self.database = database
    self.now = now
    self.ignored = ignored
  }

  package struct Result: Sendable {
    /// The path of each finding is relative to the database, `pending/<uuid>.meta`; for the database itself it is
    /// empty. Bytes of names that are not UTF-8 are shown as `\xNN`.
    package let findings: FindingList
    package let pendingReports: Int
    package let completedReports: Int
    package let pendingDumps: Int
  }

  /// Checks the whole database. An unreadable part is a finding too.
  package func run() -> Result {
    var pass = CheckPass(Examination(database, now: now), ignored)
    pass.checkRoot()
    pass.checkNew()
    let pending = pass.checkReports(.pending, others: [:])
    let completed = pass.checkReports(.completed, others: pending)
    pass.checkAttachments(reports: [pending, completed])
    pass.checkPendingDumps()
    pass.checkRejected()
    return Result(
      findings: pass.findings, pendingReports: pending.count, completedReports: completed.count,
      pendingDumps: pass.pendingDumps)
  }
}

/// One run of `DatabaseCheck`.
struct CheckPass {
  let examination: Examination
  private let ignored: Set<String>
  private(set) var findings = FindingList()
  var pendingDumps = 0
  /// The bits of group and others that may reach entries of the database.
  private(set) var rootSearch: UInt32 = 0

  var database: CrashDatabase { examination.database }
  var now: Int64 { examination.now }

  init(_ examination: Examination, _ ignored: Set<String>) {
    self.examination = examination
    self.ignored = ignored
  }

  mutating func add(_ rule: Rule, _ path: String, expected: Finding.Value? = nil, found: Finding.Value? = nil) {
    guard !ignored.contains(rule.code) else { return }
    findings.append(Finding(rule, path: path, expected: expected, found: found))
  }

  /// Runs `body`; a failure is a finding.
  mutating func reading(_ path: String, _ body: (inout CheckPass) throws(FileFailure) -> Void) {
    do { try body(&self) } catch { add(DatabaseRules.unreadable, path, found: .text(error.errno.description)) }
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

  /// Reports an AppleDouble file without its main file, and any unknown entry.
  mutating func addForeign(_ name: FileName, _ path: String, in folder: Folder) throws(FileFailure) {
    guard let status = try folder.status(name) else { return }
    if status.kind == .regular, let main = name.mainOfAppleDouble {
      if try folder.status(main) == nil { add(DatabaseRules.orphanedAppleDouble, path) }
      return
    }
    add(DatabaseRules.foreignEntry, path, found: Self.kind(status.kind))
  }

  /// Whether a file has other names; if so, reports it.
  @discardableResult
  mutating func checkLinks(_ status: FileStatus, _ path: String) -> Bool {
    guard status.kind == .regular, status.linkCount > 1 else { return false }
    add(DatabaseRules.hardLink, path, expected: .text("1"), found: .text("\(status.linkCount)"))
    return true
  }

  // MARK: Permissions

  /// The bits of group and others that have an effect below a directory with `permissions`, if `above` are those for
  /// the directory itself.
  static func search(_ permissions: UInt32, below above: UInt32 = 0o077) -> UInt32 {
    (permissions & 0o010 == 0 ? 0 : above & 0o070) | (permissions & 0o001 == 0 ? 0 : above & 0o007)
  }

  /// - Parameter search: the effective bits: users that the directories above keep out can do nothing.
  mutating func checkPermissions(_ status: FileStatus, _ path: String, search: UInt32) {
    guard status.kind == .regular || status.kind == .directory else { return }
    let rule: Rule
    switch status.permissions & search {
    case let bits where bits & 0o022 != 0: rule = DatabaseRules.writableByOthers
    case let bits where bits & 0o044 != 0: rule = DatabaseRules.readableByOthers
    default: return
    }
    func octal(_ bits: UInt32) -> Finding.Value { .text("0" + String(bits, radix: 8)) }
    add(rule, path, expected: octal(status.permissions & 0o700), found: octal(status.permissions))
  }

  // MARK: The root

  mutating func checkRoot() {
    reading("") { pass throws(FileFailure) in
      let root = pass.database.root
      let status = try root.status()
      pass.rootSearch = Self.search(status.permissions)
      pass.checkPermissions(status, "", search: 0o077)
      let names = try root.names().sorted()
      for name in DatabaseLayout.directories {
        if try root.status(name) == nil { pass.add(DatabaseRules.missingDirectory, name.text) }
      }
      if try root.status(DatabaseLayout.settings) == nil {
        pass.add(DatabaseRules.settingsMissing, DatabaseLayout.settings.text)
      }
      for name in names {
        pass.reading(name.escaped) { pass throws(FileFailure) in try pass.checkRoot(name) }
      }
    }
  }

  private mutating func checkRoot(_ name: FileName) throws(FileFailure) {
    guard let status = try database.root.status(name) else { return }
    let path = name.escaped
    if name == DatabaseLayout.settings {
      guard status.kind == .regular else { return add(DatabaseRules.notAFile, path, found: Self.kind(status.kind)) }
      checkPermissions(status, path, search: rootSearch)
      return try checkSettings(status)
    }
    if DatabaseLayout.all.contains(name) {
      guard status.kind == .directory else {
        return add(DatabaseRules.notADirectory, path, found: Self.kind(status.kind))
      }
      return checkPermissions(status, path, search: rootSearch)
    }
    if name.hasPrefix(CrashDatabase.damagedSettings.text), status.kind == .regular {
      checkPermissions(status, path, search: rootSearch)
      return add(DatabaseRules.settingsKeptAside, path, found: .byteCount(UInt64(status.size)))
    }
    if let main = name.mainOfAppleDouble, status.kind == .regular {
      if try database.root.status(main) == nil { add(DatabaseRules.orphanedAppleDouble, path) }
      return
    }
    if name == DatabaseLayout.settingsLock { return }
    if name == DatabaseLayout.uploadPauses, status.kind == .regular {
      return checkPermissions(status, path, search: rootSearch)
    }
    add(DatabaseRules.unknownEntry, path, found: Self.kind(status.kind))
  }

  private mutating func checkSettings(_ status: FileStatus) throws(FileFailure) {
    let path = DatabaseLayout.settings.text
    if checkLinks(status, path) { return }
    switch try database.settings(waits: false) {
    case .missing: add(DatabaseRules.settingsMissing, path)
    case .damaged(let damage):
      switch damage {
      case .truncated(let count):
        add(
          DatabaseRules.settingsDamaged, path, expected: .byteCount(UInt64(DatabaseSettings.size)),
          found: .byteCount(UInt64(count)))
      case .badMagic(let magic): add(DatabaseRules.settingsDamaged, path, found: .code(UInt64(magic)))
      case .unknownVersion(let version):
        add(DatabaseRules.settingsDamaged, path, found: .text("version \(version)"))
      }
    case .found(let settings):
      if status.size > DatabaseSettings.size {
        add(
          DatabaseRules.settingsExtraBytes, path,
          found: .byteCount(UInt64(status.size - DatabaseSettings.size)))
      }
      if settings.clientID == .zero { add(DatabaseRules.zeroClientID, path) }
      checkTime(settings.lastUploadAttemptTime, "last upload attempt", path)
    }
  }

  mutating func checkTime(_ time: Int64, _ what: String, _ path: String) {
    if time < 0 {
      add(DatabaseRules.negativeTime, path, found: .text("\(what), \(time) s"))
    } else if examination.isFuture(time) {
      add(DatabaseRules.futureTime, path, found: .text("\(what), in \(Self.span(from: now, to: time))"))
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

  // MARK: new/

  mutating func checkNew() {
    inFolder(DatabaseLayout.new) { pass, folder, name, path, search throws(FileFailure) in
      guard let status = try folder.status(name) else { return }
      guard status.kind == .regular else {
        return pass.add(DatabaseRules.foreignEntry, path, found: Self.kind(status.kind))
      }
      pass.checkPermissions(status, path, search: search)
      if name.hasPrefix(RunFile.prefix), try folder.status(RunFile.runName(of: name)) != nil {
        if try pass.examination.isOfDeadRun(name, in: folder) { pass.add(DatabaseRules.deadRun, path) }
        return
      }
      let isStale = LockExpiry.isExpired(since: status.modified, now: pass.now)
      pass.add(
        isStale ? DatabaseRules.staleReport : DatabaseRules.unfinishedReport, path,
        found: .byteCount(UInt64(status.size)))
    }
  }

  // MARK: Directories

  /// Calls `body` for all names in a directory of the database, sorted, if there is such a directory.
  mutating func inFolder(
    _ folderName: FileName,
    _ body: (inout CheckPass, Folder, FileName, _ path: String, _ search: UInt32) throws(FileFailure) -> Void
  ) {
    reading(folderName.text) { pass throws(FileFailure) in
      guard let folder = try pass.openFolder(folderName) else { return }
      let search = Self.search(try folder.status().permissions, below: pass.rootSearch)
      for name in try folder.names().sorted() {
        let path = folderName.text + "/" + name.escaped
        pass.reading(path) { pass throws(FileFailure) in try body(&pass, folder, name, path, search) }
      }
    }
  }

  /// Returns nil if there is no such directory; another entry with that name is reported elsewhere.
  func openFolder(_ name: FileName) throws(FileFailure) -> Folder? {
    guard try database.root.status(name)?.kind == .directory else { return nil }
    return try database.folder(name)
  }
}
