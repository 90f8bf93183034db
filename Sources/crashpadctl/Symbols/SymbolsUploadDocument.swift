// SPDX-License-Identifier: Apache-2.0
import CrashpadFiles
import CrashpadSnapshot
import CrashpadSymbolServers
import CrashpadText
import SystemPackage

/// The result of `symbols upload`.
struct SymbolsUploadDocument {
  struct Row {
    let path: FilePath
    /// The path on the server.
    let place: String
    let outcome: SymbolUploadOutcome

    /// The reason of a failure.
    var reason: String? {
      switch outcome {
      case .sent, .present: nil
      case .refused(let reason), .failed(let reason), .notSent(let reason): reason
      case .notTried: "the run was asked to end"
      }
    }

    var status: ExitStatus {
      switch outcome {
      case .sent, .present: .success
      case .refused: .noData
      case .failed, .notSent, .notTried: .temporaryFailure
      }
    }

    fileprivate var word: String {
      switch outcome {
      case .sent: "sent"
      case .present: "present"
      case .refused: "refused"
      case .failed: "failed"
      case .notSent, .notTried: "not_sent"
      }
    }
  }

  var isDryRun: Bool
  /// The address without secrets, or the directory.
  var server = ""
  var rows: [Row] = []
  /// Symbol files that the server does not take.
  var others = 0
  var statuses: [ExitStatus] = []

  init(isDryRun: Bool) { self.isDryRun = isDryRun }

  /// Whether files are left because the run was asked to end.
  var hasEnded: Bool { rows.contains { $0.outcome == .notTried } }

  private func count(_ word: String) -> Int { rows.count { $0.word == word } }

  /// The line at the end of the text.
  var summary: String {
    let sent = TextFormat.count(count("sent"), "file")
    var parts = ["\(sent) \(isDryRun ? "would be sent" : "sent") to \(TextFormat.printable(server))"]
    for (word, text) in [
      ("present", "there already"), ("refused", "refused"), ("failed", "failed"), ("not_sent", "not sent"),
    ] where count(word) > 0 { parts.append("\(grouped(count(word))) \(text)") }
    if others > 0 { parts.append("\(grouped(others)) of other formats or without an id left out") }
    return parts.joined(separator: ", ")
  }

  static let document = Document<SymbolsUploadDocument>(
    "crashpadctl-symbols-upload/1", "Output of `crashpadctl symbols upload --format json`.",
    .text("server", "The address of the server, without secrets, or the directory.", .always) { $0.server },
    .flag("dry_run", "Whether nothing was sent because of `--dry-run`.") { $0.isDryRun },
    .number(
      "left_out", "The number of symbol files without an id, or in a format that the server does not take.", .always
    ) {
      $0.others
    },
    .list("files", file, "The files, in the order in which they were found.") { $0.rows })

  private static let file = Record<Row>(
    .path("path", "The file.", .always) { $0.path },
    .text("place", "The path of the file on the server.", .always) { $0.place },
    .word(
      "outcome", of: ["sent", "present", "refused", "failed", "not_sent"],
      "`sent`; `present` if the server has it already; `refused`; `failed`; or `not_sent` after a fault of the server, and "
        + "if the run was asked to end before.",
      .always
    ) { $0.word },
    .text("reason", "The reason why it was not sent.", .omittable) { $0.reason })
}
