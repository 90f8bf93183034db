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
