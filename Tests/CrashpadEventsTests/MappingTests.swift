// SPDX-License-Identifier: Apache-2.0
import Foundation
import CrashpadSnapshot
import Testing
import ToolRunner

@testable import CrashpadEvents

/// The forms other than the seed's, each against the names of its documents.
struct MappingTests {
  // MARK: Sensors

  @Test func `Sensors has the events, properties and envelope of the SDK`() throws {
    var options = SampleEvent.active
    options.annotations += [("anonymous_id", "a1"), ("login_id", "l1")]
    let documents = try SampleEvent.documents(.sensors, options)
    try #require(documents.count == 2)
    #expect(documents.map { $0["event"].string } == ["AppCrashed", "$AppEnd"])
    for document in documents {
      #expect(document["type"].string == "track")
      #expect(document["time"].int == 1_700_000_012_345)
      #expect(document["distinct_id"].string == "anna")
      #expect(document["anonymous_id"].string == "a1")
      #expect(document["login_id"].string == "l1")
      #expect(document["identities"]["$identity_login_id"].string == "l1")
      #expect(document["identities"]["$identity_anonymous_id"].string == "a1")
      #expect(document["lib"]["$lib"].string == "iOS")
      #expect(document["lib"]["$lib_version"].string == "9.9")
      #expect(document["lib"]["$app_version"].string == "2.7")
      let properties = document["properties"]
      #expect(properties["$model"].string == "iPhone17,1")
      #expect(properties["$manufacturer"].string == "Apple")
      #expect(properties["$os"].string == "iOS")
      #expect(properties["$os_version"].string == "18.4.1")
      #expect(properties["$app_name"].string == "Shop")
      let track = try #require(document["_track_id"].int)
      #expect((0...0xffff_ffff).contains(track))
    }
    #expect(documents[0]["lib"]["$lib_method"].string == "code")
    #expect(documents[1]["lib"]["$lib_method"].string == "autoTrack")
    #expect(documents[0]["_track_id"].int != documents[1]["_track_id"].int)
    let reason = try #require(documents[0]["properties"]["app_crashed_reason"].string)
    #expect(reason.hasPrefix("Signal 11 was raised. 0   CoreFoundation                      0x00000001803f25e4 "))
    #expect(reason.contains("+ 236\n1   Shop"))
    #expect(try SampleEvent.lines(.sensors, options)[1].contains(#""event_duration":12.345"#))
    #expect(documents[1]["properties"]["app_crashed_reason"].string == nil)
  }

  @Test func `The reason of an exception has its text and its stack on two lines`() throws {
    var options = SampleEvent.Options()
    options.message = "*** Terminating app due to uncaught exception 'NSRangeException', reason: 'gone'"
    let document = try #require(SampleEvent.documents(.sensors, options).first)
    let reason = try #require(document["properties"]["app_crashed_reason"].string)
    #expect(reason.hasPrefix("Exception Reason:gone\nException Stack:0   CoreFoundation "))
  }

  // MARK: OpenTelemetry

  private func attributes(_ record: JSONDocument) -> [String: String] {
    Dictionary(
      record["attributes"].array.map {
        ($0["key"].string ?? "", $0["value"]["stringValue"].string ?? $0["value"]["intValue"].string ?? "number")
      }
    ) { first, _ in "\(first) twice" }
  }

