// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

@Suite("Standard streams")
struct StandardStreamTests {
  private static let crash = SynthDump(SynthParameters(seed: 12)).bytes
  private static let many = (UInt64(0)..<60).map { seed in
    SynthDump(Samples.small(seed: seed)).bytes.setting(.isDaylightSavingTime, to: [2]).without(.threadState)
  }

  private func folder() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    try folder.write(Self.crash, to: "crash.idump")
    for (index, dump) in Self.many.enumerated() { try folder.write(dump, to: "many/\(index + 10).idump") }
    return folder
  }

  @Test(
    "A closed pipe ends the tool by SIGPIPE, without a message",
    arguments: [
      "inspect --tree crash.idump", "inspect --hex crash.idump", "inspect --format json crash.idump",
      "validate --format json many", "validate --format sarif many", "validate many", "validate --rules",
      "convert -o - crash.idump", "convert --to json -o - crash.idump", "convert --format json -k many -o out",
      "--help",
    ])
  func closedPipe(_ command: String) throws {
    // The reader is gone before the first byte.
    let result = try Tool.shell(
      "mkfifo pipe; : < pipe & { sleep 0.2; crashpadctl \(command); echo status $? >&2; } > pipe", in: folder())
    let status = result.errorText.split(separator: "\n").last
    #expect(status == "status \(128 + SIGPIPE)")
    let words = result.errorText.split(separator: "\n").dropLast().filter { !$0.hasPrefix("crashpadctl: ") }
    #expect(words.isEmpty, "\(words)")
  }

  @Test("A closed pipe is an error of the output if SIGPIPE is ignored")
  func ignoredPipe() throws {
    let result = try Tool.shell(
      "trap '' PIPE; mkfifo pipe; : < pipe & { sleep 0.2; crashpadctl validate many; echo status $? >&2; } > pipe",
      in: folder())
    #expect(result.errorText == "crashpadctl: error: standard output: Broken pipe\nstatus 74\n")
  }

  @Test("head gets its first lines")
  func head() throws {
    let result = try Tool.shell("crashpadctl inspect --tree crash.idump | head -n 2", in: folder())
    #expect(result.outputLines.count == 3)
    #expect(result.errorText == "")
  }

  @Test("A stream that is closed is no place for an output", arguments: [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
  func closedStreams(_ closed: String) throws {
    let folder = try folder()
    #expect(try Tool.shell("crashpadctl convert -q -k many -o right", in: folder).status == 0)
    let names = try folder.names(in: "right")
    #expect(names.count == 60)
    // A report that goes to a closed stream must not end up in the file that got its number.
    for round in 0..<Soak.times(5, or: 2) {
      for format in ["text", "json"] {
        let command = "crashpadctl convert --format \(format) -k -j 8 many -o out \(closed)"
        _ = try Tool.shell("rm -rf out; \(command)", in: folder)
        let wrong = try names.filter {
          try folder.exists("out/\($0)") && folder.bytes(of: "out/\($0)") != folder.bytes(of: "right/\($0)")
        }
        #expect(wrong.isEmpty, "round \(round), \(format): these hold something else")
      }
    }
  }

  @Test(
    "A full disk behind standard output is status 74", arguments: ["-o - crash.idump", "--to json -o - crash.idump"])
  func fullStandardOutput(_ arguments: String) throws {
    let result = try Tool.shell("crashpadctl convert \(arguments) > /dev/full", in: folder())
    #expect(result.status == 74)
    #expect(result.errorText == "crash.idump: error: <standard output>: No space left on device\n")
  }

  @Test("Standard input is read to its end, however small its pieces are")
  func slowInput() throws {
    let folder = try folder()
    #expect(try Tool.run(["convert", "crash.idump"], in: folder).status == 0)
    let command =
      "{ head -c 1000 crash.idump; sleep 0.2; tail -c +1001 crash.idump; } | crashpadctl convert - | cmp - crash.dmp"
    #expect(try Tool.shell(command, in: folder).status == 0)
  }

  @Test("Nothing is written to standard output that a terminal would obey")
  func controlCharacters() throws {
    let folder = try TemporaryFolder()
    try Samples.write(namedIn: "odd-text.idump", to: folder)
    for options in ["", "--threads", "--modules", "--registers", "--memory-list", "--tree", "--hex", "--format json"] {
      let result = try Tool.shell("crashpadctl inspect \(options) odd-text.idump", in: folder)
      // JSON keeps what only changes the direction of writing.
      let categories: [Unicode.GeneralCategory] = options.hasSuffix("json") ? [.control] : [.control, .format]
      let bad = result.text.unicodeScalars.filter { $0 != "\n" && categories.contains($0.properties.generalCategory) }
      #expect(bad.isEmpty, "\(options)")
    }
  }

  @Test("A file name with control characters is quoted in messages")
  func fileNames() throws {
    let folder = try folder()
    try folder.write(Samples.crash, to: "red\u{1b}[31m.idump")
    try folder.write([], to: "two\nlines.idump")
    let result = try Tool.shell(
      "crashpadctl inspect red*; crashpadctl validate two* red*; crashpadctl inspect two*", in: folder)
    #expect(!result.text.contains("\u{1b}") && !result.errorText.contains("\u{1b}"))
    #expect(!result.text.contains("two\nlines") && !result.errorText.contains("two\nlines"))
  }
}
