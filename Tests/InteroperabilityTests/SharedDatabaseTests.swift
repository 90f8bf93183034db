// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

@Suite(
  "A database shared with Crashpad",
  .enabled(
    if: Peers.databaseUtil != nil && Peers.reportTool != nil,
    "CRASHPAD_DATABASE_UTIL and CRASHPAD_REPORT_TOOL name no programs"))
struct SharedDatabaseTests {
  private static let clientID = "0f1e2d3c-4b5a-4978-8695-a4b3c2d1e0f1"
  private static let id = "4f2a91d0-3c55-4e8a-9d2b-7f1e60a4c0b1"

  @Test("Crashpad takes a database that the tool made")
  func madeByTool() throws {
    let database = SharedDatabase()
    try database.tool("create", "--client-id", Self.clientID)
    #expect(try database.util("--show-client-id") == Self.clientID + "\n")
    #expect(try database.util("--show-uploads-enabled") == "false\n")
    #expect(try database.util("--show-last-upload-attempt-time") == "never (0)\n")
    #expect(try database.agree("new").isEmpty)
  }

  @Test("The tool takes a database that Crashpad made, and makes the same one")
  func madeByCrashpad() throws {
    let database = SharedDatabase()
    let id = try database.util("--create", "--show-client-id").trimmingCharacters(in: .whitespacesAndNewlines)
    #expect(try database.toolSettings() == .init(clientID: id, uploadsEnabled: false, lastAttempt: 0))
    let theirs = try database.bytes(of: "db/settings.dat")
    try database.tool("create")
    #expect(try database.bytes(of: "db/settings.dat") == theirs)
    let other = SharedDatabase()
    try other.tool("create", "--client-id", id)
    #expect(try other.bytes(of: "db/settings.dat") == theirs)
  }

  @Test("Settings that one program writes, the other reads")
  func settings() throws {
    let database = SharedDatabase()
    try database.tool("create", "--client-id", Self.clientID)
    for word in ["yes", "no", "TRUE", "off", "1", "0", "enabled", "clear", "set", "disabled", "on", "false"] {
      let other = SharedDatabase()
      try other.tool("create", "--client-id", Self.clientID)
      _ = try database.util("--set-uploads-enabled=\(word)")
      try other.tool("settings", "--uploads-enabled", word)
      #expect(try database.bytes(of: "db/settings.dat") == other.bytes(of: "db/settings.dat"), "\(word)")
      try database.agree(word)
    }
    for time in ["never", "2020-01-02 03:04:05", "1577934245", "1", "4102444800"] {
      let other = SharedDatabase()
      try other.tool("create", "--client-id", Self.clientID)
      _ = try database.util("--utc", "--set-last-upload-attempt-time='\(time)'")
      try other.tool("settings", "--last-upload-attempt", time)
      #expect(try database.bytes(of: "db/settings.dat") == other.bytes(of: "db/settings.dat"), "\(time)")
      let shown = try database.util("--show-last-upload-attempt-time", "--utc")
      let text = try other.tool("settings").text
      let words = shown.split(separator: "(")[0].replacingOccurrences(of: "GMT", with: "UTC")
        .trimmingCharacters(in: .whitespaces)
      #expect(text.contains("Last upload attempt  \(words)\n"), "\(time)")
    }
  }

  @Test("A report that the tool made, with attachments, goes through Crashpad's upload")
  func reportOfTool() throws {
    let database = SharedDatabase()
    try database.tool("create")
    try database.write("the report", to: "crash.dmp")
    try database.write("the log", to: "app.log")
    let id = try database.tool(
      "import", "crash.dmp", "--attachment", "log.txt=app.log", "--attachment", "copy=crash.dmp"
    )
    .text.trimmingCharacters(in: .whitespacesAndNewlines)
    let fresh = try #require(try database.agree("new")[id])
    #expect(fresh.attachments == ["copy", "log.txt"])
    #expect(fresh.totalSize == 27)
    _ = try database.crashpad("fail", id)
    #expect(try database.agree("failed")[id]?.attempts == 1)
    try database.tool("request-upload", id)
    #expect(try database.agree("requested")[id]?.requested == true)
    let upload = try database.crashpad("upload", id, "--id", "bp-7f31").values
    #expect(upload["upload_size"] == "10")
    #expect(upload["upload_attachment.log.txt"] == "7")
    let uploaded = try #require(try database.agree("uploaded")[id])
    #expect(uploaded.state == "completed")
    #expect(uploaded.serverID == "bp-7f31")
    #expect(uploaded.uploaded && !uploaded.requested && uploaded.attempts == 2)
    try database.tool("request-upload", id, status: 1)
    try database.agree("refused")
    try database.tool("delete", id)
    #expect(try database.agree("deleted").isEmpty)
    #expect(try #require(database.folder).names(in: "db/attachments").isEmpty)
  }

