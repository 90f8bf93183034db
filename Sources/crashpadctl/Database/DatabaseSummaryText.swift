// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import CrashpadFiles
import CrashpadSnapshot
import CrashpadText
import SystemPackage

/// The contents of a database as text and JSON, for `database info`.
struct DatabaseSummaryText {
  let database: CrashDatabase
  let summary: DatabaseSummary
  /// The time in seconds since 1970.
  let now: Int64

  var text: String {
    var lines: [(name: String, value: String)] = [("Database", TextFormat.printable(database.path))]
    switch summary.settings {
    case .found(let settings): lines += SettingsPrinter.lines(settings)
    case .missing: lines.append(("Settings", "none yet"))
    case .damaged: lines.append(("Settings", "damaged"))
    }
    for state in ReportState.allCases {
      lines.append(
        (
          "\(state == .pending ? "Pending" : "Completed") reports",
          text(summary.reports[state] ?? DatabaseSummary.Reports())
        ))
    }
    if let newest = summary.newest, let oldest = summary.oldest {
      lines.append(("Newest report", DatabaseSentences.date(newest, now: now)))
      lines.append(("Oldest report", DatabaseSentences.date(oldest, now: now)))
    }
    let unreadable = ReportState.allCases.reduce(0) { $0 + (summary.reports[$1]?.unreadable ?? 0) }
    let unknown = unreadable == 0 ? "" : "; not known of \(TextFormat.count(unreadable, "report"))"
    lines.append(("Attachments", text(summary.attachments) + unknown))
    lines.append(("Pending dumps", text(summary.waitingDumps)))
    if summary.lockedDumps.count > 0 {
      let held = summary.heldDumps.count > 0 ? "; \(grouped(summary.heldDumps.count)) held by a running program" : ""
      lines.append(("Locked dumps", text(summary.lockedDumps) + held))
    }
    if summary.rejected.count > 0 { lines.append(("Rejected dumps", text(summary.rejected))) }
    if summary.newFilesInUse.count > 0 { lines.append(("Being written", text(summary.newFilesInUse))) }
    if summary.newFiles.count > 0 { lines.append(("Left in new/", text(summary.newFiles))) }
    return ReportText.text(lines)
  }

  private func text(_ reports: DatabaseSummary.Reports) -> String {
    var parts = [text(reports.files)]
    if reports.unreadable > 0 { parts.append("\(grouped(reports.unreadable)) more could not be read") }
    if reports.uploaded > 0 { parts.append("\(grouped(reports.uploaded)) uploaded") }
    if reports.requested > 0 { parts.append("\(grouped(reports.requested)) requested for upload") }
    if reports.locked > 0 { parts.append(TextFormat.count(reports.locked, "lock file")) }
    if reports.withoutMetadata > 0 { parts.append("\(grouped(reports.withoutMetadata)) without good metadata") }
    return parts.joined(separator: "; ")
  }

  /// Such as "3, 1.2 MiB".
  private func text(_ count: DatabaseSummary.Count) -> String {
    count.count == 0 ? "none" : "\(grouped(count.count)), \(TextFormat.size(UInt64(count.bytes)))"
  }
}
