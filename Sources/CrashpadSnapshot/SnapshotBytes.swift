// SPDX-License-Identifier: Apache-2.0
/// Some bytes of a snapshot: a range of its input, or of its own `arena`.
///
/// No bytes are copied out of an input while it is interpreted. The arena holds only bytes that had to be created,
/// such as a stack built from exception frames or a name converted from UTF-16.
@frozen
public struct SnapshotBytes: Sendable, Hashable {
  @usableFromInline let rawOffset: UInt64
  /// The number of bytes.
  public let count: Int

  @usableFromInline static let arenaBit: UInt64 = 1 << 63

  /// `count` bytes of the input from `inputOffset` on.
  @inlinable
  public init(inputOffset: Int, count: Int) {
    rawOffset = UInt64(truncatingIfNeeded: inputOffset)
    self.count = count
  }

  package init(arenaOffset: Int, count: Int) {
    rawOffset = UInt64(truncatingIfNeeded: arenaOffset) | Self.arenaBit
    self.count = count
  }

  package static let empty = SnapshotBytes(inputOffset: 0, count: 0)

  /// Whether the bytes are in the snapshot's arena instead of its input.
  @inlinable public var isInArena: Bool { rawOffset & Self.arenaBit != 0 }
  @inlinable public var offset: Int { Int(rawOffset & ~Self.arenaBit) }
  @inlinable public var isEmpty: Bool { count == 0 }

  /// The first `count` bytes.
  package func prefix(_ count: Int) -> SnapshotBytes { part(at: 0, count: count) }

  /// `count` bytes from `start` on. The range must lie inside.
  package func part(at start: Int, count: Int) -> SnapshotBytes {
    precondition(start >= 0 && count >= 0 && start + count <= self.count)
    return isInArena
      ? SnapshotBytes(arenaOffset: offset + start, count: count)
      : SnapshotBytes(inputOffset: offset + start, count: count)
  }
}

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
}
