// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
/// The names that other tools have for what this one does, to suggest its own.
enum PeerNames {
  private static let commands: [(words: [String], commands: [String])] = [
    (
      ["stackwalk", "minidump_stackwalk", "minidump-stackwalk", "symbolicate", "symbolicatecrash", "bt", "backtrace"],
      ["symbolize"]
    ),
    (["atos", "addr2line"], ["symbolize", "symbols lookup"]),
    (["dump", "show"], ["inspect"]),
    (["dump_syms"], ["symbols dump"]),
    (["html"], ["report"]),
    (["ls"], ["database list"]),
    (["exec"], ["run"]),
    (["send"], ["upload"]),
    (["gc"], ["prune"]),
  ]

  /// The commands that a word may stand for.
  ///
  /// - Parameter group: the words before it, with a blank behind each.
  static func commands(for word: String, in group: String) -> [String] {
    let all = commands.first { $0.words.contains(word) }?.commands ?? []
    return all.filter { $0.hasPrefix(group) }
  }

  private static let options: [(words: [String], option: String, advice: String)] = [
    (["--json"], "--format", "Did you mean '--format json'?"),
    (["--dsym", "--dsyms"], "--symbols", "Did you mean '--symbols'?"),
    (["--db"], "--database", "Did you mean '--database'?"),
    (["--force", "--overwrite"], "--output", "A file that exists is replaced without it."),
    (["-v", "--verbose"], "--quiet", "Without --quiet, everything is printed."),
  ]

  /// The argument parser's message; if it is about an unknown option that the command has by another name, with that name.
  static func adding(to message: String, for command: any Command.Type) -> String {
    let mark = "Unknown option '"
    guard let start = message.firstRange(of: mark)?.upperBound,
      let end = message[start...].firstIndex(where: { $0 == "'" || $0 == "\n" }), message[end] == "'",
      let row = options.first(where: { $0.words.contains(String(message[start..<end])) }),
      command.hasOption(row.option)
    else { return message }
    var rest = message[message.index(after: end)...]
    if rest.first == "." { rest = rest.dropFirst() }
    // A name that is spelled alike is a worse guess.
    if rest.hasPrefix(" Did you mean '"), let question = rest.firstIndex(of: "?") {
      rest = rest[rest.index(after: question)...]
    }
    return message[...end] + ". " + row.advice + rest
  }
}
