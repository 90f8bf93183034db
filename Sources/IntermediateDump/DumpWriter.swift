// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes

/// Writes an intermediate dump. Maps and arrays are closures, so that each is closed.
///
///     try DumpWriter.write(to: output) { root in
///       root.property(.version, uint8: 1)
///       root.array(.threads) { threads in
///         threads.map { $0.property(.threadID, uint64: 7) }
///       }
///     }
package enum DumpWriter {
  /// Writes the root map with the content that `body` adds. Throws errors of `body` and the output.
  package static func write(to output: any ByteOutput, _ body: (inout MapScope) throws -> Void) throws {
    let sink = Sink(ByteWriter(to: output))
    sink.writer.uint8(DumpCommand.rootMapStart)
    var root = MapScope(sink)
    try body(&root)
    sink.writer.uint8(DumpCommand.rootMapEnd)
    try sink.writer.finish()
  }

  final class Sink {
    var writer: ByteWriter
    init(_ writer: consuming ByteWriter) { self.writer = writer }
  }

  /// An open map.
  package struct MapScope: ~Copyable {
    private let sink: Sink

    init(_ sink: Sink) { self.sink = sink }

    private func begin(_ command: UInt8, _ key: DumpKey) {
      // The reader stops at key 0.
      precondition(key != .invalid)
      sink.writer.uint8(command)
      sink.writer.uint16(key.rawValue)
    }

    package mutating func property(_ key: DumpKey, _ value: RawSpan) {
      begin(DumpCommand.property, key)
      sink.writer.uint64(UInt64(value.byteCount))
      sink.writer.bytes(value)
    }

    package mutating func property(_ key: DumpKey, bytes: [UInt8]) { unsafe property(key, bytes.span.bytes) }
    package mutating func property(_ key: DumpKey, text: String) { property(key, bytes: Array(text.utf8)) }
    package mutating func property(_ key: DumpKey, uint8 value: UInt8) { property(key, bytes: [value]) }
    package mutating func property(_ key: DumpKey, uint16 value: UInt16) {
      property(key, integer: UInt64(value), size: 2)
    }
    package mutating func property(_ key: DumpKey, uint32 value: UInt32) {
      property(key, integer: UInt64(value), size: 4)
    }
    package mutating func property(_ key: DumpKey, uint64 value: UInt64) { property(key, integer: value, size: 8) }

    private mutating func property(_ key: DumpKey, integer: UInt64, size: Int) {
      property(key, bytes: littleEndian(integer, size: size))
    }

    package mutating func map(_ key: DumpKey, _ body: (inout MapScope) throws -> Void) rethrows {
      begin(DumpCommand.mapStart, key)
      defer { sink.writer.uint8(DumpCommand.mapEnd) }
      var map = MapScope(sink)
      try body(&map)
    }

    package mutating func array(_ key: DumpKey, _ body: (inout ArrayScope) throws -> Void) rethrows {
      begin(DumpCommand.arrayStart, key)
      defer { sink.writer.uint8(DumpCommand.arrayEnd) }
      var array = ArrayScope(sink)
      try body(&array)
    }
  }

  /// An open array. Its elements are maps.
  package struct ArrayScope: ~Copyable {
    private let sink: Sink

    init(_ sink: Sink) { self.sink = sink }

    package mutating func map(_ body: (inout MapScope) throws -> Void) rethrows {
      sink.writer.uint8(DumpCommand.mapStart)
      defer { sink.writer.uint8(DumpCommand.mapEnd) }
      var map = MapScope(sink)
      try body(&map)
    }
  }
}

extension DumpTree {
  /// Writes everything that was read as a complete dump. For a complete dump, these are its own bytes.
  ///
  /// - Returns: the number of bytes written.
  package func write(to output: any ByteOutput, _ bytes: RawSpan) throws -> Int {
    if incomplete == nil {
      try output.write(bytes)
      return bytes.byteCount
    }
    var writer = ByteWriter(to: output)
    writer.uint8(DumpCommand.rootMapStart)
    var open = openContainers(in: bytes)
    var end = root.contentEnd
    if incomplete?.rule == DumpRules.tooDeep, let innermost = open.popLast() {
      // No reader accepts the start of the innermost container, so it is left out.
      end = innermost.start
    }
    if end > root.contentStart { writer.bytes(bytes.extracting(root.contentStart..<end)) }
    for container in open.reversed() { writer.uint8(container.isArray ? DumpCommand.arrayEnd : DumpCommand.mapEnd) }
    writer.uint8(DumpCommand.rootMapEnd)
    let count = writer.position
    try writer.finish()
    return count
  }

  /// The containers below the root that were open when reading stopped, outermost first.
  private func openContainers(in bytes: RawSpan) -> [DumpNode] {
    var open: [DumpNode] = []
    var node = root
    while let last = lastRecord(of: node, in: bytes), last.kind != .property, last.value.end == root.contentEnd,
      last.value.end == node.contentEnd
    {
      node = last.node
      open.append(node)
    }
    return open
  }

  private func lastRecord(of node: DumpNode, in bytes: RawSpan) -> DumpRecord? {
    var last: DumpRecord?
    var records = records(of: node)
    while let record = records.next(of: self, in: bytes) { last = record }
    return last
  }
}
