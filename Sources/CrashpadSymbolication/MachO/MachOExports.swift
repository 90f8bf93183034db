// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// The names that a Mach-O file exports, from the trie in LC_DYLD_EXPORTS_TRIE or LC_DYLD_INFO.
enum MachOExports {
  private struct Node {
    let offset: Int
    let name: [UInt8]
  }

  /// The longest names of C++ and Swift have some ten thousand bytes.
  private static let longestName = 1 << 16

  /// Calls `body` with each name, as in a symbol table, and its offset from the start of the file. Each node is read once, so
  /// that a hostile trie ends.
  ///
  /// - Parameter room: the most bytes of names that are made.
  static func forEach(_ trie: RawSpan, room: Int, _ body: ([UInt8], UInt64) -> Void) {
    var seen = Array(repeating: false, count: trie.byteCount)
    var open = [Node(offset: 0, name: [])]
    var room = room
    while let node = open.popLast(), room > 0 {
      guard node.offset < trie.byteCount, !seen[node.offset] else { continue }
      seen[node.offset] = true
      var offset = node.offset
      guard let size = trie.unsigned(&offset), size <= UInt64(trie.byteCount - offset) else { continue }
      let children = offset + Int(size)
      if size > 0, let place = address(trie, offset, children) { body(node.name, place) }
      add(trie, children, node.name, &open, &room)
    }
  }

  /// Nil for a name of another file, or without an address.
  private static func address(_ trie: RawSpan, _ start: Int, _ end: Int) -> UInt64? {
    var offset = start
    // EXPORT_SYMBOL_FLAGS_KIND_ABSOLUTE, EXPORT_SYMBOL_FLAGS_REEXPORT
    guard let flags = trie.unsigned(&offset), flags & 0x03 != 0x02, flags & 0x08 == 0,
      let address = trie.unsigned(&offset), offset <= end
    else { return nil }
    return address
  }

  private static func add(
    _ trie: RawSpan, _ start: Int, _ name: [UInt8], _ open: inout [Node], _ room: inout Int
  ) {
    guard start < trie.byteCount else { return }
    var offset = start + 1
    for _ in 0..<trie.uint8(at: start) {
      guard let label = trie.terminated(at: offset), name.count + label.count <= longestName else { return }
      offset = label.end + 1
      guard let child = trie.unsigned(&offset), room > 0 else { return }
      room -= name.count + label.count + 16
      if let place = Int(exactly: child) { open.append(Node(offset: place, name: name + trie.array(in: label))) }
    }
  }
}
