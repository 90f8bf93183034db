internal import CrashpadDatabase
internal import CrashpadFiles
internal import Synchronization
public import SystemPackage

/// Crashpad's client, in this process: it writes an intermediate dump when it crashes, and makes a report from it at
/// its next start. The interface of Crashpad's `CrashpadClient` on iOS, for Linux.
///
/// All functions may be called from any thread. Those whose description says so wait for the disk.
public enum CrashpadClient {
  /// The options of the handler.
  public struct Options: Sendable {
    /// The limits of a dump's contents.
    public var capture = CaptureLimits()
    /// In seconds. A run that crashes sooner after its start counts as a failed start; see
    /// ``PreviousRun/startCrashes``.
    public var startCrashInterval: Int64 = 10
    /// The options of uploads.
    public var upload = UploadOptions()
    /// Called on a separate thread each time that ``CrashpadClient/startProcessingPendingReports()`` has finished.
    public var onReportsProcessed: (@Sendable () -> Void)?

    public init() {}
  }

  /// The limits of a dump's contents.
  public struct CaptureLimits: Sendable {
    /// The most bytes of stack of the thread that crashed; 0 for 1 MiB.
    public var crashedStack: UInt32 = 0
    /// The most bytes of stack of each other thread; 0 for 128 KiB.
    public var stack: UInt32 = 0
    /// The time in which other threads have to stop, in milliseconds; 0 for 500.
    public var stopTimeout: UInt32 = 0
    /// Bytes of disk space that are reserved for the dump; 0 for 128 KiB, nil for none.
    public var reserve: UInt32? = 0
    /// Names of environment variables that dumps contain besides the usual harmless ones.
    public var environment: [String] = []
    /// Whether no signal handlers are installed: then there are only dumps without a crash.
    public var leavesSignals = false

    public init() {}
  }

  /// The reason why the handler did not start.
  public enum StartFailure: Error, Sendable, Equatable {
    case alreadyStarted
    /// The program id is empty, begins with a dot, unlike the name of any dump, or contains a slash or NUL.
    case badProgramID(String)
    /// There are more than 64 annotations, a name of more than 255 bytes or a value of more than 4095.
    case annotationDoesNotFit(String)
    case database(FilePath, Errno)
    /// The handler failed, with this message.
    case handler(String, Errno)
  }

  /// The reason why a call did nothing.
  public enum Failure: Error, Sendable, Equatable {
    /// The handler is needed, but was not started.
    case notStarted
    /// A dump was not written. The path is empty for a pending dump of the database.
    case dump(FilePath, Errno)
    /// Nothing was processed, or the settings can't be read or written.
    case processing(FilePath, Errno)
    /// Events could not be recorded as sent; `EILSEQ` if the file with the record is damaged.
    case events(FilePath, Errno)
  }

  /// The state that the start leaves for later calls.
  struct Running: Sendable {
    let database: CrashDatabase
    let pendingDumps: Folder
    let programID: String
    let url: String?
    let options: Options
    let previousRun: PreviousRun
    /// The name of the file for a crash of this process, without the `.locked` that it has until then.
    let ownDump: FileName?
  }

  private static let state = Mutex<Running?>(nil)

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
  /// - Throws: `StartFailure`.
  public static func startCrashpadInProcessHandler(
    database path: FilePath, url: String? = nil, annotations: [String: String] = [:], programID: String? = nil,
    options: Options = Options()
  ) throws(StartFailure) {
    try state.withLock { state throws(StartFailure) in
      guard state == nil else { throw .alreadyStarted }
      let id = programID ?? executableName()
      let bytes = id.utf8
      guard let first = bytes.first, first != UInt8(ascii: "."),
        !bytes.contains(where: { $0 == 0 || $0 == UInt8(ascii: "/") })
      else { throw .badProgramID(id) }
      try check(annotations)
      let database = try open(path)
      let history = RunHistory(database.database, database.pendingDumps, programID: id)
      let previousRun = history.previousRun(startCrashInterval: options.startCrashInterval)
      let leftovers = RunLeftovers(database.database, database.pendingDumps, programID: id)
      leftovers.tidy()
      let ownDump = try install(path, id, options)
      for (name, value) in annotations { _ = CrashCapture.setAnnotation(name, to: value) }
      if let ownDump { history.append(ownDump) }
      state = Running(
        database: database.database, pendingDumps: database.pendingDumps, programID: id, url: url, options: options,
        previousRun: previousRun, ownDump: ownDump)
    }
  }

  /// Whether the handler was started in this process.
  public static var isStarted: Bool { state.withLock { $0 != nil } }

  /// The end of this program's last run, as found at the start; nil before the start.
  public static var previousRun: PreviousRun? { state.withLock { $0?.previousRun } }

  /// Whether the last run of this program crashed. False before the start.
  public static var crashedLastRun: Bool { previousRun?.end == .crashed }

  static func running() throws(Failure) -> Running {
    guard let running = state.withLock({ $0 }) else { throw .notStarted }
    return running
  }

  // MARK: Steps of the start

  private static func check(_ annotations: [String: String]) throws(StartFailure) {
    var count = 0
    for (name, value) in annotations {
      count += 1
      guard count <= 64, name.utf8.count <= 255, value.utf8.count <= 4095 else { throw .annotationDoesNotFit(name) }
    }
  }

  private static func open(_ path: FilePath) throws(StartFailure) -> (database: CrashDatabase, pendingDumps: Folder) {
    do {
      let database = try CrashDatabase.create(path).database
      return (database, try Folder(database.path).folder(DatabaseLayout.pendingDumps))
    } catch {
      if let failure = error as? FileFailure { throw .database(failure.path, failure.errno) }
      throw .database(path, .invalidArgument)
    }
  }

  private static func install(_ path: FilePath, _ id: String, _ options: Options) throws(StartFailure) -> FileName? {
    var capture = CaptureOptions()
    capture.crashedStackLimit = options.capture.crashedStack
    capture.stackLimit = options.capture.stack
    capture.stopTimeout = options.capture.stopTimeout
    capture.reserve = options.capture.reserve
    capture.environment = options.capture.environment
    capture.leavesSignals = options.capture.leavesSignals
    do { try CrashCapture.install(database: path, programID: id, options: capture) } catch {
      if error.errno == .alreadyInProcess { throw .alreadyStarted }
      throw .handler(error.message, error.errno)
    }
    return CrashCapture.dumpPath?.lastComponent.flatMap { FileName($0) }
  }
}
