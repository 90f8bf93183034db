// SPDX-License-Identifier: Apache-2.0
public import CrashpadCore
internal import CrashpadMeaning
internal import CrashpadSignatures
internal import CrashpadSymbolication
internal import CrashpadView
public import SystemPackage

/// The explanation of one dump or report: what happened, who ended the process, the evidence, and what to do.
///
/// Texts are sentences in English. In the names that they quote from the input, control characters are escaped.
public struct CrashExplanation: Sendable {
  /// A fact in the input.
  public struct Evidence: Sendable, Hashable {
    /// The fact.
    public let text: String
    /// The place, such as "thread 3, frame 2"; nil if the fact concerns the whole input.
    public let place: String?
    /// The index of the thread in the input; nil if the fact concerns none.
    public let thread: Int?
    /// The number of the frame in the stack of that thread; nil if the fact concerns none.
    public let frame: Int?
  }

  /// How sure a summary is.
  public enum Certainty: String, Sendable, CaseIterable {
    /// The system, a runtime or the program says so: a code, a termination, a message.
    case stated
    /// The functions that ended the process are on the stack.
    case shown
    /// The facts fit, and others would fit too.
    case inferred
    /// The input does not say it.
    case unknown
  }

  /// The event, as one sentence.
  public let summary: String
  /// How sure the summary is.
  public let certainty: Certainty
  /// False if the process kept running, or the report is not about a process.
  public let isCrash: Bool
  /// States who ended the process; further sentences point out conflicts in the input.
  public let endedBy: [String]
  /// The facts on which the explanation rests.
  public let evidence: [Evidence]
  /// The next steps.
  public let advice: [String]
  /// Common misconceptions that would mislead in this case.
  public let cautions: [String]
  /// Open questions.
  public let notKnown: [String]
  /// The codes in the input, such as exceptions, signals and termination reasons.
  public let codes: [CodeExplanation]
  /// The sources of the explanation, such as pages of documentation.
  public let sources: [String]

  /// Opens and explains the dump or report at `path`; nil if it has no meaning, and the findings of a `Dump` say why.
  ///
  /// - Parameters:
  ///   - path: the path of a dump or report in any format.
  ///   - symbols: files and directories to search for symbols: dSYM bundles, ELF files, Breakpad files. The directories
  ///     in which this system installs debug files are searched too.
  public init?(_ path: FilePath, symbols: [FilePath] = []) throws(DumpInputFailure) {
    try self.init(DumpInput(path), symbols: symbols)
  }

  /// Explains a dump or report that is open; see the other initializer.
  public init?(_ input: DumpInput, symbols: [FilePath] = []) throws(DumpInputFailure) {
    let dump = Dump(input)
    guard let snapshot = dump.snapshot else {
      try dump.checkReading()
      return nil
    }
    let cache = SymbolCache(SymbolSearch(paths: symbols), names: .simplified)
    let reader = EvidenceReader(snapshot, dump.file, cache, signatures: SignatureOptions(cache))
    try dump.checkReading()
    self.init(Explanation(reader.evidence))
  }

  private init(_ explanation: Explanation) {
    summary = explanation.summary
    certainty = Certainty(rawValue: explanation.certainty.rawValue) ?? .unknown
    isCrash = explanation.isCrash
    endedBy = explanation.endedBy
    evidence = explanation.evidence.map {
      Evidence(text: $0.text, place: $0.place, thread: $0.thread, frame: $0.frame)
    }
    advice = explanation.advice
    cautions = explanation.cautions
    notKnown = explanation.notKnown
    codes = explanation.rows.map { CodeExplanation(CodeReading($0)) }
    sources = explanation.sources
  }
}
