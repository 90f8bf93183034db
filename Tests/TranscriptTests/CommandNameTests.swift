// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

@Suite("Names of commands")
struct CommandNameTests {
  @Test(
    "An unknown command is answered with similar ones",
    arguments: [
      ("insepct", "inspect"), ("inspct x.idump", "inspect"), ("databse list", "database"), ("stackwalk", "symbolize"),
      ("ls", "database list"), ("lookup app", "symbols lookup"), ("database lsit", "database list"),
      ("symbols dmp", "symbols dump"), ("help symbolise", "symbolize"), ("help database shwo", "database show"),
      ("symbolicatecrash", "symbolize"), ("bt", "symbolize"), ("backtrace", "symbolize"), ("dump_syms", "symbols dump"),
      ("html", "report"), ("database ls", "database list"), ("symbols ls", "symbols index"),
      ("symbols show a", "symbols info"), ("symbols find a", "symbols lookup"), ("symbols fetch", "symbols check"),
      ("symbols clear", "symbols cache"), ("symbols push a", "symbols upload"), ("upload-dif a", "symbols upload"),
      ("dump-syms", "symbols dump"),
    ])
  func suggestion(_ line: String, _ suggestion: String) throws {
    let result = try Tool.shell("crashpadctl \(line)", in: TemporaryFolder())
    #expect(result.status == 64)
    #expect(result.text == "")
    #expect(result.errorText.contains("nknown command '"))
    #expect(result.errorText.contains("; did you mean '\(suggestion)'?\n"))
  }

  @Test(
    "Some words stand for two commands",
    arguments: [
      ("dump", "'inspect' or 'symbols dump'"), ("show", "'inspect' or 'database show'"),
      ("atos", "'symbolize' or 'symbols lookup'"), ("addr2line", "'symbolize' or 'symbols lookup'"),
    ])
  func two(_ word: String, _ commands: String) throws {
    let result = try Tool.run([word], in: TemporaryFolder())
    #expect(result.status == 64)
    #expect(result.errorText.contains("; did you mean \(commands)?\n"))
  }

  @Test(
    "An option that other tools have is answered by that of the command",
    arguments: [
      ("symbolize --json x", "Did you mean '--format json'?"),
      ("run --json true", "Did you mean '--format json'? To run"),
      ("inspect --hlep x", "Did you mean '--help'?"), ("inspect --jsn x", "Did you mean '--format json'?"),
      ("inspect --dsym=x y", "Did you mean '--symbols'?"), ("process --db x", "Did you mean '--database'?"),
      ("prune -v", "Without --quiet, everything is printed."), ("unlock --verbose", "Without --quiet, everything"),
      ("convert --force x", "A file that exists is replaced"),
      ("symbolize --overwrite x", "A file that exists is replaced"),
      ("symbols lookup -e app 0x10", "The file comes first"),
      ("symbols lookup app 0x10 -i", "Inlined calls are printed"),
      ("symbols lookup -C app 0x10", "Names are demangled"),
      ("symbols check --server=x a", "Did you mean '--symbols-url'?"),
      ("symbols upload --org a --project b x", "They end the URL"),
      ("symbols cache --clear", "Did you mean '--max-size 0'?"),
      // The parser would take the directory for a second file, and explain that.
      ("symbols dump app --output-dir store", "Did you mean '--output'?"),
      ("symbols dump app --outputs store", "Did you mean '--output'?"),
      ("symbols upload --atempts 3 x --to tecken", "Did you mean '--attempts'?"),
    ])
  func peerOption(_ line: String, _ advice: String) throws {
    let result = try Tool.shell("crashpadctl \(line)", in: TemporaryFolder())
    #expect(result.status == 64)
    #expect(result.errorText.hasPrefix("crashpadctl: error: Unknown option '-"), "\(result.errorText)")
    #expect(result.errorText.contains("'. " + advice), "\(result.errorText)")
    #expect(result.errorText.components(separatedBy: "Did you mean").count <= 2, "\(result.errorText)")
  }

  @Test(
    "An option that the command does not have either is not suggested",
    arguments: ["symbols lookup --db x", "find -v ."])
  func noPeerOption(_ line: String) throws {
    let result = try Tool.shell("crashpadctl \(line)", in: TemporaryFolder())
    #expect(result.status == 64)
    #expect(!result.errorText.contains("--database"))
    #expect(!result.errorText.contains("--quiet,"))
  }

