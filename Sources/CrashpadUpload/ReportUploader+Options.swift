// SPDX-License-Identifier: Apache-2.0
internal import CrashpadDatabase
package import CrashpadFiles
internal import CrashpadRedaction
internal import CrashpadSnapshot
public import SystemPackage

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

  /// Ends the run before all reports are sent.
  package var runEnd: RunEnd {
    get { http.runEnd }
    set { http.runEnd = newValue }
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
