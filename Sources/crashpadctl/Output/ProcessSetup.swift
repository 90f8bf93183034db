import CArguments
import FileSystem
import Glibc
import Supervision

/// What has to be in order before anything is opened.
enum ProcessSetup {
  /// Standard streams that were closed at the start, and signals whose action is changed here and that were ignored:
  /// a program that the tool starts has them as they were.
  static let closedStreams = (Int32(0)...2).filter { descriptor in
    // A call that every program makes at its start, as a filter may end the process for others.
    var status = stat()
    return unsafe fstat(descriptor, &status) == -1 && errno == EBADF
  }
  static let changedSignals = [SIGPIPE, SIGBUS, SIGXFSZ]
  static let ignoredSignals = changedSignals.filter { Supervisor.ignores($0) }

  /// A standard stream that is closed would be the next file that is opened, and messages would go into that.
  static func openStandardStreams() {
    for descriptor in closedStreams {
      // The lowest free number is given out, and that is this one. Opened the wrong way round, it fails as a closed one does.
      _ = unsafe open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY)
    }
  }

  static func installSignalHandlers() {
    _ = ignoredSignals
    // A reader that goes away gives EPIPE, and that is told apart from lost data where it happens.
    _ = signal(SIGPIPE, SIG_IGN)
    // A file that becomes larger than RLIMIT_FSIZE gives EFBIG, which is reported with the file's name.
    _ = signal(SIGXFSZ, SIG_IGN)
    // Inputs that are cut short while they are read are failures of their own; any other SIGBUS ends the tool. Outputs have
    // no name until they are whole.
    MappingGuard.install {
      WorkerPlaces.reportCrash(SIGBUS)
      let message: StaticString = "crashpadctl: error: a file became shorter while it was read, or could not be read\n"
      unsafe _ = write(2, message.utf8Start, message.utf8CodeUnitCount)
      _exit(ExitStatus.ioError.rawValue)
    }
  }
}

extension ProcessSetup {
  /// The words of the command line behind the tool's name, byte for byte.
  static var arguments: [[UInt8]] {
    (1..<max(1, arguments_count())).map { index in
      guard let text = unsafe arguments_at(index) else { return [] }
      return unsafe UnsafeBufferPointer(start: text, count: strlen(text)).map { UInt8(bitPattern: $0) }
    }
  }
}
