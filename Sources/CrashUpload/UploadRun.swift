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
  let uploadsEnabled: Bool
  private let ids: [UUIDBytes]
  private let tell: (Uploading.Event) -> Void
  private let state: Mutex<State>

  private struct State {
    var next = 0
    var stop: Uploading.Stop?
    var failuresInARow = 0
    var lastAttempt: Int64
    var lastSync: Int64
    var hasToldSettings = false
  }

  init(
    _ uploading: Uploading, _ session: DatabaseSession, _ settings: DatabaseSettings.State, _ ids: [UUIDBytes],
    _ tell: @escaping (Uploading.Event) -> Void
  ) {
    self.uploading = uploading
    self.session = session
    self.ids = ids
    self.tell = tell
    uploadsEnabled = settings.uploadsEnabled
    state = Mutex(State(lastAttempt: settings.lastUploadAttemptTime, lastSync: Int64(time(nil))))
  }

  var lastAttempt: Int64 { state.withLock { $0.lastAttempt } }

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
  func stop(_ reason: Uploading.Stop) {
    state.withLock { state in
      guard state.stop == nil else { return }
      state.stop = reason
      tell(.stops(reason))
    }
  }

  /// Ends the run when the last ten all failed.
  func count(failed: Bool) {
    let failures = state.withLock { state in
      state.failuresInARow = failed ? state.failuresInARow + 1 : 0
      return state.failuresInARow
    }
    if failures >= Uploading.mostFailures { stop(.failures(failures)) }
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

  func end() { _ = try? session.syncFileSystem() }
}
