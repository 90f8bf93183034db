// SPDX-License-Identifier: Apache-2.0
import CrashpadFiles
import Foundation
import CrashpadSnapshot
import SystemPackage
import Testing
import ToolRunner

@testable import CrashpadEvents

/// The cursor's file over months, and when it is not what it was.
struct EventCursorTests {
  private let folder: TemporaryFolder
  private var path: FilePath { FilePath(folder.url("cursor").path) }
  private var output: FilePath { FilePath(folder.url("out").path) }
  private static let day: Int64 = 86400
  private static let start: Int64 = 20_000 * day

  init() throws { folder = try TemporaryFolder() }

  private static func dump(_ number: Int) -> SeenDump {
    SeenDump(id: UUIDBytes(high: 1, low: UInt64(number)), file: UInt64(number))
  }

  private static func entry(_ number: Int) -> EventCursor.Entry {
    EventCursor.Entry(dump(number), lines: [Array("event \(number)\n".utf8)])
  }

  private func cursor(day: Int64 = 0) throws -> EventCursor { try EventCursor(path, now: Self.start + day * Self.day) }

  /// A run over dumps that are there: those that are known are not read again.
  private func run(_ numbers: some Sequence<Int>, day: Int64 = 0) throws {
    let cursor = try cursor(day: day)
    let new = numbers.filter { !cursor.hasSeen(UInt64($0)) }
    if !new.isEmpty { try cursor.write(new.map(Self.entry), to: .file(output)) }
    try cursor.finish()
  }

  private func text(_ name: String) throws -> String { String(decoding: try folder.bytes(of: name), as: UTF8.self) }
  private func lines() throws -> [String] { try text("out").split(separator: "\n").map(String.init) }

  @Test func `Each dump is written once, whatever its file is called`() throws {
    try run([1, 2, 3])
    try run([2, 3, 4])
    let cursor = try cursor()
    // The same dump in another file.
    let moved = EventCursor.Entry(SeenDump(id: Self.dump(2).id, file: 99), lines: Self.entry(2).lines)
    #expect(try cursor.write([moved, moved, Self.entry(5), Self.entry(5)], to: .file(output)).count == 1)
    #expect(try self.cursor().hasSeen(99))
    #expect(try lines() == [1, 2, 3, 4, 5].map { "event \($0)" })
  }

  @Test func `Over a year of runs the cursor stays small, and nothing is lost or written twice`() throws {
    // Each day dumps come, and go after 10 days; one stays for ever.
    let dumps = Soak.times(20, or: 2)
    var largest = 0
    for day in 0..<365 {
      let first = max(0, day - 9) * dumps + 1
      try run([0] + Array(first...(day + 1) * dumps), day: Int64(day))
      largest = max(largest, try folder.bytes(of: "cursor").count)
    }
    let lines = try lines()
    #expect(lines.count == 365 * dumps + 1)
    #expect(Set(lines).count == lines.count)
    // 100 days, twice, and 1000 lines more.
    #expect(largest < (2 * 100 * dumps + 1000) * 70)
    let cursor = try cursor(day: 365)
    #expect(cursor.hasSeen(0))
    #expect(!cursor.hasSeen(1))
  }

  @Test func `A dump that is still there is remembered, and one that is gone for 90 days is forgotten`() throws {
    try run([1, 2])
    for day in stride(from: 1, through: 200, by: 5) { try run([1], day: Int64(day)) }
    let cursor = try cursor(day: 200)
    #expect(cursor.hasSeen(1))
    #expect(!cursor.hasSeen(2))
    #expect(try lines() == ["event 1", "event 2"])
  }

  @Test func `A cursor that was put in place by another run is read anew`() throws {
    let first = try cursor()
    try first.write([Self.entry(1)], to: .file(output))
    try run([2])
    try folder.write(try folder.bytes(of: "cursor"), to: "copy")
    try FileManager.default.removeItem(at: folder.url("cursor"))
    try FileManager.default.moveItem(at: folder.url("copy"), to: folder.url("cursor"))
    #expect(try first.write([Self.entry(1), Self.entry(2), Self.entry(3)], to: .file(output)).count == 1)
    #expect(try lines() == ["event 1", "event 2", "event 3"])
  }

  // MARK: Damage

  @Test func `A file that is no cursor, or one of a later version, is not changed`() throws {
    for (text, isLater) in [
      ("precious\n", false), ("no line feed", false), ("crashpadctl-cursor/2\nd x\n", true), ("\0\0\0\0", false),
    ] {
      try folder.write(Array(text.utf8), to: "cursor")
      let failure = #expect(throws: EventCursor.Failure.self) { _ = try cursor() }
      #expect(failure == (isLater ? .laterVersion(path, "2") : .notACursor(path)))
      #expect(try self.text("cursor") == text)
    }
  }

