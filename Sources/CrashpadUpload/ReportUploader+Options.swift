// SPDX-License-Identifier: Apache-2.0
internal import CrashpadDatabase
public import CrashpadRedaction
public import CrashpadSnapshot
public import SystemPackage

extension ReportUploader {
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
}

extension ReportUploader.Options {
  /// The number of failed attempts, for a reason of the report's own, after which a report is given up.
  public var maximumAttempts: Int32 {
    get { policy.maximumAttempts }
    set { policy.maximumAttempts = newValue }
  }

  /// Sends at most one report per hour; reports whose upload was requested are exempt.
  public var limitsRate: Bool {
    get { policy.limitsRate }
    set { policy.limitsRate = newValue }
  }

  /// Ignores earlier attempts and the pauses that servers asked for.
  public var retriesNow: Bool {
    get { policy.retriesNow }
    set { policy.retriesNow = newValue }
  }

  /// Header fields sent with every request: usually API keys. Fields that describe the body are refused.
  public var headers: [HTTPHeader] {
    get { http.headers }
    set { http.headers = newValue }
  }

  /// A PEM file with the certificates to trust, in place of the system's; nil for `$SSL_CERT_FILE` or the system's.
  public var certificateFile: FilePath? {
    get { http.certificateFile }
    set { http.certificateFile = newValue }
  }

  /// The proxy to use in place of those in the environment (`https_proxy` and so on); empty for none.
  public var proxy: String? {
    get { http.proxy }
    set { http.proxy = newValue }
  }

  /// The limit for name resolution, connecting and TLS together.
  public var connectTimeout: Duration {
    get { http.connectTimeout }
    set { http.connectTimeout = newValue }
  }

  /// The longest time without progress, and the longest wait for the answer after everything is sent.
  public var timeout: Duration {
    get { http.timeout }
    set { http.timeout = newValue }
  }

  /// The value of the `User-Agent` header.
  public var userAgent: String {
    get { http.userAgent }
    set { http.userAgent = newValue }
  }

  /// The name under which the database remembers the pause of this server; contains no secrets.
  var serverName: String { destination?.displayName ?? "" }

  /// Throws if an option can't be used. libcurl would print an invalid proxy with its password, and send two fields
  /// that describe the body.
  func check() throws(UploadFailure) {
    if let proxy, !proxy.isEmpty, !ProxyAddress.isValid(proxy) { throw .badProxy }
    if let header = headers.first(where: \.isOfBody) { throw .badHeader(name: header.name) }
  }
}
