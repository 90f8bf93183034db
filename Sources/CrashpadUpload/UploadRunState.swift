// SPDX-License-Identifier: Apache-2.0
internal import CrashpadDatabase
internal import CrashpadFiles
internal import CrashpadSnapshot
internal import Synchronization

/// The state that the workers of one run share.
///
/// Sendable although `report` is not: `report` is called only under the lock, while the caller's thread waits.
final class UploadRunState: @unchecked Sendable {
  let options: ReportUploader.Options
  let session: DatabaseSession
  private let ids: [UUIDBytes]
  /// The last pause of the server.
  private let pause: UploadPause?
  private let report: (ReportUploader.Event) -> Void
  private let state: Mutex<State>

  /// A failure that may be the report's or the server's fault; not known yet.
  struct Suspicion {
    let id: UUIDBytes
    let failure: ReportUploader.Failure
  }

  private struct State {
    var next = 0
    var stop: ReportUploader.Stop?
    var isProbing: Bool
    /// Whether the server accepted a report.
    var hasAccepted = false
    var failuresInARow = 0
    var suspicions: [Suspicion] = []
    /// Whether uploads were allowed when the settings were last read.
    var wasAllowed = false
    var lastAttempt: Int64 = 0
    var hasReportedSettings = false
  }

  /// - Parameter pause: the last pause of the server, even if it is over.
  init(
    _ options: ReportUploader.Options, _ session: DatabaseSession, _ pause: UploadPause?, _ ids: [UUIDBytes],
    _ report: @escaping (ReportUploader.Event) -> Void
  ) {
    self.options = options
    self.session = session
    self.ids = ids
    self.pause = pause
    self.report = report
    state = Mutex(State(isProbing: pause != nil))
    if let pause, options.leavesAlone(pause) {
      let stop = ReportUploader.Stop.backsOff(until: pause.until, isRequested: pause.isRequested)
      state.withLock { $0.stop = stop }
      report(.stops(stop))
    }
  }

  /// Whether the server ended the last run and has accepted nothing since.
  var isProbing: Bool { state.withLock { $0.isProbing && $0.stop == nil } }

  var hasAccepted: Bool { state.withLock { $0.hasAccepted } }

  /// The reason why nothing more is sent; nil while the run continues.
  var stopReason: ReportUploader.Stop? { state.withLock { $0.stop } }

  func next() -> UUIDBytes? {
    state.withLock { state in
      guard state.next < ids.count else { return nil }
      if options.runEnd.isRequested { stop(.ended, &state) }
      state.next += 1
      return ids[state.next - 1]
    }
  }

  func report(_ id: UUIDBytes, _ outcome: ReportUploader.Outcome) {
    state.withLock { _ in report(.result(ReportUploader.ReportResult(id: id, outcome: outcome))) }
  }

  /// Ends the run: no further report is sent. Only the first reason is reported.
  func stop(_ reason: ReportUploader.Stop) { state.withLock { stop(reason, &$0) } }

  private func stop(_ reason: ReportUploader.Stop, _ state: inout State) {
    guard state.stop == nil else { return }
    state.stop = reason
    report(.stops(reason))
  }

  // MARK: Consent

  /// The current settings; nil if the run ends because they can't be read any more, or no longer allow uploads.
  func settings() -> DatabaseSettings? {
    let settings: DatabaseSettings
    do { settings = try session.database.uploadSettings() } catch {
      if case .settings(let failure) = error { stop(.settings(failure)) }
      return nil
    }
    state.withLock { state in
      if state.wasAllowed, !settings.uploadsEnabled, !options.isNamed { stop(.consentWithdrawn, &state) }
      state.wasAllowed = settings.uploadsEnabled
    }
    return settings
  }

  /// Takes this hour's turn if the rate is limited. If several runs try at once, one gets it.
  ///
  /// - Returns: nil if the turn was taken; otherwise the time of the next turn, in seconds since 1970.
  func takeTurn(at now: Int64) throws(FileFailure) -> Int64? {
    var next: Int64?
    _ = try session.changeSettings { settings in
      next = options.policy.nextTurn(lastAttempt: settings.lastUploadAttemptTime, now: now)
      if next == nil { settings.lastUploadAttemptTime = now }
    }
    return next
  }

  // MARK: Answers

