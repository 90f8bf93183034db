// SPDX-License-Identifier: Apache-2.0
internal import CrashpadDatabase
internal import CrashpadFiles
internal import CrashpadRedaction
internal import Glibc
package import SystemPackage

/// An attachment is larger than the options allow, or a report larger than any.
package struct AttachmentTooLarge: Error, Sendable {
  package let path: FilePath
  package let isReport: Bool
  /// In bytes.
  package let size: UInt64
  package let limit: UInt64
}

/// The decisions that a run and its forecast share.
extension ReportUploader.Options {
  /// In seconds since 1970.
  var currentTime: Int64 { now ?? Int64(time(nil)) }

  /// Whether the caller named all reports that are sent.
  package var isNamed: Bool { reports != nil || includesAll }

  /// Whether an attachment is sent. As in Crashpad, the minidump wins over attachments with its name.
  func sends(_ attachment: Report.Attachment, of report: Report) -> Bool {
    let name = attachment.name.bytes
    return sendsAttachments ?? (redaction == nil) && name != Array(UploadFields.minidumpName.utf8)
      && name != UploadFields.fileName(of: report)
  }

  /// In bytes. The places in a minidump are 32-bit numbers, but for memory of which no collector takes so much. A sparse file of a
  /// terabyte would be sent for hours.
  static let largestReport: UInt64 = 4 << 30

  /// The attachments of a report that are sent. Throws `AttachmentTooLarge`: a report is not sent without one that it has.
  func attachments(of report: Report, _ database: CrashDatabase) throws(AttachmentTooLarge) -> [Report.Attachment] {
    guard UInt64(clamping: report.size) <= Self.largestReport else {
      throw AttachmentTooLarge(
        path: database.path(of: report), isReport: true, size: UInt64(clamping: report.size), limit: Self.largestReport)
    }
    let attachments = report.attachments.filter { sends($0, of: report) }
    for attachment in attachments where UInt64(clamping: attachment.size) > maximumAttachmentSize {
      throw AttachmentTooLarge(
        path: database.path(of: attachment, report), isReport: false, size: UInt64(clamping: attachment.size),
        limit: maximumAttachmentSize)
    }
    return attachments
  }

  /// The outcome of a report that is not to be sent now; nil if it is to be sent.
  func held(_ metadata: ReportMetadata, _ settings: DatabaseSettings) -> ReportUploader.Outcome? {
    let decision = policy.decide(
      metadata, isNamed: isNamed, uploadsEnabled: settings.uploadsEnabled,
      lastAttempt: settings.lastUploadAttemptTime, now: currentTime)
    let held: ReportUploader.Outcome = completesSkipped ? .skipped : .kept
    switch decision {
    case .waitAfterFailure(let until): return .waits(until: until, limitsRate: false)
    case .waitForRate(let until): return .waits(until: until, limitsRate: true)
    case .skip: return held
    // Without a destination, a report is treated as if uploads were not allowed.
    case .upload where destination == nil: return isNamed || metadata.isUploadExplicitlyRequested ? nil : held
    case .upload: return nil
    }
  }

  /// Whether the pause of the server forbids sending. Reports that the caller names are sent, unless the server
  /// itself asked for the pause.
  func leavesAlone(_ pause: UploadPause) -> Bool {
    !policy.retriesNow && pause.until > currentTime && (pause.isRequested || !isNamed)
  }

  /// The minidump that is sent for a report, and its fields.
  ///
  /// - Parameter scratchFile: makes the file for a redacted copy.
  func prepare(_ report: OpenFile, scratchFile: () throws -> OpenFile) throws -> (OpenFile, UploadFields) {
    var minidump = report
    if let redaction {
      minidump = try scratchFile()
      _ = try Redaction(redaction).redact(InputFile(report), to: minidump)
      try minidump.rewind()
    }
    let input = try InputFile(minidump)
    return (minidump, try input.checkingReading { fields(input) })
  }

  private func fields(_ minidump: InputFile) -> UploadFields {
    var fields = UploadFields(minidump: minidump)
    if let destination { fields = destination.fields(of: fields) }
    fields.set(self.fields)
    return fields
  }
}
