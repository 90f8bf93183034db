// SPDX-License-Identifier: Apache-2.0
import CrashpadCore
import CrashpadView

/// The beginning of documents about one input with the status OK or ERROR.
struct InputHead {
  /// The argument that names the input.
  let input: String
  let content: Content

  enum Content {
    case dump(Dump)
    case failure(FailureText)
  }

  private var dump: Dump? { if case .dump(let dump) = content { dump } else { nil } }
  private var failure: FailureText? { if case .failure(let failure) = content { failure } else { nil } }

  static let record = Record<InputHead>(
    head.members + [.members(ifAny: FindingRecord.list) { $0.dump?.findings }])

  /// The same with the member `complete`.
  static let recordWithComplete = Record<InputHead>(
    head.members + [
      .flag("complete", "Whether the dump is complete.", .omittable) { $0.dump?.isWhole },
      .members(ifAny: FindingRecord.list) { $0.dump?.findings },
    ])

  private static let head = Record<InputHead>(
    .argument("input", "The name of the input; `<standard input>` for `-`.") { $0.input },
    .word(
      "status", of: ["OK", "ERROR"],
      "`OK`, or `ERROR` for a dump that cannot be used. Then only the members up to `findings` follow; for an input that cannot "
        + "be read, only `format`, `error` and `exit_status`.", .always
    ) { $0.dump?.snapshot == nil ? "ERROR" : "OK" },
    .text("format", "The format, as in crashpadctl-inspect/1; null if the input cannot be read.") {
      $0.dump?.format.rawValue
    },
    .text("error", "The reason why the input cannot be read.", .omittable) { $0.failure?.text },
    .number("exit_status", "The exit status for this input alone, if it cannot be read.", .omittable) {
      $0.failure?.status.rawValue
    })
}
