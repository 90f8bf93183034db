// SPDX-License-Identifier: Apache-2.0
public import CrashpadBytes

/// One member of a map: the last record with its key, or none. Values are nil if Crashpad treats the member as missing:
/// no record, a container instead of a property, or a wrong size.
@frozen
public struct DumpField: Sendable {
  public var record: DumpRecord?

  @inlinable @inline(__always)
  public init(_ record: DumpRecord? = nil) { self.record = record }

  @inlinable @inline(__always)
  func range(ofSize size: Int) -> Int? {
    guard let record, record.kind == .property, record.value.count == size else { return nil }
    return record.value.offset
  }

  package func uint8(in bytes: RawSpan) -> UInt8? { range(ofSize: 1).map { bytes.uint8(at: $0) } }
  package func uint16(in bytes: RawSpan) -> UInt16? { range(ofSize: 2).map { bytes.uint16(at: $0) } }
  package func uint32(in bytes: RawSpan) -> UInt32? { range(ofSize: 4).map { bytes.uint32(at: $0) } }
  package func int32(in bytes: RawSpan) -> Int32? { range(ofSize: 4).map { bytes.int32(at: $0) } }
  @inlinable package func uint64(in bytes: RawSpan) -> UInt64? { range(ofSize: 8).map { bytes.uint64(at: $0) } }

  /// True unless the byte is 0.
  package func bool(in bytes: RawSpan) -> Bool? { uint8(in: bytes).map { $0 != 0 } }

  /// The range of the value if it has exactly `size` bytes.
  package func value(ofSize size: Int) -> ByteRange? {
    range(ofSize: size).map { ByteRange(offset: $0, count: size) }
  }

  /// The range of the value, of any size.
  @inlinable package var value: ByteRange? {
    guard let record, record.kind == .property else { return nil }
    return record.value
  }

  package var map: DumpNode? {
    guard let record, record.kind == .map else { return nil }
    return record.node
  }

  package var array: DumpNode? {
    guard let record, record.kind == .array else { return nil }
    return record.node
  }
}

extension DumpTree {
  /// The member of a map with this key.
  package func field(_ key: DumpKey, of node: DumpNode, in bytes: RawSpan) -> DumpField {
    // No record has the invalid key.
    fields(key, .invalid, of: node, in: bytes).0
  }

  /// The members of a map with these keys.
  @inlinable @inline(__always)
  package func fields(_ first: DumpKey, _ second: DumpKey, of node: DumpNode, in bytes: RawSpan) -> (
    DumpField, DumpField
  ) {
    var fields = (DumpField(), DumpField())
    var records = records(of: node)
    while let record = records.next(of: self, in: bytes) {
      if record.key == first { fields.0.record = record }
      if record.key == second { fields.1.record = record }
    }
    return fields
  }
}

extension DumpTree.ElementCursor {
  /// The values of the next element's members with these keys, nil if `DumpField.value` would be; nil after the last
  /// element.
  @inlinable @inline(__always)
  package mutating func nextValues(
    _ first: DumpKey, _ second: DumpKey, of tree: borrowing DumpTree, in bytes: RawSpan
  ) -> (ByteRange?, ByteRange?)? {
    guard next(of: tree, in: bytes) != nil else { return nil }
    var values: (ByteRange?, ByteRange?) = (nil, nil)
    while let record = nextRecord(of: tree, in: bytes) {
      if record.key == first { values.0 = DumpField(record).value }
      if record.key == second { values.1 = DumpField(record).value }
    }
    return values
  }
}
