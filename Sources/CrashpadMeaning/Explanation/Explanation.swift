// SPDX-License-Identifier: Apache-2.0
internal import CrashpadSnapshot

/// The explanation of a crash: what happened, who ended the process, the evidence, advice, and open questions.
package struct Explanation: Sendable {
  /// A fact in the report, and its place.
  package struct Evidence: Sendable, Hashable {
    package let text: String
    /// Such as "thread 3, frame 2"; nil if the fact concerns the whole report.
    package let place: String?
    /// The index of the thread in the report and the number of the frame, if the fact concerns one.
    package var thread: Int?
    package var frame: Int?
  }

  /// The event, as a sentence.
  package var summary = ""
  /// States who ended the process; further sentences point out conflicts between exception and termination.
  package var endedBy: [String] = []
  package var evidence: [Evidence] = []
  package var advice: [String] = []
  package var notKnown: [String] = []
  /// Common misconceptions that would mislead in this report.
  package var cautions: [String] = []
  /// The rows of the table used for the explanation.
  package var rows: [CodeMeaning] = []
  /// False if the process kept running, or the report is not about a process.
  package var isCrash = true

  package init(_ evidence: CrashEvidence) {
    var builder = ExplanationBuilder(evidence)
    builder.build()
    self = builder.result
  }

  init() {}

  /// The texts of the sources, each once.
  package var sources: [String] {
    var texts: [String] = []
    for row in rows where !texts.contains(row.source.text) { texts.append(row.source.text) }
    return texts
  }
}

/// Builds an explanation: first from the termination, which outranks the exception, then from the
/// exception, then from the stacks.
struct ExplanationBuilder {
  let crash: CrashEvidence
  var result = Explanation()

  init(_ crash: CrashEvidence) { self.crash = crash }

  var report: ReportSnapshot? { crash.report }
  var termination: ReportSnapshot.Termination? { report?.termination }

  mutating func build() {
    if describesNoCrash() { return finish() }
    if !explainTermination() { explainException() }
    addDisagreement()
    addSystemEvidence()
    finish()
  }

  private mutating func finish() {
    func unique<Value: Hashable>(_ values: [Value]) -> [Value] {
      // Mostly there are a few; and the first set of a type costs as much as comparing hundreds.
      if values.count <= 32 {
        return values.indices.filter { !values[..<$0].contains(values[$0]) }.map { values[$0] }
      }
      var seen: Set<Value> = []
      return values.filter { seen.insert($0).inserted }
    }
    result.endedBy = unique(result.endedBy)
    result.evidence = unique(result.evidence)
    result.advice = unique(result.advice)
    result.notKnown = unique(result.notKnown)
    result.cautions = unique(result.cautions)
    result.rows = unique(result.rows)
  }

  // MARK: Parts

  mutating func add(_ row: CodeMeaning) { result.rows.append(row) }

  mutating func note(_ text: String, at place: String? = nil) {
    result.evidence.append(Explanation.Evidence(text: text, place: place))
  }

  mutating func note(_ text: String, _ thread: CrashEvidence.Thread, frame: Int) {
    result.evidence.append(
      Explanation.Evidence(
        text: text, place: "\(thread.title), frame \(frame)", thread: thread.index, frame: frame))
  }

  /// Takes the explanation of a row for this report.
  mutating func take(_ row: CodeMeaning, summary: String? = nil) {
    let reading = CodeReading(row)
    result.summary = summary ?? reading.event
    if !reading.endedBy.isEmpty { result.endedBy.append(sentence(reading.endedBy)) }
    result.advice += reading.advice
    for row in reading.rows { add(row) }
  }

  /// Adds the first frame of the application in a stack as evidence.
  mutating func noteSuspect(_ thread: CrashEvidence.Thread, _ words: String) {
    guard let index = thread.firstOfApp else {
      result.notKnown.append("Which code of the application is involved: \(thread.title) has none of it in its stack.")
      return
    }
    note("\(words) \(thread.frames[index].text)", thread, frame: index)
  }
}
