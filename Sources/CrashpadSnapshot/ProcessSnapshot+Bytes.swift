// SPDX-License-Identifier: Apache-2.0
extension ProcessSnapshot {
  /// Calls `body` with the bytes of `content`. `input` is the input of the snapshot.
  @inlinable @inline(__always)
  public func withBytes<Result>(of content: SnapshotBytes, in input: RawSpan, _ body: (RawSpan) throws -> Result)
    rethrows
    -> Result
  {
    let range = content.offset..<content.offset + content.count
    if content.isInArena { return try unsafe body(arena.span.bytes.extracting(range)) }
    return try body(input.extracting(range))
  }

  /// A copy of the bytes.
  package func bytes(of content: SnapshotBytes, in input: RawSpan) -> [UInt8] {
    withBytes(of: content, in: input) { span in unsafe span.withUnsafeBytes { unsafe [UInt8]($0) } }
  }

  /// The bytes as text; every maximal ill-formed sequence becomes one U+FFFD. For display only,
  /// because the original bytes are lost.
  package func text(_ content: SnapshotBytes, in input: RawSpan) -> String {
    withBytes(of: content, in: input) { span in
      unsafe span.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }
  }

  /// Appends a text in UTF-8 to the arena.
  package mutating func store(_ text: String) -> SnapshotBytes { store(Array(text.utf8)) }

  /// Appends bytes to the arena.
  package mutating func store(_ bytes: [UInt8]) -> SnapshotBytes {
    let start = arena.count
    arena.append(contentsOf: bytes)
    return SnapshotBytes(arenaOffset: start, count: arena.count - start)
  }

  /// Says by an annotation, which a minidump keeps, that the process sent itself a signal for the exception.
  package mutating func annotateRaisedAgain() {
    annotations.append(Annotation(name: store(Annotation.raisedAgain), value: store("yes")))
  }
}
