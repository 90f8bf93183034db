internal import CrashDatabase
public import CrashUpload
internal import CrashpadCore
internal import Dispatch
internal import FileSystem
internal import Glibc
public import Redaction
internal import Snapshot
internal import Synchronization
public import SystemPackage

extension CrashpadClient {
  /// How reports are uploaded; what is not said is as Crashpad has it on iOS.
  public struct UploadOptions: Sendable {
    /// Sends no more than one report an hour.
    public var limitsRate = false
    /// Compresses requests with gzip. Their length is then not known before, which some servers want.
    public var compresses = true
    /// Puts product, version and client id into the URL.
    public var identifiesClient = true
    /// Looks again every 15 minutes, for reports of other programs and for those whose next attempt is due.
    public var watchesPendingReports = true
    /// Sent with every request: keys, mostly.
    public var headers: [HTTPHeader] = []
    /// A file with certificates to trust, in PEM's form, in place of the system's.
    public var certificateFile: FilePath?
    /// How many attempts may fail before a report is given up.
    public var maximumAttempts: Int32 = 5
    /// What is taken out of reports before they are sent; nil for nothing. Reports are then sent without attachments.
    public var redaction: RedactionPolicy?

    public init() {}
  }

  /// Begins to upload pending reports on another thread, as Crashpad's upload thread does, and returns at once.
  ///
  /// Where the settings do not allow uploads, reports whose upload nobody asked for become completed ones; see
  /// ``setUploadsEnabled(_:)``. A report that can't be sent is tried again after 15 minutes, 30, and so on, by this program or
  /// any other that uses the database. Called again, it looks at once. Without a URL nothing is done.
  ///
  /// Each time that it is done, ``Options/onReportsProcessed`` is called. libcurl is loaded when there is something to send;
  /// where the system has none, reports stay pending.
  ///
  /// - Throws: `NotStarted`, or `WebAddressFailure` if the URL is none.
  public static func startProcessingPendingReports() throws {
    let running = try running()
    guard let url = running.url, !url.isEmpty else { return }
    let destination = try UploadDestination(url: url)
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

  /// Whether reports may be uploaded, as the user of this database decided; false if nobody did.
  ///
  /// Throws `NotStarted`, or `ProcessingFailure` if the settings can't be read.
  public static func uploadsEnabled() throws -> Bool {
    let database = try running().database
    do throws(FileFailure) {
      if case .found(let settings) = try database.settings() { return settings.uploadsEnabled }
      return false
    } catch { throw ProcessingFailure(path: error.path, errno: error.errno) }
  }

  /// Writes down whether reports may be uploaded, for all programs that use this database.
  ///
  /// - Parameter isEnabled: what the user decided.
  /// - Throws: `NotStarted`, or `ProcessingFailure` if the settings can't be written.
  public static func setUploadsEnabled(_ isEnabled: Bool) throws {
    let database = try running().database
    do throws(FileFailure) {
      let session = try DatabaseSession(database, now: Int64(time(nil)))
      defer { session.close() }
      _ = try session.changeSettings(newClientID: .random()) { $0.uploadsEnabled = isEnabled }
    } catch { throw ProcessingFailure(path: error.path, errno: error.errno) }
  }

  private static func uploadPendingReports(_ running: Running, to destination: UploadDestination) {
    let upload = running.options.upload
    var options = Uploading.Options(destination)
    options.compresses = upload.compresses
    options.identifiesClient = upload.identifiesClient
    options.policy.limitsRate = upload.limitsRate
    options.policy.maximumAttempts = upload.maximumAttempts
    options.http.headers = upload.headers
    options.http.certificateFile = upload.certificateFile
    if let policy = upload.redaction {
      options.redaction = { _ = try Redaction(policy).redact($0, to: OpenFileOutput($1)) }
      options.sendsAttachments = false
    }
    // A program has other things to do.
    options.jobs = 1
    // What could not be done now is done later, by whoever looks next.
    try? Uploading(running.database, options: options).run { _ in }
  }
}
