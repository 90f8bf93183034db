// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadBytes
import CrashpadFiles
import CrashpadText
import CrashpadUpload
import SystemPackage

/// Values of options for servers: secrets, header fields and certificates.
enum ServerArguments {
  /// Throws for a header field that is none, or that describes the body. `@FILE` is read later.
  static func checkHeaders(_ headers: [String], _ option: String) throws {
    for header in headers where !header.hasPrefix("@") {
      // The message leaves out the text, which may contain a secret.
      guard let header = HTTPHeader(line: header) else {
        throw ValidationError("\(option) takes 'Name: value', or @FILE.")
      }
      if header.isOfBody { throw ValidationError("\(option) can't set \(header.name): crashpadctl sets it itself.") }
    }
  }

  /// The argument, or the first line of the file that it names.
  static func secret(_ argument: String) throws -> String {
    argument.hasPrefix("@") ? try lines(of: String(argument.dropFirst())).first ?? "" : argument
  }

  static func headers(_ argument: String) throws -> [HTTPHeader] {
    guard argument.hasPrefix("@") else { return HTTPHeader(line: argument).map { [$0] } ?? [] }
    let path = String(argument.dropFirst())
    return try lines(of: path).enumerated().map { index, line in
      guard let header = HTTPHeader(line: line), !header.isOfBody else {
        let isField = HTTPHeader(line: line) != nil
        let reason = isField ? "crashpadctl sets that field itself" : "is not a header field of the form 'Name: value'"
        Terminal.error("\(TextFormat.printable(path)):\(index + 1): error: \(reason)")
        throw ExitStatus.usage
      }
      return header
    }
  }

  /// The nonempty lines of a file with secrets.
  private static func lines(of path: String) throws -> [String] {
    try text(of: path, most: 1 << 20).split(whereSeparator: \.isNewline).map(String.init)
  }

  /// Checks the certificate file. libcurl reports only that the file is bad, and only once it connects.
  static func certificates(_ path: String, _ option: String) throws -> FilePath {
    let text = try text(of: path, most: 16 << 20)
    let isPEM = ["CERTIFICATE", "TRUSTED CERTIFICATE", "X509 CERTIFICATE"].contains {
      text.contains("-----BEGIN \($0)-----") && text.contains("-----END \($0)-----")
    }
    if !isPEM {
      let failure = FailureText("no certificate in PEM form; \(option) needs one", .usage)
      throw Terminal.failure(failure, of: TextFormat.printable(path), creating: false)
    }
    return FilePath(argument: path)
  }

  /// The first `most` bytes of a file, which may be a pipe, such as a shell's `<(…)`.
  private static func text(of path: String, most: Int) throws -> String {
    do {
      return try InputFile(FilePath(argument: path)).withBytes { bytes in
        unsafe bytes.extracting(first: most).withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
      }
    } catch { throw Terminal.failure(error, of: TextFormat.printable(path), creating: false) }
  }
}
