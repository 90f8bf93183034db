// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// A database with reports to upload, `db` in a folder, and what became of them.
struct UploadDatabase {
  /// The time of the runs that do not say another.
  static let now = 2_000_000_000
  static let minute = 60

  let folder: TemporaryFolder
  let name: String
  var url: URL { folder.url(name) }

  init(_ folder: TemporaryFolder, _ name: String = "db", uploadsEnabled: Bool? = true) throws {
    self.folder = folder
    self.name = name
    for part in ["new", "pending", "completed", "attachments", "pending-serialized-ios-dump"] {
      try FileManager.default.createDirectory(
        at: folder.url("\(name)/\(part)"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
    if let uploadsEnabled { try folder.write(Self.settings(uploadsEnabled), to: "\(name)/settings.dat") }
  }

  /// A database with these reports, in a folder of its own, and a collector for them.
  static func withCollector(
    _ numbers: ClosedRange<Int>? = nil
  ) throws -> (folder: TemporaryFolder, collector: Collector, database: UploadDatabase) {
    let folder = try TemporaryFolder()
    let database = try UploadDatabase(folder)
    if let numbers { try database.add(numbers) }
    return (folder, try Collector(in: folder), database)
  }

  static let clientID = "11111111-2222-3333-4444-555555555555"

  /// `settings.dat` with `clientID`, in which nothing was ever tried to upload.
  static func settings(_ uploadsEnabled: Bool, lastAttempt: Int = 0) -> [UInt8] {
    var bytes = little(0x4350_6473, 4) + little(1, 4) + little(uploadsEnabled ? 1 : 0, 4) + little(0, 4)
    bytes += little(lastAttempt, 8)
    bytes +=
      little(0x1111_1111, 4) + little(0x2222, 2) + little(0x3333, 2) + [0x44, 0x44] + Array(repeating: 0x55, count: 6)
    return bytes
  }

  private static func little(_ value: Int, _ width: Int) -> [UInt8] {
    (0..<width).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  static func id(_ number: Int) -> String {
    let digits = String(number, radix: 16)
    return "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
  }

  /// A few bytes that no other report has: what is uploaded need not be a minidump.
  static func content(_ number: Int) -> [UInt8] { Array("the report with the number \(number)\n".utf8) }

  /// Puts a report into `pending/`. Its metadata can be changed.
  func add(
    _ number: Int, content: [UInt8]? = nil, attachments: [String: [UInt8]] = [:],
    _ change: (inout ReportMetadata) -> Void = { _ in }
  ) throws {
    let id = Self.id(number)
    try folder.write(content ?? Self.content(number), to: "\(name)/pending/\(id).dmp")
    var metadata = ReportMetadata(creationTime: Int64(Self.now - 1000 + number % 1000))
    change(&metadata)
    try folder.write(metadata.bytes, to: "\(name)/pending/\(id).meta")
    for (file, bytes) in attachments { try folder.write(bytes, to: "\(name)/attachments/\(id)/\(file)") }
  }

  func add(_ numbers: ClosedRange<Int>) throws { for number in numbers { try add(number) } }

  /// The state of a report.
  struct Found: Equatable {
    var state: String
    var metadata: ReportMetadata
    var content: [UInt8]

    var isUploaded: Bool { metadata.isUploaded }
    var serverID: String { String(decoding: metadata.serverID, as: UTF8.self) }
    var attempts: Int { Int(metadata.uploadAttempts) }
  }

  /// The report; it must be in one state, whole.
  func report(_ number: Int, sourceLocation: SourceLocation = #_sourceLocation) throws -> Found {
    let id = Self.id(number)
    let states = ["pending", "completed"].filter { folder.exists("\(name)/\($0)/\(id).dmp") }
    let state = try #require(states.first, "the report \(number) is lost", sourceLocation: sourceLocation)
    #expect(states.count == 1, "the report \(number) is there twice", sourceLocation: sourceLocation)
    return Found(
      state: state, metadata: try ReportMetadata(folder.bytes(of: "\(name)/\(state)/\(id).meta")),
      content: try folder.bytes(of: "\(name)/\(state)/\(id).dmp"))
  }

  /// The state of a report after a killed run: whether it is there, and whether its id was durably written.
  func recordedID(_ number: Int) throws -> String? {
    let id = Self.id(number)
    for state in ["completed", "pending"] {
      guard let bytes = try? folder.bytes(of: "\(name)/\(state)/\(id).meta") else { continue }
      let metadata = try ReportMetadata(bytes)
      if metadata.isUploaded { return String(decoding: metadata.serverID, as: UTF8.self) }
    }
    return nil
  }

  /// Expects the report in `pending/`, with so many attempts, its bytes untouched.
  func expectPending(_ number: Int, attempts: Int, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let report = try report(number, sourceLocation: sourceLocation)
    #expect(report.state == "pending", sourceLocation: sourceLocation)
    #expect(report.attempts == attempts, sourceLocation: sourceLocation)
    #expect(!report.isUploaded && report.metadata.serverID.isEmpty, sourceLocation: sourceLocation)
  }

  /// Expects the report in `completed/` as one that will not be uploaded.
  func expectGivenUp(_ number: Int, attempts: Int, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let report = try report(number, sourceLocation: sourceLocation)
    #expect(report.state == "completed", sourceLocation: sourceLocation)
    #expect(report.attempts == attempts, sourceLocation: sourceLocation)
    #expect(!report.isUploaded, sourceLocation: sourceLocation)
  }

  /// Expects the report in `completed/` with that id of the server.
  func expectUploaded(_ number: Int, as id: String?, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let report = try report(number, sourceLocation: sourceLocation)
    #expect(report.state == "completed", sourceLocation: sourceLocation)
    #expect(report.isUploaded, sourceLocation: sourceLocation)
    #expect(report.serverID == id, sourceLocation: sourceLocation)
  }

  /// Runs `crashpadctl upload` on it; `variables` are those of a shell's command: `http_proxy=…`.
  ///
  /// - Parameter status: the exit status to expect; nil if the test looks at it.
  @discardableResult
  func upload(
    to url: String?, _ options: String = "", now: Int? = now, variables: String = "", prefix: String = "",
    status: Int32? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Tool.Outcome {
    let time = now.map { " --now \($0)" } ?? ""
    let address = url.map { " --url '\($0)'" } ?? ""
    let result = try Tool.shell("\(variables) exec \(prefix) \(command(options))\(address)\(time)", in: folder)
    if let status { #expect(result.status == status, "\(result.errorText)", sourceLocation: sourceLocation) }
    return result
  }

  func command(_ options: String = "") -> String { "crashpadctl upload --database \(name) \(options)" }
}
