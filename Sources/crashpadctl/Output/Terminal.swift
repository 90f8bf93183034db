// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadFiles
import CrashpadText
import Glibc
import Synchronization
import SystemPackage

/// Standard output and standard error.
enum Terminal {
  static let isErrorTerminal = isatty(2) == 1

  /// Prints one or more lines to standard error; they are lost if it is closed.
  ///
  /// Sentences escape external text themselves. This function escapes any text that they missed.
  static func error(_ line: String) {
    let isPlain = line.utf8.allSatisfy { (0x20..<0x7f).contains($0) || $0 == 0x0a }
    let lines = isPlain ? [] : line.split(separator: "\n", omittingEmptySubsequences: false)
    let text = isPlain ? line : lines.map { TextFormat.printable(String($0)) }.joined(separator: "\n")
    if isErrorTerminal { DownloadProgress.shared.clear() }
    errorPart(TextStyle.error.coloringSeverity(text) + "\n")
  }

  /// Prints a warning that is about no single file.
  static func warning(_ sentence: String) { error("crashpadctl: warning: \(sentence)") }

  /// Prints an error that is about no single file. Returns `status`, to be thrown.
  @discardableResult
  static func failure(_ sentence: String, _ status: ExitStatus) -> ExitStatus {
    error("crashpadctl: error: \(sentence)")
    return status
  }

  /// Prints why an input or output failed. Returns the exit status.
  ///
  /// - Parameters:
  ///   - name: the printable name of the input or output.
  ///   - creating: whether it was to be written.
  @discardableResult
  static func failure(_ failure: any Error, of name: String, creating: Bool) -> ExitStatus {
    let reason = FailureText(failure, creating: creating)
    error("\(name): error: \(reason.text)")
    return reason.status
  }

  /// Writes text without a line feed to standard error.
  static func errorPart(_ text: String) {
    try? writeAll(text, to: .standardError)
  }

  /// Writes data to standard output. A failure would lose data, so it ends the tool.
  static func output(_ text: String) { output(Array(text.utf8)) }

  /// Writes data to standard output. A failure would lose data, so it ends the tool.
  static func output(_ bytes: [UInt8]) {
    do { try unsafe writeOutput(bytes.span.bytes) } catch { fail(writing: error) }
  }

  static func writeOutput(_ bytes: RawSpan) throws {
    if bytes.byteCount == 0 { return }
    if isErrorTerminal { DownloadProgress.shared.clear() }
    try OutputSink.current.withLock { sink in
      if sink.hasText, sink.isNewPart { try sink.write([0x0a]) }
      (sink.hasText, sink.isNewPart) = (true, false)
      try sink.write(bytes)
    }
  }

  /// Begins the text about another input. A blank line separates it from the text before, once there is some of both:
  /// inputs that fail have none.
  static func beginPart() { OutputSink.current.withLock { $0.isNewPart = true } }

  /// Sends what follows to a file instead of standard output. The file appears with `commitOutput`.
  static func sendOutput(to path: FilePath) throws {
    try OutputSink.current.withLock { ($0.file, $0.name) = (try OutputFile(path), TextFormat.printable(path)) }
  }

  /// Gives the file of `sendOutput` its name, if there is one. Without any text it stays away when the run failed.
  ///
  /// - Returns: `status`, or that of a failure.
  static func commitOutput(_ status: ExitStatus) -> ExitStatus {
    OutputSink.current.withLock { sink in
      guard let file = sink.file, sink.hasText || [.success, .findings].contains(status) else { return status }
      do { try file.commit(durable: false) } catch { return failure(error, of: sink.name, creating: true) }
      return status
    }
  }

  /// Ends the tool immediately. Releasing the symbols of large programs piece by piece would take a tenth of the
  /// run time, with no use at the end.
  static func end(_ status: ExitStatus) -> Never { exit(status.rawValue) }

  /// Ends the tool: if the reader of a pipe went away, by SIGPIPE without a word, as other programs. What was not printed may be
  /// an error, so that the status can't be that of success.
  static func fail(writing error: any Error) -> Never {
    if error as? Errno == .brokenPipe { ProcessSetup.endByBrokenPipe() }
    let name = OutputSink.current.withLock { $0.name }
    failure("\(name): \((error as? Errno)?.description ?? "\(error)")", .ioError)
    exit(ExitStatus.ioError.rawValue)
  }
}

/// Standard output as a byte output.
final class StandardOutput: ByteOutput {
  func write(_ bytes: RawSpan) throws { try Terminal.writeOutput(bytes) }
}
