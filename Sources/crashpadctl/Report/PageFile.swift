import CrashpadBytes
import CrashpadFiles
import SystemPackage

/// Writes a page to where `-o` or `--html` says.
enum PageFile {
  /// The output and why it could not be written.
  struct Failure: Error {
    let text: String
    let status: ExitStatus
  }

  /// Why a page can't be written there: it would replace one of its inputs. Nil if it can.
  static func conflict(_ output: String, _ list: InputList) -> Failure? {
    let path = FilePath(argument: output)
    guard output != "-", case .regular? = try? FileKind(at: path, followingLink: true),
      let input = list.inputs.first(where: { isSameFile(FilePath(argument: $0.argument), path) })
    else { return nil }
    return Failure(text: "\(input.name): error: would become its own page; name another file", status: .usage)
  }

  /// A file appears whole or not at all; `-` is standard output. Throws `Failure`.
  static func write(_ page: [UInt8], to output: String) throws(Failure) {
    if output == "-" {
      do { try unsafe Terminal.writeOutput(page.span.bytes) } catch { Terminal.fail(writing: error) }
      return
    }
    try write(page, to: FilePath(argument: output))
  }

  /// Throws `Failure`.
  static func write(_ page: [UInt8], to path: FilePath) throws(Failure) {
    do {
      let file = try OutputFile(path)
      try unsafe file.write(page.span.bytes)
      try file.commit(durable: false)
    } catch {
      let (text, status) = Sentences.failure(error, creating: true)
      throw Failure(text: "\(Wording.printable(path)): error: \(text)", status: status)
    }
  }
}
