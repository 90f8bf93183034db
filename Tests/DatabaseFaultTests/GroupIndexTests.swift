// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// `group --index`: each dump is read once and counted once, whatever happens to a run.
@Suite("The index of group")
struct GroupIndexTests {
  private static let command = "group --no-system --format json -j 1"

  /// A folder with `count` dumps in `base/dumps`.
  private func folder(_ count: Int) throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    for number in 1...count { try folder.write(DatabasePlan.dump(number), to: "base/dumps/\(number).idump") }
    return folder
  }

  /// The output of a run, and the output if all dumps were read: the same, but for the run's folder.
  private func groups(_ folder: TemporaryFolder, _ name: String, index: Bool) throws -> String {
    let option = index ? "--index \(name)/index" : ""
    let result = try Tool.shell("exec crashpadctl \(Self.command) \(option) \"$PWD/\(name)/dumps\"", in: folder)
    #expect(result.status == 0, "\(result.errorText)")
    let work = folder.work.resolvingSymlinksInPath().path
    return result.text.replacingOccurrences(of: "\(work)/\(name)/", with: "").replacingOccurrences(
      of: "\(folder.work.path)/\(name)/", with: "")
  }

  private func copy(_ folder: TemporaryFolder, _ name: String) throws {
    _ = try Tool.shell("rm -rf \(name) && cp -a base \(name)", in: folder)
  }

  /// The changes of the disk by a run with this index.
  private func calls(_ folder: TemporaryFolder, _ name: String) throws -> [Call] {
    let prefix = Fault.none.prefix(folder, root: name, log: "log")
    _ = try Tool.shell("exec \(prefix) crashpadctl \(Self.command) --index \(name)/index \(name)/dumps", in: folder)
    let calls = try String(decoding: folder.bytes(of: "log"), as: UTF8.self).split(separator: "\n").compactMap {
      Call($0)
    }
    try #require(!calls.isEmpty, "the library counted nothing: was it loaded?")
    return calls
  }

  @Test func `The groups are those of a run that reads all dumps, and no dump is read twice`() throws {
    let folder = try folder(5)
    let expected = try groups(folder, "base", index: false)
    #expect(try groups(folder, "base", index: true) == expected)
    // A file with the bytes of another, but of the same size and time: it is noticed only by who reads it.
    _ = try Tool.shell(
      "touch -r base/dumps/1.idump time && yes x | head -c $(stat -c %s base/dumps/1.idump) | dd conv=notrunc,nocreat "
        + "of=base/dumps/1.idump status=none && touch -r time base/dumps/1.idump", in: folder)
    #expect(try groups(folder, "base", index: true) == expected)
    try folder.write(DatabasePlan.dump(6), to: "base/dumps/6.idump")
    let more = try JSONDocument(Data(groups(folder, "base", index: true).utf8))
    #expect(more["crash_count"].int == 6)
  }

  @Test func `A run that is killed at any call leaves an index that the next run completes`() throws {
    let folder = try folder(4)
    let expected = try groups(folder, "base", index: false)
    try copy(folder, "copy")
    let calls = try calls(folder, "copy")
    var faults: [(name: String, fault: Fault)] = []
    for call in calls {
      faults.append(("before call \(call.number), \(call.name) \(call.path)", .killed(before: call.number)))
      if call.writes { faults.append(("within call \(call.number), \(call.name)", .killed(within: call.number))) }
    }
    for index in Sweep.sample(Array(faults.indices), Soak.times(10, or: 4), area: 71) {
      try copy(folder, "copy")
      let prefix = faults[index].fault.prefix(folder, root: "copy")
      let killed = try Tool.shell(
        "exec \(prefix) crashpadctl \(Self.command) --index copy/index copy/dumps", in: folder)
      #expect(killed.status == 137, "\(faults[index].name)")
      #expect(try groups(folder, "copy", index: true) == expected, "killed \(faults[index].name)")
    }
  }

  @Test func `A run without room leaves an index that the next run completes`() throws {
    let folder = try folder(4)
    let expected = try groups(folder, "base", index: false)
    try copy(folder, "copy")
    let calls = try calls(folder, "copy").filter { $0.writes || $0.waits || $0.name == "open" }
    for number in Sweep.sample(calls.map(\.number), Soak.times(8, or: 4), area: 72) {
      try copy(folder, "copy")
      let prefix = Fault.failing(ENOSPC, first: number, step: 1).prefix(folder, root: "copy")
      let failed = try Tool.shell(
        "exec \(prefix) crashpadctl \(Self.command) --index copy/index copy/dumps", in: folder)
      #expect([73, 74].contains(failed.status), "call \(number): \(failed.status) \(failed.errorText)")
      #expect(failed.errorText.contains("copy/index: error: "), "\(failed.errorText)")
      #expect(try groups(folder, "copy", index: true) == expected, "no room from call \(number) on")
    }
  }

  @Test func `Runs at once count each dump once`() throws {
    let folder = try folder(24)
    let expected = try groups(folder, "base", index: false)
    let run = "crashpadctl \(Self.command) --index base/index base/dumps > /dev/null || echo failed"
    let result = try Tool.shell("for i in 1 2 3 4; do { \(run); } & done; wait", in: folder)
    #expect(result.text.isEmpty, "\(result.errorText)")
    #expect(try groups(folder, "base", index: true) == expected)
  }

  @Test func `A dump that moved counts once, and one that is gone goes on counting`() throws {
    let folder = try folder(3)
    let before = try JSONDocument(Data(groups(folder, "base", index: true).utf8))
    #expect(before["crash_count"].int == 3)
    _ = try Tool.shell("cd base/dumps && mkdir done && mv 1.idump done && rm 2.idump", in: folder)
    let after = try JSONDocument(Data(groups(folder, "base", index: true).utf8))
    #expect(after["crash_count"].int == 3)
  }

  @Test func `The members of an archive count once each, and what is changed is read again`() throws {
    let folder = try folder(2)
    func members(_ numbers: ClosedRange<Int>) -> [UInt8] {
      Packing.zip(numbers.map { Packing.Member("\($0).idump", DatabasePlan.dump($0), isDeflated: $0 % 2 == 0) })
    }
    try folder.write(members(3...5), to: "base/dumps/more.zip")
    for _ in 1...2 { #expect(try groups(folder, "base", index: true) == groups(folder, "base", index: false)) }
    try folder.write(members(3...7), to: "base/dumps/more.zip")
    #expect(try groups(folder, "base", index: true) == groups(folder, "base", index: false))
    let count = try Tool.shell(
      "crashpadctl group --no-system --index base/index base/dumps | tail -n 1", in: folder)
    #expect(count.text.hasPrefix("7 crashes"), "\(count.text)")
  }

  @Test func `A damaged dump is reported by the run that reads it`() throws {
    let folder = try folder(1)
    try folder.write(Array(DatabasePlan.dump(2).prefix(60)), to: "base/dumps/2.idump")
    let command = "exec crashpadctl \(Self.command) --index base/index base/dumps"
    let first = try Tool.shell(command, in: folder)
    #expect(first.status == 1)
    #expect(first.errorText.contains("2.idump"))
    let second = try Tool.shell(command, in: folder)
    #expect(second.status == 0)
    #expect(second.errorText.isEmpty)
    #expect(try JSONDocument(second.output)["failed_count"].int == 1)
  }

  @Test func `A file that is not an index stays as it is`() throws {
    let folder = try folder(1)
    let command = "crashpadctl group --index base/index"
    try folder.write(Array("no database, but a text that is longer than the header of one\n".utf8), to: "base/index")
    let text = try Tool.shell("\(command) base/dumps; cat base/index", in: folder)
    #expect(text.errorText.hasPrefix("base/index: error: is not an index of crashpadctl group"), "\(text.errorText)")
    #expect(text.text.hasPrefix("no database"))
    _ = try Tool.shell("rm base/index; \(command) base/dumps", in: folder)
    let other = try Tool.shell("\(command) --in-app 'libx*' base/dumps", in: folder)
    #expect(other.status == 65)
    #expect(other.errorText == "base/index: error: was made with another --in-app\n")
  }

  @Test(
    "A dump that could not be opened is counted once it can be, whatever its times",
    .enabled(if: !Machine.isRoot || Machine.hasSetpriv, "no setpriv"))
  func unreadableOnce() throws {
    let folder = try folder(2)
    let group = "as-nobody crashpadctl \(Self.command) --index base/index base/dumps"
    let result = try Tool.shell(
      """
      if [ "$(id -u)" = 0 ]; then chown -R 65534:65534 base; fi
      chmod 0 base/dumps/1.idump; \(group) > first; echo $?; chmod 644 base/dumps/1.idump; \(group) > second; echo $?
      """, in: folder)
    #expect(result.text == "2\n0\n", "\(result.errorText)")
    let first = try JSONDocument(Data(folder.bytes(of: "first")))
    #expect(first["crash_count"].int == 1 && first["failed_count"].int == 1)
    let second = try JSONDocument(Data(folder.bytes(of: "second")))
    #expect(second["crash_count"].int == 2 && second["failed_count"].int == 0)
  }

  @Test(
    "An index with a trigger, a table or an index of another program is refused",
    arguments: [
      "CREATE TRIGGER other AFTER INSERT ON dumps BEGIN SELECT 1; END;", "CREATE TABLE other (a);",
      "CREATE INDEX other ON dumps (size);",
      "CREATE TRIGGER dump_added AFTER INSERT ON dumps BEGIN SELECT 1; END;",
    ])
  func foreign(_ statement: String) throws {
    let folder = try folder(1)
    _ = try groups(folder, "base", index: true)
    try folder.write(Array(statement.utf8), to: "statement")
    let script =
      "import sqlite3; c = sqlite3.connect('base/index'); c.executescript(open('statement').read()); c.close()"
    let change = try Tool.shell("python3 -c \"\(script)\"", in: folder)
    try #require(change.status == 0, "\(change.errorText)")
    try folder.write(DatabasePlan.dump(2), to: "base/dumps/2.idump")
    let result = try Tool.shell("crashpadctl \(Self.command) --index base/index base/dumps", in: folder)
    #expect(result.status == 65 && result.errorText.contains("not of an index"), "\(result.errorText)")
  }

  @Test("The id of a group in a partial result reaches no terminal as it is", arguments: ["text", "csv", "json"])
  func rawID(_ format: String) throws {
    let folder = try folder(1)
    _ = try Tool.shell("crashpadctl group --no-system --partial part base/dumps", in: folder)
    let part = String(decoding: try folder.bytes(of: "part"), as: UTF8.self)
    let id = try #require(part.firstMatch(of: /"id": ?"([^"]+)"/)?.1)
    try folder.write(Array(part.replacingOccurrences(of: String(id), with: "\\u001b]0;x\\u0007").utf8), to: "part")
    let result = try Tool.shell("crashpadctl group --merge part -f \(format)", in: folder)
    let control = result.output.filter { $0 < 0x20 && $0 != 0x0a }
    #expect(result.status == 0 && control.isEmpty, "\(result.text) \(result.errorText)")
  }

  @Test("A run that is asked to end keeps the dumps that it read, and the next one reads the rest")
  func ended() throws {
    let folder = try folder(40)
    let group = "crashpadctl \(Self.command) --index base/index base/dumps"
    let result = try Tool.shell("\(group) --max-time 1ms > first; echo $?; \(group)", in: folder)
    #expect(result.text.hasPrefix("75\n"), "\(result.errorText)")
    #expect(try folder.bytes(of: "first").isEmpty)
    #expect(try JSONDocument(Data(result.text.dropFirst(3).utf8))["crash_count"].int == 40)
  }
}
