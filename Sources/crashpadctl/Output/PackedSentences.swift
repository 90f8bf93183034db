import CrashpadCore
import FileSystem

extension Sentences {
  /// The reason why the content of a compressed file can't be read.
  static func compressed(_ failure: CompressedInput) -> String {
    let start = "is compressed (\(failure.compression))"
    switch failure.reason {
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

  static func archive(_ failure: ArchiveOfMany) -> String {
    let most = 5
    let names = failure.names.prefix(most).map { Wording.printable($0) }.joined(separator: ", ")
    let more = failure.names.count > most ? ", …" : ""
    return
      "is a zip archive with \(failure.names.count) dumps or reports (\(names)\(more)); name one of them, as ARCHIVE/NAME"
  }

  static func noPart(_ failure: NoSuchPart) -> String {
    "the file has no part that is named \"\(Wording.printable(failure.name))\""
  }
}
