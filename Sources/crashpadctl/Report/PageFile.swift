import BinaryFormat
import FileSystem
import SystemPackage

/// Writes a page to where `-o` or `--html` says.
enum PageFile {
  /// The output and why it could not be written.
  struct Failure: Error {
    let text: String
    let status: ExitStatus
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
