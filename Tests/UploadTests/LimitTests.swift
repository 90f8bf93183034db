// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import DumpSynth
import Foundation
import SystemPackage
import Testing
import ToolRunner

@testable import CrashpadUpload

/// Few descriptors, little memory, files that can't grow, and reports that can't be read to their end.
@Suite("Limits of uploads")
struct LimitTests {
  @Test("With few descriptors and many jobs, each report is sent once and recorded", arguments: [20, 40])
  func descriptors(_ limit: Int) throws {
    let (folder, collector, database) = try UploadDatabase.withCollector()
    let count = 30
    for number in 1...count { try database.add(number, attachments: ["log": Array("log \(number)".utf8)]) }
    let first = try Tool.shell(
      "ulimit -n \(limit); exec \(database.command("--jobs 16 --url \(collector.url())"))", in: folder)
    #expect(!first.errorText.contains("will be sent again"), "\(first.errorText)")
    // A request without a descriptor was not sent at first, and is now.
    let second = try database.upload(to: collector.url())
    #expect(second.status == 0, "\(first.errorText)\(second.errorText)")
    let requests = try collector.requests
    #expect(requests.count == count, "some came twice: \(first.errorText)")
    #expect(Set(requests.map(\.report)).count == count)
    for number in 1...count {
      try database.expectUploaded(number, as: requests.first { $0.report == UploadDatabase.id(number) }?.id)
    }
  }

  @Test(
    "A limit that a run does not fit into ends it with a sentence, and the next run sends everything",
    arguments: [
      "ulimit -n 4", "ulimit -n 5", "ulimit -n 6", "ulimit -n 8", "ulimit -n 10", "ulimit -n 12",
    ])
  func tightLimits(_ limit: String) throws {
    let (folder, collector, database) = try UploadDatabase.withCollector(1...3)
    let first = try Tool.shell("\(limit); exec \(database.command("--jobs 3 --url \(collector.url())"))", in: folder)
    // Neither a signal nor silence.
    #expect([0, 1, 73, 74, 75].contains(first.status), "\(first.status): \(first.errorText)")
    #expect(first.status == 0 || !first.errorText.isEmpty, "\(limit): status \(first.status) without a word")
    let second = try database.upload(to: collector.url(), status: 0)
    for number in 1...3 { #expect(try database.report(number).isUploaded, "\(first.errorText)\(second.errorText)") }
  }

  @Test("process too says which limit it met", arguments: ["ulimit -n 6", "ulimit -n 12", "ulimit -f 1"])
  func process(_ limit: String) throws {
    let folder = try TemporaryFolder()
    _ = try UploadDatabase(folder)
    let dump = SynthDump(SynthParameters(seed: 3)).bytes
    for number in 1...3 { try folder.write(dump, to: "db/pending-serialized-ios-dump/x@\(UploadDatabase.id(number))") }
    let first = try Tool.shell("\(limit); exec crashpadctl process -d db --jobs 16", in: folder)
    #expect([1, 73, 74].contains(first.status), "\(first.status): \(first.errorText)")
    let text = limit.contains("-f") ? "File too large" : "Too many open files"
    #expect(first.errorText.contains(text), "\(first.errorText)")
    let second = try Tool.shell("exec crashpadctl process -d db", in: folder)
    #expect(second.status == 0, "\(second.errorText)")
    #expect(try folder.names(in: "db/pending-serialized-ios-dump").isEmpty)
  }

  @Test("With --redact a report that becomes shorter while it is read fails alone; the others are sent")
  func shrinkingReport() throws {
    let (folder, collector, database) = try UploadDatabase.withCollector()
    var parameters = SynthParameters.tiny(seed: 5)
    parameters.stackBytes = 3 << 20
    try folder.write(SynthDump(parameters).bytes, to: "crash.idump")
    let made = try Tool.shell("crashpadctl convert crash.idump -o crash.dmp", in: folder)
    #expect(made.status == 0, "\(made.errorText)")
    let report = try folder.bytes(of: "crash.dmp")
    for number in 1...4 { try database.add(number, content: report) }
    let result = try database.upload(
      to: collector.url(), "--redact --jobs 2",
      variables: "LD_PRELOAD='\(PreloadedLibrary.faultInjection)' FAULT_CUT='pending/\(UploadDatabase.id(2))'",
      status: 1)
    #expect(result.errorText.contains("\(UploadDatabase.id(2))"), "\(result.errorText)")
    #expect(result.errorText.contains("became shorter"), "\(result.errorText)")
    #expect(Set(try collector.requests.map(\.report)) == [1, 3, 4].mapSet(UploadDatabase.id))
    let found = try database.report(2)
    #expect(found.state == "pending" && found.attempts == 0 && !found.isUploaded)
  }

  /// Three megabytes that do not shrink when they are compressed.
  private static let noise: [UInt8] = {
    var random = SplitMix64(seed: 9)
    return (0..<3 << 17).flatMap { _ in Bytes.of(random.next()) }
  }()

  @Test("A server other than Backtrace is asked before a large report is sent", arguments: UploadServer.allCases)
  func expectation(_ server: UploadServer) throws {
    let (_, collector, database) = try UploadDatabase.withCollector()
    try database.add(1, content: Self.noise)
    var options = ReportUploader.Options(UploadDestination(server, try WebAddress(collector.url())))
    options.userAgent = "test"
    var outcome: ReportUploader.Outcome?
    try ReportUploader(CrashDatabase(FilePath(database.url.path)), options: options).run { event in
      if case .result(let result) = event { outcome = result.outcome }
    }
    guard case .uploaded = outcome else {
      Issue.record("\(String(describing: outcome))")
      return
    }
    let event = try #require(try collector.requests.first)
    #expect((event["expect"] == nil) == (server == .backtrace), "\(event.headers)")
  }
}

extension Sequence {
  fileprivate func mapSet<Value: Hashable>(_ transform: (Element) -> Value) -> Set<Value> { Set(map(transform)) }
}
