import CrashpadBytes
import CrashpadDatabase
import CrashpadCore
import CrashpadFiles
import IntermediateDump
import CrashpadJSON
import CrashpadMinidump
import CrashpadRedaction
import CrashpadSnapshot
import CrashpadSymbolication
import SystemPackage

/// Why an input or output failed, as the rest of a sentence, and the exit status for it.
struct FailureText: Error, Sendable {
  let text: String
  let status: ExitStatus

  init(_ text: String, _ status: ExitStatus) {
    self.text = text
    self.status = status
  }

  /// - Parameter creating: whether an output was to be written.
  init(_ error: any Error, creating: Bool) {
    let (text, status) = Sentences.failure(error, creating: creating)
    self.init(text, status)
  }
}

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
    switch (finding.rule, finding.expected, finding.found) {
    case (DumpRules.truncatedValue, let expected?, let found?):
      return "\(finding.path) says \(say(expected)), but \(say(found)) remain"
    case (DumpRules.valueTooLong, let expected?, let found?):
      return "\(finding.path) says \(say(found)); more than \(say(expected)) are not allowed"
    case (DumpRules.trailingBytes, _, let found?):
      return "\(say(found)) behind the end of the root map"
    case (_, let expected?, let found?): return "\(subject)\(text): \(say(expected)) expected, \(say(found)) found"
    case (_, let expected?, nil): return "\(subject)\(text): \(say(expected)) expected"
    case (_, nil, let found?): return "\(subject)\(text): \(say(found))"
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

  private static func say(_ value: Finding.Value) -> String {
    switch value {
    case .number(let number): String(number)
    case .byteCount(let count): count == 1 ? "1 byte" : "\(count) bytes"
    case .address(let value), .code(let value): "0x" + String(value, radix: 16)
    case .text(let text): text
    }
  }

  /// The reason why an input or output failed, and the exit status for it.
  static func failure(_ error: any Error, creating: Bool) -> (text: String, status: ExitStatus) {
    switch error {
    case let failure as FailureText: (failure.text, failure.status)
    case let errno as Errno: (errno.description, ExitStatus(errno, creating: creating))
    case let failure as FileFailure where failure.errno == .invalidArgument:
      (description(failure.errno), creating ? .cannotCreate : .noInput)
    case let failure as FileFailure where failure.errno == .wouldBlock:
      (
        "is locked by \(failure.lockHolder.map { "process \($0)" } ?? "another program"), "
          + "which did not give it up within \(OpenFile.longestLockWait / 1000) s; try again", .temporaryFailure
      )
    case let failure as FileFailure: (description(failure.errno), ExitStatus(failure.errno, creating: creating))
    case is CrashDatabase.NotADatabase:
      ("not a Crashpad database (no settings.dat, none of its directories)", .noInput)
    case let failure as InputFile.NotReadable:
      (notReadable(failure.reason), failure.reason == .unreadable ? .ioError : .noInput)
    case let failure as SpoolFile.Failure:
      (
        "is a large pipe and can't be kept in \(Wording.printable(failure.folder)): \(failure.errno.description); "
          + "$TMPDIR names another place", .ioError
      )
    case let failure as DumpJSON.Failure: ("\(jsonOpening(failure)): \(json(failure))", .noData)
    case let failure as DumpInputFailure: noDump(failure)
    case let failure as SymSource.NotElf:
      ((failure.path.map { Wording.printable($0) + " " } ?? "") + "is no ELF or Mach-O file", .noData)
    case is SymSource.NotLinked: ("is an object file that was not linked: its addresses are none", .noData)
    case let failure as SymSource.OtherBuild: ("\(Wording.printable(failure.path)) is of another build", .noData)
    case let failure as SymbolInputs.NotWhole:
      ("\(Wording.printable(failure.path)) \(notReadable(.unreadable))", .ioError)
    case is SymbolFile.UnknownFormat: ("is no file with symbols of a known format", .noData)
    case is Redaction.NotADump: ("is neither an intermediate dump nor a minidump nor a crash report", .noData)
    case MinidumpWriter.Failure.tooLarge(let count):
      ("the minidump would take \(count) bytes; its format ends at 4294967295", .noData)
    case MinidumpWriter.Failure.unsupportedArchitecture(let architecture):
      ("registers of \(architecture.rawValue) can't be written", .noData)
    default: ("\(error)", .ioError)
    }
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

  private static func description(_ errno: Errno) -> String {
    switch errno {
    case .invalidArgument: "is no regular file"
    case .tooManySymbolicLinkLevels: "is a symbolic link, which is not followed"
    case .tooManyLinks: "has another name too (a hard link), so it may be any file of this system; refused"
    default: errno.description
    }
  }

  private static func notReadable(_ reason: InputFile.NotReadable.Reason) -> String {
    switch reason {
    case .directory: "is a directory"
    case .notAFile: "is no regular file"
    case .tooLarge:
      "is a pipe with more than \(Wording.size(UInt64(InputFile.pipeLimit))); --pipe-limit allows more"
    case .unreadable: "became shorter while it was read, or its disk could not be read"
    }
  }

  private static func json(_ failure: DumpJSON.Failure) -> String {
    let reason =
      switch failure.reason {
      case .json(.expected(let what)): "\(what) expected"
      case .json(.badString): "a string that is not allowed"
      case .json(.badNumber): "a number that is not allowed; only integers are"
      case .json(.tooDeep), .tooDeep: "nested too deep"
      case .json(.trailingText), .trailing: "text behind the end of the document"
      case .notADump:
        "no \"format\": \"\(DumpJSON.formatName)\" with \"root\""
      case .unsupportedVersion: "\"version\" is not \(DumpJSON.formatVersion)"
      case .keyFirst: "a record does not begin with \"key\""
      case .unknownKey(let key): "the format has no key \(key); a key of your own is a number from 1 to 65535"
      case .unknownMember(let member): "unexpected member \"\(member)\""
      case .badValue(let key): "the value of \(key) does not fit its key; any bytes may stand in \"hex\""
      }
    return "\(reason), at byte \(failure.offset)"
  }

  private static func jsonOpening(_ failure: DumpJSON.Failure) -> String {
    guard case .notADump = failure.reason else { return "not the JSON form of a dump" }
    return "JSON that is neither a crash report nor the form of a dump"
  }
}
