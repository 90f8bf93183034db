// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadDatabase
import CrashpadCore
import CrashpadElfCore
import CrashpadFiles
import CrashpadText
import CrashpadView
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
    TextFormat.printable(line(finding.finding, input: TextFormat.printable(finding.file)))
  }

  static func sentence(_ finding: Finding) -> String {
    finding.sentence + (finding.rule == CoreRules.notACore ? "; crashpadctl symbolize --symbols takes it" : "")
  }

  /// The reason why an input or output failed, and the exit status for it.
  ///
  /// - Parameter creating: whether an output was to be written.
  static func failure(_ error: any Error, creating: Bool) -> (text: String, status: ExitStatus) {
    let failure = FailureText(error, creating: creating)
    return (failure.text, failure.status)
  }

  /// Why an input of this format is not redacted; nil if it is.
  static func refusalToRedact(_ input: DumpInput) -> FailureText? {
    switch input.format {
    // A program begins as a core file does.
    case .core where !input.file.withBytes({ isCoreFile($0) }): FailureText(CoreRules.notACore.summary, .noData)
    case .core: FailureText("is a core file; convert makes a minidump of it, which can be redacted", .noData)
    case .microdump: FailureText("is a part of a log, a microdump, which is not redacted", .noData)
    case .json:
      FailureText("is the JSON form of a dump; convert --to idump makes a dump of it, which can be redacted", .noData)
    default: nil
    }
  }

  /// Whether the type of an ELF file is ET_CORE.
  private static func isCoreFile(_ bytes: RawSpan) -> Bool {
    bytes.byteCount < 18 || [bytes.uint8(at: 16), bytes.uint8(at: 17)].sorted() == [0, 4]
  }

  /// Says that a path has no symbol files: a mistyped directory would pass for one whose files are all there already.
  static func noSymbolFiles(_ path: String) -> ExitStatus {
    Terminal.error("\(displayName(path)): error: it has no symbol files")
    return .noData
  }

  static func noEffect(_ option: String, _ reason: String) -> String { "\(option) has no effect: \(reason)" }

  /// The reason why a database could not be opened, or a file in it could not be read or changed, with the path.
  static func databaseFailure(_ error: any Error, _ database: FilePath) -> String {
    let path = (error as? FileFailure)?.path ?? database
    return "\(TextFormat.printable(path)): error: \(failure(error, creating: false).text)"
  }

  /// Such as "the settings are damaged: 12 of 40 bytes".
  static func settingsDamage(_ damage: DatabaseSettings.Damage) -> String {
    switch damage {
    case .truncated(let count): "the settings are damaged: \(count) of \(DatabaseSettings.size) bytes"
    case .badMagic(let magic): "the settings are damaged: they begin with \(TextFormat.hex(UInt64(magic)))"
    case .unknownVersion(let version): "the settings have version \(version), which is unknown"
    }
  }
}
