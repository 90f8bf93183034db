// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadCore
import CrashpadText
import IntermediateDump
import CrashpadSnapshot

/// The records of an intermediate dump in file order: offset, key, decoded value.
struct TreeText {
  private let tree: DumpTree
  private let write: (String) -> Bool
  private let offsetWidth: Int

  /// - Parameter write: takes a line; false if it wants no more.
  static func write(_ tree: DumpTree, _ bytes: RawSpan, to write: @escaping (String) -> Bool) {
    let width = String(bytes.byteCount, radix: 16).count
    TreeText(tree: tree, write: write, offsetWidth: width).writeAll(bytes)
  }

  private func writeAll(_ bytes: RawSpan) {
    if !tree.isEmpty || bytes.byteCount > 0, !line(0, 0, "root map {") { return }
    guard writeRecords(of: tree.root, depth: 1, bytes) else { return }
    if let cause = tree.incomplete {
      let rest = bytes.byteCount - tree.stopOffset
      let left = TextFormat.count(rest, "byte")
      _ = line(tree.stopOffset, 0, "reading stops: \(Sentences.sentence(cause)); \(left) not read")
    } else {
      _ = line(tree.root.contentEnd, 0, "}")
    }
  }

  private func line(_ offset: Int, _ depth: Int, _ text: String) -> Bool {
    write(hexadecimal(UInt64(offset), width: offsetWidth) + "  " + String(repeating: "  ", count: depth) + text + "\n")
  }

  /// False if no more is wanted.
  private func writeRecords(of node: DumpNode, depth: Int, _ bytes: RawSpan) -> Bool {
    var records = tree.records(of: node)
    var index = 0
    while let record = records.next(of: tree, in: bytes) {
      let name = node.isArray ? "[\(index)]" : KeyTable.name(of: record.key)
      switch record.kind {
      case .property:
        let count = TextFormat.count(record.value.count, "byte")
        guard line(record.offset, depth, "\(name) (\(count)): \(value(record, bytes))") else { return false }
      case .map, .array:
        guard line(record.offset, depth, "\(name) \(record.kind == .map ? "{" : "[")"),
          writeRecords(of: record.node, depth: depth + 1, bytes),
          line(record.value.end, depth, record.kind == .map ? "}" : "]")
        else { return false }
      }
      index += 1
    }
    return true
  }

  private func value(_ record: DumpRecord, _ bytes: RawSpan) -> String {
    let unit = KeyTable[record.key]?.unit ?? .none
    switch DumpValue(of: record, in: bytes) {
    case .boolean(let value): return String(value)
    case .unsigned(let value):
      if unit == .address || unit == .mask { return TextFormat.hex(value) }
      return unit == .none ? String(value) : "\(value) \(unit.rawValue)"
    case .signed(let value): return unit == .none ? String(value) : "\(value) \(unit.rawValue)"
    case .time(let seconds, let microseconds, _):
      return "\(seconds) s \(microseconds) µs (\(TextFormat.date(Timestamp(seconds: seconds))))"
    case .duration(let seconds, let microseconds): return "\(seconds) s \(microseconds) µs"
    case .uuid(let high, let low): return UUIDBytes(high: high, low: low).text
    case .text(let text): return "\"\(TextFormat.shortened(TextFormat.printable(text), to: 200))\""
    case .words(let words):
      let shown = words.prefix(8).map(TextFormat.hex).joined(separator: " ")
      return words.count > 8 ? shown + " …" : shown
    case .bytes(let range):
      let shown = bytes.array(in: ByteRange(offset: range.offset, count: min(range.count, 16)))
      return shown.map { hexadecimal(UInt64($0), width: 2) }.joined(separator: " ") + (range.count > 16 ? " …" : "")
    }
  }
}
