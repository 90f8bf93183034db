// SPDX-License-Identifier: Apache-2.0
import CrashpadCore

/// Members that documents about one input share.
enum InputRecord {
  /// The names of formats in documents.
  static let formats = InputFormat.allCases.map(\.rawValue)

  /// The members of an input that failed, for commands whose documents have an outcome.
  static let failure = Record<FailureText>(
    .text("error", "The reason of a failure.", .always) { $0.text },
    .number("status", "After a failure, the exit status for this input alone.", .always) { $0.status.rawValue })
}
