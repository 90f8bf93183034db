// SPDX-License-Identifier: Apache-2.0
import CrashpadCore
import CrashpadFiles
import CrashpadGroups
import CrashpadSignatures
import CrashpadSnapshot
import CrashpadText
import SystemPackage

/// Reads the crash of an input: its signature, and the facts that groups count.
struct CrashReader: Sendable {
  let signatures: SignatureOptions
  /// Nil to guess.
  let architecture: CPUArchitecture?
  var redacts = false
  /// Earlier crashes, and those without a time, are left out. Seconds since 1970; nil to read all.
  var since: Int64?
  /// Makes a second signature, by another version of the rules.
  var compared: SignatureOptions?

  struct Crash: Sendable {
    let signature: Signature
    /// By the other version of the rules.
    var compared: Signature?
    let facts: CrashFacts
  }

  /// Without a value if the input could not be read, or is left out.
  func read(_ input: InputList.Input) -> BatchResult<Crash> {
    BatchResult(inspecting: input, architecture, redacts: redacts) { dump in
      var result = BatchResult<Crash>(status: dump.status, messages: dump.lines(input.name))
      guard let snapshot = dump.snapshot else { return result }
      guard snapshot.isCounted else {
        let outcome = snapshot.outcome
        let reason = outcome == .notSaid ? "does not say that the process ended" : "is not about a crash"
        result.messages.append("\(input.name): not counted: the report \(reason) (\(outcome.rawValue))")
        return result
      }
      let facts = CrashFacts(dump, snapshot, input: input.name, at: input.path)
      if let since {
        guard let time = facts.time else {
          result.messages.append("\(input.name): not counted: it does not say when the crash was, as --since asks")
          return result
        }
        if time < since { return result }
      }
      result.value = Crash(
        signature: Signature(snapshot, dump.file, nil, signatures),
        compared: compared.map { Signature(snapshot, dump.file, nil, $0) }, facts: facts)
      return result
    }
  }
}

extension CrashFacts {
  /// - Parameter path: that of the input; nil for standard input.
  init(_ dump: Dump, _ snapshot: ProcessSnapshot, input: String, at path: FilePath?) {
    self.init(dump, snapshot, input: input, at: path, displayed: TextFormat.printable)
  }
}

extension CrashGroups.Part {
  mutating func add(_ result: BatchResult<CrashReader.Crash>) {
    if let crash = result.value { add(crash.signature, crash.facts) }
    if result.status != .success { failed += 1 }
  }
}

extension CrashGroups {
  /// The number of inputs without a crash.
  var failed: Int { parts.values.reduce(0) { $0 + $1.failed } }
}
