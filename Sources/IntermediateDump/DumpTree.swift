public import BinaryFormat

/// The commands of the wire format: the first byte of each record.
///
/// Source: Crashpad, `util/ios/ios_intermediate_dump_writer.h`.
public enum DumpCommand {
  @inlinable static var mapStart: UInt8 { 0x01 }
  @inlinable static var mapEnd: UInt8 { 0x02 }
  @inlinable static var arrayStart: UInt8 { 0x03 }
  @inlinable static var arrayEnd: UInt8 { 0x04 }
  @inlinable static var property: UInt8 { 0x05 }
  @inlinable static var rootMapStart: UInt8 { 0x06 }
  @inlinable static var rootMapEnd: UInt8 { 0x07 }
}

/// A map or an array of the tree: where its records are, and where the index has what is inside of it.
@frozen
public struct DumpNode: Sendable, Hashable {
  /// The key of the map or array; of a map in an array that of the array; 0 for the root.
  public let key: DumpKey
  public let isArray: Bool
  /// Offset of the command that starts it.
  public let start: Int
  /// Offset of its first record.
  public let contentStart: Int
  /// Offset behind its last record: its end command, or where reading stopped.
  public let contentEnd: Int
  /// Where the index goes on with what is inside.
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

  public let kind: Kind
  public let key: DumpKey
  /// Offset of its command.
  public let offset: Int
  /// Of a property its bytes. Of a map or array everything between the start and the end command.
  public let value: ByteRange
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
  @inlinable public var node: DumpNode {
    DumpNode(
      key: key, isArray: kind == .array, start: offset, contentStart: value.offset, contentEnd: value.end,
      indexCursor: indexCursor)
  }
}

/// The structure of an intermediate dump: everything that Crashpad's reader would keep of it, as ranges of the file.
///
/// Values are not copied, and properties are not even listed: a map's records are read off the bytes when they are asked
/// for. Only long containers are indexed, so that they can be stepped over; how long depends on the file's size, which
/// bounds the index whatever the file holds.
public struct DumpTree: Sendable {
  /// One long container, in the order of their starts.
  struct Entry: Sendable {
    let start: Int
    /// Offset of its end command, or where reading stopped.
    let contentEnd: Int
    /// How many entries follow that are inside of this one.
    let descendants: Int
  }

  private(set) var index: [Entry] = []

  /// What ended the reading early; nil for a complete dump.
  public let incomplete: Finding?

  /// Where reading stopped: behind the root map's end if the dump is complete.
  public let stopOffset: Int

  /// Whether there is a root map with at least one record.
  public var isEmpty: Bool { root.contentStart == root.contentEnd }

  /// The root map. Of a file that does not start with one, an empty map.
  public let root: DumpNode

  /// Reads all of `bytes`. Never fails: a file that breaks off gives what was read up to there.
  package init(parsing bytes: RawSpan, limits: Limits = Limits()) {
    var scanner = DumpScanner(limits: limits, indexThreshold: max(256, bytes.byteCount / 65536))
    scanner.scan(bytes)
    index = scanner.index
    incomplete = scanner.failure
    stopOffset = scanner.offset
    root = DumpNode(
      key: KeyTable.root, isArray: false, start: 0, contentStart: min(1, scanner.contentEnd),
      contentEnd: scanner.contentEnd, indexCursor: 0)
  }

  /// The records of a map or an array, in file order.
  @inline(__always)
  public func records(of node: DumpNode) -> RecordCursor {
    RecordCursor(node: node)
  }

  /// How many records a map or an array has, to make room for them; 0 if it is so short that room is no matter. Takes a walk
  /// over the records.
  public func countIfMany(of node: DumpNode, in bytes: RawSpan) -> Int {
    if node.contentEnd - node.contentStart < 1 << 20 { return 0 }
    var cursor = records(of: node)
    var count = 0
    while cursor.next(of: self, in: bytes) != nil { count += 1 }
    return count
  }

  /// Walks the records of one map or array.
  @frozen
  public struct RecordCursor: Sendable {
    @usableFromInline let node: DumpNode
    @usableFromInline var offset: Int
    @usableFromInline var indexCursor: Int

    init(node: DumpNode) {
      self.node = node
      offset = node.contentStart
      indexCursor = node.indexCursor
    }

    /// The next record, or nil behind the last.
    @inlinable @inline(__always)
    public mutating func next(of tree: borrowing DumpTree, in bytes: RawSpan) -> DumpRecord? {
      guard offset < node.contentEnd else { return nil }
      let start = offset
      guard bytes.uint8(at: start) == DumpCommand.property else { return nextContainer(of: tree, in: bytes) }
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
      // Only the containers that were open when reading stopped have no end command; they reach up to that point.
      offset = contentEnd < node.contentEnd ? contentEnd + 1 : contentEnd
      return DumpRecord(
        kind: isArray ? .array : .map, key: key, offset: start,
        value: ByteRange(offset: contentStart, count: contentEnd - contentStart), indexCursor: inner)
    }
  }
}
