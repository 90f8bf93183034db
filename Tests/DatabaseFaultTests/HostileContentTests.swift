// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// Content that another user put into a database.
@Suite("Hostile databases")
struct HostileContentTests {
  private static let process = Scenario.process

  /// A database with three dumps and one file that is not a dump, and `outside`, which no command may touch.
  private func folder() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    var plan = DatabasePlan.plain(3)
    plan.addDump("com.example.app@\(DatabasePlan.id(4))", Array("no dump".utf8))
    try plan.make(at: folder.url("db"))
    try folder.write(DatabasePlan.dump(60), to: "outside/com.example.app@\(DatabasePlan.id(60))")
    try folder.write(DatabasePlan.dump(61), to: "outside/\(DatabasePlan.id(2)).dmp")
    try folder.write(Array("secret".utf8), to: "outside/secret")
    return folder
  }

  @Test(
    "No part of a database may be a symbolic link to elsewhere",
    arguments: ["new", "pending", "completed", "pending-serialized-ios-dump", "rejected"])
  func linkedParts(_ part: String) throws {
    let folder = try folder()
    let outside = try Tree(at: folder.url("outside"))
    _ = try Tool.shell("cd db && mv \(part) ../elsewhere && ln -s ../outside \(part)", in: folder)
    let before = try Tree(at: folder.url("db"))
    for command in [Self.process, "unlock --database db --now \(DatabasePlan.now)", Self.process + " --dry-run"] {
      let result = try Tool.shell("crashpadctl \(command)", in: folder)
      #expect([0, 1, 66, 73].contains(result.status), "\(command): \(result.errorText)")
      #expect(try Tree(at: folder.url("outside")).differences(from: outside).isEmpty, "\(command)")
      if command == Self.process {
        #expect(result.status != 0)
        #expect(result.errorText.contains("db/\(part)"), "\(result.errorText)")
      }
    }
    // The dumps are there still, or reports; the one that is no dump stays, as it can't be moved away.
    let after = try Tree(at: folder.url("db"))
    #expect(after.entries[part] == .link(to: "../outside"))
    if part == "rejected" {
      #expect(after.names(in: "pending-serialized-ios-dump") == ["com.example.app@\(DatabasePlan.id(4))"])
      #expect(after.names(in: "pending").count == 6)
    } else {
      #expect(after.withoutLeftovers.differences(from: before).isEmpty)
    }
  }

  @Test("Links instead of settings, reports, metadata and locks lead nowhere")
  func linkedFiles() throws {
    for (name, target) in [
      ("settings.dat", "../outside/secret"), ("pending/\(DatabasePlan.id(1)).dmp", "../../outside/secret"),
      ("pending/\(DatabasePlan.id(1)).meta", "../../outside/secret"),
      ("pending/\(DatabasePlan.id(1)).lock", "../../outside/secret"),
      ("rejected/com.example.app@\(DatabasePlan.id(4))", "../../outside/secret"),
      ("rejected/com.example.app@\(DatabasePlan.id(4)).reason", "../../outside/secret"),
    ] {
      let folder = try folder()
      let outside = try Tree(at: folder.url("outside"))
      _ = try Tool.shell("rm -f db/settings.dat.x; ln -sf \(target) db/\(name)", in: folder)
      let result = try Tool.shell("crashpadctl \(Self.process)", in: folder)
      #expect([1, 73].contains(result.status), "\(name): \(result.errorText)")
      #expect(try Tree(at: folder.url("outside")).differences(from: outside).isEmpty, "\(name)")
      // Whatever became of the first dump, it is there, or its report.
      let tree = try Tree(at: folder.url("db"))
      let isThere = tree["pending-serialized-ios-dump/com.example.app@\(DatabasePlan.id(1))"] != nil
      #expect(isThere || tree["pending/\(DatabasePlan.id(1)).dmp"] != nil, "\(name)")
    }
  }

  @Test("A database that is itself named through a link is no different")
  func linkedDatabase() throws {
    let folder = try folder()
    let result = try Tool.shell("ln -s db link && crashpadctl process --database link", in: folder)
    #expect(result.status == 1, "\(result.errorText)")
    #expect(try Tree(at: folder.url("db")).names(in: "pending").count == 6)
  }

  @Test("FIFOs, sockets, links and directories among the dumps are left alone; dumps with odd names become reports")
  func oddEntries() throws {
    let folder = try folder()
    let outside = try Tree(at: folder.url("outside"))
    let long = String(repeating: "n", count: 255)
    let result = try Tool.shell(
      """
      cd db/pending-serialized-ios-dump
      mkfifo fifo fifo.locked; mkdir directory directory.locked
      ln -s ../../outside/secret link; ln -s ../../outside/com.example.app@\(DatabasePlan.id(60)) link.locked
      ln -s ../../outside link-to-directory; ln -s loop loop
      one=$(ls com.example.app@* | head -n 1)
      cp "$one" "$(printf 'not-utf8-\\377\\376')"; cp "$one" "$(printf 'lines\\nand\\033[31mcolor')"
      cp "$one" \(long); printf 'no dump' > m\(long.dropFirst()); printf 'no dump' > "$(printf 'bad-\\377')"
      cp "$one" -- --dry-run; cp "$one" ' '; cp "$one" .hidden
      echo 'no dump' > '@'; echo 'no dump' > .locked.locked
      touch -d @0 .locked.locked
      cd ../..; crashpadctl \(Self.process) --verbose; echo $?
      crashpadctl \(Self.process) --verbose; echo $?
      """, in: folder)
    #expect(result.text == "1\n0\n", "\(result.errorText)")
    #expect(!result.errorText.contains("\u{1b}"))
    let tree = try Tree(at: folder.url("db"))
    #expect(try Tree(at: folder.url("outside")).differences(from: outside).isEmpty)
    #expect(
      tree.names(in: "pending-serialized-ios-dump") == [
        ".hidden", ".locked.locked", "directory", "directory.locked", "fifo", "fifo.locked", "link",
        "link-to-directory", "link.locked", "loop",
      ])
    // All copies are one crash without an id in its name: one report.
    #expect(tree.names(in: "pending").count == 8)
    let rejected = tree.names(in: "rejected").filter { !$0.hasSuffix(".reason") }
    #expect(rejected.count == 4, "\(rejected)")
    #expect(tree.names(in: "rejected").count == 8)
    #expect(tree.names(in: "new").isEmpty)
  }

  @Test("A dump of 1 GiB takes no memory", arguments: [true, false])
  func largeDump(_ beginsAsDump: Bool) throws {
    let folder = try folder()
    let name = "db/pending-serialized-ios-dump/com.example.app@\(DatabasePlan.id(9))"
    try folder.write(beginsAsDump ? DatabasePlan.dump(9) : [], to: name)
    let memory = Fault(variables: [("FAULT_MEMORY", folder.url("memory").path)])
    let result = try Tool.shell(
      "truncate -s 1G \(name) && exec \(memory.prefix(folder, root: "db")) crashpadctl \(Self.process)", in: folder)
    #expect(result.status == 1, "\(result.errorText)")
    let tree = try folder.names(in: "db/pending")
    #expect(tree.contains("\(DatabasePlan.id(9)).dmp") == beginsAsDump)
    let kibibytes = Int(String(decoding: try folder.bytes(of: "memory"), as: UTF8.self).filter(\.isNumber))
    #expect(try #require(kibibytes) < 256 * 1024)
    #expect(!folder.exists(name))
  }
}