  @Test func `OpenTelemetry has the events of the semantic conventions`() throws {
    let lines = try SampleEvent.documents(.otel, SampleEvent.active)
    try #require(lines.count == 1)
    let resource = lines[0]["resourceLogs"][0]
    #expect(attributes(resource["resource"]) == ["service.name": "reporter", "service.version": "9.9"])
    let records = resource["scopeLogs"][0]["logRecords"].array
    #expect(records.map { $0["eventName"].string } == ["app.crash", "session.end"])
    #expect(records.map { $0["severityNumber"].int } == [21, 9])
    #expect(records.allSatisfy { $0["timeUnixNano"].string == "1700000012345000000" })
    let crash = attributes(try #require(records.first))
    // All that model/app/events.yaml lists: the resource is not the app that crashed.
    for name in [
      "app.build_id", "app.crash.id", "exception.type", "exception.message", "exception.stacktrace", "os.name",
      "os.version", "service.version", "session.id",
    ] { #expect(crash[name]?.isEmpty == false, "\(name)") }
    #expect(crash["app.crash.id"] == SampleEvent.id.text)
    #expect(crash["exception.type"] == "EXC_BAD_ACCESS")
    #expect(crash["exception.message"] == "EXC_BAD_ACCESS / KERN_INVALID_ADDRESS at 0x10")
    #expect(crash["service.name"] == "Shop")
    #expect(crash["service.version"] == "2.7")
    #expect(crash["os.type"] == "darwin")
    #expect(crash["device.model.identifier"] == "iPhone17,1")
    #expect(crash["process.pid"] == "4711")
    #expect(crash["thread.id"] == "77")
    #expect(crash["exception.escaped"] == nil)
    let trace = try #require(crash["exception.stacktrace"])
    #expect(trace.contains("Cart.total() (Cart.swift:12) [inlined]"))
    let end = attributes(records[1])
    #expect(end["session.id"] == crash["session.id"])
    #expect(end["crashpadctl.session.duration"] == "number")
  }

  /// Python's protobuf is the same parser as the collector's: unknown members and wrong types are errors.
  private static let python: String? = {
    let variable = ProcessInfo.processInfo.environment["OPENTELEMETRY_PYTHON"]
    let module = "opentelemetry.proto.collector.logs.v1.logs_service_pb2"
    // `scripts/dependencies peers` puts one there.
    let root = (0..<3).reduce(URL(fileURLWithPath: #filePath)) { path, _ in path.deletingLastPathComponent() }
    // No link is followed: a Python finds its packages by the path that it was called by.
    let peers = root.appending(path: ".build/peers/bin/python3").path
    return (variable.map { [$0] } ?? [peers, "python3"]).first { python in
      guard let folder = try? TemporaryFolder() else { return false }
      let command = "\(python) -c 'import google.protobuf.json_format, \(module)'"
      return (try? Tool.shell(command, in: folder).status) == 0
    }
  }()

  @Test(
    .enabled(if: python != nil, "no python3 that can import opentelemetry-proto: scripts/dependencies peers"))
  func `OpenTelemetry's requests are those of its proto`() throws {
    let folder = try TemporaryFolder()
    var text = ""
    for options in [SampleEvent.active, SampleEvent.Options()] {
      text += try SampleEvent.lines(.otel, options).joined()
    }
    try folder.write(Array(text.utf8), to: "events.json")
    let script = """
      from google.protobuf.json_format import Parse
      from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest as Request
      for line in open("events.json"):
          request = Parse(line, Request())
          for record in request.resource_logs[0].scope_logs[0].log_records:
              print(record.event_name, record.time_unix_nano, record.severity_number, len(record.attributes) > 1)
      """
    try folder.write(Array(script.utf8), to: "parse.py")
    let result = try Tool.shell("\(Self.python ?? "") parse.py", in: folder)
    #expect(result.status == 0, "\(result.errorText)")
    #expect(
      result.text == """
        app.crash 1700000012345000000 21 True
        session.end 1700000012345000000 9 True
        app.crash 1700000012345000000 21 True

        """)
    // The parser takes no member that is not in the proto, and no value of another type.
    for (name, other) in [
      ("\"timeUnixNano\"", "\"timeUnixNanos\""), ("\"eventName\"", "\"event\""), ("\"stringValue\"", "\"textValue\""),
      ("\"severityNumber\":21", "\"severityNumber\":\"fatal\""),
    ] {
      #expect(text.contains(name))
      try folder.write(Array(text.replacing(name, with: other).utf8), to: "events.json")
      let result = try Tool.shell("\(Self.python ?? "") parse.py", in: folder)
      #expect(result.status == 1, "\(other)")
      #expect(result.errorText.contains("ParseError"), "\(other): \(result.errorText)")
    }
  }

  // MARK: Elastic

  @Test func `Elastic has the fields of its schema`() throws {
    let documents = try SampleEvent.documents(.ecs, SampleEvent.active)
    try #require(documents.count == 2)
    #expect(documents.map { $0["event"]["action"].string } == ["app-crash", "session-end"])
    #expect(documents.map { $0["event"]["category"][0].string } == ["process", "session"])
    #expect(documents[0]["event"]["type"].array.compactMap(\.string) == ["end", "error"])
    #expect(documents[1]["event"]["type"].array.compactMap(\.string) == ["end"])
    #expect(documents[1]["event"]["duration"].int == 12_345_000_000)
    #expect(documents[0]["event"]["id"].string == SampleEvent.id.text)
    #expect(documents[0]["error"]["type"].string == "EXC_BAD_ACCESS")
    #expect(documents[0]["error"]["code"].string == "11")
    #expect(documents[1]["error"]["type"].string == nil)
    for document in documents {
      #expect(document["@timestamp"].string == "2023-11-14T22:13:32.345Z")
      #expect(document["event"]["kind"].string == "event")
      #expect(document["process"]["pid"].int == 4711)
      #expect(document["process"]["thread"]["id"].int == 77)
      #expect(document["host"]["os"]["type"].string == "ios")
      #expect(document["device"]["model"]["identifier"].string == "iPhone17,1")
      #expect(document["service"]["version"].string == "2.7")
      #expect(document["user"]["id"].string == "anna")
    }
  }

  @Test(arguments: [
    (0, "1970-01-01T00:00:00.000Z"), (951_782_399_999, "2000-02-28T23:59:59.999Z"),
    (951_782_400_000, "2000-02-29T00:00:00.000Z"), (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
    (-5, "1970-01-01T00:00:00.000Z"), (Int64.max, "9999-12-31T23:59:59.999Z"),
  ])
  func `Times are written in UTC`(milliseconds: Int64, text: String) {
    #expect(EventTime.rfc3339(milliseconds: milliseconds) == text)
  }

  // MARK: Sentry

  @Test func `Sentry's envelope has a head, the item's head and the payload`() throws {
    let lines = try SampleEvent.lines(.sentrySession, SampleEvent.active)
    #expect(lines.prefix(2) == ["{}\n", "{\"type\":\"session\"}\n"])
    try #require(lines.count == 3)
    #expect(lines[2].contains("\"duration\":12.345,"))
    let session = try JSONDocument(Data(lines[2].utf8))
    #expect(session["sid"].string == SampleEvent.id.text)
    #expect(session["did"].string == "anna")
    #expect(session["init"].bool == true)
    #expect(session["started"].string == "2023-11-14T22:13:20.000Z")
    #expect(session["timestamp"].string == "2023-11-14T22:13:32.345Z")
    #expect(session["status"].string == "crashed")
    #expect(session["errors"].int == 1)
    #expect(session["attrs"]["release"].string == "Shop@2.7+182")
  }

  @Test func `An app that did not answer has an abnormal end`() throws {
    var options = SampleEvent.Options()
    var report = ReportSnapshot(kind: .crash)
    var termination = ReportSnapshot.Termination()
    (termination.namespace, termination.code) = ("SPRINGBOARD", 0x8bad_f00d)
    report.termination = termination
    report.role = "Foreground"
    options.report = report
    let session = try SampleEvent.documents(.sentrySession, options)[2]
    #expect(session["status"].string == "abnormal")
    #expect(session["abnormal_mechanism"].string == "anr_foreground")
    options.role = "Background"
    #expect(try SampleEvent.documents(.sentrySession, options)[2]["abnormal_mechanism"].string == "anr_background")
  }

  @Test func `A session id that is a UUID is kept, and another becomes one`() throws {
    var options = SampleEvent.Options()
    options.annotations.append(("session.id", "7C7B6585-F901-4351-BF8D-02711B721929"))
    #expect(
      try SampleEvent.documents(.sentrySession, options)[2]["sid"].string == "7c7b6585-f901-4351-bf8d-02711b721929")
    options.annotations[options.annotations.count - 1].1 = "number 5"
    let id = try SampleEvent.documents(.sentrySession, options)[2]["sid"].string
    #expect(id.flatMap { UUIDBytes(text: $0) } != nil)
    #expect(try SampleEvent.documents(.sentrySession, options)[2]["sid"].string == id)
  }

  // MARK: All

  @Test(arguments: EventMapping.allCases)
  func `An event is the same each time`(mapping: EventMapping) throws {
    #expect(try SampleEvent.lines(mapping) == SampleEvent.lines(mapping))
  }

  @Test(arguments: EventMapping.allCases)
  func `Hostile text stays one line of JSON`(mapping: EventMapping) throws {
    var options = SampleEvent.active
    options.annotations = [
      ("distinct_id", "\u{1b}[31m\"\\\n\u{0}\u{202e}"), ("ver", "\n"), ("application_state", "active"),
      ("session.id", "\r\n"), ("manufacturer", String(repeating: "é\n", count: 20_000)),
    ]
    options.message = "uncaught exception of type \n: \u{7f}"
    options.time = .max
    for line in try SampleEvent.lines(mapping, options) {
      #expect(line.hasSuffix("\n") && !line.dropLast().contains("\n"))
      #expect(line.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f || $0 == "\n" })
      _ = try JSONDocument(Data(line.utf8))
    }
  }
}
