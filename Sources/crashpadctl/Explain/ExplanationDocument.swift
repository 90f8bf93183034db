// SPDX-License-Identifier: Apache-2.0
import CrashpadMeaning
import CrashpadSignatures

/// The explanation of a report or dump as JSON.
struct ExplanationDocument {
  let input: String
  var explanation: Explanation?
  var signature: Signature?
  /// The reason why it could not be read.
  var error: String?

  init(_ explained: ExplainedInput, input: String) {
    self.input = input
    explanation = explained.explanation
    signature = explained.signature
    error = explained.explanation == nil ? "nothing can be read of it" : nil
  }

  /// The document of an input that can't be read.
  init(input: String, error: String) {
    self.input = input
    self.error = error
  }

  static let document = Document<ExplanationDocument>(
    "crashpadctl-explanation/1",
    "Output of `crashpadctl explain --format json` for each report or dump. "
      + "If it could not be read, the members after `error` are omitted.",
    .argument("input", "The argument that names it, or would name it.") { $0.input },
    .text("error", "The reason why it could not be read.") { $0.error },
    .members(ifAny: parts) { document in
      document.explanation.map { Parts(explanation: $0, signature: document.signature) }
    })

  private struct Parts {
    let explanation: Explanation
    let signature: Signature?
  }

  private static let parts = Record<Parts>(
    .flag("is_crash", "False for reports about processes that continued, and for reports about no process.") {
      $0.explanation.isCrash
    },
    .text("summary", "A sentence about the event.", .always) { $0.explanation.summary },
    .word(
      "certainty", of: Explanation.Certainty.allCases.map(\.rawValue),
      "How sure the summary is: `stated` (by the system, a runtime or the program), `shown` (by the functions on the stack),"
        + " `inferred` (other causes would fit too) or `unknown`.", .always
    ) { $0.explanation.certainty.rawValue },
    .object("signature", SignatureRecord.record, "The signature, as in `crashpadctl-symbolize/1`.") { $0.signature },
    .texts("ended_by", "Sentences about what ended the process.") { $0.explanation.endedBy },
    .list("evidence", evidence, "Facts of the report.") { $0.explanation.evidence },
    .texts("advice", "Steps to take.") { $0.explanation.advice },
    .texts("cautions", "Reasons for doubt.") { $0.explanation.cautions },
    .texts("not_known", "Facts that the report lacks.") { $0.explanation.notKnown },
    .list("codes", code, "The codes on which the explanation is based, as in `crashpadctl-codes/1`.") {
      $0.explanation.rows
    })

  private static let evidence = Record<Explanation.Evidence>(
    .text("text", "The fact.", .always) { $0.text },
    .text("place", "Thread and frame; null for the whole report.") { $0.place })

  private static let code = Record<CodeMeaning>(
    .members(of: CodeDocument.queried) { $0 }, .members(of: CodeDocument.named) { $0 },
    .members(of: CodeDocument.sourced) { $0 })
}
