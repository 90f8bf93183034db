// SPDX-License-Identifier: Apache-2.0
import Foundation
import CrashpadSnapshot
import SystemPackage
import Testing
import ToolRunner

@testable import CrashpadDatabase
@testable import CrashpadFiles

@Suite("PendingDumps")
struct PendingDumpsTests {
  private let scratch: ScratchDatabase
  private let place = "pending-serialized-ios-dump/"

  init() throws { scratch = try ScratchDatabase() }

  private func add(_ name: String, _ bytes: [UInt8] = [1, 2, 3]) throws { try scratch.write(bytes, to: place + name) }

  private func find(_ name: String) throws -> PendingDump {
    try #require(try scratch.database.pendingDumps().dumps.first { $0.name.text == name })
  }

  @Test("Files are dumps, sorted by name; other kinds are distinguished; names that begin with a dot are ignored")
  func list() throws {
    try add("b")
    try add("a.locked", [1])
    try add(".hidden")
    try add("a", [])
    try scratch.makeDirectory(place + "directory.locked")
    scratch.makeFIFO(place + "fifo.locked")
    try scratch.makeLink(place + "link.locked", to: "a")
    let name = try #require(FileName(bytes: [0xff, 0xfe]))
    _ = try scratch.folder(place).open(name, .create)
    scratch.setModified(place + "b", 77)
    let pending = try scratch.database.pendingDumps()
    #expect(pending.dumps.map(\.name.bytes) == [[0x61], Array("a.locked".utf8), [0x62], [0xff, 0xfe]])
    #expect(pending.dumps.map(\.size) == [0, 1, 3, 0])
    #expect(pending.dumps[2].modified == 77)
    #expect(pending.dumps.allSatisfy { !$0.isOwned })
    #expect(pending.others.map(\.text) == ["directory.locked", "fifo.locked", "link.locked"])
    #expect(pending.failures.isEmpty)
    #expect(scratch.database.path(of: pending.dumps[0]) == scratch.path.appending("pending-serialized-ios-dump/a"))
    #expect(try scratch.database.open(pending.dumps[2])?.prefix(9) == [1, 2, 3])
  }

  @Test("No directory is no dumps; a link in its place is not followed")
  func noDirectory() throws {
    try FileManager.default.removeItem(at: scratch.url("pending-serialized-ios-dump"))
    let pending = try scratch.database.pendingDumps()
    #expect(pending.dumps.isEmpty && pending.others.isEmpty && pending.failures.isEmpty)
    try scratch.write([1], to: "target/x.locked")
    try scratch.makeLink("pending-serialized-ios-dump", to: "target")
    let failure = failureCode { _ = try scratch.database.pendingDumps() }
    #expect([.notDirectory, .tooManySymbolicLinkLevels].contains(failure))
  }

