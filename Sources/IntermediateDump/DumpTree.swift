// SPDX-License-Identifier: Apache-2.0
public import CrashpadBytes

/// The commands of the wire format: the first byte of each record.
///
/// Source: Crashpad, `util/ios/ios_intermediate_dump_writer.h`.
@usableFromInline enum DumpCommand {
  @inlinable static var mapStart: UInt8 { 0x01 }
  @inlinable static var mapEnd: UInt8 { 0x02 }
  @inlinable static var arrayStart: UInt8 { 0x03 }
  @inlinable static var arrayEnd: UInt8 { 0x04 }
  @inlinable static var property: UInt8 { 0x05 }
  @inlinable static var rootMapStart: UInt8 { 0x06 }
  @inlinable static var rootMapEnd: UInt8 { 0x07 }
}

/// A map or an array of the tree: the range of its records, and its position in the index.
@frozen
public struct DumpNode: Sendable, Hashable {
  /// The key of the map or array; for a map in an array, that of the array; 0 for the root.
  @usableFromInline package let key: DumpKey
  @usableFromInline package let isArray: Bool
  /// The offset of the command that starts it.
  @usableFromInline package let start: Int
  /// The offset of its first record.
  @usableFromInline package let contentStart: Int
  /// The offset after its last record: that of its end command, or where reading stopped.
  @usableFromInline package let contentEnd: Int
  /// The position in the index at which its inner containers begin.
  @usableFromInline let indexCursor: Int

  @inlinable
  init(key: DumpKey, isArray: Bool, start: Int, contentStart: Int, contentEnd: Int, indexCursor: Int) {
    self.key = key
    self.isArray = isArray
    self.start = start
    self.contentStart = contentStart
    self.contentEnd = contentEnd
    self.indexCursor = indexCursor
  }
}

/// One record of a map or an array.
@frozen
public struct DumpRecord: Sendable {
  @frozen
  public enum Kind: Sendable, Hashable { case property, map, array }

  @usableFromInline package let kind: Kind
  @usableFromInline package let key: DumpKey
  /// The offset of its command.
  @usableFromInline package let offset: Int
  /// The bytes of a property, or everything between the start and the end command of a map or array.
  @usableFromInline package let value: ByteRange
  @usableFromInline let indexCursor: Int

  @inlinable
  init(kind: Kind, key: DumpKey, offset: Int, value: ByteRange, indexCursor: Int) {
    self.kind = kind
    self.key = key
    self.offset = offset
    self.value = value
    self.indexCursor = indexCursor
  }

  /// The map or array that this record opens.
  @inlinable package var node: DumpNode {
    DumpNode(
      key: key, isArray: kind == .array, start: offset, contentStart: value.offset, contentEnd: value.end,
      indexCursor: indexCursor)
  }
}

/// The structure of an intermediate dump: the part that Crashpad's reader would keep, as ranges of the file.
///
/// Values are not copied, and properties are not listed: the records of a map are parsed on access. Only long
/// containers are indexed, so that they can be skipped; the minimum length depends on the size of the file, which
/// limits the index for any content.
public struct DumpTree: Sendable {
  /// One long container. Entries are in the order of their starts.
  @usableFromInline
  struct Entry: Sendable {
    @usableFromInline let start: Int
    /// The offset of its end command, or where reading stopped.
    let contentEnd: Int
    /// The number of entries after this one that are inside of it.
    let descendants: Int
  }

  @usableFromInline let index: [Entry]

  /// The fault that ended the reading early; nil for a complete dump.
  package let incomplete: Finding?

  /// The number of memory regions that may go into a minidump, for reserving memory. A hostile file may declare them
  /// with two bytes each.
  package let memoryRegionCount: Int

  /// The offset at which reading stopped: after the end of the root map if the dump is complete.
  package let stopOffset: Int

  /// Whether there is a root map with at least one record.
  package var isEmpty: Bool { root.contentStart == root.contentEnd }

  /// The root map; empty if the file does not begin with one.
  package let root: DumpNode

  /// Reads all of `bytes`. Never fails: of a truncated file, the part before the end is read.
  package init(parsing bytes: RawSpan, limits: Limits = Limits()) {
    var scanner = DumpScanner(limits: limits, indexThreshold: max(256, bytes.byteCount / 65536))
    scanner.scan(bytes)
    index = scanner.index
    incomplete = scanner.failure
    stopOffset = scanner.offset
    memoryRegionCount = scanner.memoryRegionCount
    root = DumpNode(
      key: KeyTable.root, isArray: false, start: 0, contentStart: min(1, scanner.contentEnd),
      contentEnd: scanner.contentEnd, indexCursor: 0)
  }

  /// The records of a map or an array, in file order.
  @inline(__always)
  public func records(of node: DumpNode) -> RecordCursor {
    RecordCursor(node: node)
  }

