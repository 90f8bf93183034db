// SPDX-License-Identifier: Apache-2.0
import Glibc

/// One connection, with as many requests as come.
final class Connection {
  private let stream: Stream
  private let store: Store
  /// The number of the request that is under way.
  private var number = 0

  init(_ descriptor: Int32, _ store: Store) {
    stream = Stream(descriptor)
    self.store = store
  }

  deinit { close(stream.descriptor) }

  func serve() {
    do {
      while let head = try stream.head() {
        guard var request = Request(head) else {
          _ = stream.write("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".utf8)
          return stream.linger()
        }
        request.isFirst = number == 0
        guard try answer(request) else { return }
      }
    } catch {
      var line = JSONLine()
      line.add("event", "broken")
      line.add("number", Int64(number))
      line.add("reason", (error as? Ended)?.reason ?? "\(error)")
      store.write(line)
    }
  }

  /// Whether the connection stays.
  private func answer(_ request: Request) throws -> Bool {
    if request.path == "/idle" {
      store.waitForOtherConnections()
      return stream.write(Behaviour.answer(200, "idle"))
    }
    number = store.nextNumber()
    if request.method == "CONNECT" { return tunnel(request) }
    let behaviour = Behaviour(request)
    switch behaviour.before {
    case .nothing: break
    case .readsNothing:
      note(request, "nothing of it was read")
      stream.waitForEnd(limit: 8000)
      return false
    case .answers(let bytes):
      note(request, "answered before it was read")
      _ = stream.write(bytes)
      if behaviour.status >= 400 { stream.linger() }
      return false
    case .babbles(let head):
      note(request, "answered without an end")
      var goesOn = stream.write(head)
      while goesOn {
        goesOn = stream.write([UInt8](repeating: UInt8(ascii: "x"), count: 4096))
        usleep(20_000)
      }
      return false
    case .resetsWithinBody:
      note(request, "reset within its body")
      if !request.has("100-continue", in: "expect") || stream.write("HTTP/1.1 100 Continue\r\n\r\n".utf8) {
        var count = 0
        try? unsafe readBody(request) { (bytes) throws in
          count += bytes.count
          throw Ended(reason: "enough")
        }
      }
      stream.reset()
      return false
    case .readsSlowly: stream.readLimit = (16 << 10, 2000)
    }
    if request.has("100-continue", in: "expect"), !stream.write("HTTP/1.1 100 Continue\r\n\r\n".utf8) { return false }
    if store.directory == nil {
      var size: Int64 = 0
      try unsafe readBody(request) { size += Int64($0.count) }
      store.received(size)
      return finish(behaviour, behaviour.after(store.id(number)))
    }
    return try keep(request, behaviour)
  }

  /// As a proxy: passes on whatever comes, but for hosts that are called `refused`.
  private func tunnel(_ request: Request) -> Bool {
    note(request, "tunnel")
    let port = request.target.split(separator: ":").last.flatMap { UInt16($0) }
    guard !request.target.hasPrefix("refused"), let port, let other = connected(to: port) else {
      _ = stream.write(Behaviour.answer(407, "log in first", ["Proxy-Authenticate: Basic realm=\"x\""]))
      return false
    }
    defer { close(other) }
    guard stream.write("HTTP/1.1 200 Connection established\r\n\r\n".utf8) else { return false }
    relay(stream.descriptor, other)
    return false
  }

  /// A request of which nothing is kept.
  private func note(_ request: Request, _ reason: String) {
    var line = JSONLine()
    line.add("event", "broken")
    line.add("number", Int64(number))
    line.add("target", request.target)
    line.add("reason", reason)
    store.write(line)
  }

