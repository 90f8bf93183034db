import CrashpadDatabase
import CrashpadFiles
import CrashpadJSON
import CrashpadSnapshot
import SystemPackage

/// Writes reports as JSON, for `list` and `show`.
struct ReportJSON {
  let database: CrashDatabase
  private var dates = Dates()

  init(database: CrashDatabase) { self.database = database }

  mutating func write(_ report: Report, _ lock: LockState?, to json: inout JSONWriter) {
    let metadata = report.metadata.value
    json.open("{")
    json.member("id", report.id.text)
    json.member("state", report.state.rawValue)
    json.member("path", path: database.path(of: report))
    json.member("size", report.size)
    json.member("total_size", report.totalSize)
    json.member("created", dates.rfc3339(report.creationTime))
    json.optional("uploaded", metadata?.isUploaded)
    json.optional("upload_requested", metadata?.isUploadExplicitlyRequested)
    json.member("upload_attempts", metadata?.uploadAttempts)
    json.member("last_upload_attempt", metadata?.lastUploadAttemptTime.flatMap { dates.rfc3339($0) })
    let serverID = metadata?.serverID ?? []
    json.member("server_id", serverID.isEmpty ? nil : String(decoding: serverID, as: UTF8.self))
    json.member("metadata", DatabaseSentences.word(report.metadata))
    if case .damaged(let damage) = report.metadata { json.member("damage", damage.description) }
    json.key("attachments")
    json.open("[")
    for attachment in report.attachments {
      json.open("{")
      json.member("name", attachment.name.text)
      json.member("size", attachment.size)
      json.close("}")
    }
    json.close("]")
    json.key("lock")
    write(lock, to: &json)
    json.close("}")
  }

  private mutating func write(_ lock: LockState?, to json: inout JSONWriter) {
    guard let lock else {
      json.null()
      return
    }
    json.open("{")
    json.member("owner", DatabaseSentences.word(lock))
    let since: Int64? =
      switch lock {
      case .held(let since): since
      case .unknown(let since): since
      case .abandoned: nil
      }
    json.member("since", since.flatMap { dates.rfc3339($0) })
    json.close("}")
  }
}

extension JSONWriter {
  mutating func optional(_ key: String, _ value: Bool?) {
    self.key(key)
    if let value { bool(value) } else { null() }
  }
}
