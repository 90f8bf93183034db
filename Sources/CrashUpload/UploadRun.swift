internal import CrashDatabase
internal import FileSystem
internal import Glibc
internal import Snapshot
internal import Synchronization

/// What the workers of one run have in common.
///
/// Sendable although `tell` is not: it is only ever called under the lock, while the caller's thread waits.
final class UploadRun: @unchecked Sendable {
  let uploading: Uploading
  let session: DatabaseSession
  private let ids: [UUIDBytes]
  /// The server's last pause.
  private let pause: UploadPause?
  private let tell: (Uploading.Event) -> Void
  private let state: Mutex<State>

  /// A failure of which nothing shows yet whether the report is at fault.
  struct Suspicion {
    let id: UUIDBytes
    let failure: Uploading.Failure
  }

  private struct State {
    var next = 0
    var stop: Uploading.Stop?
    var isProbing: Bool
    /// Whether the server accepted a report.
    var hasAccepted = false
    var failuresInARow = 0
    var suspicions: [Suspicion] = []
    /// Whether uploads were allowed at the last look.
    var wasAllowed = false
    var lastAttempt: Int64 = 0
    var lastSync: Int64
    var hasToldSettings = false
  }

  /// - Parameter pause: the server's last one, also if it is over.
  init(
    _ uploading: Uploading, _ session: DatabaseSession, _ pause: UploadPause?, _ ids: [UUIDBytes],
    _ tell: @escaping (Uploading.Event) -> Void
  ) {
    self.uploading = uploading
    self.session = session
    self.ids = ids
    self.pause = pause
    self.tell = tell
    state = Mutex(State(isProbing: pause != nil, lastSync: Int64(time(nil))))
    if let pause, uploading.leavesAlone(pause) {
      let stop = Uploading.Stop.backsOff(until: pause.until, isRequested: pause.isRequested)
      state.withLock { $0.stop = stop }
      tell(.stops(stop))
    }
  }

  /// Whether the server ended the last run, and accepted nothing since.
  var isProbing: Bool { state.withLock { $0.isProbing && $0.stop == nil } }

  var hasAccepted: Bool { state.withLock { $0.hasAccepted } }

  /// Whether nothing more is sent.
  var stopReason: Uploading.Stop? { state.withLock { $0.stop } }

  func next() -> UUIDBytes? {
    state.withLock { state in
      guard state.next < ids.count else { return nil }
      state.next += 1
      return ids[state.next - 1]
    }
  }

  func tell(_ result: Uploading.Result) { state.withLock { _ in tell(.result(result)) } }

  /// No further report is sent. The first reason is told.
  func stop(_ reason: Uploading.Stop) { state.withLock { stop(reason, &$0) } }

  private func stop(_ reason: Uploading.Stop, _ state: inout State) {
    guard state.stop == nil else { return }
    state.stop = reason
    tell(.stops(reason))
  }

  // MARK: Consent

  /// The settings as they are now; nil if the run ends, as they can't be read any more.
  ///
  /// Where they do not allow uploads any more, the run ends too.
  func settings() -> DatabaseSettings? {
    let settings: DatabaseSettings
    do { settings = try session.database.uploadSettings() } catch {
      if case .settings(let failure) = error { stop(.settings(failure)) }
      return nil
    }
    state.withLock { state in
      if state.wasAllowed, !settings.uploadsEnabled, !uploading.isNamed { stop(.consentWithdrawn, &state) }
      state.wasAllowed = settings.uploadsEnabled
    }
    return settings
  }

  /// Takes the turn of this hour where the rate is limited: of several runs at once one gets it.
  ///
  /// - Returns: nil if it was taken, or when the next turn is, in seconds since 1970.
  func takeTurn(at now: Int64) throws(FileFailure) -> Int64? {
    var next: Int64?
    _ = try session.changeSettings(newClientID: .random()) { settings in
      next = uploading.options.policy.nextTurn(lastAttempt: settings.lastUploadAttemptTime, now: now)
      if next == nil { settings.lastUploadAttemptTime = now }
    }
    return next
  }

  // MARK: What the server says

