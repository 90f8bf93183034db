// SPDX-License-Identifier: Apache-2.0
import CrashpadCore
import Foundation
import SystemPackage
import Testing
import ToolRunner

/// The examples do what the documents say.
struct ExampleTests {
  // MARK: Man pages

  @Test(arguments: Repository.manPages)
  func `The examples of a man page run`(name: String) throws {
    for example in try Repository.manPage(name).section("EXAMPLES").examples {
      try Self.check(example.lines, status: Self.documentedStatus(example.introduction), name)
    }
  }

  @Test(arguments: ["", "database"] + Commands.all)
  func `The examples of a command's help run`(command: String) throws {
    let overview = try Tool.help(command).overview.components(separatedBy: "\n")
    let lines = overview.filter { $0.hasPrefix("  crashpadctl ") }
    try #require(!lines.isEmpty)
    for line in lines {
      // The text behind two blanks is about the command.
      let command = line.trimmingCharacters(in: .whitespaces).components(separatedBy: "  ")[0]
      try Self.check([command], status: 0, "help")
    }
  }

  /// "…, which exits with 1:"
  private static func documentedStatus(_ text: String) -> Int32 {
    guard let match = text.firstMatch(of: #/exits with (\d+)/#) else { return 0 }
    return Int32(match.output.1) ?? 0
  }

  /// Runs what calls the tool, all in one directory; the last command has the status.
  private static func check(_ lines: [String], status: Int32, _ place: String) throws {
    let samples = try Samples()
    let commands = Self.commands(in: lines)
    for (index, command) in commands.enumerated() where HandlerLibrary.canBeBuilt || !Tool.needsLibrary(command) {
      let output = try Tool.run("set -o pipefail; " + cut(command) + " 2>&1", in: samples.folder)
      let expected = index == commands.count - 1 ? status : 0
      #expect(output.status == expected, "\(place): \(command)\n\(output.text)")
      // A warning of the tool about what the example asks for.
      #expect(!output.text.contains("was not captured"), "\(place): \(command)")
    }
  }

  /// The command lines among `lines`: those that begin with the tool, and in YAML those behind "run:" or a dash.
  private static func commands(in lines: [String]) -> [String] {
    lines.compactMap { line in
      let start = line.firstMatch(of: #/^\s*(- )?(run: )?(?=crashpadctl )/#)
      return start.map { String(line[$0.range.upperBound...]) }
    }
  }

  /// The command up to the first pipe into a program that is not installed.
  private static func cut(_ command: String) -> String {
    var kept: [String] = []
    for part in parts(command) {
      let program = part.split(separator: " ").first.map(String.init) ?? ""
      if !kept.isEmpty, !isInstalled(program) { break }
      kept.append(part)
    }
    return kept.joined(separator: " | ")
  }

  /// The parts of a pipeline; a bar in quotes is none.
  private static func parts(_ command: String) -> [String] {
    var parts: [String] = []
    for piece in command.components(separatedBy: " | ") {
      if let last = parts.last, last.count(where: { $0 == "'" }) % 2 == 1 {
        parts[parts.count - 1] = last + " | " + piece
      } else {
        parts.append(piece)
      }
    }
    return parts
  }

  private static func isInstalled(_ program: String) -> Bool {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    return folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
  }

  // MARK: README

  @Test func `The commands of README.md print what it says`() throws {
    let source = try Repository.text("README.md")
    var updated = ""
    var session: [String]?
    for line in source.components(separatedBy: "\n") {
      if line == "```", let lines = session {
        let fresh = try Self.rerun(lines)
        if !Repository.isUpdating { #expect(lines == fresh, "UPDATE_DOCS=1 writes it anew") }
        updated += fresh.joined(separator: "\n") + "\n"
        session = nil
      }
      if session != nil {
        session?.append(line)
        continue
      }
      updated += line + "\n"
      if line == "```console" { session = [] }
    }
    if Repository.isUpdating { try Repository.write(String(updated.dropLast()), to: "README.md") }
  }

  /// Runs the lines that begin with "$ " in one shell, and returns them with what they print.
  private static func rerun(_ session: [String]) throws -> [String] {
    let demo = try DemoFiles()
    let mark = "--- the next command ---"
    // The status of a command is there for the next one, as in a terminal.
    var script = "status=0\n"
    let commands = session.filter { $0.hasPrefix("$ ") }.map { String($0.dropFirst(2)) }
    for command in commands { script += "(exit $status); { \(command)\n} 2>&1; status=$?; echo '\(mark)'\n" }
    let output = try Tool.run(script, in: demo.folder)
    let parts = output.text.components(separatedBy: mark + "\n")
    try #require(parts.count == commands.count + 1, "\(output.text)")
    var lines: [String] = []
    for (command, text) in zip(commands, parts) {
      lines.append("$ " + command)
      if !text.isEmpty { lines += (text.hasSuffix("\n") ? text.dropLast() : text[...]).components(separatedBy: "\n") }
    }
    return lines
  }

  @Test(arguments: [
    "README.md", "Sources/README.md", "Tests/README.md", ".github/CONTRIBUTING.md", ".github/SECURITY.md",
  ])
  func `Every file that a document links to exists`(document: String) throws {
    let folder = Repository.root.appendingPathComponent(document).deletingLastPathComponent()
    for match in try Repository.text(document).matches(of: #/\]\(([^)#]+)\)/#) where !match.output.1.contains("://") {
      let target = folder.appendingPathComponent(String(match.output.1)).standardizedFileURL.path
      #expect(FileManager.default.fileExists(atPath: target), "\(match.output.1)")
    }
  }

  @Test func `The picture in README.md shows what the tool prints`() throws {
    let demo = try DemoFiles()
    let script = Repository.root.appendingPathComponent("scripts/picture").path
    let command = "crashpadctl symbolize --symbols symbols crash.idump"
    let output = try Tool.run("{ echo '$ \(command)'; \(command); } | '\(script)'", in: demo.folder)
    try #require(output.status == 0)
    if Repository.isUpdating {
      try Repository.write(output.text, to: "scripts/stack.svg")
    } else {
      #expect(try Repository.text("scripts/stack.svg") == output.text, "UPDATE_DOCS=1 draws it anew")
    }
  }

  @Test func `The program in Sources/README.md compiles and converts`() throws {
    let samples = try Samples()
    let path = FilePath(samples.folder.appendingPathComponent("crash.idump").path)
    let output = FilePath(samples.folder.appendingPathComponent("new.dmp").path)
    // begin
    let conversion = Conversion(to: .minidump)
    let result = try conversion.convert(DumpInput(path), to: output)
    // end
    #expect(result.outcome == .converted)
    let lines = try Repository.text("Tests/DocumentationTests/ExampleTests.swift").components(separatedBy: "\n")
    let start = try #require(lines.firstIndex(of: "    // begin"))
    let stop = try #require(lines.firstIndex(of: "    // end"))
    let readme = try Repository.text("Sources/README.md")
    for line in lines[(start + 1)..<stop] { #expect(readme.contains("\n\(line.dropFirst(4))\n")) }
  }
}
