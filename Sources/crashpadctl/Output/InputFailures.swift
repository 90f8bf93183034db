import CrashpadCore
import CrashpadFiles
import CrashpadJSON
import CrashpadMinidump
import CrashpadRedaction
import CrashpadSnapshot
import CrashpadSymbolication
import IntermediateDump

// Why dumps and symbol files can't be read or written.

extension DumpInputFailure: ExplainedError {
  var explanation: FailureText {
    switch self {
    case .compressed(let compression, let reason): FailureText(Self.compressed(compression, reason), .noData)
    case .archiveOfMany(let names): FailureText(Self.archive(names), .noData)
    case .noSuchPart(let name):
      FailureText("the file has no part that is named \"\(Wording.printable(name))\"", .noInput)
    case .notADump(let kind): FailureText("is \(kind), not a dump or crash report", .noData)
    case .noDumpIn(let archive): FailureText("is \(archive)", .noData)
    case .notConvertible(let format, let target): FailureText(Self.notConvertible(format, target), .noData)
    }
  }

  private static func notConvertible(_ format: InputFormat, _ target: Conversion.Target) -> String {
    let title = "is a \(FormatRow.of(format).title)"
    if format == .core { return "is a core file; it becomes a minidump, no \(target.rawValue)" }
    if format.reportForm != nil {
      return title + ", which holds no memory; --to json converts it, and crashpadctl symbolize --format crash writes "
        + "Apple's text"
    }
    return title + " already; only intermediate dumps, their JSON form and core files are converted"
  }

  private static func compressed(_ compression: String, _ reason: DecompressionFailure) -> String {
    let start = "is compressed (\(compression))"
    switch reason {
    case .unsupported:
      return start
        + " and has to be decompressed first; of systemd's cores, coredumpctl dump -o makes one that can be read"
    case .damaged: return start + " and damaged"
    case .cut: return start + " and breaks off"
    case .tooLarge:
      return start + " and holds more than \(Wording.size(UInt64(InputFile.pipeLimit))); --pipe-limit allows more"
    case .bomb: return start + " more than any dump is; if it is one, decompress it first"
    }
  }

  private static func archive(_ all: [String]) -> String {
    let most = 5
    let names = all.prefix(most).map { Wording.printable($0) }.joined(separator: ", ")
    let more = all.count > most ? ", …" : ""
    return
      "is a zip archive with \(all.count) dumps or reports (\(names)\(more)); name one of them, as ARCHIVE/NAME"
  }
}

extension DumpJSON.Failure: ExplainedError {
  var explanation: FailureText {
    let what =
      reason == .notADump
      ? "JSON that is neither a crash report nor the form of a dump" : "not the JSON form of a dump"
    let problem =
      switch reason {
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
    return FailureText("\(what): \(problem), at byte \(offset)", .noData)
  }
}

extension MinidumpWriter.Failure: ExplainedError {
  var explanation: FailureText {
    switch self {
    case .tooLarge(let count):
      FailureText("the minidump would take \(count) bytes; its format ends at 4294967295", .noData)
    case .unsupportedArchitecture(let architecture):
      FailureText("registers of \(architecture.rawValue) can't be written", .noData)
    }
  }
}

extension Redaction.NotADump: ExplainedError {
  var explanation: FailureText {
    FailureText("is neither an intermediate dump nor a minidump nor a crash report", .noData)
  }
}

// MARK: Symbol files

extension SymbolFiles.UnknownFormat: ExplainedError {
  var explanation: FailureText { FailureText("is no file with symbols of a known format", .noData) }
}

extension BreakpadInput.NotElf: ExplainedError {
  var explanation: FailureText {
    FailureText((path.map { Wording.printable($0) + " " } ?? "") + "is no ELF or Mach-O file", .noData)
  }
}

extension BreakpadInput.NotLinked: ExplainedError {
  var explanation: FailureText { FailureText("is an object file that was not linked: its addresses are none", .noData) }
}

extension BreakpadInput.OtherBuild: ExplainedError {
  var explanation: FailureText { FailureText("\(Wording.printable(path)) is of another build", .noData) }
}

extension SymbolInputs.NotWhole: ExplainedError {
  var explanation: FailureText {
    let reason = InputFile.NotReadable(reason: .unreadable).explanation
    return FailureText("\(Wording.printable(path)) \(reason.text)", .ioError)
  }
}
