import CrashpadCore
import CrashpadFiles

extension Sentences {
  /// The reason why an input is no dump that can be read, and the exit status for it.
  static func noDump(_ failure: DumpInputFailure) -> (text: String, status: ExitStatus) {
    switch failure {
    case .compressed(let compression, let reason): (compressed(compression, reason), .noData)
    case .archiveOfMany(let names): (archive(names), .noData)
    case .noSuchPart(let name): ("the file has no part that is named \"\(Wording.printable(name))\"", .noInput)
    case .notADump(let kind): ("is \(kind), not a dump or crash report", .noData)
    case .noDumpIn(let archive): ("is \(archive)", .noData)
    case .notConvertible(let format, let target): (notConvertible(format, target), .noData)
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
