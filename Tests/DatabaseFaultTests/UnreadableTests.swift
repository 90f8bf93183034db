// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// Files that can't be read to their end, that others hold, or that are not the database's own.
@Suite("Files at fault")
struct UnreadableTests {
  /// So large that it is mapped.
  private static let large: [UInt8] = {
    var parameters = SynthParameters.tiny(seed: 5)
    parameters.stackBytes = 3 << 20
    return SynthDump(parameters).bytes
  }()

  private static let now = DatabasePlan.now

  /// The start of a command line of which files with `part` in their path are cut short when they are mapped.
  private func cutting(_ part: String) -> String {
    "LD_PRELOAD='\(PreloadedLibrary.faultInjection)' FAULT_CUT='\(part)' crashpadctl"
  }

  @Test("A dump that becomes shorter while it is read is one failure, and the others are processed")
  func process() throws {
    var plan = DatabasePlan.plain(5)
    let name = "com.large@\(DatabasePlan.id(50))"
    plan.addDump(name, Self.large)
    let folder = try TemporaryFolder()
    try plan.make(at: folder.url("db"))
    let result = try Tool.shell("\(cutting("com.large")) process -d db --now \(Self.now)", in: folder)
    #expect(result.status == 1, "\(result.errorText)")
    #expect(result.errorText.contains("\(name): error: not processed: became shorter"), "\(result.errorText)")
    #expect(try folder.names(in: "db/pending-serialized-ios-dump") == [name])
    #expect(try folder.names(in: "db/pending").count == 10)
    #expect(try folder.names(in: "db/new").isEmpty)
  }

  @Test(
    "An input that becomes shorter fails alone among several inputs",
    arguments: [
      "validate", "convert --keep-going -o out", "convert --keep-going --to json -o out", "symbolize", "inspect",
      "redact --keep-going -o out",
    ])
  func inputs(_ command: String) throws {
    let folder = try TemporaryFolder()
    for name in ["a", "b", "cut"] { try folder.write(Self.large, to: "in/\(name).idump") }
    try FileManager.default.createDirectory(at: folder.url("out"), withIntermediateDirectories: true)
    let result = try Tool.shell("\(cutting("in/cut")) \(command) in/a.idump in/cut.idump in/b.idump", in: folder)
    #expect(result.status == 2, "\(result.errorText)")
    let text = result.errorText + result.text
    #expect(text.contains("in/cut.idump: error: became shorter"), "\(result.errorText)")
    if command.contains("out") {
      let names = try folder.names(in: "out")
      #expect(names.count == 2 && !names.contains { $0.hasPrefix("cut") }, "\(names)")
    }
  }

  /// Large ones are written from where they are mapped, those of 64 KiB are gathered before.
  @Test(
    "An input that becomes shorter leaves no output, whatever the size of its regions", arguments: [1 << 16, 3 << 20])
  func regions(_ size: Int) throws {
    var parameters = SynthParameters.tiny(seed: 5)
    parameters.contextRegionsPerThread = (6 << 20) / size
    parameters.contextRegionBytes = size
    let folder = try TemporaryFolder()
    try folder.write(SynthDump(parameters).bytes, to: "in/cut.idump")
    try FileManager.default.createDirectory(at: folder.url("out"), withIntermediateDirectories: true)
    let result = try Tool.shell("\(cutting("in/cut")) convert in/cut.idump -o out/a.dmp", in: folder)
    #expect(result.status == 74, "\(result.errorText)")
    #expect(result.errorText.contains("in/cut.idump: error: became shorter"), "\(result.errorText)")
    #expect(try folder.names(in: "out").isEmpty)
  }

