internal import CrashpadDatabase
public import CrashpadUpload
internal import CrashpadCore
internal import Dispatch
internal import CrashpadFiles
internal import Glibc
public import CrashpadRedaction
internal import CrashpadSnapshot
internal import Synchronization
public import SystemPackage

extension CrashpadClient {
  /// The options of uploads; the defaults are those of Crashpad on iOS.
  public struct UploadOptions: Sendable {
    /// Sends no more than one report per hour.
    public var limitsRate = false
    /// Compresses requests with gzip. They are then sent without a known length, which some servers require.
    public var compresses = true
    /// Adds product, version and client id to the URL.
    public var identifiesClient = true
    /// Checks every 15 minutes for reports of other programs, and for those whose next attempt is due.
    public var watchesPendingReports = true
    /// Sent with every request: usually API keys.
    public var headers: [HTTPHeader] = []
    /// A PEM file with certificates to trust, in place of the system's.
    public var certificateFile: FilePath?
    /// The number of failed attempts after which a report is given up.
    public var maximumAttempts: Int32 = 5
    /// The data to remove from reports before they are sent; nil for none. With redaction, reports are sent without
    /// attachments.
    public var redaction: RedactionPolicy?

    /// The default values.
    public init() {}
  }

  /// Begins to upload pending reports on another thread, like Crashpad's upload thread, and returns at once.
  ///
  /// If the settings do not allow uploads, reports without a requested upload become completed ones; see
  /// ``setUploadsEnabled(_:)``. A report that can't be sent is tried again after 15 minutes, 30, and so on, by this
  /// program or any other that uses the database. A further call checks at once. Without a URL nothing is done.
  ///
  /// ``Options/onReportsProcessed`` is called each time that all are done. libcurl is loaded when there is a report to
  /// send; on a system without it, reports stay pending.
  public static func startProcessingPendingReports() throws(Failure) {
    let running = try running()
    guard let url = running.url, !url.isEmpty else { return }
    let destination: UploadDestination
    do { destination = try UploadDestination(url: url) } catch { throw .badURL(url, error) }
    uploads.withLock { timer in
      if let timer { return timer.schedule(deadline: .now(), repeating: interval(running)) }
      let new = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "crashpad.uploads", qos: .utility))
      new.setEventHandler {
        uploadPendingReports(running, to: destination)
        running.options.onReportsProcessed?()
      }
      new.schedule(deadline: .now(), repeating: interval(running))
      new.activate()
      timer = new
    }
  }

  private static let uploads = Mutex<(any DispatchSourceTimer)?>(nil)

  private static func interval(_ running: Running) -> DispatchTimeInterval {
    running.options.upload.watchesPendingReports ? .seconds(15 * 60) : .never
  }

  /// Whether reports may be uploaded, by the decision of this database's user; false if there is none.
  public static func uploadsEnabled() throws(Failure) -> Bool {
    let database = try running().database
    do throws(FileFailure) {
      if case .found(let settings) = try database.settings() { return settings.uploadsEnabled }
      return false
    } catch { throw .processing(error.path, error.errno) }
  }

  /// Stores whether reports may be uploaded, for all programs that use this database.
  ///
  /// - Parameter isEnabled: the user's decision.
  public static func setUploadsEnabled(_ isEnabled: Bool) throws(Failure) {
    let database = try running().database
    do throws(FileFailure) {
      let session = try DatabaseSession(database, now: Int64(time(nil)))
      defer { session.close() }
      _ = try session.changeSettings { $0.uploadsEnabled = isEnabled }
    } catch { throw .processing(error.path, error.errno) }
  }

  private static func uploadPendingReports(_ running: Running, to destination: UploadDestination) {
    let upload = running.options.upload
    var options = Uploading.Options(destination)
    // As in Crashpad: a user who agrees later agrees to later reports only.
    options.completesSkipped = true
    options.compresses = upload.compresses
    options.identifiesClient = upload.identifiesClient
    options.policy.limitsRate = upload.limitsRate
    options.policy.maximumAttempts = upload.maximumAttempts
    options.http.headers = upload.headers
    options.http.certificateFile = upload.certificateFile
    if let policy = upload.redaction {
      options.redaction = { _ = try Redaction(policy).redact($0, to: $1) }
      options.sendsAttachments = false
    }
    // One thread, to leave the processors to the program.
    options.jobs = 1
    // Failed uploads are repeated by the next check of any program.
    try? Uploading(running.database, options: options).run { _ in }
  }
}
