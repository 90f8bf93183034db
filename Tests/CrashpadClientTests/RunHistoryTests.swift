// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import CrashpadFiles
import Foundation
import Glibc
import CrashpadSnapshot
import SystemPackage
import Testing
import ToolRunner

@testable import CrashpadClient

/// The earlier runs of a database, from files that are put there by hand.
@Suite("Earlier runs")
struct RunHistoryTests {
  private let temporary: TemporaryFolder
  private let database: CrashDatabase
  private let folder: Folder

  init() throws {
    temporary = try TemporaryFolder()
    database = try CrashDatabase.create(FilePath(temporary.work.path).appending("db")).database
    folder = try Folder(database.path.appending("pending-serialized-ios-dump"))
  }

  private func id(_ number: Int) -> String {
    "00000000-0000-4000-8000-00000000000\(number)"
  }

  private func put(_ name: String, _ bytes: [UInt8] = [1], modified: Int = 1000) throws {
    try temporary.write(bytes, to: "db/" + name)
    let times = [timespec(tv_sec: modified, tv_nsec: 0), timespec(tv_sec: modified, tv_nsec: 0)]
    #expect(unsafe utimensat(AT_FDCWD, temporary.url("db/" + name).path, times, 0) == 0)
  }

  private func putDump(_ name: String, _ bytes: [UInt8] = [1], modified: Int = 1000) throws {
    try put("pending-serialized-ios-dump/" + name, bytes, modified: modified)
  }

  /// Runs that began at these times.
  private func remember(_ starts: Int...) throws {
    let lines = starts.enumerated().map { "\(id($0 + 1)) \($1)\n" }
    try putDump(".app.runs", Array(lines.joined().utf8))
  }

  private var previous: PreviousRun {
    RunHistory(database, folder, programID: "app").previousRun(startCrashInterval: 10)
  }

