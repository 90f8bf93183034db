// SPDX-License-Identifier: Apache-2.0
internal import CCrashCapture
internal import CrashpadDatabase
internal import CrashpadFiles
public import CrashpadUpload
internal import Glibc
internal import Synchronization
public import SystemPackage

/// Crashpad's client, in this process: it writes an intermediate dump when it crashes, and makes a report from it at
/// its next start. The interface of Crashpad's `CrashpadClient` on iOS, for Linux.
///
/// All functions may be called from any thread. Those whose description says so wait for the disk.
public enum CrashpadClient {
  /// The options of the handler.
  public struct Options: Sendable {
    /// The most bytes of stack of the thread that crashed; 1 MiB if it is not set.
    public var crashedStackLimit: Int = CRASH_CAPTURE_CRASHED_STACK_LIMIT
    /// The most bytes of stack of each other thread; 128 KiB if it is not set.
    public var stackLimit: Int = CRASH_CAPTURE_STACK_LIMIT
    /// The time in which other threads have to stop; half a second if it is not set.
    public var stopTimeout: Duration = .milliseconds(CRASH_CAPTURE_STOP_TIMEOUT)
    /// Bytes of disk space that are reserved for the dump, so that it fits even if the disk fills up; 128 KiB if it is
    /// not set.
    public var reserve: Int = CRASH_CAPTURE_RESERVE
    /// Names of environment variables that dumps contain besides the usual harmless ones.
    public var environment: [String] = []
    /// Whether no signal handlers are installed: then there are only dumps without a crash.
    public var leavesSignals = false
    /// A run that crashes sooner after its start counts as a failed start; see ``PreviousRun/startCrashes``.
    public var startCrashInterval: Duration = .seconds(10)
    /// The options of uploads; the defaults are those of Crashpad on iOS. The URL of the start takes precedence over
    /// their destination. One report is sent at a time, and those that the settings do not allow to upload are always
    /// marked as completed.
    public var upload = ReportUploader.Options()
    /// Whether the database is checked every 15 minutes for reports of other programs, and for those whose next attempt
    /// is due.
    public var watchesPendingReports = true
    /// Called on a separate thread each time that ``CrashpadClient/startProcessingPendingReports()`` has finished.
    public var onReportsProcessed: (@Sendable () -> Void)?

    /// The default values.
    public init() {}
  }

  /// The state that the start leaves for later calls.
  struct Started: Sendable {
    /// Absolute, as the program may change its directory.
    let path: FilePath
    let programID: String
    let url: String?
    let options: Options
    let previousRun: PreviousRun
    /// The name of the file for a crash of this process, without the `.locked` that it has until then.
    let ownDump: FileName?
  }

  /// The state, and the database for one call: in between no directory is open, as a program may close all descriptors
  /// that it did not open, and have others under their numbers.
  @dynamicMemberLookup
  struct Running: Sendable {
    let database: CrashDatabase
    let pendingDumps: Folder
    let started: Started

    subscript<Value>(dynamicMember member: KeyPath<Started, Value>) -> Value { started[keyPath: member] }
  }

  private static let state = Mutex<Started?>(nil)

  /// Starts the handler: from now on a crash of this process leaves a dump in the database.
  ///
  /// Files of earlier runs of the same program are cleaned up: files of dead runs that did not crash are removed, and
  /// dumps of hangs during which a run died become pending. Nothing is processed before
  /// ``processIntermediateDumps(annotations:)``.
  ///
  /// - Parameters:
  ///   - path: the database's directory. It is made if it is missing, but not its parents.
  ///   - url: the address for uploads of reports; nil or empty for none.
  ///   - annotations: texts that every dump contains.
  ///   - programID: identifies the dumps of this program, like the bundle id on iOS; nil for the name of the
  ///     executable, without leading dots. Programs that share a database need different ids, several processes of one
  ///     program do not.
  ///   - options: the other options.
  public static func startCrashpadInProcessHandler(
    database path: FilePath, url: String? = nil, annotations: [String: String] = [:], programID: String? = nil,
    options: Options = Options()
  ) throws(Failure) {
    try state.withLock { state throws(Failure) in
      guard state == nil else { throw .alreadyStarted }
      let id = programID ?? executableName()
      let bytes = id.utf8
      guard let first = bytes.first, first != UInt8(ascii: "."),
        !bytes.contains(where: { $0 == 0 || $0 == UInt8(ascii: "/") })
      else { throw .badProgramID(id) }
      try check(annotations)
      let path = try absolute(path)
      let (database, pendingDumps) = try open(path)
      let history = RunHistory(database, pendingDumps, programID: id)
      let previousRun = history.previousRun(startCrashInterval: options.startCrashInterval.components.seconds)
      DeadRunCleanup(database, pendingDumps, programID: id).run()
      let ownDump = try install(path, id, options)
      for (name, value) in annotations { setAnnotation(name, to: value) }
      if let ownDump { history.append(ownDump) }
      state = Started(
        path: path, programID: id, url: url, options: options, previousRun: previousRun, ownDump: ownDump)
    }
  }

  /// The end of this program's last run, as found at the start; nil before the start.
  public static var previousRun: PreviousRun? { state.withLock { $0?.previousRun } }

  /// Whether the last run of this program crashed. False before the start.
  public static var crashedLastRun: Bool { previousRun?.end == .crashed }

  static func started() throws(Failure) -> Started {
    guard let started = state.withLock({ $0 }) else { throw .notStarted }
    return started
  }

