// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The server's reaction to a request, by the path.
///
/// - `/status/NNN[?retry-after=TEXT]`: that status, with the header if it is asked for
/// - `/status/NNN?only=TEXT`: so for reports whose id ends in that, success for the others
/// - `/status/NNN?via=proxy`: with a header field as proxies add it
/// - `/plain-http`: 400 with the page that nginx has for HTTP on a port for TLS
/// - `/flaky?fail=K[&status=NNN]`: that status (500) for the first K tries of each report, then success
/// - `/redirect?to=URL[&status=NNN]`: 302 or that
/// - `/hang`, `/hang-early`: no answer after the whole body, or without reading any of it
/// - `/reset`, `/reset-answer`: a reset within the body, or after it
/// - `/close`: closes the connection without an answer; `/keepalive-close` with one, though it said that it stays open
/// - `/second-reset`: the first request of each connection succeeds; a reset in place of every other answer
/// - `/413-early`: 413 before the body is read; `/200-early`: success, with an id, and then it closes
/// - `/endless/NNN`: that status before the body is read, with an answer that never ends
/// - `/417`: 417 if the client asks whether it may send the body, else success
/// - `/trickle[?ms=N]`: a byte of the answer every second or N milliseconds; `/slow-read`: reads slowly, then success
/// - `/garbage`: an answer that is no HTTP; `/half-answer`: less than the length it told; `/huge-answer`: 100 MB
/// - `/encoded`: success, with an unknown encoding
/// - `/trailers`: success, in chunks, with 100 MB of trailers
/// - `/huge-header`: a header field of a megabyte
/// - `/html`: 200 with a page, as networks answer that want a login first; `/empty`: 200 without a body; `/binary`: an id of
///   other bytes than text
/// - `/idle`: success once there is no other connection; nothing is kept of it
/// - all others: success
struct Behaviour {
  enum Before { case nothing, readsNothing, answers([UInt8]), babbles([UInt8]), resetsWithinBody, readsSlowly }
  enum Action {
    case answer([UInt8], closes: Bool)
    case waits, closes, resets
    case trickles([UInt8], milliseconds: UInt32)
    case floods([UInt8], megabytes: Int)
    case floodsLines([UInt8], megabytes: Int)
  }

  static let ok = Behaviour(name: "submit")

  private let name: String
  private let query: [String: String]
  private(set) var status = 200
  /// How many tries of each report fail.
  private(set) var failures: Int?
  private let keepsOpen: Bool

  /// Only reports whose id ends in this are answered so; nil for all.
  var only: String? { query["only"] }

  private init(name: String) {
    self.name = name
    query = [:]
    keepsOpen = true
  }

  init(_ request: Request) {
    let words = request.path.split(separator: "/")
    name = words.first.map { String($0) } ?? ""
    query = request.query
    keepsOpen = !request.has("close", in: "connection")
    switch name {
    case "status", "endless": status = words.count > 1 ? Int(words[1]) ?? 200 : 200
    case "redirect": status = query["status"].flatMap { Int($0) } ?? 302
    case "413-early": status = 413
    case "plain-http": status = 400
    case "417": status = request.has("100-continue", in: "expect") ? 417 : 200
    case "200-early": status = 200
    case "flaky":
      status = query["status"].flatMap { Int($0) } ?? 500
      failures = query["fail"].flatMap { Int($0) } ?? 1
    case "second-reset": status = request.isFirst ? 200 : 0
    // None of their answers is one.
    case "hang", "reset-answer", "close", "garbage": status = 0
    default: break
    }
  }

  var before: Before {
    switch name {
    case "hang-early": .readsNothing
    case "413-early": .answers(Self.answer(413, "too large", ["Connection: close"]))
    case "200-early": .answers(Self.answer(200, "CrashID=early", ["Connection: close"]))
    case "417" where status == 417: .answers(Self.answer(417, "do not ask", ["Connection: close"]))
    case "endless": .babbles(Self.head(status, []))
    case "reset": .resetsWithinBody
    case "slow-read": .readsSlowly
    default: .nothing
    }
  }

  func after(_ id: String) -> Action {
    let ok = Self.answer(200, id)
    switch name {
    case "hang": return .waits
    case "close": return .closes
    case "reset-answer": return .resets
    case "second-reset" where status == 0: return .resets
    case "trickle": return .trickles(ok, milliseconds: query["ms"].flatMap { UInt32($0) } ?? 1000)
    case "garbage": return .answer(Array("\u{1}\u{2} this is no answer\r\n\r\n".utf8), closes: true)
    case "half-answer":
      return .answer(Self.head(200, ["Content-Length: 1000"]) + Array(id.utf8), closes: true)
    case "huge-answer": return .floods(Self.head(200, ["Content-Length: \(100 << 20)"]), megabytes: 100)
    case "trailers":
      let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nid\r\n0\r\n"
      return .floodsLines(Array(head.utf8), megabytes: 100)
    case "huge-header":
      return .answer(Self.answer(200, id, ["X-Long: " + String(repeating: "x", count: 1 << 20)]), closes: true)
    case "html":
      let page = "<!DOCTYPE html>\n<html><head><title>Log in</title></head><body>Please log in.</body></html>\n"
      return .answer(Self.answer(200, page, ["Content-Type: text/html; charset=utf-8"]), closes: !keepsOpen)
    case "plain-http":
      let page =
        "<html>\r\n<head><title>400 The plain HTTP request was sent to HTTPS port</title></head>\r\n<body></body></html>\r\n"
      return .answer(Self.answer(400, page, ["Content-Type: text/html"]), closes: true)
    case "encoded": return .answer(Self.answer(200, id, ["Content-Encoding: utf-8"]), closes: !keepsOpen)
    case "empty": return .answer(Self.answer(200, ""), closes: !keepsOpen)
    case "binary": return .answer(Self.head(200, ["Content-Length: 4"]) + [0, 10, 0xff, 27], closes: !keepsOpen)
    case "keepalive-close": return .answer(Self.answer(200, id, ["Connection: keep-alive"]), closes: true)
    default: break
    }
    if (200..<300).contains(status) { return .answer(Self.answer(status, id), closes: !keepsOpen) }
    var lines: [String] = []
    if let value = query["retry-after"] { lines.append("Retry-After: \(value)") }
    if let proxy = query["via"] { lines.append("Via: 1.1 \(proxy)") }
    if let target = query["to"] { lines.append("Location: \(target)") }
    return .answer(Self.answer(status, "status \(status)\n", lines), closes: !keepsOpen)
  }

  static func head(_ status: Int, _ lines: [String]) -> [UInt8] {
    Array((["HTTP/1.1 \(status) \(status == 200 ? "OK" : "So it is")"] + lines).joined(separator: "\r\n").utf8)
      + [13, 10, 13, 10]
  }

  static func answer(_ status: Int, _ body: String, _ lines: [String] = []) -> [UInt8] {
    let bytes = Array(body.utf8)
    let type = lines.contains { $0.hasPrefix("Content-Type") } ? [] : ["Content-Type: text/plain"]
    return head(status, lines + type + ["Content-Length: \(bytes.count)"]) + bytes
  }
}
