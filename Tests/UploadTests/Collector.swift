// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import Testing
import ToolRunner

/// A collector of reports that runs for one test, on a port that was free.
final class Collector: Sendable {
  let port: Int
  let directory: URL
  private let process: Process
  /// The collector runs as long as this is open, whatever happens to the test.
  private let input: Pipe
  /// Has the port of a collector that was stopped, so that no other program gets it, and does not listen; -1 if there is none.
  private let holder = Mutex<Int32>(-1)

  struct NotStarted: Error, CustomStringConvertible { let description: String }

  init(in folder: TemporaryFolder, _ name: String = "collected", _ arguments: [String] = []) throws {
    directory = folder.url(name)
    process = Process()
    process.executableURL = URL(fileURLWithPath: Tool.path).deletingLastPathComponent().appending(path: "collector")
    process.arguments = ["--directory", directory.path] + arguments
    input = Pipe()
    let output = Pipe()
    process.standardInput = input
    process.standardOutput = output
    try Tool.startUnblocked(process)
    var text = Data()
    while !text.contains(UInt8(ascii: "\n")) {
      let more = output.fileHandleForReading.availableData
      if more.isEmpty { break }
      text += more
    }
    let words = String(decoding: text, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    guard words.count == 2, words[0] == "listening", let port = Int(words[1]) else {
      throw NotStarted(description: "the collector said \(words)")
    }
    self.port = port
  }

  deinit {
    end()
    holder.withLock { if $0 >= 0 { close($0) } }
  }

  /// Ends the collector once everything that is under way is written down. Until this object goes, connections to its port
  /// are refused, or go to a collector that was started anew with that port.
  func stop() {
    end()
    holder.withLock { holder in
      guard holder < 0 else { return }
      holder = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var one: Int32 = 1
      unsafe setsockopt(holder, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
      var address = Self.address(port)
      let status = unsafe withUnsafePointer(to: &address) {
        unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe bind(holder, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      if status != 0 { Issue.record("port \(port) is another's: error \(errno)") }
    }
  }

  private func end() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  private static func address(_ port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return address
  }

  /// Waits until it has read and written down what clients sent that have gone.
  func settle() throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = Self.address(port)
    let isConnected = unsafe withUnsafePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    let request = Array("GET /idle HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
    var byte: UInt8 = 0
    guard isConnected, unsafe send(descriptor, request, request.count, 0) == request.count,
      unsafe recv(descriptor, &byte, 1, 0) == 1
    else { throw NotStarted(description: "the collector does not answer") }
  }

  /// Whether it still answers.
  var isRunning: Bool { process.isRunning }

  func url(_ path: String = "/submit") -> String { "http://127.0.0.1:\(port)\(path)" }

  /// The requests until now. A tool that has got an answer finds its request here.
  var events: [Event] {
    get throws {
      try String(decoding: Data(contentsOf: directory.appending(path: "log.ndjson")), as: UTF8.self)
        .split(separator: "\n", omittingEmptySubsequences: false).dropLast().map {
          Event(try JSONDocument(Data($0.utf8)))
        }
    }
  }

  /// The requests that came whole, in their order.
  var requests: [Event] {
    get throws { try events.filter { $0.kind == "request" } }
  }

  /// How many lines the log has.
  var lineCount: Int {
    (try? Data(contentsOf: directory.appending(path: "log.ndjson")).count { $0 == 10 }) ?? 0
  }

  /// The bytes of a request's part with a file.
  func bytes(of part: Part, _ event: Event) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: directory.appending(path: "\(event.number)/\(#require(part.file))")))
  }

  /// The fields of a request, in their order.
  func fields(of event: Event) throws -> [[String]] {
    try JSONDocument(Data(contentsOf: directory.appending(path: "\(event.number)/fields.json"))).array.map {
      $0.array.map { $0.string ?? "" }
    }
  }

  struct Part {
    let name: String
    let fileName: String?
    let type: String?
    let size: Int
    let file: String?
  }

  /// A line of the log.
  struct Event {
    let kind: String
    let number: Int
    let method: String
    let target: String
    let headers: [[String]]
    let parts: [Part]
    /// The report's id, as the minidump's name has it.
    let report: String?
    let status: Int
    /// The name in the answer.
    let id: String?
    let problem: String?

    init(_ line: JSONDocument) {
      kind = line["event"].string ?? ""
      number = line["number"].int ?? 0
      method = line["method"].string ?? ""
      target = line["target"].string ?? ""
      headers = line["headers"].array.map { $0.array.map { $0.string ?? "" } }
      parts = line["parts"].array.map {
        Part(
          name: $0["name"].string ?? "", fileName: $0["file_name"].string, type: $0["type"].string,
          size: $0["size"].int ?? 0, file: $0["file"].string)
      }
      report = line["report"].string
      status = line["status"].int ?? 0
      id = line["id"].string
      problem = line["problem"].string
    }

    subscript(header: String) -> String? { headers.first { $0[0] == header }?[1] }
  }
}
