// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// Runs that die, and runs at once: each report comes to the server once, but for those whose answers were on their way.
@Suite("Killed and racing runs")
struct KilledRunTests {
  static let seed: UInt64 = {
    let seed =
      ProcessInfo.processInfo.environment["CRASHPADCTL_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1_000_000)
    print("killed uploads: CRASHPADCTL_SEED=\(seed)")
    return seed
  }()

  /// How often each report has come, and what it was called.
  private func received(_ collector: Collector) throws -> [String: [String]] {
    var ids: [String: [String]] = [:]
    for event in try collector.requests { ids[event.report ?? "none", default: []].append(event.id ?? "none") }
    return ids
  }

  @Test(
    "Killed at any moment, and run again: no report is lost, none comes again once its id was written", arguments: 1...2
  )
  func killed(_ round: Int) throws {
    var random = SplitMix64(seed: Self.seed, area: UInt64(round))
    let (folder, collector, database) = try UploadDatabase.withCollector()
    let count = 50
    let jobs = 3
    try database.add(1...count)
    var recorded: [Int: (id: String, times: Int)] = [:]
    var kills = 0
    for _ in 0..<4 {
      let wanted = collector.lineCount + random.between(1, 30)
      let process = try Tool.start(
        [
          "upload", "--database", "db", "--url", collector.url(), "--jobs", "\(jobs)", "--now", "\(UploadDatabase.now)",
        ],
        in: folder)
      while process.isRunning, collector.lineCount < wanted { usleep(1000) }
      usleep(UInt32(random.below(3000)))
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      if process.terminationReason == .uncaughtSignal { kills += 1 }
      try collector.settle()
      let received = try received(collector)
      for number in 1...count {
        let id = UploadDatabase.id(number)
        let exists = ["pending", "completed"].contains { folder.exists("db/\($0)/\(id).dmp") }
        #expect(exists, "the report \(number) is lost")
        guard let now = try database.recordedID(number) else {
          #expect(recorded[number] == nil, "the id of the report \(number) is lost")
          continue
        }
        let times = received[id]?.count ?? 0
        let earlier = recorded[number] ?? (now, times)
        #expect(earlier.id == now && earlier.times == times, "the report \(number) came again")
        recorded[number] = earlier
      }
    }
    for _ in 0..<3 where try database.upload(to: collector.url(), "--jobs \(jobs)").status != 0 {}
    try collector.settle()
    let received = try received(collector)
    #expect(received.count == count)
    var surplus = 0
    for number in 1...count {
      let ids = received[UploadDatabase.id(number)] ?? []
      let report = try database.report(number)
      #expect(report.state == "completed" && report.isUploaded, "the report \(number) is not uploaded")
      #expect(report.content == UploadDatabase.content(number))
      #expect(ids.contains(report.serverID), "the report \(number) is called \(report.serverID), not \(ids)")
      if let earlier = recorded[number] {
        #expect(ids.count == earlier.times && report.serverID == earlier.id, "the report \(number) came again")
      }
      surplus += ids.count - 1
    }
    #expect(surplus <= kills * jobs, "\(surplus) came twice, with \(kills) kills")
    print(
      "killed uploads, round \(round): \(kills) kills, \(recorded.count) ids before the last run, \(surplus) came twice"
    )
    #expect(try folder.names(in: "db/pending").isEmpty)
  }

  enum Fault: String, CaseIterable, CustomTestStringConvertible {
    case killedBefore = "FAULT_KILL_BEFORE"
    case killedAfter = "FAULT_KILL_AFTER"
    /// That call alone, with EIO.
    case failing = "FAULT_ERRNO=5 FAULT_FIRST"

    var testDescription: String { rawValue }
  }

  @Test("Killed at each change of the disk, or this fails, and run again", arguments: Fault.allCases)
  func sweep(_ fault: Fault) throws {
    let library = PreloadedLibrary.faultInjection
    let folder = try TemporaryFolder()
    let work = folder.work.resolvingSymlinksInPath().path
    let collector = try Collector(in: folder)
    // Not syncfs: a run makes one more of them for each second that passes.
    let counted =
      "copy_file_range,fallocate,fchmod,fchmodat,fdatasync,fsync,ftruncate,futimens,linkat,mkdirat,open,pwrite,renameat,"
      + "renameat2,sendfile,symlinkat,unlinkat,utimensat,write,writev"
    func prefix(_ name: String, _ variables: String) -> String {
      "env LD_PRELOAD=\(library) FAULT_SKIP_SYNC=1 FAULT_CALLS=\(counted) FAULT_ROOT=\(work)/\(name) \(variables)"
    }
    // How many calls there are, and that a run that is not disturbed does what it should.
    let whole = try UploadDatabase(folder, "whole")
    try whole.add(1...2)
    let undisturbed = try whole.upload(
      to: collector.url(), "--jobs 1", prefix: prefix("whole", "FAULT_LOG=\(work)/log"))
    #expect(undisturbed.status == 0)
    let calls = try String(decoding: folder.bytes(of: "log"), as: UTF8.self).split(separator: "\n")
    try #require(calls.count > 5, "the library counted nothing: was it loaded?")
    var chosen = Array(1...calls.count)
    if ProcessInfo.processInfo.environment["CRASHPADCTL_SWEEP_ALL"] != "1" {
      var random = SplitMix64(seed: Self.seed, area: 99)
      chosen = Array(chosen.shuffled(using: &random).prefix(5)).sorted()
    }
    var twice: [Int] = []
    for call in chosen {
      let place = "call \(call), \(calls[call - 1])"
      let database = try UploadDatabase(folder, "db-\(call)")
      // Other reports for each, so that the collector can tell them apart.
      let numbers = [call * 10 + 1, call * 10 + 2]
      for number in numbers { try database.add(number) }
      let first = try database.upload(
        to: collector.url(), "--jobs 1", prefix: prefix(database.name, "\(fault.rawValue)=\(call)"))
      if fault == .failing {
        #expect([0, 1, 73, 74, 75].contains(first.status), "\(place): \(first.status) \(first.errorText)")
      } else {
        #expect(first.status == 128 + 9, "\(place): \(first.errorText)")
      }
      try collector.settle()
      let before = try received(collector)
      let recorded = try numbers.map { try database.recordedID($0) }
      let second = try database.upload(to: collector.url(), "--jobs 1")
      #expect(second.status == 0, "\(place): \(second.errorText)")
      let after = try received(collector)
      for (number, id) in zip(numbers, recorded) {
        let report = UploadDatabase.id(number)
        let ids = after[report] ?? []
        #expect(ids.count <= 2, "\(place)")
        if let id {
          #expect(ids.count == before[report]?.count, "\(place): sent again")
          try database.expectUploaded(number, as: id)
        } else {
          try database.expectUploaded(number, as: ids.last)
        }
        if ids.count == 2 { twice.append(call) }
      }
      // A lock or metadata that could not be removed stays where it is for the time being.
      let rest = try folder.names(in: "\(database.name)/pending")
      #expect(rest.isEmpty || fault == .failing && rest.allSatisfy { !$0.hasSuffix(".dmp") }, "\(place): \(rest)")
      #expect(try folder.names(in: "\(database.name)/new").isEmpty || fault == .failing, "\(place)")
    }
    print("uploads, \(fault): \(calls.count) calls, disturbed at \(chosen), came twice after \(twice)")
  }

  @Test("A run that is ended while it waits for an answer leaves the report as it was", arguments: [SIGINT, SIGTERM])
  func ended(_ signal: Int32) throws {
    let (folder, collector, database) = try UploadDatabase.withCollector(1...1)
    let process = try Tool.start(["upload", "--database", "db", "--url", collector.url("/hang")], in: folder)
    while process.isRunning, collector.lineCount == 0 { usleep(1000) }
    kill(process.processIdentifier, signal)
    process.waitUntilExit()
    try database.expectPending(1, attempts: 0)
    try collector.settle()
    try database.upload(to: collector.url(), status: 0)
    try database.expectUploaded(1, as: "CrashID=bp-2")
  }

  @Test("A report that is being sent is not changed by other processes")
  func claimed() throws {
    let (folder, collector, database) = try UploadDatabase.withCollector(1...1)
    let before = try database.report(1)
    let process = try Tool.start(["upload", "--database", "db", "--url", collector.url("/hang")], in: folder)
    while process.isRunning, collector.lineCount == 0 { usleep(1000) }
    defer {
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
    let id = UploadDatabase.id(1)
    for command in [
      "upload --url '\(collector.url())' --all", "database delete \(id)", "database request-upload \(id)",
    ] {
      let words = command.split(separator: " ", maxSplits: command.hasPrefix("database") ? 2 : 1)
      let verb = words.dropLast().joined(separator: " ")
      let result = try Tool.shell("crashpadctl \(verb) --database db \(words.last!)", in: folder)
      #expect(result.status == 75, "\(command): \(result.errorText)")
    }
    _ = try Tool.shell(
      "crashpadctl prune --database db --pending --max-reports 0 --now \(UploadDatabase.now)", in: folder)
    #expect(try database.report(1) == before)
    #expect(try collector.requests.count == 1)
  }

  @Test("Two runs at once send each report once")
  func race() throws {
    let (folder, collector, database) = try UploadDatabase.withCollector()
    let count = 60
    try database.add(1...count)
    let command = "\(database.command("--jobs 3")) --url '\(collector.url())' --now \(UploadDatabase.now)"
    let result = try Tool.shell(
      "\(command) & first=$!; \(command) & second=$!; \(command); echo $?; wait $first; echo $?; wait $second; echo $?",
      in: folder)
    // A run that finds a report locked says so; the report has not failed.
    #expect(result.outputLines.dropLast().allSatisfy { $0 == "0" || $0 == "75" }, "\(result.text) \(result.errorText)")
    try collector.settle()
    let received = try received(collector)
    #expect(received.count == count)
    for number in 1...count {
      let ids = received[UploadDatabase.id(number)] ?? []
      #expect(ids.count == 1, "the report \(number) came \(ids.count) times")
      try database.expectUploaded(number, as: ids.first)
    }
  }
}
