internal import CCrashCapture
internal import SystemPackage
package import CrashpadSnapshot

/// The options of the handler at its start; `crash_capture_options` of CCrashCapture.h.
package struct CaptureOptions: Sendable {
  /// The most bytes of stack of the thread that crashed; 0 for the handler's 1 MiB.
  package var crashedStackLimit: UInt32 = 0
  /// The most bytes of stack of each other thread; 0 for the handler's 128 KiB.
  package var stackLimit: UInt32 = 0
  /// The time in which other threads have to stop, in milliseconds; 0 for the handler's 500.
  package var stopTimeout: UInt32 = 0
  /// Bytes of disk space that are reserved for the dump, so that it fits even if the disk fills up; 0 for the handler's
  /// 128 KiB, nil for none.
  package var reserve: UInt32? = 0
  /// Names of environment variables that dumps contain besides the usual harmless ones.
  package var environment: [String] = []
  /// The first twelve bytes of the UUIDs of this process's dumps; nil for random ones.
  package var runID: UUIDBytes?
  /// Whether threads that block every signal are not stopped by a helper process with ptrace(2).
  package var avoidsPtrace = false
  /// Whether no signal handlers are installed; then only `CrashCapture.dump` writes dumps.
  package var leavesSignals = false
  /// Whether nothing is printed to standard error, whatever fails.
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
