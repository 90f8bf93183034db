// SPDX-License-Identifier: Apache-2.0
import CrashpadCore
import CrashpadJSON
import CrashpadSignatures
import CrashpadSnapshot

/// The head of an answer of `worker` as JSON.
struct WorkerDocument {
  enum Status: String, Sendable, CaseIterable {
    /// There is a document.
    case done
    /// The dump can't be read. The document, if there is one, has the reason.
    case failed
    /// The request names an unknown operation or option.
    case refused
    case started
    /// The dump took too long; the worker ends.
    case timeout
    /// The dump took too much memory; the worker ends.
    case memory
    /// Another dump ended the worker.
    case interrupted
    /// The dump ended the worker with a signal.
    case crashed
  }

  let id: WorkerRequest.ID
  let operation: WorkerRequest.Operation?
  let status: Status
  let exit: ExitStatus?
  /// The size of the dump that was made.
  let madeBytes: Int?
  /// The signal that ended the worker.
  let signal: Int?
  let error: String?
  /// Writes the document of the command with the operation's name.
  let document: ((inout JSONWriter) -> Void)?

  static let document = Document<WorkerDocument>(
    WorkerRequest.schema, "The head of an answer of crashpadctl-worker(1).",
    .requestID("id", "The id of the request; null if its head cannot be read.") { $0.id },
    .word("op", of: WorkerRequest.Operation.allCases.map(\.rawValue), "The operation; null for a refused request.") {
      $0.operation?.rawValue
    },
    .word(
      "status", of: Status.allCases.map(\.rawValue), "The status, as in crashpadctl-worker(1).", .always
    ) { $0.status.rawValue },
    .number("exit_status", "The exit status that the command with the operation's name would have.") {
      $0.exit?.rawValue
    },
    .number("bytes", "The size of the data that follow the head.", .omittable) { $0.madeBytes },
    .number("signal", "The number of the signal by which the dump ended the worker.", .omittable) { $0.signal },
    .text("error", "The reason why there is no result.", .omittable) { $0.error },
    .document("document", "The document of the command with the operation's name.") {
      $0.document
    })

  // MARK: Operations without a command

  /// The result of `version`.
  static let version = Record<[WorkerRequest.Operation]>(
    .text("version", "The version of the tool.", .always) { _ in toolVersion },
    .number("rules", "The version of the rules of signatures.", .always) { _ in RuleVersion.current.rawValue },
    .texts("operations", "The operations.") { $0.map(\.rawValue) })
}
