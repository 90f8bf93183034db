// SPDX-License-Identifier: Apache-2.0
/// The head of a request of HTTP/1.1 (RFC 9112).
struct Request {
  let method: String
  /// As it came: a path, or a whole URL if this server is used as a proxy.
  let target: String
  let path: String
  let query: [String: String]
  /// Names in small letters, in their order.
  let headers: [(name: String, value: String)]
  let head: [UInt8]
  /// Whether it is the first of its connection.
  var isFirst = true

  /// Nil if the bytes are no such head.
  init?(_ head: [UInt8]) {
    self.head = head
    let lines = head.split(separator: UInt8(ascii: "\n")).map { $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0 }
    guard let words = lines.first?.split(separator: UInt8(ascii: " ")), words.count == 3,
      words[2].starts(with: Array("HTTP/1.".utf8))
    else { return nil }
    method = String(decoding: words[0], as: UTF8.self)
    target = String(decoding: words[1], as: UTF8.self)
    var rest = target[...]
    // The requests that proxies get.
    if let scheme = rest.firstRange(of: "://"), !rest.hasPrefix("/") {
      rest = rest[scheme.upperBound...]
      rest = rest[(rest.firstIndex(of: "/") ?? rest.endIndex)...]
    }
    let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    path = String(parts[0])
    var query: [String: String] = [:]
    for pair in parts.count > 1 ? parts[1].split(separator: "&") : [] {
      let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      query[Self.decoded(sides[0])] = sides.count > 1 ? Self.decoded(sides[1]) : ""
    }
    self.query = query
    headers = lines.dropFirst().compactMap { line in
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
      let value = line[(colon + 1)...].drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
      return (
        String(decoding: line[..<colon], as: UTF8.self).lowercased(), String(decoding: value, as: UTF8.self)
      )
    }
  }

  subscript(_ name: String) -> String? { headers.first { $0.name == name }?.value }

  /// Whether a header has that word in it, in whatever case.
  func has(_ word: String, in name: String) -> Bool { self[name]?.lowercased().contains(word) == true }

  private static func decoded(_ text: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
