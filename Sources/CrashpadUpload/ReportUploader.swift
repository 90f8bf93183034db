// SPDX-License-Identifier: Apache-2.0
public import CrashpadDatabase
public import CrashpadRedaction
public import CrashpadSnapshot
internal import SystemPackage

/// Sends the pending reports of a database to a server, each once, as Crashpad's `StartProcessingPendingReports`
/// does. It sends only reports that the settings allow, and counts attempts in the database so that runs know of each
/// other.
///
/// Any number of runs may work at the same time. A run that dies midway loses nothing: a report whose id the server
/// had returned is not sent again, and all others stay pending.
///
/// Source for what is sent: `handler/crash_report_upload_thread.cc`.
public struct ReportUploader: Sendable {
  /// The options of a run.
  public struct Options: Sendable {
    /// The server for the reports. If nil, reports are kept or skipped, as if uploads were not allowed.
    public var destination: UploadDestination?

    // MARK: Which reports

    /// Sends only these reports, whatever the settings allow and however many attempts
    /// failed; nil for all pending reports.
    public var reports: [UUIDBytes]?
    /// Treats all pending reports as if the caller had named them.
    public var includesAll = false
    /// Marks reports that the settings do not allow to upload as completed, as Crashpad
    /// does. Otherwise they stay pending.
    public var completesSkipped = false
    package var policy = UploadPolicy()

    // MARK: The content of requests

    /// Fields added to every report; they override its annotations.
    public var fields: [UploadField] = []
    /// The data to remove from reports before they are sent; nil for none. The reports in the database stay whole.
    public var redaction: RedactionPolicy?
    /// Whether the files attached to a report are sent. They are not redacted, so the default is to send them if
    /// `redaction` is nil.
    public var sendsAttachments: Bool?
    /// The largest attachment in bytes that is sent; a report with a larger one is not sent. A sparse file counts by its
    /// size, as its holes are sent as zeros.
    public var maximumAttachmentSize: UInt64 = Self.standardAttachmentSize
    /// 100 MiB.
    public static let standardAttachmentSize: UInt64 = 100 << 20
    /// Whether requests are compressed with gzip; nil for the destination's default. The length of a compressed
    /// request is not known in advance.
    public var compresses: Bool?
    /// Whether product, version and client id are added to the URL, as Crashpad does, if the destination uses them.
    public var identifiesClient = true

    // MARK: The connection

    package var http = HTTPOptions()
    /// Accepts a web page as a server's answer.
    public var acceptsWebPages = false
    /// The number of reports sent in parallel.
    public var jobs = 4
    /// The time used to decide which attempts are due and to stamp them, in seconds
    /// since 1970; nil for the system clock.
    public var now: Int64?

    /// Options for a destination; without one, no report is sent.
    public init(_ destination: UploadDestination? = nil) { self.destination = destination }
  }

  let database: CrashDatabase
  let options: Options

  /// A run on `database`; begins with `run`.
  public init(_ database: CrashDatabase, options: Options = Options()) {
    self.database = database
    self.options = options
  }
}
