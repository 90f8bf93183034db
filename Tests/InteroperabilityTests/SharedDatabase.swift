// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// A report, as either program tells it.
struct SharedReport: Equatable {
  var state = ""
  var path = ""
  var serverID = ""
  var created = 0
  var uploaded = false
  var lastAttempt = 0
  var attempts = 0
  var requested = false
  var totalSize = 0
  var attachments: [String] = []
}

/// One database that Crashpad's own code and the tool under test change in turn.
struct SharedDatabase {
  let folder = try? TemporaryFolder()

  enum Side: CaseIterable { case crashpad, tool }

  private func needFolder() throws -> TemporaryFolder { try #require(folder) }

  // MARK: Running

  /// Runs Crashpad's database; the values that it prints, by key.
  func crashpad(_ arguments: String...) throws -> (values: [String: String], lines: [String]) {
    try crashpad(arguments)
  }

  func crashpad(_ arguments: [String]) throws -> (values: [String: String], lines: [String]) {
    let tool = try #require(Peers.reportTool)
    let command = ([tool, "db"] + arguments).map { "'\($0)'" }.joined(separator: " ")
    let lines = try Tool.shell(command, in: needFolder()).text.components(separatedBy: "\n")
    return (Self.values(in: lines), lines)
  }

  private static func values(in lines: [String]) -> [String: String] {
    var values: [String: String] = [:]
    for line in lines {
      guard let separator = line.firstIndex(of: "=") else { continue }
      values[String(line[..<separator])] = String(line[line.index(after: separator)...])
    }
    return values
  }

  /// Runs `crashpad_database_util` on the database.
  func util(_ arguments: String...) throws -> String {
    let tool = try #require(Peers.databaseUtil)
    let result = try Tool.shell("'\(tool)' -d db \(arguments.joined(separator: " "))", in: needFolder())
    #expect(result.status == 0, "\(arguments): \(result.errorText)")
    return result.text
  }

  /// Runs `crashpadctl database` on the database.
  @discardableResult
  func tool(_ arguments: String..., status: Int32 = 0) throws -> Tool.Outcome { try tool(arguments, status: status) }

  @discardableResult
  func tool(_ arguments: [String], status: Int32 = 0) throws -> Tool.Outcome {
    let result = try Tool.run(["database", arguments[0], "-d", "db"] + arguments.dropFirst(), in: needFolder())
    #expect(result.status == status, "\(arguments): \(result.errorText)")
    return result
  }

  func write(_ text: String, to name: String) throws { try needFolder().write(Array(text.utf8), to: name) }

  func bytes(of path: String) throws -> [UInt8] { try needFolder().bytes(of: path) }

  // MARK: What either says

  /// All reports as Crashpad tells them, by id. It removes what it finds damaged.
  func crashpadReports() throws -> [String: SharedReport] {
    var reports: [String: SharedReport] = [:]
    for state in ["pending", "completed"] {
      let lines = try crashpad(state).lines
      for block in lines.split(separator: "") {
        let values = Self.values(in: Array(block))
        guard let id = values["uuid"] else { continue }
        var report = SharedReport()
        report.state = state
        report.path = values["file_path"] ?? ""
        report.serverID = values["id"] ?? ""
        report.created = values["creation_time"].flatMap(Int.init) ?? -1
        report.uploaded = values["uploaded"] == "true"
        report.lastAttempt = values["last_upload_attempt_time"].flatMap(Int.init) ?? -1
        report.attempts = values["upload_attempts"].flatMap(Int.init) ?? -1
        report.requested = values["upload_explicitly_requested"] == "true"
        report.totalSize = values["total_size"].flatMap(Int.init) ?? -1
        report.attachments = values.keys.filter { $0.hasPrefix("attachment.") }
          .map { String($0.dropFirst("attachment.".count)) }.sorted()
        reports[id] = report
      }
    }
    return reports
  }

  /// All reports as the tool under test tells them, by id.
  func toolReports() throws -> [String: SharedReport] {
    let document = try JSONDocument(tool("list", "--format", "json").output)
    var reports: [String: SharedReport] = [:]
    for json in document["reports"].array {
      #expect(json["metadata"].string == "file")
      #expect(json["lock"].isNull)
      var report = SharedReport()
      report.state = json["state"].string ?? ""
      report.path = json["path"].string ?? ""
      report.serverID = json["server_id"].string ?? ""
      report.created = Self.seconds(json["created"]) ?? -1
      report.uploaded = json["uploaded"].bool ?? false
      report.lastAttempt = json["last_upload_attempt"].isNull ? 0 : Self.seconds(json["last_upload_attempt"]) ?? -1
      report.attempts = json["upload_attempts"].int ?? -1
      report.requested = json["upload_requested"].bool ?? false
      report.totalSize = json["total_size"].int ?? -1
      report.attachments = json["attachments"].array.compactMap { $0["name"].string }
      reports[try #require(json["id"].string)] = report
    }
    return reports
  }

  struct Settings: Equatable {
    var clientID: String?
    var uploadsEnabled: Bool?
    var lastAttempt: Int?
  }

  func crashpadSettings() throws -> Settings {
    let values = try crashpad("settings").values
    return Settings(
      clientID: values["client_id"], uploadsEnabled: values["uploads_enabled"].map { $0 == "true" },
      lastAttempt: values["last_upload_attempt_time"].flatMap(Int.init))
  }

  func toolSettings() throws -> Settings {
    let json = try JSONDocument(tool("settings", "--format", "json").output)
    let attempt = json["last_upload_attempt"]
    return Settings(
      clientID: json["client_id"].string, uploadsEnabled: json["uploads_enabled"].bool,
      lastAttempt: attempt.isNull ? 0 : Self.seconds(attempt))
  }

  /// Seconds since 1970 of an RFC 3339 time.
  private static func seconds(_ json: JSONDocument) -> Int? {
    json.string.flatMap { ISO8601DateFormatter().date(from: $0) }.map { Int($0.timeIntervalSince1970) }
  }

  /// Expects that both programs tell the same of everything, and returns it.
  @discardableResult
  func agree(_ when: String) throws -> [String: SharedReport] {
    let ours = try toolReports()
    let theirs = try crashpadReports()
    #expect(ours == theirs, "\(when)")
    #expect(try toolSettings() == crashpadSettings(), "\(when)")
    // Crashpad's own looking must not have lost anything either.
    #expect(try toolReports() == ours, "\(when)")
    let listed = try Set((util("--show-pending-reports") + util("--show-completed-reports")).split(separator: "\n"))
    #expect(listed == Set(ours.keys.map { Substring($0) }), "\(when)")
    #expect(try needFolder().names(in: "db/new").isEmpty, "\(when)")
    return ours
  }
}
