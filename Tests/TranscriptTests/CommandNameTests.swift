import DumpSynth
import Foundation
import Testing
import ToolRunner

@Suite("Names of commands")
struct CommandNameTests {
  @Test(
    "What is no command says what may have been meant",
    arguments: [
      ("insepct", "inspect"), ("inspct x.idump", "inspect"), ("databse list", "database"), ("stackwalk", "symbolize"),
      ("ls", "database list"), ("lookup app", "symbols lookup"), ("database lsit", "database list"),
      ("symbols dmp", "symbols dump"), ("help symbolise", "symbolize"), ("help database shwo", "database show"),
    ])
  func suggestion(_ line: String, _ suggestion: String) throws {
    let result = try Tool.shell("crashpadctl \(line)", in: TemporaryFolder())
    #expect(result.status == 64)
    #expect(result.text == "")
    #expect(result.errorText.contains("nknown command '"))
    #expect(result.errorText.contains("; did you mean '\(suggestion)'?\n"))
  }

  @Test("Some words stand for two commands", arguments: [("dump", "symbols dump"), ("show", "database show")])
  func two(_ word: String, _ other: String) throws {
    let result = try Tool.run([word], in: TemporaryFolder())
    #expect(result.status == 64)
    #expect(result.errorText.contains("; did you mean 'inspect' or '\(other)'?\n"))
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
    #expect(result.errorText == "crashpadctl: standard output: No space left on device\n")
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
