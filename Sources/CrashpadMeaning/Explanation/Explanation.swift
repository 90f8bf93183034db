// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadSnapshot

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

  /// How sure the summary is.
  package enum Certainty: String, Sendable, CaseIterable {
    /// The system, a runtime or the program says so: a code, a termination, a message.
    case stated
    /// The functions that ended the process are on the stack.
    case shown
    /// The facts fit, and others would fit too.
    case inferred
    /// The input does not say it.
    case unknown

    /// For a person; empty where the open questions say it.
    package var words: String {
      switch self {
      case .stated: "Stated by the system, a runtime or the program."
      case .shown: "Shown by the functions on the stack."
      case .inferred: "Inferred: other causes would fit too."
      case .unknown: ""
      }
    }
  }

  /// The event, as a sentence.
  package var summary = ""
  package var certainty = Certainty.unknown
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
  /// Whether the input leaves open whether the process crashed. It counts as no crash then.
  package private(set) var isOpen = false

  package init(_ evidence: CrashEvidence) {
    var builder = ExplanationBuilder(evidence)
    builder.build()
    self = builder.result
    isOpen = !isCrash && evidence.outcome == .notSaid
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
  /// The description of the crash's exception; nil without one. To look it up takes longer than most steps of an explanation.
  let description: ExceptionDescription?
  /// Empty without an exception.
  var exceptionTitle: String { description?.title ?? "" }

  init(_ crash: CrashEvidence) {
    self.crash = crash
    description = crash.exception.map { ExceptionDescription($0, crash.system) }
  }

  var report: ReportSnapshot? { crash.report }
  var termination: ReportSnapshot.Termination? { report?.termination }

  mutating func build() {
    if describesNoCrash() {
      let isCutList =
        report?.kind == .jetsam && crash.isCut && report?.jetsam?.processes.contains { $0.reason != nil } != true
      if result.certainty == .unknown, crash.outcome != .notSaid, !isCutList { result.certainty = .stated }
      return finish()
    }
    if !explainTermination() { explainException() }
    addDisagreement()
    addSystemEvidence()
    nameCodes()
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
    result.advice = AdviceChoice(crash).choice(of: unique(result.advice))
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
    let number = thread.handlerDepth + frame
    result.evidence.append(
      Explanation.Evidence(
        text: text, place: "\(thread.title), frame \(number)", thread: thread.index, frame: number))
  }

  /// Takes the explanation of a row for this report.
  mutating func take(_ row: CodeMeaning, summary: String? = nil) {
    let reading = CodeReading(row)
    result.summary = summary ?? reading.event
    result.certainty = .stated
    if !reading.endedBy.isEmpty { result.endedBy.append(sentence(reading.endedBy)) }
    result.advice += reading.advice
    for row in reading.rows { add(row) }
  }

  /// Names the exception and the termination as the report has them, unless the summary does.
  private mutating func nameCodes() {
    var texts: [String] = []
    if crash.exception != nil {
      // The codes of a guard or resource may be in the termination alone.
      let type = exceptionTitle.firstRange(of: " / ").map { String(exceptionTitle[..<$0.lowerBound]) } ?? exceptionTitle
      if !result.summary.containsBytes(type) { texts.append("The exception: \(exceptionTitle).") }
    }
    if let text = termination.flatMap({ $0.codeText }), !result.summary.containsBytes(text) {
      texts.append("The termination: \(text).")
    }
    result.evidence.insert(contentsOf: texts.map { Explanation.Evidence(text: $0, place: nil) }, at: 0)
  }

  /// Adds the first frame of the application in a stack as evidence.
  mutating func noteSuspect(_ thread: CrashEvidence.Thread, _ words: String) {
    if let index = thread.suspect { return note("\(words) \(thread.frames[index].text)", thread, frame: index) }
    // The stack of the exception has it.
    if crash.lastException.contains(where: \.isCause) { return }
    let own = thread.frames.filter(\.isOfApp)
    guard !thread.frames.isEmpty else {
      result.notKnown.append("Which code of the application is involved: \(thread.title) has no stack.")
      return
    }
    if own.isEmpty, crash.hasPart(of: thread) {
      result.notKnown.append(
        "Which code of the application is involved: the report has a part of the stack of \(thread.title), without any of it."
      )
      return
    }
    if own.isEmpty, !crash.listsModules, crash.report == nil {
      result.notKnown.append("Which code of the application is involved: the dump lists no modules.")
      return
    }
    let unnamed = thread.framesWithoutModule
    if own.isEmpty, unnamed > 0 {
      if !crash.system.operatingSystem.isApple,
        let index = thread.frames.firstIndex(where: {
          $0.module == nil && $0.function != nil && $0.function != "panic" && !$0.isForeign
        })
      {
        note(
          "The innermost function of no known module is \(thread.frames[index].function ?? "")", thread, frame: index)
      }
      result.notKnown.append(
        "Which code of the application is involved: \(thread.title) has \(unnamed == 1 ? "a frame" : "\(unnamed) frames") of no known module, and none that is known to be of the application."
      )
      return
    }
    let words =
      own.isEmpty
      ? "none of it"
      : own.allSatisfy { $0.function == "_start" }
        ? "only the start of the program"
        : own.allSatisfy(\.isMain) ? "only its main function" : "only its main function, handlers and checks"
    result.notKnown.append("Which code of the application is involved: \(thread.title) has \(words) in its stack.")
  }
}

extension ReportSnapshot.Termination {
  /// Such as "RUNNINGBOARD 0xdead10cc"; nil if the report has neither.
  package var codeText: String? {
    let number = code.map { $0 < 0x1_0000 ? String($0) : hex($0) }
    let parts = [namespace, number].compactMap { $0 }
    return parts.isEmpty ? nil : parts.joined(separator: " ")
  }
}
