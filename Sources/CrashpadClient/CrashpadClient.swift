internal import CrashCapture
internal import CrashDatabase
internal import FileSystem
internal import Synchronization
public import SystemPackage

/// Crashpad's client, in this process: it writes an intermediate dump when it crashes, and at its next start makes a report of
/// it. The interface of Crashpad's `CrashpadClient` as iOS has it, for Linux.
///
/// All functions may be called from any thread. Those that say so wait for the disk.
public enum CrashpadClient {
  /// How the handler works, beside what every program has to say.
  public struct Options: Sendable {
    /// The limits of what is captured.
    public var capture = CaptureLimits()
    /// A run that crashes so soon after its start counts as one that can not start; see ``PreviousRun/startCrashes``. In seconds.
    public var startCrashInterval: Int64 = 10
    /// How reports are uploaded.
    public var upload = UploadOptions()
    /// Called on a thread of its own each time that ``CrashpadClient/startProcessingPendingReports()`` is done.
    public var onReportsProcessed: (@Sendable () -> Void)?

    public init() {}
  }

  /// What a dump has at most.
  public struct CaptureLimits: Sendable {
    /// Bytes of stack of the thread that crashed; 0 for 1 MiB.
    public var crashedStack: UInt32 = 0
    /// Bytes of stack of each other thread; 0 for 128 KiB.
    public var stack: UInt32 = 0
    /// Milliseconds that other threads may take to stop; 0 for 500.
    public var stopTimeout: UInt32 = 0
    /// Bytes of disk that are reserved for the dump; 0 for 128 KiB, nil for none.
    public var reserve: UInt32? = 0
    /// Environment variables that dumps have beside the usual harmless ones.
    public var environment: [String] = []
    /// Signals are left alone: only dumps without crash.
    public var leavesSignals = false

    public init() {}
  }

  /// Why the handler did not start.
  public enum StartFailure: Error, Sendable, Equatable {
    case alreadyStarted
    /// A program id is empty, begins with a dot, as no dump's name does, or has a slash or NUL.
    case badProgramID(String)
    /// More than 64 annotations, a name of more than 255 bytes or a value of more than 4095.
    case annotationDoesNotFit(String)
    case database(FilePath, Errno)
    /// The handler itself, with what it says.
    case handler(String, Errno)
  }

  /// Why something is not done that needs the handler.
  public struct NotStarted: Error, Sendable, Equatable {}

  /// What the start left for the calls after it.
  struct Running: Sendable {
    let database: CrashDatabase
    let pendingDumps: Folder
    let programID: String
    let url: String?
    let options: Options
    let previousRun: PreviousRun
    /// The file that a crash of this process goes to has this name, with `.locked` behind it until then.
    let ownDump: FileName?
  }

  private static let state = Mutex<Running?>(nil)

  /// Starts the handler: from now on a crash of this process leaves a dump in the database.
  ///
  /// What earlier runs of the same program left is put in order: files of those that are dead and did not crash go, and dumps
  /// of hangs in which they died become pending. Nothing is processed before ``processIntermediateDumps(annotations:)``.
  ///
  /// - Parameters:
  ///   - path: the database's directory. It is made if it is missing, but not the directories above it.
  ///   - url: where reports are to be uploaded to; nil or empty for nowhere.
  ///   - annotations: texts that every dump has.
  ///   - programID: whose dumps these are, as the bundle id on iOS; nil for the name of the executable, without dots in
  ///     front. Programs that share a database need different ones, several processes of one program do not.
  ///   - options: the rest.
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

  /// How the last run of this program ended, as it looked at the start; nil before that.
  public static var previousRun: PreviousRun? { state.withLock { $0?.previousRun } }

  /// Whether the last run of this program crashed. False before the start.
  public static var crashedLastRun: Bool { previousRun?.end == .crashed }

  static func running() throws(NotStarted) -> Running {
    guard let running = state.withLock({ $0 }) else { throw NotStarted() }
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