  /// The server has a report: it is in order.
  ///
  /// - Returns: the failures before, which were therefore the reports' own.
  func accepted() -> [Suspicion] {
    let (isFirst, suspicions) = state.withLock { state in
      let isFirst = !state.hasAccepted
      state.hasAccepted = true
      state.isProbing = false
      state.failuresInARow = 0
      // What ended the run was the server's fault, and so may have been the failures before.
      guard state.stop == nil else { return (isFirst, [Suspicion]()) }
      defer { state.suspicions = [] }
      return (isFirst, state.suspicions)
    }
    if isFirst, pause != nil {
      _ = try? session.setUploadPause(of: uploading.options.serverName, nil, now: uploading.now)
    }
    return suspicions
  }

  /// The server refused a report for its content. One may be too large; ten in a row are not what is wrong.
  func refused() {
    state.withLock { state in
      state.failuresInARow += 1
      let count = state.failuresInARow
      if count >= (state.isProbing ? 1 : Uploading.mostFailures) {
        leaveAlone(nil, &state) { .failures(count, until: $0) }
      }
    }
  }

  /// An attempt failed, and other reports have to show why: the server is at fault unless it accepts one of them.
  ///
  /// - Parameter pause: for how many seconds the server asked to be left alone.
  func suspect(_ id: UUIDBytes, _ failure: Uploading.Failure, pause: Int64? = nil) {
    state.withLock { state in
      state.suspicions.append(Suspicion(id: id, failure: failure))
      state.failuresInARow += 1
      let limit = state.isProbing ? 1 : failure.limit(hasAccepted: state.hasAccepted)
      let count = state.failuresInARow
      guard count >= limit else { return }
      leaveAlone(pause, &state) { until in
        if pause != nil { return .paused(until: until) }
        if limit == Uploading.mostFailures { return .failures(count, until: until) }
        return failure.needsAttention ? .wrongAddress(failure, until: until) : .unavailable(failure, until: until)
      }
    }
  }

  /// Ends the run because of the server, for later runs too.
  private func leaveAlone(_ seconds: Int64?, _ state: inout State, _ reason: (Int64) -> Uploading.Stop) {
    guard state.stop == nil else { return }
    stop(reason(writePause(seconds, hasAccepted: state.hasAccepted)), &state)
  }

  /// - Parameters:
  ///   - seconds: for which the server asked; nil for those of the policy.
  ///   - hasAccepted: whether the server was in order before, in this run.
  /// - Returns: the end of the pause, in seconds since 1970.
  private func writePause(_ seconds: Int64?, hasAccepted: Bool) -> Int64 {
    let failures = if let pause, !hasAccepted { max(pause.failures, 1) + 1 } else { 1 }
    let now = uploading.now
    let until = now + (seconds ?? UploadPolicy.serverBackOff(failures: failures))
    // If it can't be written, the next run asks the server again, which harms no report.
    _ = try? session.setUploadPause(
      of: uploading.options.serverName, UploadPause(until: until, failures: seconds == nil ? failures : 0), now: now)
    return until
  }

  /// Notes in the settings that something was sent. Once a second is enough: that is what they count in. That it can't be
  /// noted is told once; it changes nothing of what became of a report.
  func recordAttempt(at now: Int64) {
    let isNew = state.withLock { state in
      defer { state.lastAttempt = now }
      return state.lastAttempt != now
    }
    guard isNew else { return }
    do throws(FileFailure) {
      _ = try session.changeSettings(newClientID: .random()) { $0.lastUploadAttemptTime = now }
    } catch {
      state.withLock { state in
        if !state.hasToldSettings { tell(.attemptNotNoted(error)) }
        state.hasToldSettings = true
      }
    }
  }

  /// Once a second the disk is waited for, so that a power failure takes no more than that of what servers said.
  func syncSometimes() {
    let now = Int64(time(nil))
    let isDue = state.withLock { state in
      guard now != state.lastSync else { return false }
      state.lastSync = now
      return true
    }
    if isDue { _ = try? session.syncFileSystem() }
  }

  /// Judges the failures of which no later report showed anything.
  func end() {
    let (suspicions, areOfReports) = state.withLock { state in
      defer { state.suspicions = [] }
      return (state.suspicions, state.hasAccepted && state.stop == nil)
    }
    if areOfReports {
      UploadWorker(self).judge(suspicions)
    } else {
      for suspicion in suspicions {
        tell(Uploading.Result(id: suspicion.id, outcome: .deferred(suspicion.failure)))
      }
      if !suspicions.isEmpty, stopReason == nil { _ = writePause(nil, hasAccepted: false) }
    }
    _ = try? session.syncFileSystem()
  }
}
