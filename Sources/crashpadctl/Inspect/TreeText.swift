import BinaryFormat
import CrashpadCore
import IntermediateDump
import Snapshot

/// The records of an intermediate dump as they lie in the file: offset, key, decoded value.
struct TreeText {
  private let tree: DumpTree
  private let write: (String) -> Void
  private let offsetWidth: Int

  static func write(_ tree: DumpTree, _ bytes: RawSpan, to write: @escaping (String) -> Void) {
    let width = String(bytes.byteCount, radix: 16).count
    TreeText(tree: tree, write: write, offsetWidth: width).writeAll(bytes)
  }

  private func writeAll(_ bytes: RawSpan) {
    if !tree.isEmpty || bytes.byteCount > 0 { line(0, 0, "root map {") }
    writeRecords(of: tree.root, depth: 1, bytes)
    if let cause = tree.incomplete {
      let rest = bytes.byteCount - tree.stopOffset
      line(tree.stopOffset, 0, "reading stops: \(Sentences.sentence(cause)); \(Wording.count(rest, "byte")) not read")
    } else {
      line(tree.root.contentEnd, 0, "}")
    }
  }

  private func line(_ offset: Int, _ depth: Int, _ text: String) {
    write(hexadecimal(UInt64(offset), width: offsetWidth) + "  " + String(repeating: "  ", count: depth) + text + "\n")
  }

  private func writeRecords(of node: DumpNode, depth: Int, _ bytes: RawSpan) {
    var records = tree.records(of: node)
    var index = 0
    while let record = records.next(of: tree, in: bytes) {
      let name = node.isArray ? "[\(index)]" : KeyTable.name(of: record.key)
      switch record.kind {
      case .property:
        line(record.offset, depth, "\(name) (\(Wording.count(record.value.count, "byte"))): \(value(record, bytes))")
      case .map, .array:
        line(record.offset, depth, "\(name) \(record.kind == .map ? "{" : "[")")
        writeRecords(of: record.node, depth: depth + 1, bytes)
        line(record.value.end, depth, record.kind == .map ? "}" : "]")
      }
      index += 1
    }
  }

  private func value(_ record: DumpRecord, _ bytes: RawSpan) -> String {
    let unit = KeyTable[record.key]?.unit ?? .none
    switch DumpValue(of: record, in: bytes) {
    case .boolean(let value): return String(value)
    case .unsigned(let value):
      if unit == .address || unit == .mask { return Wording.hex(value) }
      return unit == .none ? String(value) : "\(value) \(unit.rawValue)"
    case .signed(let value): return unit == .none ? String(value) : "\(value) \(unit.rawValue)"
    case .time(let seconds, let microseconds, _):
      return "\(seconds) s \(microseconds) µs (\(Wording.date(Timestamp(seconds: seconds))))"
    case .duration(let seconds, let microseconds): return "\(seconds) s \(microseconds) µs"
    case .uuid(let high, let low): return UUIDBytes(high: high, low: low).text
    case .text(let text): return "\"\(Wording.shortened(Wording.printable(text), to: 200))\""
    case .words(let words):
      let shown = words.prefix(8).map(Wording.hex).joined(separator: " ")
      return words.count > 8 ? shown + " …" : shown
    case .bytes(let range):
      let shown = bytes.array(in: ByteRange(offset: range.offset, count: min(range.count, 16)))
      return shown.map { hexadecimal(UInt64($0), width: 2) }.joined(separator: " ") + (range.count > 16 ? " …" : "")
    }
  }
}
