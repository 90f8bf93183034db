// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import CrashpadRedaction
import IntermediateDump
import CrashpadSnapshot

extension DumpInput {
  /// Opens an input, reads it, and passes it to `body`, whose result counts only if all bytes could be read.
  ///
  /// - Parameter redacts: whether personal data is removed first.
  static func inspect<Result>(
    _ argument: String, _ architecture: CPUArchitecture?, redacts: Bool = false, _ body: (Dump) throws -> Result
  ) throws -> Result {
    let opened = try open(argument)
    let input = redacts ? try opened.redacted() : opened
    return try input.file.checkingReading {
      let dump = Dump(input, architecture: architecture)
      try input.file.checkReading()
      return try body(dump)
    }
  }

  private func redacted() throws -> DumpInput {
    if let refusal = Sentences.refusalToRedact(self) { throw refusal }
    let output = MemoryOutput()
    _ = try Redaction().redact(file, to: output)
    return try DumpInput(InputFile(bytes: output.bytes))
  }
}

extension Dump {
  /// The exit status of a command that read the input.
  var status: ExitStatus {
    if snapshot == nil { return .noData }
    return findings.count(of: .error) > 0 ? .findings : .success
  }

  /// Lines for standard error about errors in the input. Notes matter only to readers of the dump itself.
  func lines(_ name: String, from severity: Severity = .error) -> [String] {
    findings.filter { $0.severity >= severity }.map { Sentences.line($0, input: name) }
  }
}
