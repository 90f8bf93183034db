// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
public import SystemPackage

/// The reason why there is no redacted copy.
public enum RedactionFailure: Error, Sendable, CustomStringConvertible {
  /// The input can't be opened or read.
  case input(Errno)
  /// The input is a directory or a device, has too many bytes, or became shorter while it was read: the rest of a
  /// sentence that begins with its name.
  case unreadable(String)
  /// The input is not an intermediate dump, a minidump or a crash report.
  case notADump
  /// The output can't be written.
  case output(FilePath, Errno)

  /// The errors of opening and reading the input, as one type.
  init(reading error: any Error) {
    switch error {
    case let errno as Errno: self = .input(errno)
    case let failure as SpoolFile.Failure: self = .output(failure.folder, failure.errno)
    case let failure as InputFile.NotReadable: self = .unreadable(failure.description)
    default: self = .input(.ioError)
    }
  }

  /// The errors of writing the file at `output` from an input that is open, as one type.
  init(_ error: any Error, _ output: FilePath) {
    switch error {
    case is Redaction.NotADump: self = .notADump
    case let errno as Errno: self = .output(output, errno)
    default: self.init(reading: error)
    }
  }

  /// The rest of a sentence that begins with the input's name.
  public var description: String {
    switch self {
    case .input(let errno): errno.description
    case .unreadable(let reason): reason
    case .notADump: Redaction.NotADump().description
    case .output(let path, let errno): "can't be copied to \(path): \(errno)"
    }
  }
}
