// SPDX-License-Identifier: Apache-2.0
import CCrashpadArguments
import CrashpadFiles
import Glibc
import CrashpadSupervision

/// Process settings that must be made before any file is opened.
enum ProcessSetup {
  /// The standard streams that were closed at the start, and the signals that were ignored and are changed here. A
  /// program that the tool starts gets them back as they were.
  static let closedStreams = (Int32(0)...2).filter { descriptor in
    // Every program makes this system call at its start. A filter may kill the process for others.
    var status = stat()
    return unsafe fstat(descriptor, &status) == -1 && errno == EBADF
  }
  static let changedSignals = [SIGPIPE, SIGBUS, SIGXFSZ]
  static let ignoredSignals = changedSignals.filter { Supervisor.ignores($0) }

  /// Opens closed standard streams. Otherwise the next opened file would take the number of one, and
  /// messages would go into that file.
  static func openStandardStreams() {
    for descriptor in closedStreams {
      // open() returns the lowest free descriptor, which is this one. The opposite access mode
      // makes it fail like a closed stream.
      _ = unsafe open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY)
    }
  }

  /// - Parameter unreadable: called in the handler of SIGBUS for a fault outside of the inputs that are read under guard;
  ///   it may do only what a signal handler may.
  static func installSignalHandlers(unreadable: @convention(c) () -> Void) {
    _ = ignoredSignals
    // If a reader goes away, writing fails with EPIPE, which the writer distinguishes from lost data.
    _ = signal(SIGPIPE, SIG_IGN)
    // If a file exceeds RLIMIT_FSIZE, writing fails with EFBIG, which is reported with the file's name.
    _ = signal(SIGXFSZ, SIG_IGN)
    // Inputs that are truncated while they are read are handled separately; any other SIGBUS ends the tool. Outputs
    // have no name until they are complete.
    MappingGuard.install(otherwise: unreadable)
  }

  /// Ends the tool by SIGPIPE. Returns if that was ignored when the tool started.
  static func endByBrokenPipe() {
    if ignoredSignals.contains(SIGPIPE) { return }
    _ = signal(SIGPIPE, SIG_DFL)
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGPIPE)
    unsafe sigprocmask(SIG_UNBLOCK, &signals, nil)
    kill(getpid(), SIGPIPE)
  }

  /// Ends the tool after a fault in a mapped file. For handlers of signals.
  static func endUnreadable() -> Never {
    let message: StaticString = "crashpadctl: error: a file became shorter while it was read, or could not be read\n"
    unsafe _ = write(2, message.utf8Start, message.utf8CodeUnitCount)
    _exit(ExitStatus.ioError.rawValue)
  }
}

extension ProcessSetup {
  /// The arguments after the tool's name, byte for byte.
  static var arguments: [[UInt8]] {
    (1..<max(1, arguments_count())).map { index in
      guard let text = unsafe arguments_at(index) else { return [] }
      return unsafe UnsafeBufferPointer(start: text, count: strlen(text)).map { UInt8(bitPattern: $0) }
    }
  }
}
