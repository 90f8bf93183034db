public import CrashpadBytes

/// One member of a map: the last record with its key, or none. Values are nil if Crashpad treats the member as missing:
/// no record, a container instead of a property, or a wrong size.
@frozen
public struct DumpField: Sendable {
  public var record: DumpRecord?

  @inlinable public init() {}

  @inlinable @inline(__always)
  func range(ofSize size: Int) -> Int? {
    guard let record, record.kind == .property, record.value.count == size else { return nil }
    return record.value.offset
  }

  @inlinable public func uint8(in bytes: RawSpan) -> UInt8? { range(ofSize: 1).map { bytes.uint8(at: $0) } }
  @inlinable public func uint16(in bytes: RawSpan) -> UInt16? { range(ofSize: 2).map { bytes.uint16(at: $0) } }
  @inlinable public func uint32(in bytes: RawSpan) -> UInt32? { range(ofSize: 4).map { bytes.uint32(at: $0) } }
  @inlinable public func int32(in bytes: RawSpan) -> Int32? { range(ofSize: 4).map { bytes.int32(at: $0) } }
  @inlinable public func uint64(in bytes: RawSpan) -> UInt64? { range(ofSize: 8).map { bytes.uint64(at: $0) } }

  /// True unless the byte is 0.
  public func bool(in bytes: RawSpan) -> Bool? { uint8(in: bytes).map { $0 != 0 } }

  /// The range of the value if it has exactly `size` bytes.
  @inlinable public func value(ofSize size: Int) -> ByteRange? {
    range(ofSize: size).map { ByteRange(offset: $0, count: size) }
  }

  /// The range of the value, of any size.
  @inlinable public var value: ByteRange? {
    guard let record, record.kind == .property else { return nil }
    return record.value
  }

  @inlinable public var map: DumpNode? {
    guard let record, record.kind == .map else { return nil }
    return record.node
  }

  @inlinable public var array: DumpNode? {
    guard let record, record.kind == .array else { return nil }
    return record.node
  }
}
