import CrashpadBytes
import CrashpadDatabase
import CrashpadCore
import CrashpadFiles
import CrashpadText
import IntermediateDump
import CrashpadSymbolication
import SystemPackage

/// Converts facts about inputs into the sentences that the tool prints.
enum Sentences {
  /// `crash.idump:0x1f3: error: … [truncated-value]`, the form used by compilers and understood by editors.
  static func line(_ finding: Finding, input: String) -> String {
    let place = finding.offset.map { "\(input):0x\(String($0, radix: 16))" } ?? input
    return "\(place): \(finding.severity.rawValue): \(sentence(finding)) [\(finding.rule.code)]"
  }

  /// The same for a symbol file, whose name and ids are untrusted text.
  static func line(_ finding: SymbolFileFinding) -> String {
    Wording.printable(line(finding.finding, input: Wording.printable(finding.file)))
  }

  static func sentence(_ finding: Finding) -> String {
    let text = finding.path.isEmpty ? finding.rule.summary : lowercasingFirst(finding.rule.summary)
    let subject = finding.path.isEmpty ? "" : "\(finding.path): "
    switch (finding.rule, finding.expected.map(words), finding.found.map(words)) {
    case (DumpRules.truncatedValue, let expected?, let found?):
      return "\(finding.path) says \(expected), but \(found) remain"
    case (DumpRules.valueTooLong, let expected?, let found?):
      return "\(finding.path) says \(found); more than \(expected) are not allowed"
    case (DumpRules.trailingBytes, _, let found?):
      return "\(found) behind the end of the root map"
    case (_, let expected?, let found?): return "\(subject)\(text): \(expected) expected, \(found) found"
    case (_, let expected?, nil): return "\(subject)\(text): \(expected) expected"
    case (_, nil, let found?): return "\(subject)\(text): \(found)"
    case (_, nil, nil): return subject + text
    }
  }

  private static func lowercasingFirst(_ text: String) -> String {
    // Lowercases "A value …" to "a value …"; names keep their case.
    guard let first = text.first, let second = text.dropFirst().first, second == " " || second.isLowercase else {
      return text
    }
    return first.lowercased() + text.dropFirst()
  }

  private static func words(_ value: Finding.Value) -> String {
    switch value {
    case .number(let number): String(number)
    case .byteCount(let count): count == 1 ? "1 byte" : "\(count) bytes"
    case .address(let value), .code(let value): "0x" + String(value, radix: 16)
    case .text(let text): text
    }
  }

  /// The reason why an input or output failed, and the exit status for it.
  ///
  /// - Parameter creating: whether an output was to be written.
  static func failure(_ error: any Error, creating: Bool) -> (text: String, status: ExitStatus) {
    let failure = FailureText(error, creating: creating)
    return (failure.text, failure.status)
  }

  /// Why inputs of this format are not redacted; nil if they are.
  static func refusalToRedact(_ format: InputFormat) -> FailureText? {
    switch format {
    case .core: FailureText("is a core file; convert makes a minidump of it, which can be redacted", .noData)
    case .json:
      FailureText("is the JSON form of a dump; convert --to idump makes a dump of it, which can be redacted", .noData)
    default: nil
    }
  }

  static func noEffect(_ option: String, _ reason: String) -> String { "\(option) has no effect: \(reason)" }

  static func noAnswer(_ failure: Errno) -> String { "a server of DEBUGINFOD_URLS gave no answer: \(failure)" }

  /// The reason why a database could not be opened, or a file in it could not be read or changed, with the path.
  static func databaseFailure(_ error: any Error, _ database: FilePath) -> String {
    let path = (error as? FileFailure)?.path ?? database
    return "\(Wording.printable(path)): error: \(failure(error, creating: false).text)"
  }

  /// Such as "the settings are damaged: 12 of 40 bytes".
  static func settingsDamage(_ damage: DatabaseSettings.Damage) -> String {
    switch damage {
    case .truncated(let count): "the settings are damaged: \(count) of \(DatabaseSettings.size) bytes"
    case .badMagic(let magic): "the settings are damaged: they begin with \(Wording.hex(UInt64(magic)))"
    case .unknownVersion(let version): "the settings have version \(version), which is unknown"
    }
  }
}
