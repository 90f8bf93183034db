internal import CrashpadFiles
internal import CrashpadSnapshot
internal import SystemPackage

/// Searches a database for leftovers; see `Leftover`. Considers only names that a database uses.
struct LeftoverSearch {
  private let database: CrashDatabase
  private let rules: CleaningRules
  private let now: Int64
  private(set) var leftovers = Leftovers()

  init(_ database: CrashDatabase, _ rules: CleaningRules, now: Int64) {
    self.database = database
    self.rules = rules
    self.now = now
  }

  mutating func run() {
    attempt { search throws(FileFailure) in try search.searchNew() }
    // Locks first: they precede in the removal the entries that they protect.
    for state in ReportState.allCases { attempt { search throws(FileFailure) in try search.searchLocks(state) } }
    for state in ReportState.allCases { attempt { search throws(FileFailure) in try search.searchReports(state) } }
    attempt { search throws(FileFailure) in try search.searchAttachments() }
    attempt { search throws(FileFailure) in try search.searchSettingsLock() }
    attempt { search throws(FileFailure) in try search.searchRejected() }
  }

  /// Records a failure, and goes on with the search.
  private mutating func attempt(_ body: (inout LeftoverSearch) throws(FileFailure) -> Void) {
    do { try body(&self) } catch { leftovers.failures.append(error) }
  }

  private mutating func add(_ kind: Leftover.Kind, _ folder: FileName?, _ name: FileName, size: UInt64, since: Int64) {
    leftovers.found.append(Leftover(kind: kind, folder: folder, name: name, size: size, since: since))
  }

  // MARK: new/

  private mutating func searchNew() throws(FileFailure) {
    guard let folder = try database.folder(DatabaseLayout.new) else { return }
    var owners: [FileName: OpenFile.Ownership?] = [:]
    for name in try folder.names().sorted() {
      attempt { search throws(FileFailure) in
        guard let status = try folder.status(name), status.kind != .directory else { return }
        let size = UInt64(clamping: status.size)
        if name.hasPrefix(RunFile.prefix) {
          let run = RunFile.runName(of: name)
          var owner = owners[run] ?? Self.owner(of: run, in: folder)
          owners[run] = owner
          // The file of a live session may have been removed; but the session holds the files that it writes.
          if owner == .unknown, name != run, Self.owner(of: name, in: folder) == .owned { owner = .owned }
          switch owner {
          case nil, .owned: return
          case .free: return search.add(.endedRun, DatabaseLayout.new, name, size: size, since: status.modified)
          case .unknown: break
          }
        }
        guard search.rules.isOld(status.modified, now: search.now) else { return }
        search.add(.newFile, DatabaseLayout.new, name, size: size, since: status.modified)
      }
    }
  }

  /// Returns nil if the session's file can't be opened: then the session may live.
  private static func owner(of run: FileName, in folder: Folder) -> OpenFile.Ownership? {
    do {
      guard let file = try folder.openIfPresent(run) else { return .unknown }
      return file.ownership()
    } catch { return nil }
  }

  // MARK: pending/ and completed/

  private mutating func searchLocks(_ state: ReportState) throws(FileFailure) {
    guard let folder = try database.folder(state.folderName) else { return }
    for name in try folder.names().sorted() where name.hasSuffix(DatabaseLayout.lockExtension) {
      attempt { search throws(FileFailure) in
        guard name.stem.uuid != nil, let status = try folder.status(name), status.kind == .regular,
          let lock = try LockFile.state(name, in: folder), search.isFree(lock)
        else { return }
        let size = UInt64(clamping: status.size)
        switch lock {
        case .unknown(let since): search.add(.expiredLock, state.folderName, name, size: size, since: since)
        default: search.add(.abandonedLock, state.folderName, name, size: size, since: status.modified)
        }
      }
    }
  }

  private mutating func searchReports(_ state: ReportState) throws(FileFailure) {
    guard let folder = try database.folder(state.folderName) else { return }
    let names = try folder.names()
    let present = Set(names)
    for name in names.sorted() {
      attempt { search throws(FileFailure) in
        guard let id = name.stem.uuid else { return }
        if name.hasSuffix(DatabaseLayout.reportExtension) {
          guard !present.contains(name.stem.appending(DatabaseLayout.metadataExtension)),
            let report = try search.reportWithoutMetadata(name, state, folder), try search.isFree(id, in: folder)
          else { return }
          search.add(
            .reportWithoutMetadata, state.folderName, name, size: report.storedSize, since: report.modified)
        } else if name.hasSuffix(DatabaseLayout.metadataExtension) {
          guard !present.contains(name.stem.appending(DatabaseLayout.reportExtension)),
            let status = try folder.status(name), status.kind == .regular, try search.isFree(id, in: folder)
          else { return }
          search.add(
            .metadataWithoutReport, state.folderName, name, size: UInt64(clamping: status.size), since: status.modified)
        }
      }
    }
  }

  /// The report `name`, if it is old and has no metadata, not even damaged ones.
  func reportWithoutMetadata(_ name: FileName, _ state: ReportState, _ folder: Folder) throws(FileFailure) -> Report? {
    guard try folder.status(name.stem.appending(DatabaseLayout.metadataExtension)) == nil,
      let status = try folder.status(name), rules.isOld(status.modified, now: now),
      try !AttributeMetadata.hasTraces(name, in: folder)
    else { return nil }
    return try ReportReader(state, folder, attachments: nil, root: database.root).read(name)
  }

  /// Whether a lock is dead, or will be removed as expired.
  private func isFree(_ lock: LockState?) -> Bool {
    switch lock {
    case nil, .abandoned: true
    case .held: false
    case .unknown(let since): LockExpiry.isExpired(since: since, now: now, timeToLive: rules.timeToLive)
    }
  }

