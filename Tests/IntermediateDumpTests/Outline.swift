// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
@testable import IntermediateDump

/// Hands an array's bytes to `body`.
func withBytes<Result>(_ array: [UInt8], _ body: (RawSpan) throws -> Result) rethrows -> Result {
  try unsafe body(array.span.bytes)
}

/// One record of a tree, in the order of the file.
struct FlatRecord: Equatable {
  enum Kind: Equatable { case property, map, array }
  var kind: Kind
  var key: UInt16
  var offset: Int
  /// The value of a property, and the contents of a container.
  var contentStart: Int
  var contentEnd: Int
  var depth: Int
}

extension FlatRecord {
  init(_ record: DumpRecord, _ depth: Int) {
    kind =
      switch record.kind {
      case .property: .property
      case .map: .map
      case .array: .array
      }
    key = record.key.rawValue
    offset = record.offset
    contentStart = record.value.offset
    contentEnd = record.value.end
    self.depth = depth
  }

  /// Without the end of a map, which `ElementCursor` does not know of an element.
  var withoutMapEnd: FlatRecord {
    var record = self
    if kind == .map { record.contentEnd = 0 }
    return record
  }
}

extension DumpTree {
  /// Reads the whole tree, and the elements of arrays in one walk with their records.
  func flattenedByElements(_ bytes: RawSpan) -> [FlatRecord] {
    var list: [FlatRecord] = []
    flattenByElements(root, 1, bytes, into: &list)
    return list
  }

  private func flattenByElements(_ node: DumpNode, _ depth: Int, _ bytes: RawSpan, into list: inout [FlatRecord]) {
    guard node.isArray else {
      var records = records(of: node)
      while let record = records.next(of: self, in: bytes) { add(record, depth, bytes, to: &list) }
      return
    }
    var elements = elements(of: node)
    while let start = elements.next(of: self, in: bytes) {
      list.append(
        FlatRecord(
          kind: .map, key: node.key.rawValue, offset: start, contentStart: start + 1, contentEnd: 0, depth: depth))
      while let record = elements.nextRecord(of: self, in: bytes) { add(record, depth + 1, bytes, to: &list) }
    }
  }

  private func add(_ record: DumpRecord, _ depth: Int, _ bytes: RawSpan, to list: inout [FlatRecord]) {
    list.append(FlatRecord(record, depth))
    if record.kind != .property { flattenByElements(record.node, depth + 1, bytes, into: &list) }
  }

  /// Reads the whole tree through the cursors, as every user of it does.
  func flattened(_ bytes: RawSpan) -> [FlatRecord] {
    var list: [FlatRecord] = []
    flatten(root, 1, bytes, into: &list)
    return list
  }

  private func flatten(_ node: DumpNode, _ depth: Int, _ bytes: RawSpan, into list: inout [FlatRecord]) {
    var records = records(of: node)
    while let record = records.next(of: self, in: bytes) {
      list.append(FlatRecord(record, depth))
      if record.kind != .property { flatten(record.node, depth + 1, bytes, into: &list) }
    }
  }
}

/// The contents of a tree as one line: `kVersion:1 kThreads[{kThreadID:8}{}]`, sizes behind the colons.
func outline(_ array: [UInt8]) -> String {
  withBytes(array) { bytes in
    let tree = DumpTree(parsing: bytes)
    return outline(of: tree.root, tree, bytes)
  }
}

private func outline(of node: DumpNode, _ tree: DumpTree, _ bytes: RawSpan) -> String {
  var parts: [String] = []
  var records = tree.records(of: node)
  while let record = records.next(of: tree, in: bytes) {
    let name = node.isArray ? "" : KeyTable.name(of: record.key)
    switch record.kind {
    case .property: parts.append("\(name):\(record.value.count)")
    case .map: parts.append("\(name){\(outline(of: record.node, tree, bytes))}")
    case .array: parts.append("\(name)[\(outline(of: record.node, tree, bytes))]")
    }
  }
  return parts.joined(separator: node.isArray ? "" : " ")
}
