// SPDX-License-Identifier: Apache-2.0
import Foundation
import CrashpadSnapshot
import SystemPackage
import Testing
import ToolRunner

@testable import CrashpadDatabase
@testable import CrashpadFiles

@Suite("DatabaseSettings")
struct DatabaseSettingsTests {
  private let id = UUIDBytes(high: 0x0123_4567_89ab_cdef, low: 0x0fed_cba9_8765_4321)
  private let bytes: [UInt8] = [
    0x73, 0x64, 0x50, 0x43, 0x01, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x18, 0x17, 0x16,
    0x15, 0x14, 0x13, 0x12, 0x11, 0x67, 0x45, 0x23, 0x01, 0xab, 0x89, 0xef, 0xcd, 0x0f, 0xed, 0xcb, 0xa9, 0x87, 0x65,
    0x43, 0x21,
  ]

  @Test("Every field comes from its bytes, and goes there")
  func fields() throws {
    let settings = try DatabaseSettings(bytes)
    #expect(settings.uploadsEnabled)
    #expect(settings.lastUploadAttemptTime == 0x1112_1314_1516_1718)
    #expect(settings.clientID == id)
    #expect(settings.bytes == bytes)
    #expect(try DatabaseSettings(bytes + [1, 2, 3]) == settings)
    let fresh: [UInt8] = [0x73, 0x64, 0x50, 0x43, 1] + [UInt8](repeating: 0, count: 19) + bytes[24...]
    #expect(DatabaseSettings(clientID: id).bytes == fresh)
  }

  @Test("Options that we do not know stay")
  func options() throws {
    var bytes = bytes
    bytes.replaceSubrange(8..<12, with: [0xfe, 0xff, 0xff, 0x80])
    var settings = try DatabaseSettings(bytes)
    #expect(!settings.uploadsEnabled)
    #expect(settings.bytes == bytes)
    settings.uploadsEnabled = true
    #expect(Array(settings.bytes[8..<12]) == [0xff, 0xff, 0xff, 0x80])
    #expect(try DatabaseSettings(settings.bytes) == settings)
  }

