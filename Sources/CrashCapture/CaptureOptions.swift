internal import CCrashCapture
internal import SystemPackage
public import Snapshot

/// What the handler is told at its start; `crash_capture_options` of CCrashCapture.h.
public struct CaptureOptions: Sendable {
  /// The most bytes of stack of the thread that crashed; 0 for the handler's 1 MiB.
  public var crashedStackLimit: UInt32 = 0
  /// The most bytes of stack of each other thread; 0 for the handler's 128 KiB.
  public var stackLimit: UInt32 = 0
  /// How long other threads may take to stop, in milliseconds; 0 for the handler's 500.
  public var stopTimeout: UInt32 = 0
  /// Bytes of disk that are reserved for the dump, so that a full disk does not lose it; 0 for the handler's 128 KiB, nil for
  /// none.
  public var reserve: UInt32? = 0
  /// Names of environment variables that dumps have beside the usual harmless ones.
  public var environment: [String] = []
  /// The first twelve bytes of the uuids of this process's dumps; nil for random ones.
  public var runID: UUIDBytes?
  /// Threads that block every signal are not stopped by a helper process with ptrace(2).
  public var avoidsPtrace = false
  /// Signals are left alone; only `CrashCapture.dump` writes dumps.
  public var leavesSignals = false
  /// Nothing is written to standard error, whatever fails.
  public var isQuiet = true

  public init() {}

  var flags: UInt32 {
    var flags: UInt32 = 0
    if avoidsPtrace { flags |= UInt32(CRASH_CAPTURE_NO_PTRACE) }
    if leavesSignals { flags |= UInt32(CRASH_CAPTURE_NO_SIGNALS) }
    if isQuiet { flags |= UInt32(CRASH_CAPTURE_QUIET) }
    return flags
  }
}