  private func isFree(_ id: UUIDBytes, in folder: Folder) throws(FileFailure) -> Bool {
    isFree(try LockFile.state(DatabaseLayout.lock(id), in: folder))
  }

  // MARK: attachments/

  private mutating func searchAttachments() throws(FileFailure) {
    guard let folder = try database.folder(DatabaseLayout.attachments) else { return }
    let names = try folder.names().sorted()
    var reports: Set<UUIDBytes> = []
    for place in Self.places {
      for name in try database.folder(place)?.names() ?? [] where name.hasSuffix(DatabaseLayout.reportExtension) {
        if let id = name.stem.uuid { reports.insert(id) }
      }
    }
    for name in names {
      attempt { search throws(FileFailure) in
        guard let id = name.uuid, !reports.contains(id), let status = try folder.status(name),
          status.kind == .directory, try !search.hasReport(id, name)
        else { return }
        for state in ReportState.allCases {
          guard let reports = try search.database.folder(state.folderName) else { continue }
          if try !search.isFree(id, in: reports) { return }
        }
        let attachments = try folder.folder(name)
        var size: UInt64 = 0
        for file in try attachments.names() {
          guard let status = try attachments.status(file), status.kind == .regular else { continue }
          size = size.saturatingSum(UInt64(clamping: status.size))
        }
        search.add(.attachmentsWithoutReport, DatabaseLayout.attachments, name, size: size, since: status.modified)
      }
    }
  }

  /// The directories of reports, in the order in which reports move through them; and once more `pending/`, to which
  /// they return when their upload is requested. A search in this order misses no report that moves meanwhile.
  private static let places = [
    DatabaseLayout.new, DatabaseLayout.pending, DatabaseLayout.completed, DatabaseLayout.pending,
  ]

  /// Whether there is a report with this id, or with this exact name.
  func hasReport(_ id: UUIDBytes, _ stem: FileName) throws(FileFailure) -> Bool {
    for place in Self.places {
      guard let folder = try database.folder(place) else { continue }
      if try folder.status(DatabaseLayout.report(id)) != nil { return true }
      if try folder.status(stem.appending(DatabaseLayout.reportExtension)) != nil { return true }
    }
    return false
  }

  // MARK: Others

  private mutating func searchSettingsLock() throws(FileFailure) {
    let name = DatabaseLayout.settingsLock
    guard let status = try database.root.status(name), status.kind == .regular,
      let lock = try LockFile.state(name, in: database.root), isFree(lock)
    else { return }
    let since: Int64 = if case .unknown(let since) = lock { since } else { status.modified }
    add(.settingsLock, nil, name, size: UInt64(clamping: status.size), since: since)
  }

  /// All dumps in `rejected/`, of any age.
  static func rejectedDumps(of database: CrashDatabase) -> Leftovers {
    var search = LeftoverSearch(database, .everyRejectedDump, now: .max)
    search.attempt { search throws(FileFailure) in try search.searchRejected() }
    return search.leftovers
  }

  private mutating func searchRejected() throws(FileFailure) {
    guard rules.rejectedAge != nil, let folder = try database.folder(DatabaseLayout.rejected) else { return }
    let names = try folder.names().sorted()
    let present = Set(names)
    for name in names where !name.hasPrefix(".") {
      // A reason is removed with its dump; without one it is treated like a dump.
      if let dump = name.removing(suffix: DatabaseLayout.reasonExtension), present.contains(dump),
        !present.contains(name.appending(DatabaseLayout.reasonExtension))
      {
        continue
      }
      attempt { search throws(FileFailure) in
        guard let rejected = try Self.rejected(name, in: folder),
          search.rules.isRejectedLongAgo(rejected.since, now: search.now)
        else { return }
        search.add(.rejectedDump, DatabaseLayout.rejected, name, size: rejected.size, since: rejected.since)
      }
    }
  }

  /// A rejected dump, with its reason if there is one. The dump's own time is that of the crash; the reason's time is
  /// that of the rejection. Nil if it is not a file.
  static func rejected(_ name: FileName, in folder: Folder) throws(FileFailure) -> (
    size: UInt64, since: Int64, reason: FileName?
  )? {
    guard let dump = try folder.status(name), dump.kind == .regular else { return nil }
    let size = UInt64(clamping: dump.size)
    let reasonName = name.appending(DatabaseLayout.reasonExtension)
    // The name may be too long for the extension of a reason.
    guard reasonName.bytes.count <= 255, let reason = try folder.status(reasonName), reason.kind == .regular else {
      return (size, dump.modified, nil)
    }
    return (size.saturatingSum(UInt64(clamping: reason.size)), max(dump.modified, reason.modified), reasonName)
  }
}

extension AttributeMetadata {
  /// Whether a report has an attribute of Crashpad's, even if that is not enough for metadata.
  fileprivate static func hasTraces(_ name: FileName, in folder: Folder) throws(FileFailure) -> Bool {
    let members = ["uuid", "creation_time"]
    if let file = try folder.openIfPresent(name) {
      for key in generations.flatMap({ generation in members.map { generation + $0 } })
      where file.attribute("user." + key) != nil || file.attribute(key) != nil { return true }
    }
    // An unreadable AppleDouble file may contain some: then this throws.
    guard let side = try folder.openIfPresent(name.appleDouble) else { return false }
    let attributes = AppleDouble.attributes(in: try side.prefix(maximumSize))
    return attributes.keys.contains { key in generations.contains { key.hasPrefix($0) } }
  }
}