  @Test("Each kind of damage is told apart")
  func damage() {
    for count in 0..<40 {
      #expect(throws: DatabaseSettings.Damage.truncated(byteCount: count)) {
        try DatabaseSettings(Array(bytes.prefix(count)))
      }
    }
    var magic = bytes
    magic[0] = 0x74
    #expect(throws: DatabaseSettings.Damage.badMagic(0x4350_6474)) { try DatabaseSettings(magic) }
    var version = bytes
    version[4] = 2
    #expect(throws: DatabaseSettings.Damage.unknownVersion(2)) { try DatabaseSettings(version) }
    version[0] = 0
    #expect(throws: DatabaseSettings.Damage.badMagic(0x4350_6400)) { try DatabaseSettings(version) }
  }

  // MARK: In a database

  private let file = "settings.dat"

  @Test("Missing and empty ones are missing; reading makes none")
  func missing() throws {
    let scratch = try ScratchDatabase()
    #expect(try scratch.database.settings() == .missing)
    #expect(!scratch.exists(file))
    try scratch.write([], to: file)
    #expect(try scratch.database.settings() == .missing)
    #expect(try scratch.bytes(of: file) == [])
    try scratch.write(bytes, to: file)
    #expect(try scratch.database.settings() == .found(DatabaseSettings(bytes)))
    try scratch.write([1, 2], to: file)
    #expect(try scratch.database.settings() == .damaged(.truncated(byteCount: 2)))
  }

  @Test("Missing ones are made with the new client id, whole; empty ones are filled", arguments: [false, true])
  func make(isEmpty: Bool) throws {
    let scratch = try ScratchDatabase()
    if isEmpty { try scratch.write([], to: file) }
    let session = try scratch.session()
    let change = try session.changeSettings(newClientID: id) { $0.lastUploadAttemptTime = 0x1112_1314_1516_1718 }
    var expected = bytes
    expected[8] = 0
    #expect(try scratch.bytes(of: file) == expected)
    #expect(change.settings.bytes == expected)
    #expect(change.damage == nil)
    let again = try session.changeSettings(newClientID: .random())
    #expect(again.settings.clientID == id)
    session.close()
    #expect(try scratch.everything() == [file])
    #expect(try scratch.folder("").status(FileName(literal: "settings.dat"))?.linkCount == 1)
  }

  @Test("A change is made in place: the file stays the same, and what a newer Crashpad wrote behind stays")
  func inPlace() throws {
    let scratch = try ScratchDatabase()
    try scratch.write(bytes + [7, 8, 9], to: file)
    let name = FileName(literal: "settings.dat")
    let before = try #require(try scratch.folder("").status(name))
    let session = try scratch.session()
    _ = try session.changeSettings(newClientID: .zero) { $0.uploadsEnabled = false }
    var expected = bytes + [7, 8, 9]
    expected[8] = 0
    #expect(try scratch.bytes(of: file) == expected)
    #expect(try scratch.folder("").status(name)?.isSameFile(as: before) == true)
    session.close()
  }

  @Test("A change of nothing writes nothing")
  func nothing() throws {
    let scratch = try ScratchDatabase()
    try scratch.write(bytes, to: file)
    scratch.setModified(file, 1_234)
    let session = try scratch.session()
    _ = try session.changeSettings(newClientID: .zero)
    _ = try session.changeSettings(newClientID: .zero) { $0.uploadsEnabled = true }
    #expect(try scratch.folder("").status(FileName(literal: "settings.dat"))?.modified == 1_234)
    session.close()
  }

  @Test(
    "Damaged ones are kept aside, byte for byte, and then made anew",
    arguments: [
      [0], [UInt8](repeating: 0, count: 40), [UInt8](repeating: 0x55, count: 39),
      [UInt8](repeating: 0x55, count: 3_000),
    ] as [[UInt8]])
  func keptAside(damaged: [UInt8]) throws {
    let scratch = try ScratchDatabase()
    try scratch.write(damaged, to: file)
    let session = try scratch.session()
    let change = try session.changeSettings(newClientID: id) { $0.uploadsEnabled = true }
    #expect(change.damage?.keptAs.text == "settings.dat.damaged")
    #expect(change.settings.clientID == id)
    #expect(try scratch.bytes(of: "settings.dat.damaged") == damaged)
    #expect(try Array(scratch.bytes(of: file).prefix(40)) == change.settings.bytes)
    #expect(try scratch.bytes(of: file).count == max(40, damaged.count))
    // The same damage again is kept once; another gets its own name.
    try scratch.write(damaged, to: file)
    #expect(try session.changeSettings(newClientID: id).damage?.keptAs.text == "settings.dat.damaged")
    try scratch.write([1, 2, 3], to: file)
    #expect(try session.changeSettings(newClientID: id).damage?.keptAs.text == "settings.dat.damaged-2")
    try scratch.write(damaged + [1], to: file)
    #expect(try session.changeSettings(newClientID: id).damage?.keptAs.text == "settings.dat.damaged-3")
    try scratch.write([1, 2, 3], to: file)
    #expect(try session.changeSettings(newClientID: id).damage?.keptAs.text == "settings.dat.damaged-2")
    try scratch.write([1, 2], to: file)
    #expect(try session.changeSettings(newClientID: id).damage?.keptAs.text == "settings.dat.damaged-4")
    #expect(try scratch.bytes(of: "settings.dat.damaged-4") == [1, 2], "a beginning of what is kept is not kept yet")
    #expect(try scratch.bytes(of: "settings.dat.damaged") == damaged)
    #expect(try scratch.bytes(of: "settings.dat.damaged-2") == [1, 2, 3])
    session.close()
    #expect(
      try scratch.everything() == [
        file, "settings.dat.damaged", "settings.dat.damaged-2", "settings.dat.damaged-3",
        "settings.dat.damaged-4",
      ])
  }

  @Test(
    "An entry that is not a file, in the place for damaged settings, does not prevent new settings", arguments: 0..<3)
  func strangeKept(kind: Int) throws {
    let scratch = try ScratchDatabase()
    try scratch.write([1], to: file)
    switch kind {
    case 0: try scratch.makeDirectory("settings.dat.damaged")
    case 1: scratch.makeFIFO("settings.dat.damaged")
    default: try scratch.makeLink("settings.dat.damaged", to: "nowhere")
    }
    let session = try scratch.session()
    #expect(try session.changeSettings(newClientID: id).damage?.keptAs.text == "settings.dat.damaged-2")
    #expect(try scratch.bytes(of: "settings.dat.damaged-2") == [1])
    #expect(!scratch.exists("nowhere"))
    session.close()
  }

  @Test(
    "An entry that is not a file, in the settings' place, is not followed, waited for or replaced", arguments: 0..<4)
  func strange(kind: Int) throws {
    let scratch = try ScratchDatabase()
    try scratch.write(bytes, to: "target")
    switch kind {
    case 0: try scratch.makeDirectory(file)
    case 1: scratch.makeFIFO(file)
    case 2: try scratch.makeLink(file, to: "target")
    default: try scratch.makeLink(file, to: "nowhere")
    }
    let expected: Errno = kind < 2 ? .invalidArgument : .tooManySymbolicLinkLevels
    let before = try scratch.everything()
    let session = try scratch.session()
    #expect(failureCode { _ = try scratch.database.settings() } == expected)
    #expect(failureCode { _ = try session.changeSettings(newClientID: id) { $0.uploadsEnabled = false } } == expected)
    session.close()
    #expect(try scratch.everything() == before)
    #expect(try scratch.bytes(of: "target") == bytes)
  }

  @Test("All changes of several threads and runs are kept, from the very first on")
  func atOnce() throws {
    let scratch = try ScratchDatabase()
    for start in [nil, [], [9, 9]] as [[UInt8]?] {
      try? FileManager.default.removeItem(at: scratch.url(file))
      if let start { try scratch.write(start, to: file) }
      let sessions = try (0..<4).map { _ in try scratch.session() }
      let kept = Gathered<String>()
      DispatchQueue.concurrentPerform(iterations: 8) { index in
        for _ in 0..<25 {
          do {
            let change = try sessions[index % 4].changeSettings(newClientID: .random()) {
              $0.lastUploadAttemptTime = ($0.lastUploadAttemptTime ?? 0) + 1
            }
            if let damage = change.damage { kept.add(damage.keptAs.text) }
          } catch { Issue.record(error) }
        }
      }
      for session in sessions { session.close() }
      guard case .found(let settings) = try scratch.database.settings() else {
        Issue.record("no settings")
        continue
      }
      #expect(settings.lastUploadAttemptTime == 200)
      #expect(kept.values == (start == [9, 9] ? ["settings.dat.damaged"] : []))
    }
    #expect(try scratch.everything() == [file, "settings.dat.damaged"])
  }

  @Test("One client id is given to all who make settings at once")
  func oneClientID() throws {
    for _ in 0..<40 {
      let scratch = try ScratchDatabase()
      let session = try scratch.session()
      let ids = Gathered<UUIDBytes>()
      DispatchQueue.concurrentPerform(iterations: 4) { _ in
        do { ids.add(try session.changeSettings(newClientID: .random()).settings.clientID) } catch {
          Issue.record(error)
        }
      }
      #expect(ids.values.count == 4)
      #expect(Set(ids.values).count == 1)
      session.close()
    }
  }

  private static let hasFlock = FileManager.default.isExecutableFile(atPath: "/usr/bin/flock")

  @Test(
    "Another process that has the settings' lock is waited for, and its change is kept",
    .enabled(if: hasFlock, "flock is not installed"))
  func process() throws {
    let scratch = try ScratchDatabase()
    try scratch.write(bytes, to: file)
    let process = Process()
    process.currentDirectoryURL = scratch.url("")
    process.executableURL = URL(fileURLWithPath: "/usr/bin/flock")
    // It reads, waits, and writes back what it read with another time: who does not wait loses a change.
    let script = """
      cp settings.dat copy; : > ready; sleep 0.5
      { head -c 16 copy; printf 'changed!'; tail -c 16 copy; } > copy2; dd if=copy2 of=settings.dat bs=40 count=1 conv=notrunc 2>/dev/null
      """
    process.arguments = ["-x", file, "sh", "-c", script]
    process.standardInput = FileHandle.nullDevice
    try process.run()
    waitUntil { scratch.exists("ready") }
    let session = try scratch.session()
    let change = try session.changeSettings(newClientID: .zero) { $0.uploadsEnabled = false }
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    var expected = bytes
    expected[8] = 0
    expected.replaceSubrange(16..<24, with: Array("changed!".utf8))
    #expect(try scratch.bytes(of: file) == expected)
    #expect(change.settings.bytes == expected)
    session.close()
  }

  @Test("A process that waited for settings that another replaced changes the new ones")
  func replacedMeanwhile() throws {
    let scratch = try ScratchDatabase()
    try scratch.write(bytes, to: file)
    var newer = bytes
    newer[24] = 0x99
    try scratch.write(newer, to: "newer")
    let session = try scratch.session()
    let root = try scratch.folder("")
    var holder: OpenFile? = try root.open(FileName(literal: "settings.dat"), .readAndWrite)
    try holder?.lock(exclusive: true)
    let thread = OwnThread {
      do { _ = try session.changeSettings(newClientID: .zero) { $0.uploadsEnabled = false } } catch {
        Issue.record(error)
      }
    }
    // Long enough for it to have opened the older ones.
    usleep(200_000)
    try root.move(FileName(literal: "newer"), to: root, as: FileName(literal: "settings.dat"))
    withExtendedLifetime(holder) {}
    holder = nil
    thread.wait()
    newer[8] = 0
    #expect(try scratch.bytes(of: file) == newer)
    session.close()
  }

  @Test("Settings that are removed and made again while one waits for them are those that are changed")
  func removedMeanwhile() throws {
    let scratch = try ScratchDatabase()
    for _ in 0..<30 {
      try scratch.write(bytes, to: file)
      let session = try scratch.session()
      DispatchQueue.concurrentPerform(iterations: 3) { index in
        do {
          if index == 0 {
            try scratch.folder("").remove(FileName(literal: "settings.dat"))
          } else {
            _ = try session.changeSettings(newClientID: .random()) { $0.uploadsEnabled = true }
          }
        } catch { Issue.record(error) }
      }
      let change = try session.changeSettings(newClientID: id)
      #expect(try DatabaseSettings(scratch.bytes(of: file)) == change.settings)
      session.close()
    }
  }
}
