// SPDX-License-Identifier: Apache-2.0
import Glibc

struct Options: Sendable {
  var port: UInt16 = 0
  var directory: String?
  var answer = "CrashID=bp-%"
  var stays = false

  init(_ arguments: ArraySlice<String>) {
    var rest = arguments
    var discards = false
    while let word = rest.popFirst() {
      switch word {
      case "--port":
        guard let port = rest.popFirst().flatMap({ UInt16($0) }) else { Self.fail("--port N") }
        self.port = port
      case "--directory": directory = rest.popFirst()
      case "--discard": discards = true
      case "--answer": answer = rest.popFirst() ?? answer
      case "--stay": stays = true
      default: Self.fail("[--port N] [--directory DIR] [--discard] [--answer TEXT] [--stay]")
      }
    }
    if discards { directory = nil }
  }

  static func fail(_ text: String) -> Never {
    complain("usage: collector \(text)", status: 64)
  }
}

/// Says why and ends.
func complain(_ text: String, status: Int32) -> Never {
  let bytes = Array((text + "\n").utf8)
  unsafe write(2, bytes, bytes.count)
  exit(status)
}
