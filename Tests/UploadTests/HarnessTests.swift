// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// The servers that the other tests believe, asked by curl's tool where there is one.
@Suite("Servers of the tests")
struct HarnessTests {
  static let hasCurl = FileManager.default.isExecutableFile(atPath: "/usr/bin/curl")

  @Test("The harness keeps the request byte for byte", .enabled(if: hasCurl, "no curl"))
  func kept() throws {
    let folder = try TemporaryFolder()
    let collector = try Collector(in: folder)
    let bytes = (0..<300_000).map { _ in UInt8.random(in: 0...255) } + Array("\r\n--".utf8)
    try folder.write(bytes, to: "file")
    try folder.write([], to: "empty")
    let send = "curl -sS -F 'b=zw\u{e4}i' -F a= -F 'upload_file_minidump=@file;filename=7.dmp' -F 'none=@empty'"
    let result = try Tool.shell("\(send) '\(collector.url("/submit?x=1"))'", in: folder)
    #expect(result.text == "CrashID=bp-1", "\(result.errorText)")
    let event = try #require(try collector.requests.first)
    #expect(event.target == "/submit?x=1" && event.report == "7" && event.id == result.text && event.problem == nil)
    #expect(try collector.fields(of: event) == [["b", "zw\u{e4}i"], ["a", ""]])
    #expect(try collector.bytes(of: event.parts[2], event) == bytes)
    #expect(try collector.bytes(of: event.parts[3], event) == [])
  }

  @Test("No body that is no multipart ends the collector", .enabled(if: hasCurl, "no curl"))
  func hostile() throws {
    let folder = try TemporaryFolder()
    let collector = try Collector(in: folder)
    let bodies = [
      "", "-", "--B", "--B--", "--B\r\n", "--B\r\n\r\n", "--B\r\n\r\n\r\n--B--", "--Bx", "\r\n--B\r\n\r\n\r\n--B\r\n",
      "--B\r\nContent-Disposition: form-data; name=\"\r\n\r\n\r\n--B--", "x\r\n--B--",
      "--B  \r\n:\r\n\r\nx\r\n--B--trailer",
      String(repeating: "\r\n--", count: 20_000),
    ]
    for (number, body) in bodies.enumerated() {
      try folder.write(Array(body.utf8), to: "body-\(number)")
      let result = try Tool.shell(
        "curl -sS -o answer -w '%{http_code}' -H 'Content-Type: multipart/form-data; boundary=B' "
          + "--data-binary @body-\(number) '\(collector.url())'", in: folder)
      #expect(["200", "400"].contains(result.text), "body \(number): \(result.errorText)")
    }
    #expect(collector.isRunning)
    #expect(try collector.requests.count == bodies.count)
  }

  @Test("nginx passes on what it gets, over TLS too", .enabled(if: WebServer.isPossible && hasCurl, "no nginx or curl"))
  func nginx() throws {
    let server = try WebServer.shared.get()
    let folder = try TemporaryFolder()
    let collector = try Collector(in: folder)
    let urls = [
      server.url(collector), server.url(collector, by: "unbuffered"), server.secureURL(collector),
      server.secureURL(collector, "expired"), server.secureURL(collector, "wrong"), server.secureURL(collector, "self"),
    ]
    let statuses = try urls.map {
      try Tool.shell("curl -sS --cacert \(server.authority) -F a=b '\($0)'", in: folder).status
    }
    #expect(statuses == [0, 0, 0, 60, 60, 60])
    #expect(try collector.requests.count == 3)
    let limited = try Tool.shell(
      "head -c 9000 /dev/zero | curl -sS -o answer -w '%{http_code}' --data-binary @- "
        + "'\(server.url(collector, by: "limited"))'", in: folder)
    #expect(limited.text == "413", "\(limited.errorText)")
  }
}
