/// A range of bytes of one file: offset and count, both in bytes.
@frozen
package struct ByteRange: Sendable, Hashable {
  package var offset: Int
  package var count: Int

  @inlinable
  package init(offset: Int, count: Int) {
    self.offset = offset
    self.count = count
  }

  /// The offset just behind the last byte.
  @inlinable
  package var end: Int { offset + count }

  package static let empty = ByteRange(offset: 0, count: 0)
}
