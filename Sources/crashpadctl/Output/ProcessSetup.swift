import Glibc

/// What has to be in order before anything is opened.
enum ProcessSetup {
  /// A standard stream that is closed would be the next file that is opened, and messages would go into that.
  static func openStandardStreams() {
    for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) == -1 {
      // The lowest free number is given out, and that is this one. Opened the wrong way round, it fails as a closed one does.
      _ = unsafe open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY)
    }
  }

  /// Swift reads the command line from /proc. Where that is not mounted there would be none, and a script that asked for a
  /// conversion would get the help and status 0.
  static func checkCommandLine() {
    guard CommandLine.arguments.isEmpty else { return }
    Terminal.error("crashpadctl: error: the command line can't be read, as /proc is not mounted")
    exit(ExitStatus.ioError.rawValue)
  }

  static func installSignalHandlers() {
    // A reader that goes away gives EPIPE, and that is told apart from lost data where it happens.
    _ = signal(SIGPIPE, SIG_IGN)
    // A mapped input that another program cuts short has no bytes behind its new end, and reading them raises SIGBUS. There
    // is no way back into the reading code, so the tool ends; outputs have no name until they are whole.
    _ = signal(SIGBUS) { _ in
      let message: StaticString = "crashpadctl: an input became shorter while it was read, or could not be read\n"
      unsafe _ = write(2, message.utf8Start, message.utf8CodeUnitCount)
      _exit(ExitStatus.ioError.rawValue)
    }
  }
}
