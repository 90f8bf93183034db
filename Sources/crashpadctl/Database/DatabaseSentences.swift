// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadDatabase
import CrashpadFiles
import CrashpadRedaction
import CrashpadSnapshot
import CrashpadText
import SystemPackage

/// Messages about a database and its reports.
enum DatabaseSentences {
  /// The reason why a report or a part of the database could not be read or changed, and the exit status for it.
  static func failure(_ error: any Error) -> (text: String, status: ExitStatus) {
    switch error {
    case is Redaction.NotADump: ("can't be redacted: it \(Sentences.failure(error, creating: false).text)", .noData)
    case let failure as FileFailure:
      (
        "\(TextFormat.printable(failure.path)): \(Sentences.failure(failure, creating: true).text)",
        ExitStatus(failure.errno, creating: true)
      )
    default: Sentences.failure(error, creating: true)
    }
  }

  /// Prints why a session could not start or make a change, or why a database could not be read. Returns the exit code
  /// for the tool.
  static func fail(_ error: any Error, _ database: FilePath, creating: Bool = true) -> ExitCode {
    var error = error
    // The random names of a session's own files mean nothing to the user; the problem is that
    // their directory can't be written.
    if let failure = error as? FileFailure, failure.path.lastComponent?.string.hasPrefix(".crashpadctl-") == true {
      error = FileFailure(failure.path.removingLastComponent(), failure.errno)
    }
    Terminal.error(Sentences.databaseFailure(error, database))
    return ExitCode(Sentences.failure(error, creating: creating).status.rawValue)
  }

  /// For a run that only says what it would do, perhaps by a user who may only look: says which directory it may not change.
  static func warnOfObstacle(to database: CrashDatabase) {
    guard let failure = database.unchangeable else { return }
    Terminal.error(
      "\(TextFormat.printable(failure.path)): warning: \(failure.errno); without --dry-run, this user could change nothing"
    )
  }

  // MARK: Locks

  /// Such as "locked by a running program".
  static func adjective(_ state: LockState) -> String {
    switch state {
    case .held(let since): "locked by a running program" + (since.map { ", since \(TextFormat.date($0))" } ?? "")
    case .abandoned: "locked by a program that is gone"
    case .unknown(let since): "locked since \(TextFormat.date(since)); the program may still be running"
    }
  }

  static func lock(_ state: LockState) -> String { "is " + adjective(state) }

  /// A single word for JSON.
  static func word(_ state: LockState) -> String {
    switch state {
    case .held: "held"
    case .abandoned: "abandoned"
    case .unknown: "unknown"
    }
  }

  // MARK: Metadata

  /// A single word for JSON: the source of the metadata, or the reason why there is none.
  static func word(_ metadata: Report.Metadata) -> String {
    switch metadata {
    case .file: "file"
    case .attributes(_, let source): source.rawValue
    case .missing: "missing"
    case .damaged: "damaged"
    }
  }

  static func metadata(_ metadata: Report.Metadata) -> String {
    switch metadata {
    case .file: "a file beside it"
    case .attributes(_, .extendedAttributes): "extended attributes of its file"
    case .attributes(_, .appleDouble): "an AppleDouble file beside it"
    case .missing: "missing"
    case .damaged(let damage): "damaged: \(damage)"
    }
  }

  /// The upload state of a report in a few words.
  static func upload(_ metadata: ReportMetadata?) -> String {
    guard let metadata else { return "unknown" }
    if metadata.isUploaded { return "uploaded" }
    if metadata.isUploadExplicitlyRequested { return "requested" }
    let attempts = metadata.uploadAttempts
    return attempts <= 0 ? "-" : "\(attempts) failed"
  }

  // MARK: Times

  /// Such as "2026-11-18 08:30:00 UTC, 3 d ago".
  static func date(_ seconds: Int64, now: Int64) -> String {
    let (age, overflow) = now.subtractingReportingOverflow(seconds)
    if overflow { return TextFormat.date(seconds) }
    return "\(TextFormat.date(seconds)), \(TextFormat.age(age))\(age < 0 ? "" : " ago")"
  }
}

extension ReportChangeFailure: ExplainedError {
  var explanation: FailureText {
    switch self {
    case .notFound: FailureText(description, .noInput)
    case .busy(let state): FailureText(DatabaseSentences.lock(state), .temporaryFailure)
    case .alreadyUploaded, .damagedMetadata: FailureText(description, .findings)
    case .file(let failure): failure.explanation(creating: true)
    }
  }
}

extension DatabaseSession.Busy: ExplainedError {
  var explanation: FailureText { FailureText(DatabaseSentences.lock(state), .temporaryFailure) }
}
