// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadBytes
import CrashpadDatabase
import CrashpadCore
import CrashpadFiles
import CrashpadText
import CrashpadView
import Glibc
import CrashpadSnapshot
import CrashpadSupervision
import Synchronization
import SystemPackage

/// A trial crash with the handler, and its result. The program that crashes is this tool itself.
struct CaptureTrial {
  /// The reason why there is no complete dump; nil if there is one.
  private(set) var fault: String?
  /// The size of the dump in bytes; nil without a dump.
  private(set) var dumpSize: Int?
  private(set) var threads: Int?
  /// The handler's notes on data that it could not capture, and why.
  private(set) var notes: [String] = []
  /// The time from the signal to the end of the capture, as measured by the handler.
  private(set) var captureMicroseconds: UInt64?
  /// The time from the start of the program to its end.
  private(set) var runMicroseconds: UInt64 = 0
  /// Whether the program was not allowed to change its user.
  private var isRefused = false

  /// Such as "a whole dump of 4 threads, 191.5 KiB, captured in 3.5 ms".
  var found: String {
    var text = "a whole dump of \(TextFormat.count(threads ?? 0, "thread")), \(TextFormat.size(UInt64(dumpSize ?? 0)))"
    if let captureMicroseconds { text += ", captured in \(Self.milliseconds(captureMicroseconds))" }
    return text + "; the program ran for \(Self.milliseconds(runMicroseconds))"
  }

  private static func milliseconds(_ microseconds: UInt64) -> String {
    "\(microseconds / 1000).\(microseconds / 100 % 10) ms"
  }

  /// A trial that changes its user; nil if this user is not allowed to.
  static func changingUser(_ library: FilePath, _ folder: TrialFolder) -> CaptureTrial? {
    guard geteuid() == 0 else { return nil }
    let trial = CaptureTrial(library, folder, changesUser: true)
    return trial.isRefused ? nil : trial
  }

  /// - Parameter changesUser: whether the program drops root rights before it crashes.
  init(_ library: FilePath, _ folder: TrialFolder, changesUser: Bool = false) {
    let place = folder.folder.path.absolute
    let name = changesUser ? "changed-user" : "trial"
    var environment = HandlerEnvironment(library: library, database: place.appending(name), run: .random())
    environment.programID = name
    let errors = place.appending(name + ".errors")
    guard
      let output = try? FileDescriptor.open(
        errors, .readWrite, options: [.create, .exclusiveCreate, .closeOnExec],
        permissions: FilePermissions(rawValue: 0o600))
    else {
      fault = "no file could be made for it"
      return
    }
    defer { _ = try? output.close() }
    let link = "/proc/self/exe"
    let tool = unsafe access(link, X_OK) == 0 ? FilePath(link) : ProgramFile.ownPath ?? FilePath(link)
    var words = [HandlerEnvironment.bytes(tool), Array(CaptureTrialCommand.name.utf8)]
    if changesUser { words.append(Array("--changed-user".utf8)) }
    // The handler of Swift's own runtime would take extra time, and fail on the thread that blocks its signal.
    let variables = ProgramStart.ownEnvironment.filter { !$0.starts(with: Array("SWIFT_BACKTRACE=".utf8)) }
    var start = ProgramStart(
      words, environment: environment.applied(to: variables + [Array("SWIFT_BACKTRACE=enable=no".utf8)]),
      candidates: ProgramSearch().candidates(words[0]))
    start.standardError = output
    let begin = Duration.sinceBoot
    let end: Supervisor.End?
    do throws(Errno) { end = try Supervisor(start).wait(seconds: Self.limit) } catch {
      fault = "the program could not be started: \(error.description)"
      return
    }
    runMicroseconds = Self.microseconds(.sinceBoot - begin)
    isRefused = end == .exited(CaptureTrialCommand.refused)
    read(environment, needsThreads: !changesUser)
    if end == nil { fault = "the program did not end in \(Self.limit) seconds" + (fault.map { ": \($0)" } ?? "") }
    if fault == nil, end != .killed(signal: SIGSEGV) { fault = "the program ended otherwise than by its SIGSEGV" }
    if fault != nil, let line = Self.firstLine(errors) { fault? += "; it said: \(line)" }
  }

  /// The limit in seconds; longer than any capture takes.
  private static let limit = 20

  private static func microseconds(_ duration: Duration) -> UInt64 {
    let (seconds, attoseconds) = duration.components
    return UInt64(max(0, seconds)) * 1_000_000 + UInt64(max(0, attoseconds)) / 1_000_000_000_000
  }

