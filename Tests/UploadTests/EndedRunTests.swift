// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// Signals that end a run in good order, and limits of its time.
@Suite("Ended runs")
struct EndedRunTests {
  private static let count = 12

  private struct Ended {
    let status: Int32
    let wasKilled: Bool
    let errorText: String
    let milliseconds: Double
  }

  /// Starts an upload to a slow server, and sends signals to it after some time.
  private func end(
    _ folder: TemporaryFolder, _ url: String, after microseconds: UInt32, _ signals: [Int32], _ options: [String] = []
  ) throws -> Ended {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: Tool.path)
    process.arguments =
      [
        "upload", "--database", "db", "--url", url, "--jobs", "4", "--now", "\(UploadDatabase.now)", "--retry-now",
      ] + options
    process.currentDirectoryURL = folder.work
    let errors = Pipe()
    process.standardError = errors
    process.standardOutput = FileHandle.nullDevice
    try Tool.startUnblocked(process)
    usleep(microseconds)
    let start = Date()
    for (index, signal) in signals.enumerated() {
      if index > 0 { usleep(100_000) }
      kill(process.processIdentifier, signal)
    }
    let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return Ended(
      status: process.terminationStatus, wasKilled: process.terminationReason == .uncaughtSignal, errorText: text,
      milliseconds: Date().timeIntervalSince(start) * 1000)
  }

  @Test("A run that is asked to end at any moment sends each report once, with the runs after it")
  func anyMoment() throws {
    var random = SplitMix64(seed: KilledRunTests.seed, area: 61)
    var partial = 0
    let rounds = Soak.times(100, or: 6)
    for round in 0..<rounds {
      let (folder, collector, database) = try UploadDatabase.withCollector(1...Self.count)
      let signal = [SIGTERM, SIGINT, SIGHUP][round % 3]
      let result = try end(folder, collector.url("/trickle?ms=1"), after: UInt32(random.between(0, 400_000)), [signal])
      // Before the handler is there, the signal ends the tool as any other.
      if !result.wasKilled {
        #expect([0, 75].contains(result.status), "\(result.errorText)")
        if result.status == 75 {
          partial += 1
          #expect(result.errorText.contains("asked to end"), "\(result.errorText)")
        }
      }
      try database.upload(to: collector.url(), "--retry-now", status: 0)
      let reports = try collector.requests.compactMap(\.report)
      #expect(reports.count == Self.count && Set(reports).count == Self.count, "signal \(signal): \(reports.sorted())")
      for number in 1...Self.count { #expect(try database.report(number).isUploaded) }
      #expect(try folder.names(in: "db/new").isEmpty)
    }
    print("ended uploads: \(partial) of \(rounds) runs left reports to the next one")
  }

  @Test("A second signal ends the tool at once, and another kind of signal does too", arguments: [SIGTERM, SIGINT])
  func second(_ signal: Int32) throws {
    let (folder, collector, _) = try UploadDatabase.withCollector(1...4)
    let result = try end(folder, collector.url("/hang"), after: 400_000, [SIGTERM, signal])
    #expect(result.wasKilled && result.status == signal, "\(result.status) \(result.errorText)")
    #expect(result.milliseconds < 5000)
  }

  @Test("A report that the server does not answer within the grace stays pending, and its attempt does not count")
  func grace() throws {
    let (folder, collector, database) = try UploadDatabase.withCollector(1...6)
    let result = try end(folder, collector.url("/hang"), after: 400_000, [SIGTERM], ["--grace", "1s"])
    #expect(result.status == 75 && !result.wasKilled, "\(result.errorText)")
    #expect(result.errorText.contains("asked to end"), "\(result.errorText)")
    #expect((900...8000).contains(result.milliseconds), "\(result.milliseconds) ms")
    for number in 1...6 { try database.expectPending(number, attempts: 0) }
    #expect(try folder.names(in: "db/new").isEmpty)
    #expect(try folder.names(in: "db/pending").allSatisfy { !$0.hasSuffix(".lock") })
    // The server is not left alone for it.
    #expect(!folder.exists("db/uploads.retry-after"))
  }

  @Test("A run that reaches its limit of time ends with status 75, and the next one sends the rest")
  func limit() throws {
    let (_, collector, database) = try UploadDatabase.withCollector(1...Self.count)
    let result = try database.upload(to: collector.url("/trickle?ms=5"), "--jobs 1 --max-time 600ms")
    #expect(result.status == 75, "\(result.errorText)")
    let sent = try collector.requests.count
    #expect((1..<Self.count).contains(sent), "\(sent)")
    try database.upload(to: collector.url(), status: 0)
    #expect(try collector.requests.count == Self.count)
  }

  @Test("A signal that was ignored at the start stays ignored")
  func ignored() throws {
    let (folder, collector, _) = try UploadDatabase.withCollector(1...2)
    let upload = "crashpadctl upload -d db --url '\(collector.url("/trickle?ms=3"))'"
    let result = try Tool.shell("trap '' HUP; \(upload) & sleep 0.3; kill -HUP $!; wait $!", in: folder)
    #expect(result.status == 0, "\(result.errorText)")
    #expect(try collector.requests.count == 2)
  }

  @Test("Trailers without end are cut off, and take no memory")
  func trailers() throws {
    let (folder, collector, database) = try UploadDatabase.withCollector(1...1)
    let work = folder.work.resolvingSymlinksInPath().path
    let result = try database.upload(
      to: collector.url("/trailers"),
      variables: "LD_PRELOAD=\(PreloadedLibrary.faultInjection) FAULT_MEMORY=\(work)/memory")
    #expect(result.errorText.contains("header lines"), "\(result.errorText)")
    let text = String(decoding: try folder.bytes(of: "memory"), as: UTF8.self)
    let memory = try #require(Int(text.filter(\.isNumber)))
    #expect(memory < 64 << 10, "\(memory) KiB")
    try database.expectPending(1, attempts: 0)
  }

  @Test("A report with an attachment beyond the limit stays, even if that is sparse, and the others are sent")
  func largeAttachment() throws {
    let (folder, collector, database) = try UploadDatabase.withCollector()
    try database.add(1, attachments: ["log": [1, 2, 3]])
    try database.add(2)
    _ = try Tool.shell("truncate -s 1T db/attachments/\(UploadDatabase.id(1))/log", in: folder)
    let result = try database.upload(to: collector.url(), status: 1)
    #expect(result.errorText.contains("more than 100 MiB; --max-attachment allows more"), "\(result.errorText)")
    try database.expectPending(1, attempts: 0)
    #expect(try database.report(2).isUploaded)
    _ = try Tool.shell("truncate -s 3K db/attachments/\(UploadDatabase.id(1))/log", in: folder)
    try database.upload(to: collector.url(), "--max-attachment 2KiB", status: 1)
    try database.upload(to: collector.url(), "--max-attachment 3KiB", status: 0)
    #expect(try collector.requests.count == 2)
  }

  @Test(
    "A report whose attachments can't be looked at is not sent, and the others are",
    .enabled(if: !Machine.isRoot || Machine.hasSetpriv, "no setpriv"))
  func hiddenAttachments() throws {
    let (folder, collector, database) = try UploadDatabase.withCollector()
    try database.add(1, attachments: ["log": [1, 2, 3]])
    try database.add(2)
    let upload = "crashpadctl upload -d db --url '\(collector.url())' --now \(UploadDatabase.now)"
    let place = "db/attachments/\(UploadDatabase.id(1))"
    let result = try Tool.shell(
      """
      if [ "$(id -u)" = 0 ]; then chown -R 65534:65534 db; fi
      chmod 0 \(place); as-nobody \(upload); echo $?; chmod 700 \(place); as-nobody \(upload); echo $?
      """, in: folder)
    #expect(result.text == "1\n0\n", "\(result.errorText)")
    #expect(
      result.errorText.contains("attachments/\(UploadDatabase.id(1)): Permission denied"), "\(result.errorText)")
    let sent = try #require(try collector.requests.last)
    #expect(sent.report == UploadDatabase.id(1) && sent.parts.contains { $0.name == "log" })
  }
}