  @Test(
    "A lock of the settings that another program does not give up ends a command with 75, and check does not wait",
    arguments: ["process -d db", "database info -d db", "database settings -d db", "database check -d db"])
  func heldSettings(_ command: String) throws {
    let folder = try TemporaryFolder()
    try DatabasePlan.plain(1).make(at: folder.url("db"))
    let result = try Tool.shell(
      "exec 9<db/settings.dat; flock --exclusive 9; crashpadctl \(command) --now \(Self.now) 9<&- || exit $?".replacing(
        command.contains(" info") || command.contains(" settings") ? " --now \(Self.now)" : "\u{0}", with: ""),
      in: folder)
    if command.contains("check") {
      #expect(result.status < 2, "\(result.errorText)")
    } else {
      #expect(result.status == 75, "\(result.errorText)")
      #expect(result.errorText.contains("db/settings.dat: error: is locked by "), "\(result.errorText)")
    }
  }

  @Test("Settings and dumps that have another name are neither changed nor processed, and check tells")
  func hardLinks() throws {
    let folder = try TemporaryFolder()
    try DatabasePlan.plain(1).make(at: folder.url("db"))
    let secret = Array("a file of another user, and longer than any settings are".utf8)
    try folder.write(secret, to: "secret")
    try folder.write(DatabasePlan.dump(1), to: "dump")
    let made = try Tool.shell(
      "chmod 644 secret dump; ln -f secret db/settings.dat; ln dump db/pending-serialized-ios-dump/x@\(DatabasePlan.id(9)); find db -type d -exec chmod 777 {} +",
      in: folder)
    #expect(made.status == 0, "\(made.errorText)")
    for command in [
      "process -d db --now \(Self.now)", "database settings -d db --uploads-enabled yes",
      "database check -d db --repair --now \(Self.now)",
    ] {
      let result = try Tool.shell("crashpadctl \(command)", in: folder)
      #expect(result.status != 0, "\(command)")
      #expect(try folder.bytes(of: "secret") == secret, "\(command)")
      let mode = try Tool.shell("stat -c %a secret dump", in: folder)
      #expect(mode.text == "644\n644\n", "\(command): \(mode.text)")
    }
    let check = try Tool.shell("crashpadctl database check -d db --now \(Self.now)", in: folder)
    #expect(check.text.components(separatedBy: "[hard-link]").count == 3, "\(check.text)\(check.errorText)")
    // With settings of its own, the one dump is refused.
    _ = try Tool.shell("rm db/settings.dat", in: folder)
    let result = try Tool.shell("crashpadctl process -d db --now \(Self.now)", in: folder)
    #expect(result.status == 1)
    #expect(result.errorText.contains("hard link"), "\(result.errorText)")
    #expect(try folder.names(in: "db/pending-serialized-ios-dump") == ["x@\(DatabasePlan.id(9))"])
  }

  @Test("An empty dump without a lock is of a program that did not crash: it is removed, unless it is new")
  func emptyDumps() throws {
    var plan = DatabasePlan()
    plan.addDump("com.example@\(DatabasePlan.id(1))", [], age: 61)
    plan.addDump("com.example@\(DatabasePlan.id(2))", [], age: 5)
    plan.addSettings()
    let folder = try TemporaryFolder()
    try plan.make(at: folder.url("db"))
    let result = try Tool.shell("crashpadctl process -d db --now \(Self.now)", in: folder)
    #expect(result.status == 0, "\(result.errorText)")
    #expect(result.errorText.contains("1 empty"), "\(result.errorText)")
    #expect(try folder.names(in: "db/pending-serialized-ios-dump") == ["com.example@\(DatabasePlan.id(2))"])
    #expect(try folder.names(in: "db/rejected").isEmpty)
  }

  @Test(
    "In a directory whose dumps can't be removed no reports are made of them",
    .enabled(if: Machine.isRoot && Machine.hasSetpriv, "needs the rights of root"))
  func stickyDirectory() throws {
    let folder = try TemporaryFolder()
    try DatabasePlan.plain(2).make(at: folder.url("db"))
    let result = try Tool.shell(
      "chmod -R a+rwX ..; chmod 1777 db/pending-serialized-ios-dump; as-nobody crashpadctl process -d db --now \(Self.now)",
      in: folder)
    #expect(result.status == 1, "\(result.errorText)")
    #expect(try folder.names(in: "db/pending").isEmpty)
    #expect(try folder.names(in: "db/pending-serialized-ios-dump").count == 2)
  }
}
