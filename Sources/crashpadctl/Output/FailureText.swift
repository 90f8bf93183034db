// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadDatabase
import CrashpadFiles
import CrashpadSnapshot
import CrashpadText
import CrashpadUpload
import SystemPackage

/// Why an input or output failed, as the rest of a sentence, and the exit status for it.
struct FailureText: Error, Sendable {
  let text: String
  let status: ExitStatus

  init(_ text: String, _ status: ExitStatus) {
    self.text = text
    self.status = status
  }

  /// Whether the bytes of the input are the reason, so that they give it again. After other failures nothing is known
  /// about the input.
  var isOfContent: Bool { status == .noData }

  /// - Parameter creating: whether an output was to be written.
  init(_ error: any Error, creating: Bool) {
    switch error {
    case let errno as Errno: self = errno.explanation(creating: creating)
    case let failure as FileFailure: self = failure.explanation(creating: creating)
    // scripts/house-rules checks that each error of the libraries conforms.
    default: self = (error as? any ExplainedError)?.explanation ?? FailureText("\(error)", .ioError)
    }
  }
}

/// An error that the tool can explain. Each error type of the libraries conforms, with a sentence for each case.
protocol ExplainedError: Error {
  var explanation: FailureText { get }
}

extension FailureText: ExplainedError {
  var explanation: FailureText { self }
}

// MARK: Files

extension Errno {
  func explanation(creating: Bool) -> FailureText { FailureText(description, ExitStatus(self, creating: creating)) }
}

extension FileFailure {
  func explanation(creating: Bool) -> FailureText {
    switch errno {
    case .invalidArgument: FailureText("is not a regular file", creating ? .cannotCreate : .noInput)
    case .wouldBlock:
      FailureText(
        "is locked by \(lockHolder.map { "process \($0)" } ?? "another program"), "
          + "which did not give it up within \(OpenFile.longestLockWait / 1000) s; try again", .temporaryFailure)
    case .tooManySymbolicLinkLevels:
      FailureText("is a symbolic link, which is not followed", ExitStatus(errno, creating: creating))
    case .tooManyLinks:
      FailureText(
        "has another name too (a hard link), so it may be any file of this system; refused",
        ExitStatus(errno, creating: creating))
    default: errno.explanation(creating: creating)
    }
  }
}

extension InputFile.NotReadable: ExplainedError {
  var explanation: FailureText {
    switch reason {
    case .directory, .notAFile: FailureText(description, .noInput)
    case .tooLarge:
      FailureText(
        "is a pipe or a device with more than \(TextFormat.size(UInt64(InputFile.pipeLimit))); --max-input-size allows more",
        .noInput)
    case .unreadable: FailureText(description, .ioError)
    }
  }
}

extension SpoolFile.Failure: ExplainedError {
  var explanation: FailureText {
    FailureText(
      "is a large pipe and can't be kept in \(TextFormat.printable(folder)): \(errno.description); "
        + "$TMPDIR names another place", .ioError)
  }
}

extension AttachmentTooLarge: ExplainedError {
  var explanation: FailureText {
    FailureText(
      "\(TextFormat.printable(path)): has \(TextFormat.size(size)), more than \(TextFormat.size(limit))"
        + (isReport ? ", the most of a report" : "; --max-attachment allows more"), .noData)
  }
}

extension CrashDatabase.OpenFailure: ExplainedError {
  var explanation: FailureText {
    switch self {
    case .file(let failure): failure.explanation(creating: false)
    case .notADatabase: FailureText(description, .noInput)
    case .otherProgram: FailureText(TextFormat.printable(description), .noInput)
    }
  }
}