  private static func firstLine(_ path: FilePath) -> String? {
    guard let bytes = hint({ try InputFile.prefix(of: path, count: 4096) }), !bytes.isEmpty else { return nil }
    return TextFormat.printable(String(decoding: bytes.prefix { $0 != 0x0a }, as: UTF8.self))
  }

  /// - Parameter needsThreads: whether all threads must be present with their registers.
  private mutating func read(_ environment: HandlerEnvironment, needsThreads: Bool) {
    do {
      let database = try CrashDatabase.opened(environment.database)
      let pending = try database.pendingDumps()
      if let failure = pending.failures.first { throw failure }
      let dumps = pending.dumps.filter { $0.uuid.map { environment.owns($0) } ?? false }
      // Another user can't rename the finished file; `run` does that.
      let finished = dumps.first { !$0.isLocked } ?? (needsThreads ? nil : dumps.first { $0.size > 0 })
      guard let dump = finished, let file = try database.open(dump) else {
        fault = dumps.isEmpty ? "the crash left no dump" : "the crash left a dump that was not finished"
        return
      }
      dumpSize = dump.size
      let contents = Dump(try DumpInput(InputFile(file)))
      guard let snapshot = contents.snapshot, snapshot.isComplete, contents.findings.count(of: .error) == 0 else {
        fault = "the dump is damaged"
        return
      }
      threads = snapshot.threads.count
      let view = CrashView(contents, snapshot)
      captureMicroseconds = view.captureDuration.map { $0 / 1000 }
      notes = view.captureNotes
      let stopped = snapshot.threads.count { $0.context != nil }
      if snapshot.exception?.context == nil {
        fault = "the dump has no registers of the crash"
      } else if !needsThreads {
        return
      } else if snapshot.threads.count < CaptureTrialCommand.threads + 1 {
        fault =
          "the dump has \(TextFormat.count(snapshot.threads.count, "thread")) of \(CaptureTrialCommand.threads + 1)"
      } else if let note = notes.first {
        fault = "a dump with less than there was: \(note)"
      } else if stopped < snapshot.threads.count {
        fault = "the dump has the registers of \(stopped) of \(TextFormat.count(snapshot.threads.count, "thread"))"
      }
    } catch {
      fault =
        error is CrashDatabase.OpenFailure || (error as? FileFailure)?.errno == .noSuchFileOrDirectory
        ? "the handler was not loaded" : Sentences.failure(error, creating: false).text
    }
  }
}

/// The program that crashes; only `doctor` starts it.
struct CaptureTrialCommand: Command {
  static let name = "capture-trial"
  /// The exit status if it is not allowed to change its user.
  static let refused: Int32 = 76
  /// The number of threads besides the one that crashes. The last one blocks all signals.
  static let threads = 3

  static let configuration = CommandConfiguration(
    commandName: name, abstract: "Crash, for doctor.", shouldDisplay: false)

  private static let ready = Atomic<Int>(0)

  /// Changes to a user without rights, as server workers do.
  var changedUser = false

  mutating func rows(_ row: inout OptionRows) {
    row.flag(&changedUser, "--changed-user", "")
  }

  func run() throws {
    if changedUser {
      let unprivileged: UInt32 = 65_534
      guard setgroups(0, nil) == 0, setgid(unprivileged) == 0, setuid(unprivileged) == 0 else {
        Glibc.exit(Self.refused)
      }
    }
    // Ends the program in any case.
    alarm(15)
    for number in 0..<Self.threads {
      var thread = pthread_t()
      if number == Self.threads - 1 {
        unsafe pthread_create(&thread, nil, { _ in Self.wait(blocking: true) }, nil)
      } else {
        unsafe pthread_create(&thread, nil, { _ in Self.wait(blocking: false) }, nil)
      }
    }
    while Self.ready.load(ordering: .acquiring) < Self.threads { usleep(1000) }
    let nowhere = unsafe UnsafePointer<UInt8>(bitPattern: 8)
    Glibc.exit(unsafe nowhere.map { unsafe Int32($0.pointee) } ?? 0)
  }

  private static func wait(blocking: Bool) -> Never {
    if blocking {
      var all = sigset_t()
      unsafe sigfillset(&all)
      unsafe pthread_sigmask(SIG_BLOCK, &all, nil)
    }
    ready.add(1, ordering: .releasing)
    while true { sleep(60) }
  }
}