  static func running() throws(Failure) -> Running {
    let started = try started()
    let (database, pendingDumps) = try open(started.path)
    return Running(database: database, pendingDumps: pendingDumps, started: started)
  }

  // MARK: Steps of the start

  private static func check(_ annotations: [String: String]) throws(Failure) {
    for (index, (name, value)) in annotations.enumerated() {
      guard index < CRASH_CAPTURE_ANNOTATIONS, name.utf8.count <= CRASH_CAPTURE_ANNOTATION_NAME,
        value.utf8.count <= CRASH_CAPTURE_ANNOTATION_VALUE
      else { throw .annotationDoesNotFit(name) }
    }
  }

  private static func absolute(_ path: FilePath) throws(Failure) -> FilePath {
    if path.isAbsolute { return path }
    do { return try FilePath.workingDirectory().pushing(path) } catch {
      throw .database(path, error as? Errno ?? .ioError)
    }
  }

  private static func open(_ path: FilePath) throws(Failure) -> (database: CrashDatabase, pendingDumps: Folder) {
    do throws(FileFailure) {
      let database = try CrashDatabase.create(path).database
      return (database, try Folder(database.path).folder(DatabaseLayout.pendingDumps))
    } catch { throw .database(error.path, error.errno) }
  }

  private static func install(_ path: FilePath, _ id: String, _ options: Options) throws(Failure) -> FileName? {
    var message = [CChar](repeating: 0, count: 512)
    let environment = unsafe options.environment.map { unsafe UnsafePointer(strdup($0)) } + [nil]
    defer { unsafe environment.forEach { unsafe free(UnsafeMutablePointer(mutating: $0)) } }
    let flags = CRASH_CAPTURE_QUIET | (options.leavesSignals ? CRASH_CAPTURE_NO_SIGNALS : 0)
    let code = unsafe path.withPlatformString { path in
      unsafe id.withCString { id in
        unsafe environment.withUnsafeBufferPointer { environment in
          var all = unsafe crash_capture_options(
            database: path, program_id: id, run_id: nil, environment: environment.baseAddress, time_zone: nil,
            crashed_stack_limit: limit(options.crashedStackLimit), stack_limit: limit(options.stackLimit),
            stop_timeout: limit(Int(options.stopTimeout.nanoseconds / 1_000_000)),
            reserve: options.reserve > 0 ? limit(options.reserve) : .max, flags: UInt32(flags))
          return unsafe crash_capture_install(&all, &message, message.count)
        }
      }
    }
    if code == EALREADY { throw .alreadyStarted }
    guard code == 0 else { throw .handler(String(platformString: message), Errno(rawValue: code)) }
    return unsafe FilePath(platformString: crash_capture_path()).lastComponent.flatMap { FileName($0) }
  }

  /// The handler has a default in place of 0.
  private static func limit(_ value: Int) -> UInt32 { UInt32(clamping: max(value, 1)) }
}

extension CrashpadClient {
  /// The reason why a call did nothing.
  public enum Failure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The handler is needed, but was not started.
    case notStarted
    /// The handler runs in this process already.
    case alreadyStarted
    /// The program id is empty, begins with a dot, unlike the name of any dump, or contains a slash or NUL.
    case badProgramID(String)
    /// There are more than 64 annotations, a name of more than 255 bytes or a value of more than 4095.
    case annotationDoesNotFit(String)
    case database(FilePath, Errno)
    /// The handler failed, with this message.
    case handler(String, Errno)
    /// A dump was not written. The path is empty for a pending dump of the database.
    case dump(FilePath, Errno)
    /// Nothing was processed, or the settings can't be read or written.
    case processing(FilePath, Errno)
    /// Events could not be recorded as sent; `EILSEQ` if the file with the record is damaged.
    case events(FilePath, Errno)
    /// Reports can't be sent to the URL, which is not in the failure as it may hold a password or a key.
    case badURL(WebAddressFailure)
    /// A hang monitor runs in this process already.
    case monitorAlreadyStarted
    /// The hang monitor's thread could not be started.
    case monitor(Errno)

    /// A sentence without a period at its end.
    public var description: String {
      switch self {
      case .notStarted: "the handler was not started"
      case .alreadyStarted: "the handler was started already"
      case .badProgramID(let id): "not a program id (no slash, no dot in front): \(id)"
      case .annotationDoesNotFit(let name): "an annotation does not fit: \(name)"
      case .handler(let message, let errno): message.isEmpty ? "\(errno)" : message
      case .dump(let path, let errno): "no dump was written\(path.isEmpty ? "" : " to \(path)"): \(errno)"
      case .database(let path, let errno), .processing(let path, let errno), .events(let path, let errno):
        "\(path): \(errno)"
      case .badURL(let failure): "reports can't be sent to the URL: \(failure)"
      case .monitorAlreadyStarted: "the hang monitor was started already"
      case .monitor(let errno): "the hang monitor's thread did not start: \(errno)"
      }
    }

    /// For C.
    var errno: Errno {
      switch self {
      case .notStarted: .noSuchProcess
      case .alreadyStarted, .monitorAlreadyStarted: .alreadyInProcess
      case .badProgramID, .badURL: .invalidArgument
      case .annotationDoesNotFit: .argListTooLong
      case .database(_, let errno), .handler(_, let errno), .dump(_, let errno), .processing(_, let errno),
        .events(_, let errno), .monitor(let errno):
        errno
      }
    }
  }
}
