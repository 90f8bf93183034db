// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// Cuts the power before each call by which an upload changes the disk, or lets that call fail.
@Suite("Power failures and errors of uploads")
struct UploadCutTests {
  private static let numbers = 1...3

  private func make(_ folder: TemporaryFolder) throws -> UploadDatabase {
    let database = try UploadDatabase(folder)
    try database.add(1)
    try database.add(2, attachments: ["log": Array("an attachment".utf8)])
    try database.add(3)
    return database
  }

  private func prefix(_ folder: TemporaryFolder, _ variables: String) -> String {
    let root = folder.work.resolvingSymlinksInPath().path
    return "env LD_PRELOAD=\(PreloadedLibrary.faultInjection) FAULT_SKIP_SYNC=1 FAULT_ROOT=\(root)/db "
      + variables.replacingOccurrences(of: "WORK", with: root)
  }

  /// The changes of the disk by an undisturbed run.
  private func calls(_ options: String, _ variables: String = "") throws -> [String] {
    let folder = try TemporaryFolder()
    let collector = try Collector(in: folder)
    let result = try make(folder).upload(
      to: collector.url(), options, prefix: prefix(folder, "FAULT_LOG=WORK/log \(variables)"))
    try #require(result.status == 0, "\(result.errorText)")
    let calls = try String(decoding: folder.bytes(of: "log"), as: UTF8.self).split(separator: "\n").map { String($0) }
    try #require(calls.count > 10, "the library counted nothing: was it loaded?")
    return calls
  }

  /// Some of the numbers below `count`, or all in a soak test.
  private func sample(_ count: Int, _ most: Int, area: UInt64) -> [Int] {
    if Soak.isOn { return Array(0..<count) }
    var random = SplitMix64(seed: KilledRunTests.seed, area: area)
    return Array((0..<count).shuffled(using: &random).prefix(most))
  }

  /// Uploads the rest, and expects each report to be with the server, and moved; those of which that was written down came
  /// no second time.
  private func expectEnd(_ database: UploadDatabase, _ collector: Collector, _ options: String, _ place: String) throws
  {
    let recorded = try Self.numbers.map { try database.recordedID($0) }
    try collector.settle()
    let before = try collector.requests.map(\.report)
    let second = try database.upload(to: collector.url(), options)
    #expect(second.status == 0, "\(place): \(second.status) \(second.errorText)")
    let after = try collector.requests.map(\.report)
    for (number, id) in zip(Self.numbers, recorded) {
      let report = UploadDatabase.id(number)
      let times = after.count { $0 == report }
      #expect((1...2).contains(times), "\(place): the report \(number) came \(times) times")
      if let id {
        #expect(times == before.count { $0 == report }, "\(place): the report \(number) came again")
        try database.expectUploaded(number, as: id)
      }
      #expect(try database.report(number).isUploaded, "\(place)")
    }
    let third = try Tool.shell(
      "crashpadctl process -d db --limit 0; crashpadctl database check -d db --now \(UploadDatabase.now) --ignore not-a-minidump",
      in: database.folder)
    #expect(third.status == 0 && third.text.isEmpty, "\(place): \(third.text) \(third.errorText)")
  }

  @Test(
    "After a power failure at any moment of an upload, the next one ends it, and no report is lost",
    arguments: ["--jobs 1", "--jobs 3"])
  func cut(_ options: String) throws {
    let calls = try calls(options)
    let cuts = CutDisk.Names.allCases.flatMap { names in
      CutDisk.Bytes.allCases.flatMap { bytes in (1...calls.count + 1).map { (call: $0, names: names, bytes: bytes) } }
    }
    for index in sample(cuts.count, 3, area: 601) {
      let cut = cuts[index]
      let place =
        "before call \(cut.call), \(cut.call > calls.count ? "the end" : calls[cut.call - 1]), \(cut.names), \(cut.bytes)"
      let folder = try TemporaryFolder()
      let collector = try Collector(in: folder)
      let database = try make(folder)
      let first = try database.upload(
        to: collector.url(), options, prefix: prefix(folder, "FAULT_KILL_BEFORE=\(cut.call) FAULT_DISK=WORK/disk"))
      // Several reports at once take a call more or less.
      #expect(first.status == 137 || cut.call > calls.count - 3, "\(place): \(first.errorText)")
      try FileManager.default.moveItem(at: folder.url("db"), to: folder.url("first"))
      try CutDisk(folder.url("disk"), cut.names, cut.bytes, of: folder.url("first")).make(at: folder.url("db"))
      try expectEnd(database, collector, options, place)
    }
    print("uploads: \(calls.count) calls, the power failed at some of \(cuts.count) moments")
  }

  private static let looks = "FAULT_CALLS=look-open,look-stat,look-read,look-list"

  @Test(
    "A call or a look that fails in an upload is said, or makes no difference, and the next run does the rest",
    arguments: ["", looks])
  func failing(_ chosen: String) throws {
    let calls = try calls("--jobs 1", chosen)
    let errors =
      chosen.isEmpty
      ? [EACCES, EIO, EMFILE, ENOMEM, ENOSPC, EDQUOT, EROFS, ESTALE, EINTR] : [EACCES, EIO, EMFILE, ENOMEM, ESTALE]
    for index in sample(calls.count * errors.count, 4, area: 602) {
      let (call, error) = (index / errors.count + 1, errors[index % errors.count])
      let place = "error \(error) at call \(calls[call - 1])"
      let folder = try TemporaryFolder()
      let collector = try Collector(in: folder)
      let database = try make(folder)
      let first = try database.upload(
        to: collector.url(), "--jobs 1", prefix: prefix(folder, "FAULT_ERRNO=\(error) FAULT_FIRST=\(call) \(chosen)"))
      #expect([0, 1, 73, 74, 75, 77].contains(first.status), "\(place): \(first.status) \(first.errorText)")
      if first.status == 0 {
        for number in Self.numbers { #expect(try database.report(number).state == "completed", "\(place), status 0") }
      }
      try expectEnd(database, collector, "--jobs 1", place)
    }
    print("uploads: \(calls.count) calls, of which some failed with \(errors.count) errors each")
  }

  /// On btrfs, a report has moved then, and the removal of its metadata is not on the disk.
  @Test("Metadata that has its old name too after a power failure has one after the next run")
  func oldMetadata() throws {
    let folder = try TemporaryFolder()
    let collector = try Collector(in: folder)
    let database = try make(folder)
    let last = try calls("--jobs 1").count
    let first = try database.upload(
      to: collector.url(), "--jobs 1", prefix: prefix(folder, "FAULT_KILL_BEFORE=\(last)"))
    #expect(first.status == 137, "\(first.errorText)")
    #expect(try !folder.names(in: "db/new").isEmpty)
    let name = "\(UploadDatabase.id(1)).meta"
    _ = try Tool.shell("ln db/completed/\(name) db/pending/\(name); rm -f db/*/*.lock", in: folder)
    try expectEnd(database, collector, "--jobs 1", "two names")
    #expect(try folder.names(in: "db/pending").isEmpty)
  }
}
