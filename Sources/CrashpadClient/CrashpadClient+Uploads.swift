// SPDX-License-Identifier: Apache-2.0
internal import CrashpadDatabase
internal import CrashpadUpload
internal import Dispatch
internal import CrashpadFiles
internal import Glibc
internal import CrashpadSnapshot
internal import Synchronization

extension CrashpadClient {
  /// Begins to upload pending reports on another thread, like Crashpad's upload thread, and returns at once.
  ///
  /// If the settings do not allow uploads, reports without a requested upload become completed ones; see
  /// ``setUploadsEnabled(_:)``. A report that can't be sent is tried again after 15 minutes, 30, and so on, by this
  /// program or any other that uses the database. A further call checks at once. Without a URL, and without a
  /// destination in ``Options/upload``, nothing is done.
  ///
  /// ``Options/onReportsProcessed`` is called each time that all are done. libcurl is loaded when there is a report to
  /// send; on a system without it, reports stay pending.
  public static func startProcessingPendingReports() throws(Failure) {
    let started = try started()
    guard let destination = try destination(started) else { return }
    uploads.withLock { timer in
      if let timer { return timer.schedule(deadline: .now(), repeating: interval(started)) }
      let new = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "crashpad.uploads", qos: .utility))
      new.setEventHandler {
        uploadPendingReports(to: destination)
        started.options.onReportsProcessed?()
      }
      new.schedule(deadline: .now(), repeating: interval(started))
      new.activate()
      timer = new
    }
  }

  private static func destination(_ started: Started) throws(Failure) -> UploadDestination? {
    guard let url = started.url, !url.isEmpty else { return started.options.upload.destination }
    do { return try UploadDestination(url: url) } catch { throw .badURL(error) }
  }

  private static let uploads = Mutex<(any DispatchSourceTimer)?>(nil)

  private static func interval(_ started: Started) -> DispatchTimeInterval {
    started.options.watchesPendingReports ? .seconds(15 * 60) : .never
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

  private static func uploadPendingReports(to destination: UploadDestination) {
    guard let running = hint({ try running() }) else { return }
    var options = running.options.upload
    options.destination = destination
    // As in Crashpad: a user who agrees later agrees to later reports only.
    options.completesSkipped = true
    // One thread, to leave the processors to the program.
    options.jobs = 1
    // Failed uploads are repeated by the next check of any program.
    do { try ReportUploader(running.database, options: options).run { _ in } } catch {}
  }
}
