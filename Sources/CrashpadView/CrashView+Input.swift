// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes
package import CrashpadCore
package import CrashpadFiles
package import CrashpadMinidump
internal import CrashpadSnapshot
internal import CrashpadText
package import IntermediateDump

/// The file that the crash was read from.
extension CrashView {
  package var format: InputFormat { dump.format }
  package var file: InputFile { dump.file }
  /// The records of an intermediate dump; nil for other formats.
  package var tree: DumpTree? { dump.tree }
  package var streams: [MinidumpReader.Stream] { dump.streams }
  /// Whether the input was read to its end, and made of a whole process.
  package var isWhole: Bool { dump.isWhole }
  /// Whether the findings of reading have errors.
  package var hasErrors: Bool { dump.findings.count(of: .error) > 0 }
  /// The findings of reading and of all other rules, as `Validation` makes them.
  package var allFindings: FindingList { dump.allFindings }

  /// Such as "intermediate dump, 4,711 bytes, complete".
  package var kind: String {
    let state: String
    if let cause = dump.tree?.incomplete {
      state = "INCOMPLETE: reading stopped at byte \(grouped(cause.offset ?? 0)) (\(cause.rule.code))"
    } else if !snapshot.isComplete {
      state = dump.format == .minidump ? "made from an INCOMPLETE intermediate dump" : "INCOMPLETE"
    } else if hasErrors {
      state = "DAMAGED: \(TextFormat.count(dump.findings.count(of: .error), "error"))"
    } else {
      state = "complete"
    }
    return "\(FormatRow.of(dump.format).title), \(grouped(dump.file.byteCount)) bytes, \(state)"
  }
}

extension Dump {
  /// Whether the input was read to its end, and made of a whole process.
  package var isWhole: Bool { tree?.incomplete == nil && snapshot?.isComplete == true }
}
