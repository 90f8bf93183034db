import CrashpadCore
import CrashpadFiles
import CrashpadSignatures
import CrashpadSnapshot

/// Reads the crash of an input: its signature, and the facts that groups count.
struct CrashReader: Sendable {
  let signatures: SignatureOptions
  /// Nil to guess.
  let architecture: CPUArchitecture?
  var redacts = false
  /// Earlier crashes, and those without a time, are left out. Seconds since 1970; nil to read all.
  var since: Int64?

  struct Outcome: Sendable {
    /// Nil of an input that could not be read, or is left out.
    var crash: (signature: Signature, facts: CrashFacts)?
    var status = ExitStatus.success
    /// Lines for standard error.
    var messages: [String] = []
  }

  func read(_ input: InputList.Input) -> Outcome {
    do {
      return try DumpInput.inspect(input.argument, architecture, redacts: redacts) { read($0, input) }
    } catch {
      let (text, status) = Sentences.failure(error, creating: false)
      return Outcome(status: status, messages: ["\(input.name): error: \(text)"])
    }
  }

  private func read(_ inspection: Inspection, _ input: InputList.Input) -> Outcome {
    var outcome = Outcome(status: inspection.status, messages: inspection.lines(input.name))
    guard let snapshot = inspection.snapshot else { return outcome }
    let facts = CrashFacts(inspection, snapshot, input: input.name)
    if let since, facts.time.map({ $0 < since }) ?? true { return outcome }
    outcome.crash = (Signature(snapshot, inspection.file, nil, signatures), facts)
    return outcome
  }
}

