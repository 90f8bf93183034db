// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// A web server on the loopback interface that counts requests, and may do wrong on purpose.
final class FileServer: Sendable {
  enum Answer: Sendable {
    case file([UInt8])
    case status(Int)
    case redirect(String)
    /// Takes the request, and is silent.
    case hang
    /// Announces more bytes than it sends.
    case cut([UInt8])
    /// Marks the end by closing the connection only.
    case unmarked([UInt8])
    /// Sends a byte now and then.
    case drip
    /// Sends these bytes first, then more in pieces with a length each, and no end.
    case endless([UInt8])
    /// Has a mark of the file, sends the rest of it if it is asked for, and breaks off after a number of bytes.
    case marked([UInt8], tag: String, most: Int)
    /// Breaks off after a number of bytes; sends one byte of the rest, and says that it is all.
    case shortRest([UInt8], most: Int)
  }

  let port: Int
  private let listener: Int32
  private let answer: @Sendable (Post) -> Answer
  private struct Log {
    var paths: [String] = []
    var fields: [String] = []
    var posts: [Post] = []
    var isOver = false
    var open: Set<Int32> = []
  }
  private let log = Mutex(Log())

  /// A request; one without a body has an empty one.
  struct Post: Sendable {
    let path: String
    let body: [UInt8]
  }

  /// The requests with a body that came whole.
  var posts: [Post] { log.withLock { $0.posts } }
  /// The paths that were asked for.
  var paths: [String] { log.withLock { $0.paths } }
  /// The header fields of all requests.
  var fields: [String] { log.withLock { $0.fields } }
  var url: String { "http://127.0.0.1:\(port)" }

  /// - Parameter answer: the answer for the path of a request.
  convenience init(_ answer: @escaping @Sendable (String) -> Answer) throws {
    try self.init(answer: { answer($0.path) }, backlog: 64)
  }

  init(answer: @escaping @Sendable (Post) -> Answer, backlog: Int32) throws {
    self.answer = answer
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    self.listener = listener
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = unsafe withUnsafeMutablePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(listener, $0, size) == 0 && listen(listener, backlog) == 0 && getsockname(listener, $0, &size) == 0
      }
    }
    guard status else { throw POSIXError(.EADDRINUSE) }
    port = Int(address.sin_port.bigEndian)
    Thread.detachNewThread { [weak self] in
      while true {
        let connection = accept(listener, nil, nil)
        if connection < 0 { return }
        guard let server = self else { return }
        Thread.detachNewThread { server.serve(connection) }
      }
    }
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }

  /// Answers the requests of one connection.
  private func serve(_ connection: Int32) {
    defer { close(connection) }
    var rest: [UInt8] = []
    while let head = Self.head(connection, &rest) {
      let lines = head.split(separator: "\r\n")
      let path = String(lines[0].split(separator: " ")[1])
      log.withLock { log in
        log.paths.append(path)
        log.fields += lines.dropFirst().map(String.init)
      }
      let field = lines.first { $0.lowercased().hasPrefix("content-length:") }
      let length = field.flatMap { Int($0.dropFirst(15).filter { $0.isNumber }) }
      var post = Post(path: path, body: [])
      if let length {
        guard Self.fill(connection, &rest, length) else { return }
        post = Post(path: path, body: Array(rest[..<length]))
        log.withLock { $0.posts.append(post) }
        rest.removeFirst(length)
      }
      guard send(answer(post), lines, connection) else { return }
    }
  }

  private static func head(_ connection: Int32, _ rest: inout [UInt8]) -> String? {
    while true {
      if let end = Data(rest).range(of: Data("\r\n\r\n".utf8)) {
        defer { rest = Array(rest[end.upperBound...]) }
        return String(decoding: rest[..<end.lowerBound], as: UTF8.self)
      }
      guard receive(connection, &rest) else { return nil }
    }
  }

  private static func fill(_ connection: Int32, _ rest: inout [UInt8], _ count: Int) -> Bool {
    while rest.count < count { guard receive(connection, &rest) else { return false } }
    return true
  }

  private static func receive(_ connection: Int32, _ rest: inout [UInt8]) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe recv(connection, &buffer, buffer.count, 0)
    if count > 0 { rest += buffer[..<count] }
    return count > 0
  }

  /// Returns whether the connection may be used again.
  private func send(_ answer: Answer, _ fields: [Substring], _ connection: Int32) -> Bool {
    func write(_ text: String, _ body: [UInt8] = []) -> Bool {
      let bytes = Array(text.utf8) + body
      return unsafe Glibc.send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }
    switch answer {
    case .file(let bytes): return write("HTTP/1.1 200 OK\r\nContent-Length: \(bytes.count)\r\n\r\n", bytes)
    case .status(let status): return write("HTTP/1.1 \(status) Some\r\nContent-Length: 3\r\n\r\nno\n")
    case .redirect(let url):
      return write("HTTP/1.1 302 Found\r\nLocation: \(url)\r\nContent-Length: 0\r\n\r\n")
    case .hang:
      sleep(60)
      return false
    case .cut(let bytes):
      _ = write("HTTP/1.1 200 OK\r\nContent-Length: \(bytes.count + 100)\r\n\r\n", bytes)
      return false
    case .unmarked(let bytes):
      _ = write("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", bytes)
      return false
    case .marked(let bytes, let tag, let most):
      func field(_ name: String) -> String? {
        fields.first { $0.hasPrefix("\(name): ") }.map { String($0.dropFirst(name.count + 2)) }
      }
      let first = field("If-Range") == tag ? field("Range").flatMap { Int($0.filter(\.isNumber)) } ?? 0 : 0
      let range = "Content-Range: bytes \(first)-\(bytes.count - 1)/\(bytes.count)\r\n"
      let head = first > 0 ? "HTTP/1.1 206 Partial Content\r\n\(range)" : "HTTP/1.1 200 OK\r\n"
      let rest = bytes[first...].prefix(most)
      return write("\(head)ETag: \(tag)\r\nContent-Length: \(bytes.count - first)\r\n\r\n", Array(rest))
        && first + rest.count == bytes.count
    case .shortRest(let bytes, let most):
      if fields.contains(where: { $0.hasPrefix("If-Range: ") }) {
        let range = "Content-Range: bytes \(most)-\(bytes.count - 1)/\(bytes.count)\r\n"
        return write("HTTP/1.1 206 Partial Content\r\n\(range)Content-Length: 1\r\n\r\n", [bytes[most]])
      }
      _ = write("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: \(bytes.count)\r\n\r\n", Array(bytes.prefix(most)))
      return false
    case .endless(let start):
      func writePiece(_ bytes: [UInt8]) -> Bool {
        write("\(String(bytes.count, radix: 16))\r\n", bytes + Array("\r\n".utf8))
      }
      guard write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), writePiece(start) else { return false }
      let piece = [UInt8](repeating: UInt8(ascii: "#"), count: 65_536)
      // A client that takes all of it gets another end than that of a whole file.
      for _ in 0..<4096 { guard writePiece(piece) else { return false } }
      return false
    case .drip:
      guard write("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n") else { return false }
      while write(".") { usleep(200_000) }
      return false
    }
  }
}
