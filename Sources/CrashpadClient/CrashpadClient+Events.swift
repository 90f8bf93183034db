// SPDX-License-Identifier: Apache-2.0
internal import CrashpadDatabase
internal import CrashpadCore
internal import CrashpadEvents
internal import CrashpadFiles
internal import Glibc
internal import CrashpadSnapshot
internal import SystemPackage

extension CrashpadClient {
  /// The form of events; crashpadctl-events(5) describes them.
  public enum EventForm: String, Sendable, CaseIterable {
    /// `$AppCrashed` and `$AppEnd` of a small analytics SDK.
    case seed
    /// Sensors Analytics.
    case sensors
    /// OpenTelemetry's protocol for logs, as JSON.
    case otel
    /// The Elastic Common Schema.
    case ecs
    /// Sentry's release health.
    case sentrySession = "sentry-session"

    fileprivate var mapping: EventMapping {
      switch self {
      case .seed: .seed
      case .sensors: .sensors
      case .otel: .otel
      case .ecs: .ecs
      case .sentrySession: .sentrySession
      }
    }
  }

  /// Passes the crashes of earlier runs of this program to `send`, each as events for analytics: the crash, followed by
  /// the end of the session that the crash interrupted. Each crash is passed once, whichever run does it, and whether
  /// or not a report was made from its dump already.
  ///
  /// Waits for the disk, and takes milliseconds for each dump: not for the main thread. Functions without symbols are
  /// written as module and offset; `crashpadctl events --symbols` has their names.
  ///
  /// - Parameters:
  ///   - form: the form of the events.
  ///   - send: stores or sends the lines of one crash, each with its line feed. If it throws, or if the program ends
  ///     before `send` returns and the record is on the disk, the next call passes the crash again, with the same
  ///     events and ids. It must not call this function.
  /// - Returns: the number of crashes.
  @discardableResult
  public static func sendCrashEvents(
    _ form: EventForm = .seed, _ send: ([String]) throws -> Void
  ) throws(EventFailure) -> Int {
    do {
      return try sendEvents(form) { lines in do { try send(lines) } catch { throw SendFailure(error) } }
    } catch let failure as SendFailure {
      throw .send(failure.error)
    } catch {
      guard let failure = error as? Failure else { preconditionFailure("sending events throws \(error)") }
      throw .client(failure)
    }
  }

  /// The reason why events were not sent.
  public enum EventFailure: Error {
    /// The events could not be read or recorded.
    case client(Failure)
    /// The function that sends them threw this error.
    case send(any Error)
  }

  /// Throws `Failure`, or the `SendFailure` of `send`.
  private static func sendEvents(_ form: EventForm, _ send: ([String]) throws -> Void) throws -> Int {
    let running = try running()
    guard let name = FileName("." + running.programID + DatabaseLayout.eventsExtension) else { return 0 }
    let path = running.pendingDumps.path.appending(name)
    let place = running.pendingDumps.descriptorPath.appending(name)
    do {
      let cursor = try EventCursor(place, now: Int64(time(nil)), permissions: 0o600)
      var count = 0
      for dump in dumps(of: running) {
        guard let entry = entry(dump, running, cursor, .mapping(form.mapping)) else { continue }
        let texts = entry.lines.map { String(decoding: $0, as: UTF8.self) }
        let written = try write(entry, to: cursor) { try send(texts) }
        if !texts.isEmpty { count += written }
      }
      try cursor.finish()
      return count
    } catch let failure as SendFailure {
      throw failure
    } catch {
      throw Failure.events(path, errno(of: error))
    }
  }

  /// Writes an entry that the cursor does not have yet. Returns the number of dumps that were written.
  private static func write(_ entry: EventCursor.Entry, to cursor: EventCursor, _ send: () throws -> Void) throws -> Int
  {
    // The length of the path of this file is in the code of the check: builds in two folders would differ.
    #sourceLocation(file:"callback",line:1)
    try withoutActuallyEscaping(send) { send in try cursor.write([entry], to: .stream { _ in try send() }).count }
  }
  #sourceLocation()

  private struct SendFailure: Error {
    let error: any Error
    init(_ error: any Error) { self.error = error }
  }

  private static func errno(of error: any Error) -> Errno {
    switch error {
    case let errno as Errno: errno
    case let failure as FileFailure: failure.errno
    default: .illegalByteSequence
    }
  }

  // MARK: Dumps

  /// Pending dumps of this program, and reports of its runs.
  private static func dumps(of running: Running) -> [FilePath] {
    let folder = running.pendingDumps.descriptorPath
    let pending = hint { try running.database.pendingDumps().dumps } ?? []
    var paths = pending.filter { !$0.isLocked && $0.belongs(to: running.programID) }.map { folder.appending($0.name) }
    let history = RunHistory(running.database, running.pendingDumps, programID: running.programID)
    for id in history.ids() {
      // Tried twice, as the report may be moving from one state to the other.
      guard let report = hint({ try running.database.report(id) }) ?? hint({ try running.database.report(id) }) else {
        continue
      }
      paths.append(running.database.path(of: report))
    }
    return paths
  }

  private static func entry(
    _ path: FilePath, _ running: Running, _ cursor: EventCursor, _ form: CrashpadEvents.EventForm
  ) -> EventCursor.Entry? {
    guard let identity = hint({ try FileStatus(at: path, followingLink: true).identity }),
      case let file = SeenDump.digest(identity), !cursor.hasSeen(file),
      let input = hint({ try DumpInput(path) }),
      // With another client id, the event would be that of another installation for good.
      let settings = hint({ try running.database.settings(waits: false) })
    else { return nil }
    let dump = Dump(input)
    guard !input.file.hasFailed, let snapshot = dump.snapshot else { return nil }
    var made = CrashEventInput(id: dump.crashID(path))
    if case .found(let settings) = settings { made.clientID = settings.clientID }
    made.fallbackTime = identity.modified / 1_000_000
    made.frames = EventFrame.walked(snapshot, dump.file)
    let event = CrashEvent(snapshot, dump.file, made)
    return EventCursor.Entry(
      SeenDump(id: made.id, file: file), lines: event.map { form.lines($0, .client) } ?? [])
  }
}