  /// The number of records of a map or array, for reserving memory; 0 if it is so short that reserving is not needed.
  /// Iterates over the records.
  package func countIfMany(of node: DumpNode, in bytes: RawSpan) -> Int {
    if node.contentEnd - node.contentStart < 1 << 20 { return 0 }
    var cursor = records(of: node)
    var count = 0
    while cursor.next(of: self, in: bytes) != nil { count += 1 }
    return count
  }

  /// Iterates over the records of one map or array.
  @frozen
  public struct RecordCursor: Sendable {
    @usableFromInline let node: DumpNode
    @usableFromInline var offset: Int
    @usableFromInline var indexCursor: Int

    @inlinable
    init(node: DumpNode) {
      self.node = node
      offset = node.contentStart
      indexCursor = node.indexCursor
    }

    /// Returns the next record, or nil after the last.
    @inlinable @inline(__always)
    public mutating func next(of tree: borrowing DumpTree, in bytes: RawSpan) -> DumpRecord? {
      guard offset < node.contentEnd else { return nil }
      let start = offset
      let command = bytes.uint8(at: start)
      guard command == DumpCommand.property else {
        // The end of an element; the end of other nodes is known.
        return command == DumpCommand.mapEnd ? nil : nextContainer(of: tree, in: bytes)
      }
      let count = Int(truncatingIfNeeded: bytes.uint64(at: start + 3))
      offset = start + 11 + count
      return DumpRecord(
        kind: .property, key: DumpKey(bytes.uint16(at: start + 1)), offset: start,
        value: ByteRange(offset: start + 11, count: count), indexCursor: indexCursor)
    }

    @usableFromInline
    mutating func nextContainer(of tree: borrowing DumpTree, in bytes: RawSpan) -> DumpRecord {
      let start = offset
      let isArray = bytes.uint8(at: start) == DumpCommand.arrayStart
      let contentStart = start + (node.isArray ? 1 : 3)
      let key = node.isArray ? node.key : DumpKey(bytes.uint16(at: start + 1))
      let inner: Int
      let contentEnd: Int
      if indexCursor < tree.index.count, tree.index[indexCursor].start == start {
        contentEnd = tree.index[indexCursor].contentEnd
        inner = indexCursor + 1
        indexCursor = inner + tree.index[indexCursor].descendants
      } else {
        contentEnd = DumpScanner.endOfShortContainer(
          from: contentStart, isArray: isArray, upTo: node.contentEnd, in: bytes)
        inner = indexCursor
      }
      // Only containers that were open when reading stopped have no end command; they extend to that point.
      offset = contentEnd < node.contentEnd ? contentEnd + 1 : contentEnd
      return DumpRecord(
        kind: isArray ? .array : .map, key: key, offset: start,
        value: ByteRange(offset: contentStart, count: contentEnd - contentStart), indexCursor: inner)
    }
  }
  /// Elements often have the same size, as memory regions do. Prefetches the records of the eighth element after
  /// `start`, where it then is: to wait for memory takes longer than to read an element.
  @usableFromInline
  static func prefetch(after start: Int, size: Int, in bytes: RawSpan) {
    // The processor itself reads ahead of smaller ones.
    guard size >= 256 else { return }
    bytes.prefetch(at: start + 8 * size)
    bytes.prefetch(at: start + 8 * size + 30)
  }

  /// Iterates over the elements of an array, and over the records of each element.
  @inlinable @inline(__always)
  package func elements(of array: DumpNode) -> ElementCursor { ElementCursor(array: array) }

  /// Iterates over the maps of an array and their records in one walk. `RecordCursor` returns each map with its end,
  /// and finds the end of a short one by reading its records; this cursor finds it where its caller has read them.
  @usableFromInline
  package struct ElementCursor: Sendable {
    @usableFromInline let end: Int
    /// The records of the current element. Its end is not known, but is that of the array at most.
    @usableFromInline var records: RecordCursor
    @usableFromInline var isInside = false

    @inlinable
    init(array: DumpNode) {
      end = array.contentEnd
      records = RecordCursor(node: array)
    }

    /// Goes to the next element, and returns its offset; nil after the last.
    @inlinable @inline(__always)
    package mutating func next(of tree: borrowing DumpTree, in bytes: RawSpan) -> Int? {
      if isInside {
        while nextRecord(of: tree, in: bytes) != nil {}
        // Only an element that was open when reading stopped has no end command.
        if records.offset < end { records.offset += 1 }
      }
      let start = records.offset
      guard start < end else { return nil }
      DumpTree.prefetch(after: start, size: start - records.node.start, in: bytes)
      var cursor = records.indexCursor
      if cursor < tree.index.count, tree.index[cursor].start == start { cursor += 1 }
      records = RecordCursor(
        node: DumpNode(
          key: records.node.key, isArray: false, start: start, contentStart: start + 1, contentEnd: end,
          indexCursor: cursor))
      isInside = true
      return start
    }

    /// The next record of the current element.
    @inlinable @inline(__always)
    package mutating func nextRecord(of tree: borrowing DumpTree, in bytes: RawSpan) -> DumpRecord? {
      records.next(of: tree, in: bytes)
    }
  }
}
