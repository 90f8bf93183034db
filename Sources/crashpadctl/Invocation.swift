// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadBytes
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
    // An array of two would be one of optional texts, whose type is made at run time.
    if words.first == "-V" || words.first == "version" { words[0] = "--version" }
    // A message that begins with the name of a method is no option.
    if words.first == "explain", !words.contains("--"),
      let message = words.firstIndex(where: { $0.hasPrefix("-[") && $0.contains("]") })
    {
      words.insert("--", at: message)
    }
    self.arguments = words
  }

  func run() -> Never {
    do {
      if arguments == ["--version"] {
        Terminal.output(toolVersionLine + "\n")
      } else if var command = Self.read(arguments) {
        try command.run()
      } else {
        var command = try Self.parse(arguments)
        try command.run()
      }
      exit(ExitStatus.success.rawValue)
    } catch {
      end(error)
    }
  }

  /// The command that the arguments call; nil if they call none, ask for help, or are wrong.
  private static func read(_ arguments: [String]) -> (any Command)? {
    let (path, rest) = CommandName.resolve(arguments)
    guard case .command(let command)? = path.last?.kind else { return nil }
    return command.init(rest)
  }

  /// Has ArgumentParser read the arguments, which explains what is wrong with them, or prints help.
  private static func parse(_ arguments: [String]) throws -> any ParsableCommand {
    try CommandName.check(arguments)
    if arguments.first == "help" {
      let (path, rest) = CommandName.resolve(Array(arguments.dropFirst()))
      return try Crashpadctl.parseAsRoot(["help"] + path.map(\.name) + rest)
    }
    let (path, rest) = CommandName.resolve(arguments)
    guard case .command(let command)? = path.last?.kind else { return try Crashpadctl.parseAsRoot(arguments) }
    return try Crashpadctl.parseAsRoot(path.map(\.name) + command.spelledOut(rest))
  }

  // MARK: The end

  private func end(_ error: any Error) -> Never {
    if let status = error as? ExitStatus { exit(status.rawValue) }
    // An exit code has no message, but the parser would generate its help first.
    if let code = error as? ExitCode { exit(code.rawValue) }
    TextStyle.setHelpWidth()
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
    let printed = arguments.map { TextFormat.printable($0) }
    if printed != arguments {
      do { _ = try Self.parse(printed) } catch let other { error = other }
    }
    var text = ValueHelp.adding(to: Crashpadctl.fullMessage(for: error))
    let (path, rest) = CommandName.resolve(arguments)
    if case .command(let command)? = path.last?.kind {
      text = PeerNames.adding(to: Self.naming(command.unknownOption(rest), command, text), for: command)
      text = PeerNames.addingDatabase(to: text, for: command)
    } else {
      text = CommandName.adding(to: text, arguments)
    }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    return lines.map { TextFormat.printable(String($0)) }.joined(separator: "\n")
  }

  /// The message about an unknown option in place of another one: the parser checks all other words first, and takes the value of
  /// the option for one of these.
  private static func naming(_ option: String?, _ command: any Command.Type, _ text: String) -> String {
    let start = Crashpadctl._errorPrefix
    guard let option, text.hasPrefix(start), !text.contains("Unknown option '") else { return text }
    let near = Misspelling.nearest(to: option, among: command.shapes.flatMap(\.names).filter { $0.hasPrefix("--") })
    let usage = text.firstRange(of: "\nUsage:").map { text[$0.lowerBound...] } ?? ""
    return start + "Unknown option '\(option)'" + (near.map { ". Did you mean '\($0)'?" } ?? "") + usage
  }
}
