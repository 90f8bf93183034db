// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// No command replaces what it reads.
@Suite("Outputs that are inputs")
struct OwnOutputTests {
  private static func lines(_ result: Tool.Outcome) -> [String] {
    result.text.split(separator: "\n").map(String.init)
  }

  @Test(
    "A dump does not become the output of what reads it",
    arguments: [
      "events -o in/a.idump in/a.idump", "events -o in/a.idump in", "events -o link in/a.idump",
      "events --cursor in/a.idump in/a.idump", "events --cursor c -o in/a.idump in/a.idump",
      "group --partial in/a.idump in", "group --partial link --shard 1/1 in/a.idump",
      "symbolize -o in/a.idump in/a.idump",
      "events -o in.zip in.zip", "group --html in/a.idump in", "report -o in/a.idump in/a.idump",
    ])
  func dumps(_ command: String) throws {
    let folder = try TemporaryFolder()
    try folder.write(Samples.crash, to: "in/a.idump")
    try folder.write(
      Packing.zip([Packing.Member("a.idump", Samples.crash), Packing.Member("b.idump", Samples.crash)]), to: "in.zip")
    let result = try Tool.shell(
      "ln -s in/a.idump link; cp -a . ../before; crashpadctl \(command); echo $?; diff -r . ../before; rm -r ../before",
      in: folder)
    // A cursor that is no cursor is refused as such.
    #expect(Self.lines(result) == [command.contains("--cursor in") ? "65" : "64"], "\(result.text)\(result.errorText)")
  }

  @Test("The cursor is not the file of the events")
  func cursor() throws {
    let folder = try TemporaryFolder()
    try folder.write(Samples.crash, to: "a.idump")
    for file in ["x", "./x", "y/../x"] {
      let result = try Tool.shell("exec crashpadctl events --cursor x -o \(file) a.idump", in: folder)
      #expect(result.status == 64 && result.errorText.contains("name the same file"), "\(result.errorText)")
    }
    #expect(!folder.exists("x"))
  }

  @Test("A dump whose exception is lost is no input without a crash, and is read again when it is whole")
  func lostException() throws {
    let folder = try TemporaryFolder()
    try folder.write(Samples.crash, to: "whole.idump")
    let script = """
      size=$(stat -c %s whole.idump)
      for count in $(seq 200 200 $size); do
        head -c $count whole.idump > cut.idump
        crashpadctl explain cut.idump 2> errors | grep -q 'what happened is not known' && break
      done
      touch -d '1 hour ago' cut.idump
      crashpadctl events --cursor c -o e cut.idump; echo $?
      crashpadctl events --cursor c -o e cut.idump; echo $?
      cp whole.idump cut.idump; crashpadctl events --cursor c -o e cut.idump; echo $?
      wc -l < e
      """
    let result = try Tool.shell(script, in: folder)
    let lines = Self.lines(result)
    #expect(lines.dropLast() == ["1", "0", "0"], "\(result.text)\(result.errorText)")
    #expect(lines.last.flatMap { Int($0) } ?? 0 > 0)
    #expect(result.errorText.contains("1 input without an exception that can be read: what happened is not known"))
    #expect(!result.errorText.contains("without a crash"))
  }

  @Test("A number that is no time is no age either", arguments: ["database list -d DB", "group ."])
  func since(_ command: String) throws {
    let folder = try TemporaryFolder()
    try folder.write(Samples.crash, to: "a.idump")
    _ = try Tool.run(["database", "create", "-d", "DB"], in: folder)
    for number in ["99999999999999", "1795625000000", "99999999999999999999"] {
      let result = try Tool.shell("exec crashpadctl \(command) --since \(number)", in: folder)
      #expect(result.status == 64, "\(number): \(result.text)\(result.errorText)")
    }
  }

  @Test(
    "A directory that can't be read is counted as an input that could not be",
    arguments: ["", "--index i", "--shard 1/1 --partial p"])
  func closedInput(_ options: String) throws {
    let folder = try TemporaryFolder()
    try folder.write(Samples.crash, to: "in/a.idump")
    let group = "as-nobody crashpadctl group --format json"
    let merge = options.contains("partial") ? "\(group) --merge p; echo $? >&2" : "cat out"
    let result = try Tool.shell(
      "mkdir in/closed; chmod 0 in/closed; chmod 755 in ..; chmod 777 .; \(group) \(options) in > out 2> errors; "
        + "echo $? >&2; \(merge); chmod 755 in/closed", in: folder)
    #expect(try JSONDocument(result.output)["failed_count"].int == 1, "\(result.errorText)")
    #expect(result.errorText.split(separator: "\n") == (options.contains("partial") ? ["2", "1"] : ["2"]))
  }

  @Test("A directory that can't be searched is no directory without a database")
  func find() throws {
    let folder = try TemporaryFolder()
    let result = try Tool.shell(
      "mkdir -p in/closed; chmod 0 in/closed; chmod 755 . in; as-nobody crashpadctl find in; echo $?; "
        + "as-nobody crashpadctl find --format json in | grep -c closed; chmod 755 in/closed", in: folder)
    #expect(Self.lines(result) == ["2", "1"], "\(result.text)\(result.errorText)")
    #expect(!result.errorText.contains("no database found"))
  }
}
