// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import CrashpadJSON
import CrashpadMinidump
import CrashpadRedaction
import CrashpadSignatures
import CrashpadSnapshot
import CrashpadSymbolServers
import CrashpadSymbolication
import CrashpadText
import IntermediateDump

// Why dumps and symbol files can't be read or written.

extension DumpInputFailure: ExplainedError {
  var explanation: FailureText {
    switch self {
    case .file(let errno): errno.explanation(creating: false)
    case .directory: InputFile.NotReadable(reason: .directory).explanation
    case .notAFile: InputFile.NotReadable(reason: .notAFile).explanation
    case .pipeTooLong: InputFile.NotReadable(reason: .tooLarge).explanation
    case .becameShorter: InputFile.NotReadable(reason: .unreadable).explanation
    case .notSpooled(let folder, let errno): SpoolFile.Failure(folder: folder, errno: errno).explanation
    case .compressed(let compression, let reason): FailureText(Self.compressed(compression, reason), .noData)
    case .archiveOfMany(let names): FailureText(Self.archive(names), .noData)
    case .severalReports(let count):
      FailureText("holds \(count) reports; name one of them, as FILE/1", .noData)
    case .noSuchPart: FailureText(TextFormat.printable(description), .noInput)
    case .notADump(let kind):
      FailureText(
        TextFormat.printable(description)
          + (Self.symbolKinds.contains(kind) ? "; crashpadctl symbolize --symbols takes it" : ""), .noData)
    case .noDumpIn, .notTheJSONForm: FailureText(TextFormat.printable(description), .noData)
    case .notConvertible(let format, let target): FailureText(Self.notConvertible(format, target), .noData)
    }
  }

  private static let symbolKinds: Set<String> = [
    "a Breakpad symbol file", "a Mach-O program", "a universal Mach-O program",
  ]

  private static func notConvertible(_ format: InputFormat, _ target: Conversion.Target) -> String {
    let name = FormatRow.of(format).title
    let title = "is \("aeiou".contains(name.first?.lowercased() ?? "") ? "an" : "a") \(name)"
    if format == .core { return "is a core file; it becomes a minidump, not \(target.rawValue)" }
    if format.reportFormat != nil {
      return title + ", which holds no memory; --to json converts it, and crashpadctl symbolize --format crash writes "
        + "Apple's text"
    }
    if format == .minidump || format == .microdump {
      return title + ", which is not converted; for JSON, type crashpadctl inspect --format json"
    }
    if format == .intermediateDump, target == .ips {
      return title + ", which becomes a minidump or JSON; crashpadctl symbolize --format crash writes Apple's text"
    }
    return title + " already"
  }

  private static func compressed(_ compression: String, _ reason: DecompressionFailure) -> String {
    let start = "is compressed (\(compression))"
    switch reason {
    case .unsupported:
      return start
        + " and has to be decompressed first; of systemd's cores, coredumpctl dump -o makes one that can be read"
    case .damaged, .cut: return start + " and \(reason)"
    case .tooLarge:
      return start
        + " and holds more than \(TextFormat.size(UInt64(InputFile.pipeLimit))); --max-input-size allows more"
    case .bomb: return start + " more than any dump is; if it is one, decompress it first"
    }
  }

  private static func archive(_ all: [String]) -> String {
    let most = 5
    let names = all.prefix(most).map { TextFormat.printable($0) }.joined(separator: ", ")
    let more = all.count > most ? ", …" : ""
    return
      "is an archive with \(all.count) dumps or reports (\(names)\(more)); name one of them, as ARCHIVE/NAME"
  }
}

extension DumpJSON.Failure: ExplainedError {
  var explanation: FailureText { FailureText("\(problem), at byte \(offset)", .noData) }
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
  var explanation: FailureText { FailureText(description, .noData) }
}

// MARK: Symbol files

extension SymbolFileIdentity.UnknownFormat: ExplainedError {
  var explanation: FailureText {
    FailureText("is \(other?.description ?? "not a symbol file in a known format")", .noData)
  }
}

extension SymbolInputs.Compressed: ExplainedError {
  var explanation: FailureText { FailureText("is compressed (\(compression)) and \(reason)", .noData) }
}

extension BreakpadInput.NotElf: ExplainedError {
  var explanation: FailureText {
    FailureText((path.map { TextFormat.printable($0) + " " } ?? "") + "is not an ELF or Mach-O file", .noData)
  }
}

extension BreakpadInput.NotLinked: ExplainedError {
  var explanation: FailureText { FailureText("is an object file that was not linked: its addresses are none", .noData) }
}

extension BreakpadInput.OtherBuild: ExplainedError {
  var explanation: FailureText { FailureText("\(TextFormat.printable(path)) is of another build", .noData) }
}

extension SharedCache.NotACache: ExplainedError {
  var explanation: FailureText {
    FailureText(
      isPart
        ? "is a part of a dyld shared cache, which is read with the file that lists the libraries"
        : "is no dyld shared cache, or one in a form that is not read", .noData)
  }
}

extension ZipWriter.Failure: ExplainedError {
  var explanation: FailureText { FailureText("can't be packed: \(description)", .noData) }
}

extension ElfSymbols.NoSection: ExplainedError {
  var explanation: FailureText {
    FailureText("has no section \(TextFormat.printable(name)), or is no ELF file", .noData)
  }
}

extension SymbolInputs.SeveralFiles: ExplainedError {
  var explanation: FailureText {
    FailureText("is a zip archive with \(count) files with symbols, which has to be unpacked", .noData)
  }
}

extension ServerCache.NotACache: ExplainedError {
  var explanation: FailureText {
    FailureText("has files, but is no cache of symbol servers; nothing was removed", .usage)
  }
}

extension SymbolInputs.NotWhole: ExplainedError {
  var explanation: FailureText {
    let reason = InputFile.NotReadable(reason: .unreadable).explanation
    return FailureText("\(TextFormat.printable(path)) \(reason.text)", .ioError)
  }
}

extension SymbolInputs.NotOpened: ExplainedError {
  var explanation: FailureText {
    let reason = failure.explanation(creating: false)
    return FailureText("\(TextFormat.printable(failure.path)): \(reason.text)", reason.status)
  }
}

extension CrashGroups.NotAPart: ExplainedError {
  var explanation: FailureText { FailureText(reason, .noData) }
}

extension CrashGroups.Conflict: ExplainedError {
  var explanation: FailureText {
    switch self {
    case .rules: FailureText("was made with another version of the rules than the parts before", .noData)
    case .content(let shard):
      FailureText("part \(shard.number)/\(shard.total) is there twice with different content", .noData)
    }
  }
}
