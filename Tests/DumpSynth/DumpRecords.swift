// SPDX-License-Identifier: Apache-2.0
/// One command of a dump, where it stands and what belongs to it.
public struct DumpRecord: Equatable, Sendable {
  public let command: DumpCommand
  /// Offset of the command byte.
  public let start: Int
  /// Behind the command, its key, its length and its value.
  public let end: Int
  /// Nil for ends, for the root and for maps in arrays.
  public let key: UInt16?
  /// The offset of a property's value.
  public let value: Range<Int>?
  /// Containers that are open before this record: 0 for the root's start, 1 for what stands in the root.
  public let depth: Int
  /// Whether it stands directly in an array.
  public let isInArray: Bool
  /// For the start of a container: behind its end command, or nil if that is missing. For others `end`.
  public fileprivate(set) var subtreeEnd: Int?

  /// The record with everything inside it; nil if its end is missing.
  public var subtree: Range<Int>? { subtreeEnd.map { start..<$0 } }

  public var opens: Bool { command == .mapStart || command == .arrayStart || command == .rootStart }
  public var closes: Bool { command == .mapEnd || command == .arrayEnd || command == .rootEnd }
}

/// Walks the framing of a dump, independently of the product.
public enum DumpRecords {
  /// All records up to the first byte that is none, with the offset where the walk stopped: `bytes.count` for a
  /// dump that is whole. Ends close whatever is open, even if the kind differs: a walker for tests has to get through
  /// dumps that are meant to be wrong.
  public static func walk(_ bytes: [UInt8]) -> (records: [DumpRecord], stoppedAt: Int) {
    var records: [DumpRecord] = []
    var open: [Int] = []
    var at = 0
    while at < bytes.count, let command = DumpCommand(rawValue: bytes[at]) {
      let isInArray = open.last.map { records[$0].command == .arrayStart } ?? false
      let start = at
      at += 1
      var key: UInt16?
      var value: Range<Int>?
      if command == .property || command == .arrayStart || command == .mapStart && !isInArray {
        guard let number = bytes.little(at: at, width: 2) else { return (records, start) }
        key = UInt16(truncatingIfNeeded: number)
        at += 2
      }
      if command == .property {
        guard let length = bytes.little(at: at, width: 8), length <= UInt64(bytes.count - at - 8) else {
          return (records, start)
        }
        at += 8
        value = at..<at + Int(length)
        at += Int(length)
      }
      var record = DumpRecord(
        command: command, start: start, end: at, key: key, value: value, depth: open.count,
        isInArray: isInArray, subtreeEnd: at)
      if record.opens {
        record.subtreeEnd = nil
        open.append(records.count)
      } else if record.closes {
        guard let opener = open.popLast() else { return (records, start) }
        records[opener].subtreeEnd = at
      }
      records.append(record)
    }
    return (records, at)
  }

  /// Offsets where something begins or ends: commands, keys, lengths, values, and the end of the file.
  public static func boundaries(_ bytes: [UInt8]) -> [Int] {
    var offsets: Set<Int> = [bytes.count]
    for record in walk(bytes).records {
      offsets.formUnion([record.start, record.start + 1, record.end])
      if record.key != nil { offsets.insert(record.start + 3) }
      if let value = record.value { offsets.formUnion([value.lowerBound, value.upperBound]) }
    }
    return offsets.filter { $0 <= bytes.count }.sorted()
  }

  /// The records as indented lines, the same for two dumps of the same shape; values only by their size.
  public static func outline(_ bytes: [UInt8]) -> [String] {
    let walk = walk(bytes)
    var lines = walk.records.map { record in
      var line = String(repeating: "  ", count: record.depth - (record.closes ? 1 : 0)) + "\(record.command)"
      if let key = record.key { line += " " + (DumpKey(rawValue: key)?.crashpadName ?? "\(key)") }
      if let value = record.value { line += " [\(value.count)]" }
      return line
    }
    if walk.stoppedAt != bytes.count { lines.append("stopped at \(walk.stoppedAt) of \(bytes.count)") }
    return lines
  }
}