  @Test("The first run has no earlier run")
  func first() { #expect(previous == .unknown) }

  @Test("A run whose file is gone ended in good order")
  func exited() throws {
    try remember(1000)
    #expect(previous.end == .exited)
  }

  @Test("A run whose dump is pending crashed")
  func pending() throws {
    try remember(900)
    try putDump("app@\(id(1))", modified: 1000)
    #expect(previous.end == .crashed)
    #expect(previous.uptime == 100)
    #expect(previous.startCrashes == 0)
  }

  @Test("A start that no clock has does not end the program", arguments: [Int.min, .max])
  func damagedStart(_ start: Int) throws {
    try remember(start)
    try putDump("app@\(id(1))", modified: 1000)
    #expect(previous.end == .crashed)
  }

  @Test("A run whose dump is a report by now crashed, when the report says", arguments: ["pending", "completed"])
  func report(state: String) throws {
    try remember(900)
    var report = Array("MDMP".utf8) + [UInt8](repeating: 0, count: 40)
    // 905
    report[20] = 0x89
    report[21] = 0x03
    try put("\(state)/\(id(1)).dmp", report, modified: 5000)
    #expect(previous.end == .crashed)
    #expect(previous.uptime == 5)
    #expect(previous.startCrashes == 1)
  }

  @Test("A run whose dump was rejected crashed")
  func rejected() throws {
    try remember(900)
    try put("rejected/app@\(id(1))", modified: 903)
    #expect(previous.end == .crashed)
    #expect(previous.uptime == 3)
  }

  @Test("A run that left its empty file was killed; one that left a part of a dump crashed")
  func killed() throws {
    try remember(900)
    try putDump("app@\(id(1)).locked", [])
    #expect(previous.end == .killed)
    try putDump("app@\(id(1)).locked", [6])
    #expect(previous.end == .crashed)
  }

  @Test("A run that goes on is not the last one")
  func running() throws {
    try remember(900, 950)
    try putDump("app@\(id(1))", modified: 990)
    try putDump("app@\(id(2)).locked", [])
    let name = try #require(FileName("app@\(id(2)).locked"))
    let file = try folder.open(name, .readAndWrite)
    #expect(file.takeOwnership() == .taken)
    #expect(previous.end == .crashed)
    #expect(previous.uptime == 90)
    withExtendedLifetime(file) {}
  }

  @Test("Crashes soon after the start are counted up to the first run that was no such one")
  func startCrashes() throws {
    try remember(100, 200, 300, 400)
    for (number, time) in [(1, 101), (2, 250), (3, 305), (4, 410)] {
      try putDump("app@\(id(number))", modified: time)
    }
    #expect(previous.startCrashes == 2)
    try putDump("app@\(id(4))", modified: 411)
    #expect(previous.startCrashes == 0)
    #expect(previous.end == .crashed)
  }

  @Test("A clock that went back makes no negative time")
  func backwards() throws {
    try remember(2000)
    try putDump("app@\(id(1))", modified: 1000)
    #expect(previous.uptime == 0)
  }

  @Test("Dumps of hangs in which a run died are counted, its crash and those of others are not")
  func hangs() throws {
    try remember(900)
    try putDump("app@\(id(1)).locked")
    try putDump("app@\(id(2)).locked")
    try putDump("app@\(id(3)).locked", [])
    try putDump("other@\(id(4)).locked")
    #expect(previous.hangs == 1)
  }

  @Test("Lines that no run wrote are left out")
  func damage() {
    let text = "\n\nfoo\n\(id(1)) 5\n\(id(2))\n\(id(3)) x\n\(id(4)) 1 2\n\(id(5)) 77"
    #expect(RunHistory.parse(Array(text.utf8)).map(\.start) == [5, 77])
  }

  @Test("The last 64 runs are remembered, whatever was there")
  func limit() throws {
    let history = RunHistory(database, folder, programID: "app")
    try putDump(".app.runs", [UInt8](repeating: 0xff, count: 10_000))
    for _ in 0..<70 { history.append(try #require(FileName("app@\(UUIDBytes.random().text)"))) }
    let bytes = try temporary.bytes(of: "db/pending-serialized-ios-dump/.app.runs")
    #expect(RunHistory.parse(bytes).count == 64)
    #expect(try folder.names().map(\.text) == [".app.runs"])
  }

  @Test("Runs that begin at the same time are all remembered")
  func race() async throws {
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask { [database, folder] in
          guard let name = FileName("app@\(UUIDBytes.random().text)") else { return }
          RunHistory(database, folder, programID: "app").append(name)
        }
      }
    }
    let bytes = try temporary.bytes(of: "db/pending-serialized-ios-dump/.app.runs")
    #expect(RunHistory.parse(bytes).count == 8)
  }

  @Test("Files of dead runs are cleaned up; files of live runs, unfinished files and those of other programs stay")
  func tidy() throws {
    let now = Int(Glibc.time(nil))
    try putDump("app@\(id(1)).locked", [], modified: now - 100)
    try putDump("app@\(id(2)).locked", [], modified: now)
    try putDump("app@\(id(3)).locked", [6])
    try putDump("app@\(id(4)).locked", [6])
    try putDump("other@\(id(5)).locked", [], modified: now - 100)
    try putDump(".app@\(id(6))", [6])
    try putDump(".app@\(id(7)).1234.new", [6])
    try putDump(".app@\(id(8)).1234.new", [6], modified: now)
    try putDump(".app@nothing", [6])
    let name = try #require(FileName("app@\(id(4)).locked"))
    let living = try folder.open(name, .readAndWrite)
    #expect(living.takeOwnership() == .taken)
    DeadRunCleanup(database, folder, programID: "app").run()
    let expected = [
      ".app@\(id(8)).1234.new", ".app@nothing", "app@\(id(3))", "app@\(id(4)).locked",
      "app@\(id(6))", "app@\(id(7))", "other@\(id(5)).locked",
    ]
    #expect(try folder.names().map(\.text).sorted() == expected)
    withExtendedLifetime(living) {}
  }
}
