// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadFiles
import CrashpadText
import SystemPackage

/// Writes a page to where `-o` or `--html` says.
enum PageFile {
  /// The output and why it could not be written.
  struct Failure: Error {
    let text: String
    let status: ExitStatus
  }

  /// Prints why a page can't be written there: it would replace one of its inputs. Returns nil if it can.
  static func refusal(_ output: String, _ list: InputList) -> ExitStatus? {
    let path = FilePath(argument: output)
    guard output != "-", case .regular? = hint({ try FileKind(at: path, followingLink: true) }) else { return nil }
    let same: InputList.Input?
    do { same = try list.inputs.first { try isSameFile(FilePath(argument: $0.argument), path) } } catch {
      return Terminal.failure(error, of: TextFormat.printable(path), creating: true)
    }
    guard let input = same else { return nil }
    Terminal.error("\(input.name): error: would become its own page; name another file")
    return .usage
  }

  /// Writes a page, which appears whole or not at all; `-` is standard output. Prints why it could not be written.
  ///
  /// - Returns: `status`, or that of the failure.
  static func write(_ page: [UInt8], to output: String, _ status: ExitStatus) -> ExitStatus {
    if output == "-" {
      Terminal.output(page)
      return status
    }
    do { try write(page, to: FilePath(argument: output)) } catch {
      Terminal.error(error.text)
      return error.status
    }
    return status
  }

  /// Throws `Failure`.
  static func write(_ page: [UInt8], to path: FilePath) throws(Failure) {
    do {
      let file = try OutputFile(path)
      try unsafe file.write(page.span.bytes)
      try file.commit(durable: false)
    } catch {
      let (text, status) = Sentences.failure(error, creating: true)
      throw Failure(text: "\(TextFormat.printable(path)): error: \(text)", status: status)
    }
  }
}
