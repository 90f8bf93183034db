import Glibc

/// The signals that this tool has an answer to.
enum Signals {
  static func install() {
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
