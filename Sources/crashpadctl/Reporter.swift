import BinaryFormat
import CrashpadCore
import FileSystem
import Glibc
import IntermediateDump
import Minidump
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
    case .noSuchFileOrDirectory, .notDirectory: self = creating ? .cannotCreate : .noInput
    case .permissionDenied, .notPermitted: self = .notPermitted
    case .readOnlyFileSystem, .fileExists, .isDirectory: self = creating ? .cannotCreate : .noInput
    case .resourceBusy, .wouldBlock: self = .temporaryFailure
    default: self = .ioError
    }
  }
}

/// Writes to standard output and standard error.
enum Terminal {
  static let isErrorTerminal = isatty(2) == 1
  static let isOutputTerminal = isatty(1) == 1

  static func error(_ line: String) { write(line + "\n", to: .standardError) }

  static func output(_ text: String) { write(text, to: .standardOutput) }

  private static func write(_ text: String, to descriptor: FileDescriptor) {
    let bytes = Array(text.utf8)
    do {
      try unsafe writeAll(bytes.span.bytes, to: descriptor)
    } catch {
      // A reader that went away is no failure of ours; anything else on standard output is lost data.
      if descriptor == .standardOutput, error as? Errno != .brokenPipe { exit(ExitStatus.ioError.rawValue) }
      if descriptor == .standardOutput { exit(ExitStatus.success.rawValue) }
    }
  }
}

/// Standard output as a place for bytes.
final class StandardOutput: ByteOutput {
  func write(_ bytes: RawSpan) throws { try writeAll(bytes, to: .standardOutput) }
}