  @Test("The holder of a locked dump is known; an unlocked dump is not tested")
  func owned() throws {
    try add("x.locked")
    try add("y")
    let folder = try scratch.folder(place)
    let files = try ["x.locked", "y"].map { try folder.open(#require(FileName($0)), .readAndWrite) }
    for file in files { #expect(file.takeOwnership() == .taken) }
    #expect(try find("x.locked").isOwned)
    #expect(try !find("y").isOwned)
    let dump = PendingDump(name: FileName(literal: "x.locked"), size: 3, modified: 0, isOwned: false)
    #expect(try scratch.database.unlock(dump) == nil, "it was taken after it was listed")
    #expect(scratch.exists(place + "x.locked"))
    withExtendedLifetime(files) {}
  }

  @Test("Unlocking takes .locked from the name, and leaves bytes and time")
  func unlock() throws {
    try add("com.a@x.locked")
    scratch.setModified(place + "com.a@x.locked", 99)
    let unlocked = try #require(try scratch.database.unlock(find("com.a@x.locked")))
    #expect(unlocked == PendingDump(name: FileName(literal: "com.a@x"), size: 3, modified: 99, isOwned: false))
    #expect(try find("com.a@x") == unlocked)
    #expect(try scratch.everything() == [place + "com.a@x"])
    #expect(try scratch.bytes(of: place + "com.a@x") == [1, 2, 3])
  }

  @Test("Unlocking does not replace, and says which name is taken")
  func unlockTaken() throws {
    try add("x.locked")
    try add("x", [9])
    let dump = try find("x.locked")
    let path = scratch.path.appending("pending-serialized-ios-dump/x")
    #expect(throws: FileFailure(path, .fileExists)) { _ = try scratch.database.unlock(dump) }
    #expect(try scratch.bytes(of: place + "x") == [9])
    #expect(try scratch.bytes(of: place + "x.locked") == [1, 2, 3])
  }

  @Test("A dump that is gone is not unlocked")
  func unlockGone() throws {
    try add("x.locked")
    let dump = try find("x.locked")
    try FileManager.default.removeItem(at: scratch.url(place + "x.locked"))
    #expect(try scratch.database.unlock(dump) == nil)
    try FileManager.default.removeItem(at: scratch.url("pending-serialized-ios-dump"))
    #expect(try scratch.database.unlock(dump) == nil)
    #expect(try scratch.database.open(dump) == nil)
  }

  @Test("Several threads that unlock one dump succeed once")
  func unlockAtOnce() throws {
    for round in 0..<Soak.times(100, or: 30) {
      try add("x\(round).locked")
      let dump = try find("x\(round).locked")
      let unlocked = Gathered<PendingDump>()
      DispatchQueue.concurrentPerform(iterations: 4) { _ in
        do { if let dump = try scratch.database.unlock(dump) { unlocked.add(dump) } } catch { Issue.record(error) }
      }
      #expect(unlocked.values.count == 1)
    }
  }

  @Test("Only the very file that was read is removed")
  func remove() throws {
    try add("x")
    let dump = try find("x")
    let file = try #require(try scratch.database.open(dump))
    try FileManager.default.removeItem(at: scratch.url(place + "x"))
    #expect(try !scratch.database.remove(dump, file.status()))
    try add("x", [7])
    #expect(try !scratch.database.remove(dump, file.status()))
    #expect(try scratch.bytes(of: place + "x") == [7])
    let again = try #require(try scratch.database.open(dump))
    #expect(try scratch.database.remove(dump, again.status()))
    #expect(try scratch.everything() == [])
  }

  // MARK: Rejecting

  private func reject(_ name: String, _ reason: String = "why") throws -> String? {
    let session = try scratch.session()
    defer { session.close() }
    return try session.reject(find(name), reason: reason)?.text
  }

  @Test("A rejected dump is moved with its reason beside it; a second of its name gets a number")
  func rejecting() throws {
    for (bytes, reason) in [([1], "first"), ([2], "second"), ([3], "third")] as [([UInt8], String)] {
      try add("com.a@x.locked", bytes)
      _ = try reject("com.a@x.locked", reason)
    }
    #expect(
      try scratch.everything() == [
        "rejected/", "rejected/com.a@x", "rejected/com.a@x-2", "rejected/com.a@x-2.reason", "rejected/com.a@x-3",
        "rejected/com.a@x-3.reason", "rejected/com.a@x.reason",
      ])
    #expect(try scratch.bytes(of: "rejected/com.a@x") == [1])
    #expect(try scratch.bytes(of: "rejected/com.a@x.reason") == Array("first\n".utf8))
    #expect(try scratch.bytes(of: "rejected/com.a@x-3") == [3])
    #expect(try scratch.bytes(of: "rejected/com.a@x-3.reason") == Array("third\n".utf8))
  }

  @Test("A reason that stands alone, of a run that died before it moved the dump, is that of the next of that name")
  func loneReason() throws {
    try add("x")
    try scratch.write(Array("old\n".utf8), to: "rejected/x.reason")
    #expect(try reject("x") == "x")
    #expect(try scratch.everything() == ["rejected/", "rejected/x", "rejected/x.reason"])
    #expect(try scratch.bytes(of: "rejected/x.reason") == Array("why\n".utf8))
  }

  @Test("No dump takes the place of another's, whatever they are called")
  func confusingNames() throws {
    for names in [["x.reason", "x"], ["x", "x.reason"], ["x.reason.reason", "x.reason", "x"]] {
      let seen = UInt8(names.count)
      for (index, name) in names.enumerated() {
        try add(name, [seen, UInt8(index), 0x42])
        _ = try reject(name)
      }
      let files = try scratch.folder("rejected").names()
      let contents = try files.map { try scratch.folder("rejected").open($0).prefix(100) }
      for index in names.indices { #expect(contents.contains([seen, UInt8(index), 0x42]), "\(names), \(index)") }
      #expect(contents.count == 2 * names.count)
      try FileManager.default.removeItem(at: scratch.url("rejected"))
    }
  }

  @Test("Names of up to 255 bytes fit with their reason and number", arguments: [239, 240, 241, 247, 248, 254, 255])
  func longNames(count: Int) throws {
    let name = String(repeating: "x", count: count)
    var names: Set<String> = []
    for number in 0..<3 {
      try add(name, [UInt8(number)])
      names.insert(try #require(try reject(name)))
    }
    #expect(names.count == 3)
    #expect(try scratch.folder("rejected").names().count == 6)
    #expect(try scratch.folder("pending-serialized-ios-dump").names() == [])
  }

  @Test("A name that is not UTF-8 keeps its bytes")
  func rejectBytes() throws {
    let name = try #require(FileName(bytes: [0xff, 0x40, 0xfe]))
    _ = try scratch.folder(place).open(name, .create)
    let dump = try #require(try scratch.database.pendingDumps().dumps.first)
    let session = try scratch.session()
    #expect(try session.reject(dump, reason: "why") == name)
    #expect(Set(try scratch.folder("rejected").names()) == [name, name.appending(".reason")])
    session.close()
  }

  @Test("A dump that is gone is not rejected, and leaves no reason")
  func rejectGone() throws {
    try add("x")
    let dump = try find("x")
    try FileManager.default.removeItem(at: scratch.url(place + "x"))
    let session = try scratch.session()
    #expect(try session.reject(dump, reason: "why") == nil)
    session.close()
    #expect(try scratch.everything().filter { $0 != "rejected/" } == [])
  }

  @Test("Several threads that reject one dump succeed once; one reason is left")
  func rejectAtOnce() throws {
    let session = try scratch.session()
    for round in 0..<Soak.times(60, or: 20) {
      try add("x\(round)")
      let dump = try find("x\(round)")
      let names = Gathered<FileName>()
      DispatchQueue.concurrentPerform(iterations: 4) { _ in
        do { if let name = try session.reject(dump, reason: "why") { names.add(name) } } catch { Issue.record(error) }
      }
      try #require(names.values.count == 1)
      try #require(
        try scratch.folder("rejected").names().map(\.text).filter { $0.hasPrefix("x\(round)") }.sorted()
          == [names.values[0].text, names.values[0].text + ".reason"])
      try FileManager.default.removeItem(at: scratch.url("rejected"))
    }
    session.close()
  }

  @Test("A link in the place of rejected/ is not followed")
  func linkedRejected() throws {
    try add("x")
    try scratch.makeDirectory("target")
    try scratch.makeLink("rejected", to: "target")
    #expect([.notDirectory, .tooManySymbolicLinkLevels].contains(failureCode { _ = try reject("x") }))
    #expect(scratch.exists(place + "x"))
    #expect(try scratch.folder("target").names() == [])
  }
}
