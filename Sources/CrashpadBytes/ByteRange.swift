// SPDX-License-Identifier: Apache-2.0
/// A range of bytes of one file: offset and count, both in bytes.
@frozen
public struct ByteRange: Sendable, Hashable {
  /// The offset of the first byte in the file.
  public var offset: Int
  /// The number of bytes.
  public var count: Int

  @inlinable
  public init(offset: Int, count: Int) {
    self.offset = offset
    self.count = count
  }

  /// The offset after the last byte.
  @inlinable
  public var end: Int { offset + count }

  package static let empty = ByteRange(offset: 0, count: 0)
}