  @Test("A file in place of a subcommand is answered by the one that shows it")
  func fileForSubcommand() throws {
    let folder = try TemporaryFolder()
    try folder.write([], to: "app.full")
    let result = try Tool.run(["symbols", "app.full"], in: folder)
    #expect(result.status == 64)
    #expect(
      result.errorText.contains("; symbols needs a subcommand: type 'crashpadctl symbols info app.full'\n"),
      "\(result.errorText)")
    #expect(try Tool.run(["database", "."], in: folder).errorText.contains("'crashpadctl database info -d .'"))
  }

  /// A line of the sources that is broken again by a narrower terminal leaves a word alone in a line. The parser keeps the last
  /// column free.
  @Test(
    "The help has lines as long as the terminal, whatever its width",
    arguments: CommandTree.commands + ["", "database"])
  func flowingHelp(_ command: String) throws {
    for width in Soak.some(2, of: [40, 60, 79, 80, 120]) {
      let help = try Tool.shell("COLUMNS=\(width) crashpadctl \(command) --help", in: TemporaryFolder()).text
      let overview = help.components(separatedBy: "USAGE: ")[0].components(separatedBy: "\n").dropFirst()
      for (line, next) in zip(overview, overview.dropFirst()) {
        let word = next.prefix { $0 != " " }
        if line.isEmpty || next.isEmpty || line.hasPrefix(" ") || next.hasPrefix(" ") || line == "Examples:" {
          continue
        }
        #expect(line.count + 1 + word.count >= width, "\(command) at \(width): \(line)|\(next)")
      }
    }
  }

  @Test(
    "The help is whole at any width, also in a terminal that is too narrow for it",
    arguments: [
      "--help", "help group", "database --help", "inspect --help", "inspect --no-such-option", "list --limit x",
    ])
  func narrowHelp(_ command: String) throws {
    let folder = try TemporaryFolder()
    let wide = try Tool.shell("COLUMNS=1000 crashpadctl \(command) 2>&1", in: folder)
    let words = wide.text.split(whereSeparator: \.isWhitespace)
    try #require(words.count > 5)
    for width in [
      "0", "-5", "1", "26", "27", "28", "9223372036854775807", "-9223372036854775808", "99999999999999999999",
    ] {
      let narrow = try Tool.shell("COLUMNS=\(width) crashpadctl \(command) 2>&1", in: folder)
      #expect(narrow.status == wide.status, "\(width)")
      #expect(narrow.text.split(whereSeparator: \.isWhitespace) == words, "\(width): \(narrow.text)")
    }
    guard Machine.hasTerminals else { return }
    for width in [1, 26] {
      let script = "stty cols \(width); env -u COLUMNS crashpadctl \(command)"
      let text = try Tool.shell("script -qec '\(script)' /dev/null", in: folder).text
      #expect(text.split(whereSeparator: \.isWhitespace) == words, "\(width): \(text)")
    }
  }

  /// Every option of a command that takes a value, `--jobs`.
  private static func options(_ command: String) throws -> [String] {
    let help = try Tool.shell("crashpadctl help \(command)", in: TemporaryFolder()).text
    return help.split(separator: "\n").compactMap { line in
      guard line.hasPrefix("  -"), line.contains(" <") else { return nil }
      return line.split { $0 == " " || $0 == "," }.first { $0.hasPrefix("--") }.map(String.init)
    }
  }

  /// Text options take any text; they fail later, or not at all.
  @Test("A value that an option does not take is answered by those that it takes", arguments: CommandTree.commands)
  func invalidValues(_ command: String) throws {
    let options = try Self.options(command)
    let hidden =
      command == "process" ? ["--attempts", "--connect-timeout", "--timeout", "--field", "--keep-memory"] : []
    var messages = 0
    for option in Soak.some(8, of: options + hidden) {
      for value in Soak.every(2, of: ["@@", ""]) {
        let result = try Tool.shell("crashpadctl \(command) \(option)='\(value)' < /dev/null", in: TemporaryFolder())
        let line = result.errorText.split(separator: "\n").first.map(String.init) ?? ""
        guard line.contains("is invalid for") else { continue }
        messages += 1
        #expect(result.status == 64)
        #expect(line.hasPrefix("crashpadctl: error: The value '\(value)' is invalid for '\(option)"), "\(line)")
        #expect(
          line.contains("'. Please provide ") || line.contains("': Type a number with a unit, as in "), "\(line)")
      }
    }
    // The chosen ones may all take any text.
    #expect(messages > 0 || !Soak.isOn || options.isEmpty || command == "doctor", "\(command): \(options)")
  }

  @Test(
    "Arguments that are no reports are answered by what names one", arguments: ["show", "delete", "request-upload"])
  func invalidReports(_ command: String) throws {
    let result = try Tool.run(["database", command, "xyz"], in: TemporaryFolder())
    #expect(result.status == 64)
    #expect(result.errorText.contains("for '<reports>'. Please provide a report's id, or its first four digits"))
  }

  @Test(
    "A misspelled option has a suggestion, of run too",
    arguments: [
      ("run --databse DB -- true", "--database"), ("run --databse=DB true", "--database"),
      ("run --proces true", "--process"), ("run --anotation a=b true", "--annotation"),
      ("symbolize --simbols x y", "--symbols"), ("upload --al", "--all"),
    ])
  func misspelledOption(_ line: String, _ option: String) throws {
    let result = try Tool.shell("crashpadctl \(line)", in: TemporaryFolder())
    #expect(result.status == 64)
    #expect(result.errorText.hasPrefix("crashpadctl: error: Unknown option '--"), "\(result.errorText)")
    #expect(result.errorText.contains("Did you mean '\(option)'?"), "\(result.errorText)")
  }

  @Test(
    "Every usage error begins alike",
    arguments: [
      "", "nosuch", "inspect", "inspect --nosuch x", "run --nosuch", "database list --limit x", "upload --url '' -d .",
      "upload -d .", "upload --to nowhere=1 -d .", "upload --url ftp://x -d .",
      "upload --url http://x --proxy 'a b' -d .",
      "database delete", "convert --keep-going a --output",
    ])
  func sameBeginning(_ line: String) throws {
    let result = try Tool.shell("crashpadctl \(line)", in: TemporaryFolder())
    #expect(line.isEmpty || result.status == 64, "\(result.status): \(result.errorText)")
    #expect(line.isEmpty || result.errorText.hasPrefix("crashpadctl: error: "), "\(result.errorText)")
  }

  @Test("A word like no command has no suggestion, and a file has the command for it")
  func none() throws {
    let folder = try TemporaryFolder()
    try folder.write(Samples.crash, to: "crash.idump")
    let unknown = try Tool.run(["xyzzy"], in: folder)
    #expect(unknown.status == 64)
    #expect(unknown.errorText.contains("nknown command 'xyzzy'\n"))
    let file = try Tool.run(["crash.idump"], in: folder)
    #expect(file.status == 64)
    #expect(file.errorText.contains("'crashpadctl inspect crash.idump'"))
  }

  @Test("The version is told by all its names", arguments: ["--version", "-V", "version"])
  func version(_ word: String) throws {
    let result = try Tool.run([word], in: TemporaryFolder())
    #expect(result.status == 0)
    #expect(result.text.hasPrefix("crashpadctl "))
  }

  @Test(
    "Help, version and completions that can't be written are an error",
    arguments: ["--help", "inspect --help", "help run", "--version", "--generate-completion-script bash", "database"])
  func fullDisk(_ line: String) throws {
    let result = try Tool.shell("crashpadctl \(line) > /dev/full", in: TemporaryFolder())
    #expect(result.status == 74)
    #expect(result.errorText == "crashpadctl: error: standard output: No space left on device\n")
  }

  @Test("A command is the same with its own parser and with that of all", arguments: CommandTree.commands)
  func sameParser(_ command: String) throws {
    let folder = try TemporaryFolder()
    for option in ["--help", "-h", "--version", "--no-such-option"] {
      let own = try Tool.run(command.split(separator: " ").map(String.init) + [option], in: folder)
      #expect(own.status == (option == "--no-such-option" ? 64 : 0), "\(option)")
      #expect(!own.errorText.contains("crashpadctl <subcommand>"), "\(option)")
      if option == "--no-such-option" { #expect(own.errorText.contains("crashpadctl \(command) ")) }
    }
  }

  /// Once the second form was read by another parser.
  @Test(
    "Options mean the same in every form and order",
    arguments: [
      ("convert crash.idump -o out", "convert --output=out crash.idump"),
      ("convert -q --to json crash.idump -o out", "convert crash.idump --quiet --to=json -o out"),
      ("convert --keep-going -j 2 bad.idump crash.idump -o out", "convert -k --jobs=2 bad.idump crash.idump -o out"),
      ("convert -j 1 bad.idump crash.idump -o out", "convert --jobs=1 bad.idump crash.idump -o out"),
      ("convert --to nothing crash.idump", "convert --to=nothing crash.idump"),
      ("inspect -f json -s symbols crash.idump", "inspect --format=json --symbols=symbols crash.idump"),
    ])
  func quick(_ quick: String, _ parsed: String) throws {
    let results = try [quick, parsed].map { command in
      let folder = try TemporaryFolder()
      try folder.write(Samples.crash, to: "crash.idump")
      try folder.write([6, 5, 1], to: "bad.idump")
      let result = try Tool.shell("crashpadctl \(command)", in: folder)
      let names = try folder.names() + ((try? folder.names(in: "out")) ?? [])
      return [result.text, result.errorText, "\(result.status)", names.joined(separator: " ")]
    }
    #expect(results[0] == results[1])
  }

  @Test(
    "Commands work without /proc", .enabled(if: Machine.isRoot && Machine.canMount, "only root unmounts /proc"))
  func withoutProc() throws {
    let folder = try TemporaryFolder()
    try folder.write(Samples.crash, to: "crash.idump")
    let script = """
      unshare --mount --propagation private sh -c '
      mount -t tmpfs none /proc
      crashpadctl inspect crash.idump > text && crashpadctl convert crash.idump -o out.dmp \
      && crashpadctl validate out.dmp && crashpadctl database create -d DB && crashpadctl --version; echo $?
      crashpadctl doctor -d DB | grep proc | head -n 1'
      """
    let result = try Tool.shell(script, in: folder)
    #expect(result.outputLines.first == "crashpadctl 0.1.0", "\(result.text)\(result.errorText)")
    #expect(result.outputLines.dropFirst().first == "0")
    #expect(result.text.contains("/proc is not mounted"))
  }
}