  /// Records that the server accepted a report, and so works.
  ///
  /// - Returns: the failures before it, which were therefore caused by the reports themselves.
  func accepted() -> [Suspicion] {
    let (isFirst, suspicions) = state.withLock { state in
      let isFirst = !state.hasAccepted
      state.hasAccepted = true
      state.isProbing = false
      state.failuresInARow = 0
      // The server ended the run, so the failures before may have been its fault too.
      guard state.stop == nil else { return (isFirst, [Suspicion]()) }
      defer { state.suspicions = [] }
      return (isFirst, state.suspicions)
    }
    if isFirst, pause != nil {
      _ = try? session.setUploadPause(of: options.serverName, nil, now: options.currentTime)
    }
    return suspicions
  }

  /// Records that the server rejected the content of a report. One report may be too large;
  /// ten in a row point to the server.
  func refused() {
    state.withLock { state in
      state.failuresInARow += 1
      let count = state.failuresInARow
      if count >= (state.isProbing ? 1 : UploadPolicy.mostFailures) {
        leaveAlone(nil, &state) { .failures(count, until: $0) }
      }
    }
  }

  /// Records a failed attempt whose cause other reports have to show: the server is at fault unless it accepts one of
  /// them.
  ///
  /// - Parameter pause: the pause that the server asked for, in seconds.
  func suspect(_ id: UUIDBytes, _ failure: ReportUploader.Failure, pause: Int64? = nil) {
    state.withLock { state in
      state.suspicions.append(Suspicion(id: id, failure: failure))
      state.failuresInARow += 1
      let limit = state.isProbing ? 1 : failure.limit(hasAccepted: state.hasAccepted)
      let count = state.failuresInARow
      guard count >= limit else { return }
      leaveAlone(pause, &state) { until in
        if pause != nil { return .paused(until: until) }
        if limit == UploadPolicy.mostFailures { return .failures(count, until: until) }
        return failure.needsAttention ? .wrongAddress(failure, until: until) : .unavailable(failure, until: until)
      }
    }
  }

  /// Ends the run because of the server, and makes later runs wait too.
  private func leaveAlone(_ seconds: Int64?, _ state: inout State, _ reason: (Int64) -> ReportUploader.Stop) {
    guard state.stop == nil else { return }
    stop(reason(writePause(seconds, hasAccepted: state.hasAccepted)), &state)
  }

  /// - Parameters:
  ///   - seconds: the pause that the server asked for; nil for the pause of the policy.
  ///   - hasAccepted: whether the server accepted a report earlier in this run.
  /// - Returns: the end of the pause, in seconds since 1970.
  private func writePause(_ seconds: Int64?, hasAccepted: Bool) -> Int64 {
    let failures = if let pause, !hasAccepted { max(pause.failures, 1) + 1 } else { 1 }
    let now = options.currentTime
    let until = now + (seconds ?? UploadPolicy.serverBackOff(failures: failures))
    // If the pause can't be written, the next run asks the server again, which harms no report.
    _ = try? session.setUploadPause(
      of: options.serverName, UploadPause(until: until, failures: seconds == nil ? failures : 0), now: now)
    return until
  }

  /// Writes the time of an attempt into the settings. Once a second is enough, because they store seconds. A failure
  /// to write is reported once; it does not change the outcome of any report.
  func recordAttempt(at now: Int64) {
    let isNew = state.withLock { state in
      defer { state.lastAttempt = now }
      return state.lastAttempt != now
    }
    guard isNew else { return }
    do throws(FileFailure) {
      _ = try session.changeSettings { $0.lastUploadAttemptTime = now }
    } catch {
      state.withLock { state in
        if !state.hasReportedSettings { report(.attemptNotNoted(error)) }
        state.hasReportedSettings = true
      }
    }
  }

  /// Reports the failures that no later report explained, except those that were caused by the reports themselves.
  ///
  /// - Returns: the latter.
  func end() -> [Suspicion] {
    let (suspicions, areOfReports) = state.withLock { state in
      defer { state.suspicions = [] }
      return (state.suspicions, state.hasAccepted && state.stop == nil)
    }
    if areOfReports { return suspicions }
    for suspicion in suspicions { report(suspicion.id, .deferred(suspicion.failure)) }
    // The next runs wait, so that this one says until when.
    if !suspicions.isEmpty {
      state.withLock { state in leaveAlone(nil, &state) { .failures(suspicions.count, until: $0) } }
    }
    return []
  }
}