  @Test("A report that Crashpad made has the same bytes as one of the tool, and the tool shows all of it")
  func reportOfCrashpad() throws {
    let database = SharedDatabase()
    try database.tool("create")
    try database.write("the report", to: "crash.dmp")
    try database.write("the log", to: "app.log")
    let made = try database.crashpad("new", "crash.dmp", "--attach", "log.txt=app.log").values
    let id = try #require(made["uuid"])
    let report = try #require(try database.agree("new")[id])
    try database.tool("import", "crash.dmp", "--id", Self.id, "--created", "\(report.created)")
    let metadata = try database.bytes(of: "db/pending/\(id).meta")
    // Behind the attributes are 7 bytes of padding, which Crashpad leaves as they come.
    #expect(try database.bytes(of: "db/pending/\(Self.id).meta").prefix(25) == metadata.prefix(25))
    #expect(metadata.count == 32)
    _ = try database.crashpad("skip", id)
    #expect(try database.agree("skipped")[id]?.state == "completed")
    try database.tool("request-upload", String(id.prefix(13)))
    #expect(try database.agree("requested")[id]?.state == "pending")
    #expect(try database.tool("show", "--path", id).text == "db/pending/\(id).dmp\n")
    #expect(try database.util("--show-report=\(id)").contains("Path: db/pending/\(id).dmp"))
    _ = try database.crashpad("delete", id)
    #expect(try database.agree("deleted").keys.sorted() == [Self.id])
  }

  @Test("While Crashpad uploads a report it is locked, and everything else goes on")
  func busy() async throws {
    let database = SharedDatabase()
    try database.tool("create")
    try database.write("the report", to: "crash.dmp")
    for id in [Self.id, Self.clientID] { try database.tool("import", "crash.dmp", "--id", id) }
    let holder = Process()
    holder.executableURL = URL(fileURLWithPath: try #require(Peers.reportTool))
    holder.currentDirectoryURL = try #require(database.folder).work
    holder.arguments = ["db", "hold", Self.id, "300"]
    holder.standardInput = FileHandle.nullDevice
    holder.standardOutput = FileHandle.nullDevice
    holder.standardError = FileHandle.nullDevice
    try holder.run()
    // The child of a thread that blocks signals blocks them too, but for this one.
    defer { kill(holder.processIdentifier, SIGKILL) }
    while try #require(database.folder).exists("db/pending/\(Self.id).lock") == false {
      try await Task.sleep(for: .milliseconds(5))
    }
    while try database.bytes(of: "db/pending/\(Self.id).lock").count < 8 {
      try await Task.sleep(for: .milliseconds(5))
    }
    #expect(try database.tool("delete", Self.id, status: 75).errorText.contains("is locked since"))
    try database.tool("request-upload", Self.id, status: 75)
    let shown = try JSONDocument(database.tool("show", Self.id, "--format", "json").output)["reports"][0]
    #expect(shown["lock"]["owner"].string == "unknown")
    #expect(try database.tool("delete", "--all", status: 75).errorText.contains("\(Self.clientID): deleted"))
    #expect(try database.bytes(of: "db/pending/\(Self.id).dmp") == Array("the report".utf8))
  }

