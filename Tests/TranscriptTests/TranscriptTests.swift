// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

@Suite("Transcripts")
struct TranscriptTests {
  private static let beingWritten: Comment = "the transcripts are being written"

  @Test(
    "The tool prints what its transcripts say",
    arguments: Transcript.names.filter { !isOfRights($0) && !isOfHandler($0) })
  func transcript(_ name: String) throws { try check(name) }

  @Test(
    "The tool says what it is not permitted to do",
    .enabled(if: !Machine.isRoot || Machine.hasSetpriv, "root may do everything, and setpriv is not installed"),
    arguments: Transcript.names.filter(isOfRights))
  func notPermitted(_ name: String) throws { try check(name) }

  @Test(
    "The tool says what crashed in a program that it ran",
    .enabled(if: HandlerLibrary.canBeBuilt, "clang is not installed"), arguments: Transcript.names.filter(isOfHandler))
  func handled(_ name: String) throws { try check(name) }

  private static func isOfHandler(_ name: String) -> Bool { ["run", "doctor"].contains(name) }

  private static func isOfRights(_ name: String) -> Bool { name.hasSuffix("not-permitted") }

  private func check(_ name: String) throws {
    let transcript = try Transcript(name)
    #expect(!transcript.steps.isEmpty, "\(name).txt has no command")
    let actual = try transcript.run()
    if actual == transcript.text { return }
    if Transcript.isUpdating {
      try actual.write(to: Transcript.file(name), atomically: true, encoding: .utf8)
      return
    }
    Issue.record(
      """
      \(name).txt, \(Transcript.firstDifference(transcript.text, actual))
      If the tool is right: CRASHPADCTL_UPDATE_TRANSCRIPTS=1 swift test --filter TranscriptTests, and review the diff.
      """)
  }

  @Test("The transcripts of validate show every rule", .disabled(if: Transcript.isUpdating, Self.beingWritten))
  func everyRule() throws {
    let rules = try JSONDocument(Tool.run(["validate", "--rules", "--format", "json"], in: TemporaryFolder()).output)
    let codes = rules["rules"].array.compactMap { $0["code"].string }
    #expect(codes.count > 50)
    #expect(Set(codes).count == codes.count, "a code has two rules")
    let shown = try Self.codes(in: Transcript.names.filter { $0.hasPrefix("validate") })
    // The rules of databases and of files with symbols are their own.
    let shownElsewhere = try Self.codes(
      in: Transcript.names.filter { name in !["database", "symbol"].contains { name.hasPrefix($0) } })
    for code in codes {
      #expect(shown.contains(code), "\(code) is in no transcript of validate")
    }
    // Other commands with symbols say it too.
    let ofSymbols: Set = ["no-symbol-files", "unknown-symbol-format"]
    for code in shownElsewhere.subtracting(ofSymbols) where !codes.contains(code) {
      Issue.record("\(code): --rules does not list it")
    }
  }

  /// The codes behind findings in text: `… [code]`.
  private static func codes(in names: [String]) throws -> Set<String> {
    var codes: Set<String> = []
    for name in names {
      for line in try Transcript(name).text.split(separator: "\n") {
        guard line.hasSuffix("]"), let start = line.lastIndex(of: "["),
          ["note: ", "warning: ", "error: "].contains(where: { line.contains($0) })
        else { continue }
        let code = line[line.index(after: start)...].dropLast()
        if !code.isEmpty, code.allSatisfy({ $0.isLowercase || $0.isNumber || $0 == "-" }) { codes.insert(String(code)) }
      }
    }
    return codes
  }

  @Test("The tool says what commands it has")
  func everyCommand() {
    #expect(Set(CommandTree.commands).isSuperset(of: ["inspect", "validate", "convert", "database list"]))
  }

  /// The commands of all transcripts.
  private static let steps = Transcript.names.flatMap { (try? Transcript($0).steps.map(\.command)) ?? [] }

  @Test("Every option that --help lists is in a transcript", arguments: CommandTree.commands)
  func everyOption(_ command: String) throws {
    let help = try Tool.run(command.split(separator: " ").map(String.init) + ["--help"], in: TemporaryFolder()).text
    let commands = Self.steps.filter { $0.contains("crashpadctl \(command)") }
    let options = CommandTree.options(inHelp: help)
    #expect(!options.isEmpty)
    for name in options.joined() {
      #expect(commands.contains { $0.split(separator: " ").contains(Substring(name)) }, "\(command) \(name)")
    }
  }

  @Test(
    "Every exit status of the manual that a command can reach is in a transcript",
    .disabled(if: Transcript.isUpdating, Self.beingWritten))
  func everyStatus() throws {
    let lines = try Set(Transcript.names.flatMap { try Transcript($0).text.split(separator: "\n").map(String.init) })
    for status in [0, 1, 64, 65, 66, 73, 74, 75, 77] { #expect(lines.contains("status \(status)")) }
  }

  @Test(
    "A finding that is an error makes the status 1",
    arguments: ["inspect", "validate", "convert", "convert --format json"])
  func errorFindings(_ command: String) throws {
    let folder = try TemporaryFolder()
    try Samples.write(namedIn: "damaged-too-many-modules.idump", to: folder)
    #expect(try Tool.shell("crashpadctl \(command) damaged-too-many-modules.idump", in: folder).status == 1)
  }
}
