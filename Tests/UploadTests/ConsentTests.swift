// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import Foundation
import Testing
import ToolRunner

/// The permissions in the settings of a database.
@Suite("Consent to uploads")
struct ConsentTests {
  private static let now = UploadDatabase.now

  @Test("Reports stay pending while uploads are disabled, and a line says how to enable them; requested ones are sent")
  func disabled() throws {
    let folder = try TemporaryFolder()
    let collector = try Collector(in: folder)
    let database = try UploadDatabase(folder, uploadsEnabled: false)
    try database.add(1...3)
    try database.add(4) { $0.isUploadExplicitlyRequested = true }
    let result = try database.upload(to: collector.url())
    #expect(result.status == 0)
    #expect(
      result.errorText.contains(
        "3 reports kept, uploads are disabled; 'crashpadctl database settings --uploads-enabled yes -d db' enables them"
      ),
      "\(result.errorText)")
    for number in 1...3 { try database.expectPending(number, attempts: 0) }
    #expect(try collector.requests.map(\.report) == [UploadDatabase.id(4)])
    try database.expectUploaded(4, as: try collector.requests.first?.id)
    #expect(try database.report(4).metadata.isUploadExplicitlyRequested == false)
    let enabled = try Tool.shell("crashpadctl database settings --uploads-enabled yes -d db", in: folder)
    #expect(enabled.status == 0, "\(enabled.errorText)")
    let sent = try database.upload(to: collector.url())
    #expect(sent.status == 0 && sent.errorText.contains("3 uploaded"), "\(sent.errorText)")
  }

  @Test("Without a server reports stay pending too")
  func nowhere() throws {
    let folder = try TemporaryFolder()
    let database = try UploadDatabase(folder)
    try database.add(1)
    let result = try database.upload(to: "none")
    #expect(result.status == 0 && result.errorText.contains("1 report kept, there is no server"), "\(result.errorText)")
    try database.expectPending(1, attempts: 0)
  }

  @Test("--finish-skipped completes them as Crashpad does, and request-upload brings them back, all at once")
  func completeSkipped() throws {
    let folder = try TemporaryFolder()
    let collector = try Collector(in: folder)
    let database = try UploadDatabase(folder, uploadsEnabled: false)
    try database.add(1...3)
    let result = try database.upload(to: collector.url(), "--finish-skipped")
    #expect(result.status == 0 && result.errorText.contains("3 completed without upload"), "\(result.errorText)")
    for number in 1...3 { try database.expectGivenUp(number, attempts: 0) }
    #expect(try collector.events.isEmpty)
    let failed = try Tool.shell("crashpadctl database request-upload -d db --given-up", in: folder)
    #expect(failed.status == 0 && failed.errorText.isEmpty, "these had no attempt: \(failed.errorText)")
    let again = try Tool.shell("crashpadctl database request-upload -d db --skipped", in: folder)
    #expect(again.status == 0, "\(again.errorText)")
    for number in 1...3 {
      try database.expectPending(number, attempts: 0)
      #expect(try database.report(number).metadata.isUploadExplicitlyRequested)
    }
    try database.add(4)
    let all = try Tool.shell("crashpadctl database request-upload -d db --all", in: folder)
    #expect(all.status == 0, "\(all.errorText)")
    let sent = try database.upload(to: collector.url())
    #expect(sent.status == 0 && sent.errorText.contains("4 uploaded"), "\(sent.errorText)")
  }

  /// Contents of `settings.dat` that say nothing about uploads; nil for no file.
  static let unreadable: [String: [UInt8]?] = [
    "missing": nil, "empty": [], "cut": Array(UploadDatabase.settings(true).prefix(10)),
    "not settings": Array(repeating: 0x20, count: 40),
    "newer": UploadDatabase.settings(true).replacing([1, 0, 0, 0], with: [2, 0, 0, 0], maxReplacements: 1),
  ]

  @Test(
    "Settings that can't be read: nothing is sent or moved, and a line says what to type", arguments: unreadable.keys)
  func damaged(_ kind: String) throws {
    let folder = try TemporaryFolder()
    let collector = try Collector(in: folder)
    let database = try UploadDatabase(folder, uploadsEnabled: nil)
    let content = Self.unreadable[kind]!
    if let content { try folder.write(content, to: "db/settings.dat") }
    try database.add(1...2)
    try database.add(3) { $0.isUploadExplicitlyRequested = true }
    for options in ["", "--finish-skipped", "--all", "--format json", "--dry-run"] {
      let result = try database.upload(to: collector.url(), options)
      #expect(result.status == 1, "\(kind) \(options): \(result.errorText)")
      #expect(result.errorText.contains("db/settings.dat "), "\(result.errorText)")
      if kind != "newer" { #expect(result.errorText.contains("crashpadctl database "), "\(result.errorText)") }
      for number in 1...3 { try database.expectPending(number, attempts: 0) }
    }
    #expect(try collector.events.isEmpty)
    #expect(folder.exists("db/settings.dat") == (content != nil))
    if let content { #expect(try folder.bytes(of: "db/settings.dat") == content) }
  }

  @Test("The commands in the message about damaged settings repair them")
  func mended() throws {
    let folder = try TemporaryFolder()
    let collector = try Collector(in: folder)
    let database = try UploadDatabase(folder, uploadsEnabled: nil)
    try database.add(1)
    try folder.write([1, 2, 3], to: "db/settings.dat")
    let result = try database.upload(to: collector.url())
    let commands = result.errorText.split(separator: "'").filter { $0.hasPrefix("crashpadctl ") }
    #expect(commands.count == 2, "\(result.errorText)")
    for command in commands {
      let mending = try Tool.shell(String(command), in: folder)
      #expect([0, 1].contains(mending.status), "\(mending.errorText)")
    }
    let sent = try database.upload(to: collector.url())
    #expect(sent.status == 0 && sent.errorText.contains("1 uploaded"), "\(sent.errorText)")
  }

  @Test("Consent that is withdrawn during a run ends it: no further report is sent")
  func withdrawn() throws {
    let (folder, collector, database) = try UploadDatabase.withCollector(1...100)
    let result = try Tool.shell(
      """
      count() { grep -c '"event":"request"' collected/log.ndjson; }
      crashpadctl upload -d db --url '\(collector.url("/trickle?ms=5"))' --jobs 1 2>messages &
      while [ "$(count)" -lt 2 ]; do sleep 0.02; done
      crashpadctl database settings -d db --uploads-enabled no >/dev/null
      count
      wait $!
      count
      """, in: folder)
    let counts = result.text.split(separator: "\n").compactMap { Int($0.trimmingCharacters(in: .whitespaces)) }
    try #require(counts.count == 2, "\(result.errorText)")
    #expect(counts[0] < 90, "the run was still under way")
    // The one that was on its way.
    #expect(counts[1] <= counts[0] + 1)
    let messages = try String(decoding: folder.bytes(of: "messages"), as: UTF8.self)
    #expect(messages.contains("uploads were disabled meanwhile; nothing more is sent"), "\(messages)")
    for number in 1...100 where try database.report(number).state == "pending" {
      try database.expectPending(number, attempts: 0)
    }
    let pending = try FileManager.default.contentsOfDirectory(atPath: folder.url("db/pending").path)
    #expect(pending.count { $0.hasSuffix(".dmp") } == 100 - counts[1])
  }
}