  @Test func `A damaged line is an error, and the last one that breaks off is a killed run's`() throws {
    try run([1])
    let one = try folder.bytes(of: "cursor")
    try run([2])
    let whole = try folder.bytes(of: "cursor")
    for index in (CursorText.header.utf8.count + 1)..<one.count - 12 {
      var damaged = whole
      damaged[index] ^= 1
      try folder.write(damaged, to: "cursor")
      #expect(throws: EventCursor.Failure.self, "byte \(index)") { _ = try cursor() }
    }
    let output = try text("out")
    for end in stride(from: whole.count, through: 0, by: -Soak.times(1, or: 5)) {
      try folder.write(Array(whole.prefix(end)), to: "cursor")
      try folder.write(Array(output.utf8), to: "out")
      // A copy of the output is another file, so what was not committed comes again.
      try run([1, 2])
      let lines = try lines()
      #expect(Set(lines) == ["event 1", "event 2"], "\(end) bytes")
      #expect(try CursorContent(folder.bytes(of: "cursor")).hasUncommittedTail == false)
    }
  }

  @Test func `The lines of every prefix are read back`() throws {
    let dumps = [Self.dump(1), SeenDump(id: nil, file: .max), SeenDump(id: Self.dump(2).id, file: nil)]
    for dump in dumps {
      let line = Array(CursorText.dump(dump, day: -5).utf8.dropLast())
      #expect(CursorText.parse(line[...]) == .dump(dump, day: -5))
      for count in 0..<line.count { #expect(CursorText.parse(line[..<count]) == nil) }
    }
    let writing = CursorText.Writing(device: 1, number: .max, start: 0, count: 5, digest: "00ff")
    #expect(CursorText.parse(Array(CursorText.writing(writing).utf8.dropLast())[...]) == .writing(writing))
  }

  // MARK: The output

  /// Leaves the cursor as a run does that was killed behind `w`.
  ///
  /// - Parameter restarts: the device of the output has had another number then.
  private func kill(_ numbers: [Int], writing text: String, after start: String, restarts: Bool = false) throws {
    let status = try FileStatus(at: output, followingLink: true)
    let bytes = Array(text.utf8)
    let writing = CursorText.Writing(
      device: status.device + (restarts ? 1 : 0), number: status.number, start: start.utf8.count, count: bytes.count,
      digest: CursorText.Writing.digest(bytes))
    let dumps = numbers.map { CursorText.dump(Self.dump($0), day: 20_000) }.joined()
    let cursor = folder.exists("cursor") ? try self.text("cursor") : CursorText.header + "\n"
    try folder.write(Array((cursor + dumps + CursorText.writing(writing)).utf8), to: "cursor")
  }

  private func append(_ text: String) throws {
    let handle = try FileHandle(forWritingTo: folder.url("out"))
    try handle.seekToEnd()
    try handle.write(contentsOf: Data(text.utf8))
    try handle.close()
  }

  @Test(arguments: [("", 0), ("eve", 0), ("event 2\n", 0), ("event 2\nother\n", 1)], [false, true])
  func `The next run takes back a part, and keeps a whole`(_ rest: (there: String, others: Int), restarts: Bool) throws
  {
    let (there, others) = rest
    try run([1])
    try kill([2], writing: "event 2\n", after: "event 1\n", restarts: restarts)
    try append(there)
    try run([1, 2, 3])
    #expect(try lines().filter { $0 != "other" } == ["event 1", "event 2", "event 3"])
    #expect(try lines().count { $0 == "other" } == others)
  }

  @Test func `Text that another program wrote behind a part is not removed`() throws {
    try run([1])
    try kill([2], writing: "event 2\n", after: "event 1\n")
    try append("eveANOTHER LINE\n")
    let failure = #expect(throws: EventCursor.Failure.self) { try run([2]) }
    #expect(failure == .outputChanged(output, offset: 8))
    #expect(try lines() == ["event 1", "eveANOTHER LINE"])
  }

  @Test func `A line that another program left open does not become a part of an event`() throws {
    try run([1])
    try append("open")
    try run([2])
    #expect(try lines() == ["event 1", "open", "event 2"])
  }

  @Test func `An output that was renamed while a run was killed gives its events again, and says so`() throws {
    try run([1])
    try kill([2, 3], writing: "event 2\nevent 3\n", after: "event 1\n")
    try FileManager.default.moveItem(at: folder.url("out"), to: folder.url("out.1"))
    let cursor = try cursor()
    try cursor.write([2, 3, 4].map(Self.entry), to: .file(output))
    #expect(cursor.repeatedCount == 2)
    #expect(try lines() == ["event 2", "event 3", "event 4"])
  }

  private struct Refusal: Error {}

  @Test func `A reader that goes away leaves the cursor where it was`() throws {
    let cursor = try cursor()
    #expect(throws: Refusal.self) { try cursor.write([Self.entry(1)], to: .stream { _ in throw Refusal() }) }
    var written = 0
    try cursor.write([Self.entry(1), Self.entry(2)], to: .stream { written += $0.byteCount })
    #expect(written == 16)
    #expect(try self.cursor().hasSeen(2))
  }
}
