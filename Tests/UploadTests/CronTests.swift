// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// The shipped line for cron, run every half hour of a month: it prints only if something needs a person, and cron sends
/// mail of what is printed.
@Suite("A month of cron")
struct CronTests {
  private static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../..")
    .standardizedFileURL

  /// The command that the crontab has for dumps and uploads.
  private static func command() throws -> String {
    let text = try String(contentsOf: sources.appending(path: "scripts/crashpadctl-cron"), encoding: .utf8)
    let line = try #require(text.split(separator: "\n").last { $0.contains("--upload") })
    let command = try #require(line.range(of: "crashpadctl process"))
    return String(line[command.lowerBound...])
  }

  @Test("Four outages are four mails, and all other runs are silent")
  func month() throws {
    // A month has 1440 half hours; an outage has 24 of them.
    let runs = Soak.times(1440, or: 96)
    let outage = runs / 60
    let (folder, collector, _) = try UploadDatabase.withCollector()
    let command = try Self.command().replacing("/var/lib/example/crashpad", with: "db")
    var mails: [(run: Int, text: String)] = []
    var pending = 0
    for run in 0..<runs {
      let phase = run % (runs / 4)
      let isOut = phase >= runs / 8 && phase < runs / 8 + outage
      if run % 3 == 0 {
        let name = "db/pending-serialized-ios-dump/com.example@\(UploadDatabase.id(run + 1))"
        try folder.write(SynthDump(SynthParameters.tiny(seed: UInt64(run + 1))).bytes, to: name)
        pending += 1
      }
      try folder.write(Array(collector.url(isOut ? "/status/503" : "/submit").utf8), to: "url")
      let time = UploadDatabase.now + run * 30 * UploadDatabase.minute
      let result = try Tool.shell(
        command.replacing("/etc/crashpad/upload-url", with: "url") + " --now \(time)", in: folder)
      // After an outage the server has its pause, of an hour at most.
      let isPaused = run > 0 && phase >= runs / 8 + outage && phase <= runs / 8 + outage + 2
      #expect(isOut || result.status == 0 || isPaused && result.status == 75, "run \(run): \(result.errorText)")
      if !result.text.isEmpty || !result.errorText.isEmpty { mails.append((run, result.text + result.errorText)) }
    }
    #expect(mails.count == 4, "\(mails)")
    #expect(mails.allSatisfy { $0.text.contains("503") }, "\(mails)")
    #expect(try folder.names(in: "db/pending").isEmpty)
    #expect(Set(try collector.requests.filter { $0.status == 200 }.compactMap(\.report)).count == pending)
    print("a month of cron: \(runs) runs, \(mails.count) mails")
  }
}
