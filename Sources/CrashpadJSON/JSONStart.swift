// SPDX-License-Identifier: Apache-2.0
package enum JSONStart {
  /// Whether bytes begin as an object does, whose quotation marks may be an editor's. Wikis begin tables by "{|", and code by
  /// "{noformat}".
  package static func isObject(_ bytes: some Sequence<UInt8>) -> Bool {
    var iterator = bytes.makeIterator()
    guard iterator.next() == UInt8(ascii: "{") else { return false }
    return iterator.next().map { $0 <= 0x20 || $0 >= 0x80 || "\"}&'\\".utf8.contains($0) } ?? true
  }
}
