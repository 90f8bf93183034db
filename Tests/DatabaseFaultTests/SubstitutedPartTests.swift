// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// Parts of a database in whose place something else stands, and dumps that have another's name.
@Suite("Parts that stand for others")
struct SubstitutedPartTests {
  private static let id = "12345678-1111-4111-8111-000000000001"

  private static func dump(_ seed: UInt64) -> [UInt8] { SynthDump(SynthParameters.tiny(seed: seed)).bytes }

  /// A database with one report, and one dump that is not processed.
  private func database(_ script: String) throws -> (folder: TemporaryFolder, result: Tool.Outcome) {
    let folder = try TemporaryFolder()
    try folder.write(Self.dump(1), to: "first")
    try folder.write(Self.dump(2), to: "second")
    let start = """
      crashpadctl database create -d db >/dev/null; P=db/pending-serialized-ios-dump; mkdir -p "$P"
      cp first "$P/a@\(Self.id)"

      """
    return (folder, try Tool.shell(start + script, in: folder))
  }

  /// A forecast and a run over two dumps with one uuid.
  private func database(
    withAlso dump: String, _ isRunBetween: Bool
  ) throws -> (folder: TemporaryFolder, result: Tool.Outcome) {
    try database(
      """
      \(isRunBetween ? "crashpadctl process -q -d db; " : "")cp \(dump) "$P/b@\(Self.id)"
      crashpadctl process --dry-run -d db; crashpadctl process -v -d db
      """)
  }

  @Test("Two crashes under one uuid become two reports, in a forecast too", arguments: [true, false])
  func twoCrashes(isRunBetween: Bool) throws {
    let (folder, result) = try database(withAlso: "second", isRunBetween)
    #expect(!result.errorText.contains("made of it before"), "\(result.errorText)")
    #expect(result.errorText.contains("would be: \(isRunBetween ? 1 : 2) processed"), "\(result.errorText)")
    #expect(try folder.names(in: "db/pending").count { $0.hasSuffix(".dmp") } == 2)
  }

  @Test("A dump whose report is there already is removed", arguments: [true, false])
  func sameCrash(isRunBetween: Bool) throws {
    let (folder, result) = try database(withAlso: "first", isRunBetween)
    #expect(result.errorText.contains("would be: ") && result.errorText.contains("made of it before"))
    #expect(!result.errorText.contains("would be: 2 processed"))
    #expect(try folder.names(in: "db/pending").count { $0.hasSuffix(".dmp") } == 1)
    #expect(try folder.names(in: "db/pending-serialized-ios-dump").isEmpty)
  }

  @Test(
    "Attachments that can't be read hide no crash from those who need none", arguments: ["echo >", "ln -s /nowhere"])
  func attachments(_ command: String) throws {
    let (_, result) = try database(
      """
      crashpadctl process -q -d db; cp second "$P/b@\(Self.id.dropLast())2"; rm -rf db/attachments
      \(command) db/attachments
      crashpadctl group db; crashpadctl inspect -d db --last >/dev/null; echo $?
      """)
    #expect(result.text.contains("2 crashes in") && result.text.hasSuffix("\n0\n"), "\(result.text)\(result.errorText)")
  }

  @Test("A link or a file in the place of the dumps is a failure", arguments: ["ln -s kept", "cp first"])
  func pendingDumps(_ command: String) throws {
    let (_, result) = try database(
      """
      crashpadctl process -q -d db; mv "$P" db/kept; \(command) "$P"; crashpadctl group db; echo $?
      """)
    #expect(result.text.contains("1 crash in 1 group; 1 input could not be read completely"), "\(result.text)")
    #expect(result.text.hasSuffix("\n2\n") && result.errorText.contains("pending-serialized-ios-dump: error: "))
    #expect(!result.errorText.contains("Too many levels"), "\(result.errorText)")
  }

  /// The link is the first report, because no other is tried once the server could not be reached.
  @Test("A report that is a link is named by an upload, and not said to be gone", arguments: ["", "--dry-run"])
  func linkedReport(_ option: String) throws {
    let (_, result) = try database(
      """
      crashpadctl process -q -d db; ln -s /etc/hosts db/pending/00000000\(Self.id.dropFirst(8)).dmp
      crashpadctl database settings -d db --uploads-enabled yes >/dev/null
      crashpadctl upload \(option) --jobs 1 -d db --url http://127.0.0.1:1/ 2>&1; true
      """)
    #expect(result.text.contains("is a symbolic link, which is not followed"), "\(result.text)")
    #expect(!result.text.contains("gone"))
  }

  @Test("The file of upload pauses is a fault if it is something else", arguments: ["mkfifo", "mkdir", "ln -s x"])
  func uploadPauses(_ command: String) throws {
    let (_, result) = try database("\(command) db/uploads.retry-after; crashpadctl database check -d db; echo $?")
    #expect(result.text.contains("uploads.retry-after: error: ") && result.text.contains("[not-a-file]"))
    #expect(result.text.hasSuffix("\n1\n"))
  }

  @Test("A repair that is asked to end says so once")
  func endedRepair() throws {
    let (_, result) = try database(
      """
      for number in $(seq 1 300); do cp first "$P/a@12345678-1111-4111-8111-$(printf %012x "$number")"; done
      crashpadctl process -q -d db; crashpadctl database check -d db --repair --max-time 1ms 2>&1 | grep -c 'asked to end'
      """)
    #expect(["0\n", "1\n"].contains(result.text), "\(result.text)\(result.errorText)")
  }
}
