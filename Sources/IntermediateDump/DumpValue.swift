// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes

/// The value of a property, decoded by the shape of its key.
package enum DumpValue: Sendable, Hashable {
  case boolean(Bool)
  case unsigned(UInt64)
  case signed(Int64)
  /// The padding is the content of the four unused bytes.
  case time(seconds: Int64, microseconds: Int32, padding: UInt32)
  case duration(seconds: Int32, microseconds: Int32)
  /// The halves, read as big-endian.
  case uuid(high: UInt64, low: UInt64)
  case text(String)
  case words([UInt64])
  /// Bytes without a shape, or of another size than that of the shape.
  case bytes(ByteRange)

  /// Reads the property `record`. A value that does not fit its shape becomes `bytes`.
  package init(of record: DumpRecord, in bytes: RawSpan) {
    self = KeyTable[record.key].flatMap { Self.read($0.shape, record.value, bytes) } ?? .bytes(record.value)
  }

  private static func read(_ shape: KeyDescriptor.Shape, _ range: ByteRange, _ bytes: RawSpan) -> DumpValue? {
    let offset = range.offset
    switch shape {
    case .map, .array, .state: return nil
    case .boolean:
      guard range.count == 1, bytes.uint8(at: offset) <= 1 else { return nil }
      return .boolean(bytes.uint8(at: offset) == 1)
    case .integer(let size, let signed):
      guard range.count == size else { return nil }
      var value: UInt64 = 0
      for index in (0..<size).reversed() { value = value << 8 | UInt64(bytes.uint8(at: offset + index)) }
      let shift = UInt64(64 - 8 * size)
      return signed ? .signed(Int64(bitPattern: value << shift) >> shift) : .unsigned(value)
    case .time:
      guard range.count == 16 else { return nil }
      return .time(
        seconds: Int64(bitPattern: bytes.uint64(at: offset)), microseconds: bytes.int32(at: offset + 8),
        padding: bytes.uint32(at: offset + 12))
    case .duration:
      guard range.count == 8 else { return nil }
      return .duration(seconds: bytes.int32(at: offset), microseconds: bytes.int32(at: offset + 4))
    case .uuid:
      guard range.count == 16 else { return nil }
      return .uuid(high: bytes.uint64(at: offset).byteSwapped, low: bytes.uint64(at: offset + 8).byteSwapped)
    case .text: return text(range, bytes)
    case .bytes:
      // Annotation values may be any bytes, but most are text; larger values are memory or states.
      return range.count <= 20480 ? text(range, bytes, printable: true) : nil
    case .words:
      guard range.count % 8 == 0 else { return nil }
      return .words((0..<range.count / 8).map { bytes.uint64(at: offset + 8 * $0) })
    }
  }

  /// Decodes well-formed UTF-8 only, so that encoding gives the same bytes.
  private static func text(_ range: ByteRange, _ bytes: RawSpan, printable: Bool = false) -> DumpValue? {
    let raw = bytes.array(in: range)
    if printable, raw.contains(where: { $0 < 0x20 && $0 != 0x0a && $0 != 0x09 || $0 == 0x7f }) { return nil }
    return String(validating: raw, as: UTF8.self).map { .text($0) }
  }
}
