// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// The form that a server receives of a report.
@Suite("Received requests")
struct ReceivedTests {
  enum Way: String, CaseIterable, CustomTestStringConvertible {
    case direct
    case nginx
    case unbuffered = "nginx that passes on while it receives"
    case secure = "nginx with TLS"

    var testDescription: String { rawValue }

    func url(_ collector: Collector) throws -> String {
      if self == .direct { return collector.url() }
      let server = try WebServer.shared.get()
      return switch self {
      case .secure: server.secureURL(collector)
      case .unbuffered: server.url(collector, by: "unbuffered")
      default: server.url(collector)
      }
    }

    var options: String {
      get throws { self == .secure ? "--ca-file \(try WebServer.shared.get().authority) " : "" }
    }

    static let possible = WebServer.isPossible ? allCases : [.direct]
  }

  /// Bytes that look like a form's, and some that do not compress.
  static let attachment: [UInt8] = {
    var random = SplitMix64(seed: 7)
    return Array("\r\n-----MultipartBoundary--\r\n\r\n--\r\n\0".utf8)
      + (0..<200_000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
  }()

  @Test("All bytes of the report and its attachments", arguments: Way.possible, [true, false])
  func bytes(_ way: Way, compressed: Bool) throws {
    let (folder, collector, database) = try UploadDatabase.withCollector()
    let dump = SynthDump(SynthParameters(seed: 3)).bytes
    try database.add(1, content: dump, attachments: ["log.txt": Self.attachment, "empty": [], "A-b_c.1": [0x0a]])
    let options = try way.options + (compressed ? "" : "--no-gzip")
    try database.upload(to: way.url(collector), options, status: 0)
    let requests = try collector.requests
    let event = try #require(requests.first)
    #expect(requests.count == 1)
    #expect(event.method == "POST" && event.problem == nil && event.report == UploadDatabase.id(1))
    #expect(event["content-encoding"] == (compressed ? "gzip" : nil))
    #expect(event["user-agent"]?.hasPrefix("crashpadctl/") == true)
    if way == .direct {
      #expect((event["transfer-encoding"] == "chunked") == compressed)
      #expect((event["content-length"] == nil) == compressed)
    }
    let files = event.parts.filter { $0.fileName != nil }
    #expect(files.map(\.name) == ["A-b_c.1", "empty", "log.txt", "upload_file_minidump"])
    #expect(files.map(\.fileName) == ["A-b_c.1", "empty", "log.txt", "\(UploadDatabase.id(1)).dmp"])
    #expect(files.allSatisfy { $0.type == "application/octet-stream" })
    let received = try files.map { try collector.bytes(of: $0, event) }
    #expect(received == [[0x0a], [], Self.attachment, dump])
    try database.expectUploaded(1, as: event.id)
    #expect(try database.report(1).content == dump)
    #expect(try folder.bytes(of: "db/attachments/\(UploadDatabase.id(1))/log.txt") == Self.attachment)
  }

  @Test("The annotations as fields, sorted, and product, version and client in the URL")
  func fields() throws {
    let (folder, collector, database) = try UploadDatabase.withCollector()
    var parameters = SynthParameters(seed: 5)
    parameters.annotatedModules = 3
    let dump = SynthDump(parameters)
    let name = "db/pending-serialized-ios-dump/com.example.app@\(UploadDatabase.id(1))"
    try folder.write(dump.bytes, to: name)
    let processed = try Tool.shell("crashpadctl process --database db", in: folder)
    #expect(processed.status == 0, "\(processed.errorText)")
    try database.upload(to: collector.url("/submit?a=b"), "--field extra=one --field 'ver=9 9'", now: nil, status: 0)
    var expected: [String: String] = [:]
    for annotation in dump.process.annotations { expected[annotation.name] = annotation.value }
    var messages: [String] = []
    for module in dump.modules {
      for annotation in module.simpleAnnotations where expected[annotation.name] == nil {
        expected[annotation.name] = annotation.value
      }
      messages += [module.message1, module.message2].compactMap { $0 }
      for object in module.annotationObjects where object.type == 1 && expected[object.name] == nil {
        expected[object.name] = String(decoding: object.value, as: UTF8.self)
      }
    }
    expected["list_annotations"] = messages.isEmpty ? nil : messages.joined(separator: "\n")
    expected["crashpad_uptime_ns"] = "\(dump.system.crashpadUptimeNanoseconds)"
    expected["guid"] = UploadDatabase.clientID
    expected["extra"] = "one"
    expected["ver"] = "9 9"
    let event = try #require(try collector.requests.first)
    let fields = try collector.fields(of: event)
    #expect(fields.map { $0[0] } == expected.keys.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) })
    for field in fields { #expect(field[1] == expected[field[0]], "\(field[0])") }
    #expect(event.parts.map(\.name).last == "upload_file_minidump")
    #expect(
      event.target == "/submit?a=b&product=\(parameters.product)&version=9%209&guid=\(UploadDatabase.clientID)",
      "\(event.target)")
  }

  @Test("Address and keys come from the environment or from files, and are not told")
  func secrets() throws {
    let (folder, collector, database) = try UploadDatabase.withCollector(1...3)
    try folder.write(Array("\(collector.url("/submit?key=secret-1"))\n".utf8), to: "address")
    try folder.write(Array("X-Key: secret-2\n\nAuthorization: Basic secret-3\n".utf8), to: "headers")
    let id = UploadDatabase.id
    let runs = [
      try database.upload(
        to: nil, "--report \(id(1)) --header 'X-Plain: a b'",
        variables: "CRASHPADCTL_UPLOAD_URL=\(collector.url("/env"))"),
      try database.upload(to: "@address", "--report \(id(2)) --header @headers --verbose"),
      try database.upload(to: "@address", "--report \(id(3)) --no-url-parameters --format json"),
    ]
    #expect(runs.map(\.status) == [0, 0, 0], "\(runs.map(\.errorText))")
    let events = try collector.requests
    #expect(events.count == 3)
    #expect(events.map { $0["x-plain"] } == ["a b", nil, nil])
    #expect(events.map { $0["x-key"] } == [nil, "secret-2", nil])
    #expect(events.map { $0["authorization"] } == [nil, "Basic secret-3", nil])
    #expect(events.first?.target.hasPrefix("/env") == true)
    #expect(events.last?.target == "/submit?key=secret-1")
    for run in runs { #expect(!run.errorText.contains("secret") && !run.text.contains("secret"), "\(run.errorText)") }
  }

  @Test("A dry run sends and changes nothing")
  func dryRun() throws {
    let (folder, collector, database) = try UploadDatabase.withCollector(1...3)
    let before = try (1...3).map { try database.report($0) }
    let result = try database.upload(to: collector.url(), "--dry-run")
    #expect(result.status == 0 && result.errorText.contains("3 would be uploaded"), "\(result.errorText)")
    #expect(try collector.events.isEmpty)
    #expect(try (1...3).map { try database.report($0) } == before)
    #expect(try folder.names(in: "db").count == 6, "nothing is made")
  }
}
