// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// The most frequent calls are read without the parser of all others, and must mean the same to both.
@Suite("Calls that are read quickly", .enabled(if: HandlerLibrary.canBeBuilt, "clang is not installed"))
struct QuickCommandTests {
  private static func folder() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    let crash = try RunTests.shell("handled sh -c 'kill -SEGV $$'; cp db/p*/* a.idump; cp a.idump b.idump", in: folder)
    try #require(folder.exists("a.idump"), "\(crash.errorText)")
    return folder
  }

  /// `--color auto` is a word that only the parser reads, and changes nothing.
  @Test(
    "inspect",
    arguments: [
      "a.idump", "a.idump b.idump", "-f json a.idump", "a.idump --format json b.idump", "-f text a.idump -f json",
      "-s . a.idump", "--symbols . -s . a.idump", "-s missing a.idump", "missing", "a.idump missing", "'' a.idump",
      "- <a.idump", "-f xml a.idump", "-f", "-s -s a.idump", "--tree a.idump", "--modules -f json a.idump",
      "-- a.idump",
      "-x a.idump", "help", ".",
    ])
  func inspect(_ words: String) throws {
    let folder = try Self.folder()
    let quick = try Tool.shell("crashpadctl inspect \(words)", in: folder)
    let parsed = try Tool.shell("crashpadctl inspect --color auto \(words)", in: folder)
    #expect(quick.text == parsed.text)
    #expect(quick.errorText == parsed.errorText)
    #expect(quick.status == parsed.status)
    #expect(!quick.output.isEmpty || !quick.errorText.isEmpty)
  }

  /// `--database=DIR` is only read by the parser.
  @Test(
    "run",
    arguments: [
      "", "-q", "--quiet -d other", "--database other -d db", "--no-children", "--no-system --quiet", "-s . -q",
      "-s missing", "-q --", "--", "--process", "-x", "-d", "-h", "--version", "-", "'' -q", "-q --quiet",
    ])
  func run(_ words: String) throws {
    let folder = try TemporaryFolder()
    let program =
      "sh -c 'echo \"$@\"; env | grep ^CRASHPAD_HANDLER_ | grep -v _RUN= | grep -v _PARENT=; exit 3' a -q b -- c"
    let quick = try RunTests.shell("crashpadctl run --database db \(words) \(program)", in: folder)
    let parsed = try RunTests.shell("crashpadctl run --database=db \(words) \(program)", in: folder)
    #expect(quick.text == parsed.text)
    #expect(quick.errorText == parsed.errorText)
    #expect(quick.status == parsed.status)
    #expect(!quick.output.isEmpty || !quick.errorText.isEmpty)
  }
}
