// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import CrashpadFiles
import CrashpadSnapshot
import CrashpadText

/// A full description of a report for people.
enum ReportText {
  static func text(_ report: Report, _ lock: LockState?, in database: CrashDatabase, now: Int64) -> String {
    var lines: [(String, String)] = [
      ("Report", report.id.text),
      ("State", report.state.rawValue),
      ("Path", TextFormat.printable(database.path(of: report))),
      ("Size", size(report)),
    ]
    if let metadata = report.metadata.value {
      lines.append(("Created", DatabaseSentences.date(metadata.creationTime, now: now)))
      lines.append(("Uploaded", metadata.isUploaded ? "yes" : "no"))
      lines.append(("Upload requested", metadata.isUploadExplicitlyRequested ? "yes" : "no"))
      lines.append(("Upload attempts", grouped(metadata.uploadAttempts)))
      let last = metadata.lastUploadAttemptTime.map { DatabaseSentences.date($0, now: now) }
      lines.append(("Last attempt", last ?? "never"))
      if !metadata.serverID.isEmpty { lines.append(("Server id", TextFormat.printable(metadata.serverID))) }
    } else {
      lines.append(("Last changed", DatabaseSentences.date(report.modified, now: now)))
    }
    lines.append(("Metadata", DatabaseSentences.metadata(report.metadata)))
    for (index, attachment) in report.attachments.enumerated() {
      let text = "\(TextFormat.printable(attachment.name.bytes)), \(TextFormat.size(UInt64(attachment.size)))"
      lines.append((index == 0 ? "Attachments" : "", text))
    }
    if let lock { lines.append(("Lock", DatabaseSentences.adjective(lock))) }
    return text(lines)
  }

  private static func size(_ report: Report) -> String {
    let own = "\(grouped(report.size)) bytes"
    if report.attachments.isEmpty { return own }
    return own + ", with attachments \(grouped(report.totalSize)) bytes"
  }

  /// Names and values in two columns.
  static func text(_ lines: [(name: String, value: String)]) -> String {
    let width = lines.map(\.name.count).max() ?? 0
    return lines.map { line in
      line.name + String(repeating: " ", count: width - line.name.count + 2) + line.value + "\n"
    }.joined()
  }
}
