// SPDX-License-Identifier: Apache-2.0
import CrashpadMeaning

/// The meaning of a code as JSON.
enum CodeDocument {
  static let document = Document<CodeAnswer>(
    "crashpadctl-explain/1", "Output of `crashpadctl explain --format json` for each code.",
    .text("query", "The words of the command line that name the code.", .always) { $0.query },
    .word(
      "status", of: ["known", "ambiguous", "unknown"], "`known` (one meaning), `ambiguous` (several) or `unknown`.",
      .always
    ) { $0.isKnown ? ($0.readings.count == 1 ? "known" : "ambiguous") : "unknown" },
    .list("readings", reading, "The meanings.") { $0.readings },
    .object("unknown", unknown, "The facts about an unknown code; null for a known one.") { $0.unknown })

  private static let reading = Record<CodeReading>(
    .text("title", "The code in words.", .always) { $0.title },
    .text("query", "The arguments for `crashpadctl explain` that select only this meaning.", .always) { $0.query },
    .text(
      "kind",
      "The field of a report that contains the code, such as `termination code`, `exception code` or `signal`."
    ) { $0.rows.first?.kind.rawValue },
    .text("name", "The name of the code.") { $0.rows.first?.name },
    .address("code", "The number; null if it differs between systems.") {
      $0.rows.first?.number
    },
    .list("facts", fact, "The parts of the number.") { $0.facts },
    .text("meaning", "A sentence.") { $0.event },
    .text("ended_by", "The cause of the end of the process.") { $0.endedBy },
    .texts("causes", "Causes of the event.") { $0.causes },
    .texts("advice", "Steps to take.") { $0.advice },
    .texts("misconceptions", "Wrong conclusions.") { $0.myths },
    .texts("sources", "The sources of the meaning.") { $0.sources })

  private static let fact = Record<DecodedFact>(
    .text("label", "The name of the part.", .always) { $0.label },
    .text("text", "Its value in words.", .always) { $0.text })

  private static let unknown = Record<UnknownCode>(
    .text("reason", "The reason why there is no meaning.", .always) { $0.reason },
    .text("owner", "The namespace or exception that the code belongs to.") { $0.owner?.name },
    .texts("collect", "Data that would help.") { $0.collect },
    .texts("suggestions", "Similar codes.") { $0.suggestions })

  // MARK: Rows, in documents about several codes

  static let queried = Record<CodeMeaning>(
    .text("query", "The arguments for `crashpadctl explain` that select it.", .always) { $0.query },
    .text("kind", "The field of a report that contains the code.", .always) { $0.kind.rawValue })
  static let named = Record<CodeMeaning>(.text("name", "The name of the code.", .always) { $0.name })
  static let sourced = Record<CodeMeaning>(.text("source", "The source of its meaning.", .always) { $0.source.text })
}
