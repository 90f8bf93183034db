// SPDX-License-Identifier: Apache-2.0
/// A second reader of the framing, written from the format's description and nothing else: it lists every record, has no
/// index, and spells the numbers itself. What it keeps of a dump is what Crashpad's reader keeps.
struct NaiveReader {
  private(set) var records: [FlatRecord] = []
  /// The code of what ended the reading early.
  private(set) var error: String?
  private(set) var errorOffset: Int?
  private(set) var stopOffset = 0

  private struct Open {
    var isArray: Bool
    /// Index in `records`, or -1 for the root.
    var record: Int
  }

  private let bytes: [UInt8]
  private var open: [Open] = []

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    read()
  }

  private func number(_ at: Int, _ width: Int) -> UInt64? {
    guard at + width <= bytes.count else { return nil }
    return (0..<width).reduce(0) { $0 | UInt64(bytes[at + $1]) << UInt64(8 * $1) }
  }

  private mutating func fail(_ code: String, _ offset: Int?) {
    error = code
    errorOffset = offset
    for container in open where container.record >= 0 { records[container.record].contentEnd = stopOffset }
  }

  private mutating func add(_ kind: FlatRecord.Kind, _ key: UInt16, _ start: Int, _ end: Int) {
    records.append(
      FlatRecord(kind: kind, key: key, offset: stopOffset, contentStart: start, contentEnd: end, depth: open.count))
    if kind != .property { open.append(Open(isArray: kind == .array, record: records.count - 1)) }
    stopOffset = end
  }

  private mutating func read() {
    if bytes.isEmpty { return fail("empty-file", nil) }
    if bytes[0] != 6 { return fail("bad-start", 0) }
    open = [Open(isArray: false, record: -1)]
    stopOffset = 1
    while true {
      let at = stopOffset
      if at == bytes.count { return fail("no-root-end", at) }
      if open.count > 10 { return fail("too-deep", at) }
      let command = bytes[at]
      guard (1...7).contains(command) else { return fail("bad-command", at) }
      let inArray = open[open.count - 1].isArray
      let last = open[open.count - 1].record
      switch command {
      case 6: return fail("second-root", at)
      case 7:
        if open.count != 1 { return fail("root-end-nested", at) }
        stopOffset += 1
        open = []
        if stopOffset < bytes.count { fail("trailing-bytes", stopOffset) }
        return
      case 2, 4:
        if open.count == 1 { return fail("end-at-root", at) }
        if inArray != (command == 4) { return fail("wrong-end", at) }
        records[last].contentEnd = at
        open.removeLast()
        stopOffset += 1
      case 1 where inArray: add(.map, records[last].key, at + 1, at + 1)
      case _ where inArray: return fail("record-in-array", at)
      default:
        guard let key = number(at + 1, 2) else { return fail("truncated-key", at) }
        if key == 0 { return fail("zero-key", at) }
        if command != 5 {
          add(command == 3 ? .array : .map, UInt16(key), at + 3, at + 3)
          continue
        }
        guard let length = number(at + 3, 8) else { return fail("truncated-length", at) }
        if length > 64 << 20 { return fail("value-too-long", at) }
        if length > UInt64(bytes.count - at - 11) { return fail("truncated-value", at) }
        add(.property, UInt16(key), at + 11, at + 11 + Int(length))
      }
    }
  }
}
