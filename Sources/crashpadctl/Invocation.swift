import ArgumentParser
import CrashpadFiles
import CrashpadText
import Glibc
import SystemPackage

/// One call of the tool: finds the command that the arguments name, and runs it.
struct Invocation {
  private let arguments: [String]

  /// Takes the arguments after the tool's name, byte for byte.
  init(_ arguments: [[UInt8]]) {
    var words = arguments.map { ArgumentText.text($0) }
    if ["-V", "version"].contains(words.first) { words[0] = "--version" }
    self.arguments = ThreadChoice.expanding(words)
  }

  func run() -> Never {
    do {
      if let command = QuickCommand(arguments) {
        try command.run()
      } else {
        var command = try Self.parseAlone(arguments) ?? Self.parse(arguments)
        try command.run()
      }
      exit(ExitStatus.success.rawValue)
    } catch {
      end(error)
    }
  }

  /// Parses the arguments with the parser of the named command alone. The parser for the whole tree first creates and
  /// checks those of all commands, which took three quarters of the start time. Nil if there is no such command or it
  /// rejects the arguments; then the tree's parser produces the error message.
  private static func parseAlone(_ arguments: [String]) -> (any ParsableCommand)? {
    let (path, rest) = CommandName.resolve(arguments)
    guard let command = path.last, command.configuration.subcommands.isEmpty else { return nil }
    // A request for help is parsed as another command.
    guard let parsed = try? command.parseAsRoot(Array(rest)), type(of: parsed) == command else { return nil }
    return parsed
  }

  private static func parse(_ arguments: [String]) throws -> any ParsableCommand {
    try CommandName.check(arguments)
    return try Crashpadctl.parseAsRoot(arguments)
  }

  // MARK: The end

  private func end(_ error: any Error) -> Never {
    if let status = error as? ExitStatus { exit(status.rawValue) }
    // An exit code has no message, but the parser would generate its help first.
    if let code = error as? ExitCode { exit(code.rawValue) }
    let status = Crashpadctl.exitCode(for: error).rawValue
    if status == ExitStatus.success.rawValue {
      let text = CompletionScript.completingHelp(Crashpadctl.fullMessage(for: error))
      if !text.isEmpty { Terminal.output(text + "\n") }
    } else {
      let text = message(error)
      if !text.isEmpty { Terminal.error(text) }
    }
    exit(status)
  }

  /// The parser's message for an error. The message quotes arguments, and a line feed in one must not begin a line.
  /// If arguments are not printable as they are, they are parsed again in printable form.
  private func message(_ error: any Error) -> String {
    var error = error
    let printed = arguments.map { Wording.printable($0) }
    if printed != arguments {
      do { _ = try Self.parse(printed) } catch let other { error = other }
    }
    let text = ValueHelp.adding(to: Crashpadctl.fullMessage(for: error))
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    return lines.map { Wording.printable(String($0)) }.joined(separator: "\n")
  }
}