  private func keep(_ request: Request, _ behaviour: Behaviour) throws -> Bool {
    var report = StoredReport(store, number)
    try report.write("head", request.head)
    let expansion = request.has("gzip", in: "content-encoding") ? try Expansion() : nil
    var parser = MultipartParser.boundary(in: request["content-type"]).map { MultipartParser(boundary: $0) }
    var body = Part()
    body.fileName = "body"
    if parser == nil, request.method != "GET" { try report.begin(body) }
    var size: Int64 = 0
    let before = stream.byteCount
    func take(_ bytes: UnsafeRawBufferPointer) throws {
      size += Int64(bytes.count)
      if parser != nil { try unsafe parser!.push(bytes, to: &report) } else { try unsafe report.take(bytes) }
    }
    try unsafe readBody(request) { bytes in
      if let expansion { try unsafe expansion.push(bytes, take) } else { try unsafe take(bytes) }
    }
    report.end()
    var problem: String?
    if let expansion, !expansion.isComplete { problem = "gzip ends early" }
    if let parser, !parser.isComplete { problem = problem ?? parser.problem ?? "multipart ends early" }
    try report.write("fields.json", Array(report.fields.utf8))
    store.received(size)

    var behaviour = behaviour
    if let failures = behaviour.failures, store.tries(of: report.report ?? "") > failures { behaviour = .ok }
    if let only = behaviour.only, report.report?.hasSuffix(only) != true { behaviour = .ok }
    let id = store.id(number)
    let action = behaviour.after(id)
    var line = JSONLine()
    line.add("event", "request")
    line.add("number", Int64(number))
    line.add("time", Int64(time(nil)))
    line.add("method", request.method)
    line.add("target", request.target)
    let headers = request.headers.map { JSONLine.list([JSONLine.quoted($0.name), JSONLine.quoted($0.value)]) }
    line.add("headers", raw: JSONLine.list(headers))
    line.add("body_size", size)
    line.add("wire_size", stream.byteCount - before)
    line.add("report", report.report)
    line.add("parts", raw: report.list)
    line.add("problem", problem)
    line.add("status", Int64(problem == nil ? behaviour.status : 400))
    line.add("id", problem == nil && (200..<300).contains(behaviour.status) ? id : nil)
    store.write(line)
    if let problem { return finish(.ok, .answer(Behaviour.answer(400, problem), closes: true)) }
    return finish(behaviour, action)
  }

  private func finish(_ behaviour: Behaviour, _ action: Behaviour.Action) -> Bool {
    var whole = true
    var stays = true
    switch action {
    case .answer(let bytes, let closes):
      whole = stream.write(bytes)
      if closes { stream.linger() }
      stays = whole && !closes
    case .waits:
      stream.waitForEnd()
      (whole, stays) = (false, false)
    case .closes: (whole, stays) = (false, false)
    case .resets:
      stream.reset()
      (whole, stays) = (false, false)
    case .trickles(let bytes, let milliseconds):
      for byte in bytes where whole {
        whole = stream.write([byte])
        usleep(milliseconds * 1000)
      }
      stays = whole
    case .floods(let head, let count):
      whole = stream.write(head)
      let block = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
      for _ in 0..<count where whole { whole = stream.write(block) }
      stays = whole
    case .floodsLines(let head, let count):
      whole = stream.write(head)
      let line = Array("T: ".utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: 1019) + [13, 10]
      let block = Array(repeatElement(line, count: 1024).joined())
      for _ in 0..<count where whole { whole = stream.write(block) }
      stays = false
    }
    var line = JSONLine()
    line.add("event", "answered")
    line.add("number", Int64(number))
    line.add("whole", whole)
    store.write(line)
    return stays
  }

  /// Gives the body's bytes as they come, without the form of the transfer.
  private func readBody(_ request: Request, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    if request.has("chunked", in: "transfer-encoding") {
      while true {
        let digits = try stream.line().prefix { $0 != ";" }
        guard let size = Int64(digits.trimming, radix: 16), size >= 0 else { throw Ended(reason: "a bad chunk") }
        if size == 0 { break }
        try unsafe stream.pieces(size, body)
        guard try stream.line().isEmpty else { throw Ended(reason: "a chunk that does not end") }
      }
      while try !stream.line().isEmpty {}
    } else if let text = request["content-length"] {
      guard let size = Int64(text.trimming[...]), size >= 0 else { throw Ended(reason: "a bad length") }
      try unsafe stream.pieces(size, body)
    }
  }
}

extension StringProtocol {
  var trimming: String {
    String(decoding: utf8.filter { $0 > 32 }, as: UTF8.self)
  }
}
