// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadFiles
import SystemPackage

/// The names that other tools have for what this one does, to suggest its own.
enum PeerNames {
  private static let commands: [(words: [String], commands: [String])] = [
    (
      ["stackwalk", "minidump_stackwalk", "minidump-stackwalk", "symbolicate", "symbolicatecrash", "bt", "backtrace"],
      ["symbolize"]
    ),
    (["atos", "addr2line"], ["symbolize", "symbols lookup"]),
    (["dump", "show", "minidump_dump", "minidump-dump", "print", "info", "view", "cat"], ["inspect"]),
    (["verify", "lint"], ["validate"]),
    (["scrub", "anonymize", "sanitize", "strip"], ["redact"]),
    (["diagnose", "analyze", "analyse", "why"], ["explain"]),
    (["cluster", "dedupe", "top", "stats"], ["group"]),
    (["export"], ["convert", "events"]),
    (["fsck", "repair"], ["database check"]),
    (["init"], ["database create"]),
    (["rm", "remove"], ["database delete"]),
    (["add"], ["database import"]),
    (["config"], ["database settings"]),
    (["dump_syms", "dump-syms"], ["symbols dump"]),
    (["upload-dif", "upload-dsym", "symupload", "sym_upload", "symbols push", "symbols send"], ["symbols upload"]),
    (["symbols list", "symbols ls", "symbols scan", "symbols store", "symbols add"], ["symbols index"]),
    (["symbols id", "symbols uuid", "symbols show", "symbols inspect", "symbols file"], ["symbols info"]),
    (
      ["symbols symbolize", "symbols symbolicate", "symbols resolve", "symbols find", "symbols search"],
      ["symbols lookup"]
    ),
    (["symbols download", "symbols fetch", "symbols missing", "symbols validate"], ["symbols check"]),
    (["symbols gc", "symbols prune", "symbols clean", "symbols clear"], ["symbols cache"]),
    (["html"], ["report"]),
    (["ls"], ["database list"]),
    (["exec"], ["run"]),
    (["send"], ["upload"]),
    (["gc"], ["prune"]),
  ]

  /// The commands that a word may stand for. A word with that of a group before it stands for them in this group only.
  ///
  /// - Parameter group: the words before it, with a blank behind each.
  static func commands(for word: String, in group: String) -> [String] {
    let rows = commands.filter { $0.words.contains(group + word) || $0.words.contains(word) }
    return rows.flatMap(\.commands).filter { $0.hasPrefix(group) }
  }

  /// Each row is for the commands that have its option.
  private static let options: [(words: [String], option: String, advice: String)] = [
    (["--json"], "--format", "Did you mean '--format json'?"),
    (["--dsym", "--dsyms"], "--symbols", "Did you mean '--symbols'?"),
    (["--db"], "--database", "Did you mean '--database'?"),
    (["--force", "--overwrite"], "--output", "A file that exists is replaced without it."),
    (["--symbols-path", "--symbol-path", "--symbol-dir"], "--symbols", "Did you mean '--symbols'?"),
    (["--symbol-server", "--symbols-server", "--server"], "--symbols-url", "Did you mean '--symbols-url'?"),
    (["--output-dir", "--out-dir", "--dir", "--store"], "--output", "Did you mean '--output'?"),
    (["-e", "--exe", "--obj", "--address", "--addr"], "--section", "The file comes first, then addresses."),
    (["-i", "--inlines", "--inlining"], "--no-inlines", "Inlined calls are printed without it."),
    (["-C", "--demangle"], "--no-demangle", "Names are demangled without it."),
    (["--org", "--project"], "--to", "They end the URL: --to sentry=URL/ORGANIZATION/PROJECT."),
    (["--auth-token", "--api-key"], "--token", "Did you mean '--token'?"),
    (["--clear", "--clean"], "--max-size", "Did you mean '--max-size 0'?"),
    (["--force"], "--retry-now", "Did you mean '--retry-now'?"),
    (["--server", "--endpoint"], "--url", "Did you mean '--url'?"),
    (["--dsn"], "--to", "Did you mean '--to sentry=DSN'?"),
    (["--csv"], "--fail-on", "Did you mean '--format csv'?"),
    (["--sarif"], "--max-warnings", "Did you mean '--format sarif'?"),
    (["--junit"], "--max-warnings", "Did you mean '--format junit'?"),
    (["-q", "--quiet"], "--no-notes", "Did you mean '--no-notes'?"),
    (["--all"], "--threads", "Did you mean '--threads all'?"),
    (["-v", "--verbose"], "--quiet", "Without --quiet, everything is printed."),
    (["-o", "--output"], "--format", "It prints to standard output: add '> FILE'."),
  ]

  /// The message; if it is about an argument that is a directory, for a command that takes a database by an option, with that.
  static func addingDatabase(to message: String, for command: any Command.Type) -> String {
    let mark = "Unexpected argument '"
    guard command.hasOption("--database"), let start = message.firstRange(of: mark)?.upperBound,
      let end = message[start...].firstIndex(of: "'"), case let path = FilePath(argument: String(message[start..<end])),
      hint({ try FileKind(at: path, followingLink: true) }) == .directory
    else { return message }
    return message[...end] + ". Put --database before a database" + message[message.index(after: end)...]
  }

  /// The argument parser's message; if it is about an unknown option that the command has by another name, with that name.
  static func adding(to message: String, for command: any Command.Type) -> String {
    let mark = "Unknown option '"
    guard let start = message.firstRange(of: mark)?.upperBound,
      let end = message[start...].firstIndex(where: { $0 == "'" || $0 == "\n" }), message[end] == "'"
    else { return message }
    let guess = "Did you mean '"
    let other = message[end...].firstRange(of: guess).map { message[$0.upperBound...].prefix { $0 != "'" } }
    guard let advice = advice(on: String(message[start..<end]), other.map { String($0) }, for: command) else {
      return message
    }
    var rest = message[message.index(after: end)...]
    if rest.first == "." { rest = rest.dropFirst() }
    // A name that is spelled alike is a worse guess.
    if rest.hasPrefix(" " + guess), let question = rest.firstIndex(of: "?") {
      rest = rest[rest.index(after: question)...]
    }
    return message[...end] + ". " + advice + rest
  }

  /// Options that each command has, which the parser does not suggest.
  private static let ofAllCommands = ["--help", "--version"].map { ([$0], advice: "Did you mean '\($0)'?") }

  /// The advice on an unknown option: that of a row, of one that is spelled alike, or nil.
  ///
  /// - Parameter other: the parser's guess.
  private static func advice(on option: String, _ other: String?, for command: any Command.Type) -> String? {
    let rows = options.filter { command.hasOption($0.option) }.map { ($0.words, advice: $0.advice) } + ofAllCommands
    if let row = rows.first(where: { $0.0.contains(option) }) { return row.advice }
    // The parser's guess is better than a peer's name that is as near.
    let names =
      ofAllCommands.flatMap(\.0) + [other].compactMap(\.self) + rows.flatMap(\.0).filter { $0.hasPrefix("--") }
    guard let near = Misspelling.nearest(to: option, among: names), near != other else { return nil }
    return rows.first { $0.0.contains(near) }?.advice
  }
}