  @Test("Random changes by either side leave both with the same reports", arguments: [1, 2, 3, 4] as [UInt64])
  func randomWalk(_ number: UInt64) throws {
    let seed = ProcessInfo.processInfo.environment["CRASHPADCTL_SEED"].flatMap(UInt64.init) ?? .random(in: 0..<1 << 32)
    print("a database shared with Crashpad: CRASHPADCTL_SEED=\(seed), case \(number)")
    let ownSeed = seed &+ number
    var random = SplitMix64(seed: ownSeed)
    let database = SharedDatabase()
    try database.tool("create", "--client-id", Self.clientID)
    var known: [String: SharedReport] = [:]
    var steps: [String] = ["CRASHPADCTL_SEED=\(seed)"]
    for step in 0..<25 {
      let side: SharedDatabase.Side = Bool.random(using: &random) ? .crashpad : .tool
      let id = known.keys.sorted().randomElement(using: &random)
      let change = Self.changes.randomElement(using: &random) ?? "new"
      steps.append("\(step): \(side) \(change) \(id ?? "")")
      let expected = try perform(change, side, id, database, known, &random)
      let actual = try database.agree(steps.joined(separator: "\n"))
      if let expected { #expect(Self.withoutTimes(actual) == Self.withoutTimes(expected), "\(steps)") }
      known = actual
    }
  }

  private static let changes = [
    "new", "new", "new", "delete", "request", "request", "upload", "fail", "skip", "settings",
  ]

  /// The clock's times are the programs' own.
  private static func withoutTimes(_ reports: [String: SharedReport]) -> [String: SharedReport] {
    reports.mapValues { report in
      var report = report
      (report.created, report.lastAttempt) = (0, 0)
      return report
    }
  }

  /// Makes one change.
  ///
  /// - Returns: what should be there afterwards; nil if only that both agree is to be asked for.
  private func perform(
    _ change: String, _ side: SharedDatabase.Side, _ id: String?, _ database: SharedDatabase,
    _ known: [String: SharedReport], _ random: inout SplitMix64
  ) throws -> [String: SharedReport]? {
    var expected = known
    guard change != "new", change != "settings", let id, let report = known[id] else {
      if change == "settings" {
        try changeSettings(side, database, &random)
        return known
      }
      let (id, report) = try makeReport(side, database, &random)
      expected[id] = report
      return expected
    }
    switch (change, side) {
    case ("delete", .crashpad):
      _ = try database.crashpad("delete", id)
      expected[id] = nil
    case ("delete", .tool):
      try database.tool("delete", id)
      expected[id] = nil
    case ("request", _):
      if side == .crashpad {
        let status = try database.crashpad("request", id).values["status"] ?? ""
        #expect(status.hasPrefix("0") != report.uploaded)
      } else {
        try database.tool("request-upload", id, status: report.uploaded ? 1 : 0)
      }
      if report.uploaded { break }
      expected[id]?.requested = true
      expected[id]?.state = "pending"
      expected[id]?.path = "db/pending/\(id).dmp"
    case ("upload", _) where report.state == "pending":
      _ = try database.crashpad("upload", id, "--id", "server-\(id.prefix(4))")
      expected[id]?.uploaded = true
      expected[id]?.requested = false
      expected[id]?.attempts += 1
      expected[id]?.serverID = "server-\(id.prefix(4))"
      expected[id]?.state = "completed"
      expected[id]?.path = "db/completed/\(id).dmp"
    case ("fail", _) where report.state == "pending":
      _ = try database.crashpad("fail", id)
      expected[id]?.attempts += 1
    case ("skip", _) where report.state == "pending":
      _ = try database.crashpad("skip", id)
      expected[id]?.requested = false
      expected[id]?.state = "completed"
      expected[id]?.path = "db/completed/\(id).dmp"
    default: break
    }
    return expected
  }

  private func changeSettings(
    _ side: SharedDatabase.Side, _ database: SharedDatabase, _ random: inout SplitMix64
  ) throws {
    let isEnabled = Bool.random(using: &random)
    let time = Int.random(in: 0..<1 << 32, using: &random)
    if side == .crashpad {
      _ = try database.util("--set-uploads-enabled=\(isEnabled)", "--set-last-upload-attempt-time=\(time)")
    } else {
      try database.tool("settings", "--uploads-enabled", "\(isEnabled)", "--last-upload-attempt", "\(time)")
    }
    #expect(
      try database.toolSettings() == .init(clientID: Self.clientID, uploadsEnabled: isEnabled, lastAttempt: time))
  }

  private func makeReport(
    _ side: SharedDatabase.Side, _ database: SharedDatabase, _ random: inout SplitMix64
  ) throws -> (String, SharedReport) {
    let size = Int.random(in: 0..<20_000, using: &random)
    try database.write(String(repeating: "x", count: size), to: "new.dmp")
    var report = SharedReport()
    let attachments = Int.random(in: 0..<3, using: &random)
    report.totalSize = size
    var options: [String] = []
    for number in 0..<attachments {
      let count = Int.random(in: 0..<3000, using: &random)
      try database.write(String(repeating: "y", count: count), to: "attachment-\(number)")
      report.totalSize += count
      report.attachments.append("a_\(number).txt")
      options += [side == .crashpad ? "--attach" : "--attachment", "a_\(number).txt=attachment-\(number)"]
    }
    let id: String
    if side == .crashpad {
      id = try #require(try database.crashpad(["new", "new.dmp"] + options).values["uuid"])
    } else {
      let text = try database.tool(["import", "new.dmp"] + options).text
      id = text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
    report.state = "pending"
    report.path = "db/pending/\(id).dmp"
    return (id, report)
  }
}
