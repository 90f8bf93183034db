internal import CCrashCapture
internal import SystemPackage
package import Snapshot

/// What the handler is told at its start; `crash_capture_options` of CCrashCapture.h.
package struct CaptureOptions: Sendable {
  /// The most bytes of stack of the thread that crashed; 0 for the handler's 1 MiB.
  package var crashedStackLimit: UInt32 = 0
  /// The most bytes of stack of each other thread; 0 for the handler's 128 KiB.
  package var stackLimit: UInt32 = 0
  /// How long other threads may take to stop, in milliseconds; 0 for the handler's 500.
  package var stopTimeout: UInt32 = 0
  /// Bytes of disk that are reserved for the dump, so that a full disk does not lose it; 0 for the handler's 128 KiB, nil for
  /// none.
  package var reserve: UInt32? = 0
  /// Names of environment variables that dumps have beside the usual harmless ones.
  package var environment: [String] = []
  /// The first twelve bytes of the uuids of this process's dumps; nil for random ones.
  package var runID: UUIDBytes?
  /// Threads that block every signal are not stopped by a helper process with ptrace(2).
  package var avoidsPtrace = false
  /// Signals are left alone; only `CrashCapture.dump` writes dumps.
  package var leavesSignals = false
  /// Nothing is written to standard error, whatever fails.
  package var isQuiet = true

  package init() {}

  var flags: UInt32 {
    var flags: UInt32 = 0
    if avoidsPtrace { flags |= UInt32(CRASH_CAPTURE_NO_PTRACE) }
    if leavesSignals { flags |= UInt32(CRASH_CAPTURE_NO_SIGNALS) }
    if isQuiet { flags |= UInt32(CRASH_CAPTURE_QUIET) }
    return flags
  }
}
