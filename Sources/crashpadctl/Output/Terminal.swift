import BinaryFormat
import FileSystem
import Glibc
import SystemPackage

/// The exit statuses, from sysexits.h where it has one.
enum ExitStatus: Int32 {
  case success = 0
  case findings = 1
  case usage = 64
  case noData = 65
  case noInput = 66
  case cannotCreate = 73
  case ioError = 74
  case temporaryFailure = 75
  case notPermitted = 77

  /// What a failed system call means for the exit status.
  init(_ errno: Errno, creating: Bool) {
    switch errno {
    case .noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels: self = creating ? .cannotCreate : .noInput
    case .permissionDenied, .notPermitted: self = .notPermitted
    case .readOnlyFileSystem, .fileExists, .isDirectory, .fileNameTooLong, .noSuchAddressOrDevice:
      self = creating ? .cannotCreate : .noInput
    case .resourceBusy, .wouldBlock: self = .temporaryFailure
    default: self = .ioError
    }
  }
}

/// Standard output and standard error.
enum Terminal {
  static let isErrorTerminal = isatty(2) == 1
  static let isOutputTerminal = isatty(1) == 1

  /// A line for people, or several, on standard error; lost if that is closed.
  ///
  /// Text from outside is escaped where a sentence takes it. This escapes what was forgotten there.
  static func error(_ line: String) {
    let isPlain = line.utf8.allSatisfy { (0x20..<0x7f).contains($0) || $0 == 0x0a }
    let lines = isPlain ? [] : line.split(separator: "\n", omittingEmptySubsequences: false)
    let text = isPlain ? line : lines.map { Wording.printable(String($0)) }.joined(separator: "\n")
    errorPart(TextStyle.error.coloringSeverity(text) + "\n")
  }

  /// Text without a line feed, on standard error.
  static func errorPart(_ text: String) {
    try? writeAll(text, to: .standardError)
  }

  /// Data, on standard output. A failure there is lost data, and ends the tool.
  static func output(_ text: String) {
    do { try writeAll(text, to: .standardOutput) } catch { fail(writing: error) }
  }

  static func writeOutput(_ bytes: RawSpan) throws { try writeAll(bytes, to: .standardOutput) }

  /// Ends the tool at once. What holds the symbols of large programs takes a tenth of the time to be given back piece by
  /// piece, which has no use at the end.
  static func end(_ status: ExitStatus) -> Never { exit(status.rawValue) }

  /// Ends the tool: quietly if the reader of a pipe went away, as it has all that it wanted.
  static func fail(writing error: any Error) -> Never {
    if error as? Errno == .brokenPipe { exit(ExitStatus.success.rawValue) }
    self.error("crashpadctl: error: standard output: \((error as? Errno)?.description ?? "\(error)")")
    exit(ExitStatus.ioError.rawValue)
  }
}

/// Standard output as a place for bytes.
final class StandardOutput: ByteOutput {
  func write(_ bytes: RawSpan) throws { try Terminal.writeOutput(bytes) }
}
