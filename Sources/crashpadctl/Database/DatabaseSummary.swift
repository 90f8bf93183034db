import CrashpadDatabase
import CrashpadFiles
import CrashpadJSON
import CrashpadSnapshot
import SystemPackage

/// The data printed by `database info`.
struct DatabaseSummary {
  struct Count {
    var count = 0
    var bytes = 0

    mutating func add(_ size: Int) {
      count += 1
      bytes += size
    }

    /// Such as "3, 1.2 MiB".
    var text: String {
      count == 0 ? "none" : "\(grouped(count)), \(Wording.size(UInt64(bytes)))"
    }
  }

  struct Reports {
    var files = Count()
    var uploaded = 0
    var requested = 0
    var withoutMetadata = 0
    var locked = 0
  }

  let database: CrashDatabase
  let now: Int64
  let settings: DatabaseSettings.State
  private(set) var reports: [ReportState: Reports] = [:]
  private(set) var attachments = Count()
  private(set) var oldest: Int64?
  private(set) var newest: Int64?
  /// Pending dumps: those that wait, those that are locked, and the locked ones held by a running program.
  private(set) var waitingDumps = Count()
  private(set) var lockedDumps = Count()
  private(set) var heldDumps = Count()
  private(set) var rejected = Count()
  private(set) var newFiles = Count()
  private(set) var newFilesInUse = Count()
  private(set) var failures: [FileFailure] = []

  init(_ database: CrashDatabase, now: Int64) throws(FileFailure) {
    self.database = database
    self.now = now
    settings = try database.settings()
    for state in ReportState.allCases { add(try database.listing(of: state), state) }
    let pending = try database.pendingDumps()
    failures += pending.failures
    for dump in pending.dumps {
      if !dump.isLocked { waitingDumps.add(dump.size) } else { lockedDumps.add(dump.size) }
      if dump.isOwned { heldDumps.add(dump.size) }
    }
    for file in try database.rejectedDumps() { rejected.add(file.size) }
    for file in try database.newFiles() {
      if file.isInUse { newFilesInUse.add(file.size) } else { newFiles.add(file.size) }
    }
  }

  private mutating func add(_ listing: ReportListing, _ state: ReportState) {
    var reports = Reports()
    failures += listing.failures
    reports.locked = listing.lockedIDs.count
    for report in listing.reports {
      reports.files.add(report.size)
      for attachment in report.attachments { attachments.add(attachment.size) }
      guard let metadata = report.metadata.value else {
        reports.withoutMetadata += 1
        continue
      }
      if metadata.isUploaded { reports.uploaded += 1 }
      if metadata.isUploadExplicitlyRequested { reports.requested += 1 }
      oldest = min(oldest ?? .max, metadata.creationTime)
      newest = max(newest ?? .min, metadata.creationTime)
    }
    self.reports[state] = reports
  }

  // MARK: Text

  var text: String {
    var lines: [(name: String, value: String)] = [("Database", Wording.printable(database.path))]
    switch settings {
    case .found(let settings): lines += DatabaseSettingsCommand.lines(settings)
    case .missing: lines.append(("Settings", "none yet"))
    case .damaged: lines.append(("Settings", "damaged"))
    }
    for state in ReportState.allCases {
      lines.append(("\(state == .pending ? "Pending" : "Completed") reports", text(reports[state] ?? Reports())))
    }
    if let newest, let oldest {
      lines.append(("Newest report", DatabaseSentences.date(newest, now: now)))
      lines.append(("Oldest report", DatabaseSentences.date(oldest, now: now)))
    }
    lines.append(("Attachments", attachments.text))
    lines.append(("Pending dumps", waitingDumps.text))
    if lockedDumps.count > 0 {
      let held = heldDumps.count > 0 ? "; \(grouped(heldDumps.count)) held by a running program" : ""
      lines.append(("Locked dumps", lockedDumps.text + held))
    }
    if rejected.count > 0 { lines.append(("Rejected dumps", rejected.text)) }
    if newFilesInUse.count > 0 { lines.append(("Being written", newFilesInUse.text)) }
    if newFiles.count > 0 { lines.append(("Left in new/", newFiles.text)) }
    return ReportText.text(lines)
  }

  private func text(_ reports: Reports) -> String {
    var parts = [reports.files.text]
    if reports.uploaded > 0 { parts.append("\(grouped(reports.uploaded)) uploaded") }
    if reports.requested > 0 { parts.append("\(grouped(reports.requested)) requested for upload") }
    if reports.locked > 0 { parts.append(Wording.count(reports.locked, "lock file")) }
    if reports.withoutMetadata > 0 { parts.append("\(grouped(reports.withoutMetadata)) without good metadata") }
    return parts.joined(separator: "; ")
  }

  // MARK: JSON

  func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("schema", "crashpadctl-database-info/1")
      json.member("database", path: database.path)
      DatabaseSettingsCommand.writeMembers(settings, to: &json)
      for state in ReportState.allCases {
        let reports = reports[state] ?? Reports()
        json.object(state.rawValue) { json in
          json.member("count", reports.files.count)
          json.member("size", reports.files.bytes)
          json.member("uploaded", reports.uploaded)
          json.member("upload_requested", reports.requested)
          json.member("without_metadata", reports.withoutMetadata)
          json.member("lock_files", reports.locked)
        }
      }
      json.member("newest", newest.flatMap { Wording.rfc3339(Timestamp(seconds: $0)) })
      json.member("oldest", oldest.flatMap { Wording.rfc3339(Timestamp(seconds: $0)) })
      Self.write("attachments", attachments, to: &json)
      json.object("pending_dumps") { json in
        Self.write("waiting", waitingDumps, to: &json)
        Self.write("locked", lockedDumps, to: &json)
        Self.write("held", heldDumps, to: &json)
      }
      Self.write("rejected_dumps", rejected, to: &json)
      Self.write("being_written", newFilesInUse, to: &json)
      Self.write("left_in_new", newFiles, to: &json)
    }
  }

  private static func write(_ key: String, _ count: Count, to json: inout JSONWriter) {
    json.object(key) { json in
      json.member("count", count.count)
      json.member("size", count.bytes)
    }
  }
}
