// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadDatabase
import CrashpadSnapshot
import CrashpadText

/// The columns of a report list.
enum ReportColumn: String, CaseIterable {
  case id
  case state
  case created
  case age
  case size
  case totalSize = "total-size"
  case attachments
  case upload
  case uploaded
  case requested
  case attempts
  case lastAttempt = "last-attempt"
  case serverID = "server-id"
  case metadata
  case lock
  case path

  /// The default columns for text.
  static let usual: [ReportColumn] = [.id, .state, .created, .age, .size, .upload]

  /// The default columns for programs: those that do not depend on the clock, without duplicates.
  static let raw: [ReportColumn] = allCases.filter { $0 != .age && $0 != .upload }

  var title: String {
    switch self {
    case .created, .lastAttempt: "\(rawValue) (UTC)"
    default: rawValue
    }
  }

  var isNumber: Bool {
    switch self {
    case .age, .size, .totalSize, .attachments, .attempts: true
    default: false
    }
  }
}

/// A list of columns, such as `id,size,created`.
struct ColumnList: ExpressibleByArgument {
  let columns: [ReportColumn]

  init?(argument: String) {
    let names = argument.split(separator: ",", omittingEmptySubsequences: false)
    columns = names.compactMap { ReportColumn(rawValue: String($0)) }
    guard columns.count == names.count else { return nil }
  }

  /// Completes the next column after those already typed.
  static let completion = CompletionKind.custom { _, _, prefix in
    let typed = prefix.lastIndex(of: ",").map { prefix[...$0] } ?? ""
    return ReportColumn.allCases.map { typed + $0.rawValue }
  }

  static let names = ReportColumn.allCases.map(\.rawValue).joined(separator: ", ")
}

/// Writes the cells of one report.
struct ReportCells {
  let database: CrashDatabase
  let now: Int64
  private let dates = Dates()

  init(database: CrashDatabase, now: Int64) {
    self.database = database
    self.now = now
  }

  /// Appends the value as text for people; nothing if there is no value.
  func appendText(_ column: ReportColumn, _ report: Report, _ lock: LockState?, to bytes: inout [UInt8]) {
    let metadata = report.metadata.value
    switch column {
    case .created: dates.append(report.creationTime, to: &bytes)
    case .age:
      let (age, overflow) = now.subtractingReportingOverflow(report.creationTime)
      if !overflow { bytes.append(contentsOf: TextFormat.age(age).utf8) }
    case .size: bytes.append(contentsOf: TextFormat.size(UInt64(report.size)).utf8)
    case .totalSize: bytes.append(contentsOf: TextFormat.size(UInt64(report.totalSize)).utf8)
    case .upload: bytes.append(contentsOf: DatabaseSentences.upload(metadata).utf8)
    case .uploaded: if let metadata { bytes.append(contentsOf: (metadata.isUploaded ? "yes" : "no").utf8) }
    case .requested:
      if let metadata { bytes.append(contentsOf: (metadata.isUploadExplicitlyRequested ? "yes" : "no").utf8) }
    case .lastAttempt:
      guard let metadata else { return }
      if let time = metadata.lastUploadAttemptTime {
        dates.append(time, to: &bytes)
      } else {
        bytes.append(contentsOf: "never".utf8)
      }
    default: appendRaw(column, report, lock, to: &bytes)
    }
  }

  /// Appends the value for programs: bytes, RFC 3339, `true` and `false`; nothing if there is no value.
  func appendRaw(_ column: ReportColumn, _ report: Report, _ lock: LockState?, to bytes: inout [UInt8]) {
    let metadata = report.metadata.value
    switch column {
    case .id: Self.append(report.id, to: &bytes)
    case .state: bytes.append(contentsOf: report.state.rawValue.utf8)
    case .created: appendTime(report.creationTime, to: &bytes)
    case .age:
      let (age, overflow) = now.subtractingReportingOverflow(report.creationTime)
      if !overflow { bytes.append(contentsOf: String(age).utf8) }
    case .size: bytes.append(contentsOf: String(report.size).utf8)
    case .totalSize: bytes.append(contentsOf: String(report.totalSize).utf8)
    case .attachments: bytes.append(contentsOf: String(report.attachments.count).utf8)
    case .upload: bytes.append(contentsOf: DatabaseSentences.upload(metadata).utf8)
    case .uploaded: if let metadata { bytes.append(contentsOf: "\(metadata.isUploaded)".utf8) }
    case .requested: if let metadata { bytes.append(contentsOf: "\(metadata.isUploadExplicitlyRequested)".utf8) }
    case .attempts: if let metadata { bytes.append(contentsOf: String(metadata.uploadAttempts).utf8) }
    case .lastAttempt:
      if let time = metadata?.lastUploadAttemptTime { appendTime(time, to: &bytes) }
    case .serverID:
      if let id = metadata?.serverID, !id.isEmpty { bytes.append(contentsOf: TextFormat.printable(id).utf8) }
    case .metadata: bytes.append(contentsOf: DatabaseSentences.word(report.metadata).utf8)
    case .lock: if let lock { bytes.append(contentsOf: DatabaseSentences.word(lock).utf8) }
    case .path: bytes.append(contentsOf: TextFormat.printable(database.path(of: report)).utf8)
    }
  }

  private func appendTime(_ seconds: Int64, to bytes: inout [UInt8]) {
    if dates.append(seconds, to: &bytes, separator: UInt8(ascii: "T")) { bytes.append(UInt8(ascii: "Z")) }
  }

  /// Appends the id with its hyphens.
  private static func append(_ id: UUIDBytes, to bytes: inout [UInt8]) {
    let digits: StaticString = "0123456789abcdef"
    for nibble in 0..<32 {
      if nibble == 8 || nibble == 12 || nibble == 16 || nibble == 20 { bytes.append(UInt8(ascii: "-")) }
      let half = nibble < 16 ? id.high : id.low
      bytes.append(unsafe digits.utf8Start[Int(half >> UInt64(60 - 4 * (nibble % 16)) & 15)])
    }
  }
}
