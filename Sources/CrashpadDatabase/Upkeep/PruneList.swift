// SPDX-License-Identifier: Apache-2.0
package import CrashpadFiles
package import CrashpadSnapshot

/// A report as the rules of pruning see it.
package struct PruneReport: Sendable, Hashable {
  package let file: ReportFile
  package let creationTime: Int64
  /// The size in bytes, with attachments.
  package let size: UInt64

  package var id: UUIDBytes { file.id }
  package var state: ReportState { file.state }

  package init(_ report: Report) {
    self.init(file: report.file, creationTime: report.creationTime, size: report.storedSize)
  }

  fileprivate init(file: ReportFile, creationTime: Int64, size: UInt64) {
    self.file = file
    self.creationTime = creationTime
    self.size = size
  }

  fileprivate func isNewer(than other: PruneReport) -> Bool {
    if creationTime != other.creationTime { return creationTime > other.creationTime }
    if id != other.id { return id.precedes(other.id) }
    // A database does not use one id twice, but a copy of one may.
    if state != other.state { return state == .pending }
    return file.name < other.file.name
  }
}

/// The reports of a database for the rules of pruning, the newest first; for equal times the lowest id first. There may be
/// millions: each takes 32 bytes.
package struct PruneList: Sendable {
  private struct Item {
    let id: UUIDBytes
    let creationTime: Int64
    /// The size, or for an unusual report its place in `others`; in the highest bits the state, and whether it is unusual.
    let bits: UInt64

    static let completed: UInt64 = 1 << 63
    static let unusual: UInt64 = 1 << 62
    static let size = unusual - 1
  }

  private var items: [Item] = []
  /// Reports with an unusual name or size.
  private var others: [PruneReport] = []

  package init() {}

  /// To be followed by `sort()`.
  package mutating func append(_ report: PruneReport) {
    var bits: UInt64 = report.state == .completed ? Item.completed : 0
    if report.file.name == DatabaseLayout.report(report.id), report.size <= Item.size {
      bits |= report.size
    } else {
      bits |= Item.unusual | UInt64(others.count)
      others.append(report)
    }
    items.append(Item(id: report.id, creationTime: report.creationTime, bits: bits))
  }

  package mutating func sort() {
    let others = others
    items.heapSort { a, b in
      if a.creationTime != b.creationTime { return a.creationTime > b.creationTime }
      if a.id != b.id { return a.id.precedes(b.id) }
      return Self.report(a, others).isNewer(than: Self.report(b, others))
    }
  }

  package mutating func removeAll(where isGone: (PruneReport) throws(FileFailure) -> Bool) throws(FileFailure) {
    var count = 0
    for index in items.indices {
      if try isGone(self[index]) { continue }
      items[count] = items[index]
      count += 1
    }
    items.removeLast(items.count - count)
  }

  private static func report(_ item: Item, _ others: [PruneReport]) -> PruneReport {
    let value = item.bits & Item.size
    if item.bits & Item.unusual != 0 { return others[Int(value)] }
    let state: ReportState = item.bits & Item.completed != 0 ? .completed : .pending
    let file = ReportFile(id: item.id, state: state, name: DatabaseLayout.report(item.id))
    return PruneReport(file: file, creationTime: item.creationTime, size: value)
  }
}

extension PruneList: RandomAccessCollection {
  package var startIndex: Int { 0 }
  package var endIndex: Int { items.count }
  package subscript(index: Int) -> PruneReport { Self.report(items[index], others) }
}

extension Array {
  /// Sorts in place: the standard library's sort holds up to half of the elements a second time.
  fileprivate mutating func heapSort(by precedes: (Element, Element) -> Bool) {
    for root in (0..<(count / 2)).reversed() { siftDown(root, endingAt: count, by: precedes) }
    for end in indices.reversed() where end > 0 {
      swapAt(0, end)
      siftDown(0, endingAt: end, by: precedes)
    }
  }

  /// Moves an element down until none of its two children is to stand behind it.
  private mutating func siftDown(_ start: Int, endingAt end: Int, by precedes: (Element, Element) -> Bool) {
    var root = start
    while case let left = 2 * root + 1, left < end {
      let right = left + 1
      let last = right < end && precedes(self[left], self[right]) ? right : left
      guard precedes(self[root], self[last]) else { return }
      swapAt(root, last)
      root = last
    }
  }
}

/// A Bloom filter of ids: it never misses an id that was inserted, and may take another one for it. It has a megabyte,
/// whatever the number of ids.
struct IDFilter {
  private static let bitCount: UInt64 = 1 << 23
  private var bits = [UInt64](repeating: 0, count: Int(bitCount / 64))

  private static func place(_ id: UUIDBytes) -> Int {
    let hash = (id.high &* 0x9e37_79b9_7f4a_7c15 ^ id.low) &* 0xbf58_476d_1ce4_e5b9
    return Int(hash >> 41)
  }

  mutating func insert(_ id: UUIDBytes) { bits[Self.place(id) / 64] |= 1 << UInt64(Self.place(id) % 64) }

  func mayContain(_ id: UUIDBytes) -> Bool { bits[Self.place(id) / 64] & 1 << UInt64(Self.place(id) % 64) != 0 }
}

extension CrashDatabase {
  /// All pending and completed reports except those for which `isLeftOut`; a report that was moved during the listing
  /// occurs once. Throws `FileFailure`.
  package func reportsToPrune(
    isLeftOut: (ReportFile) -> Bool = { _ in false }
  ) throws(FileFailure) -> (list: PruneList, failures: [FileFailure]) {
    var list = PruneList()
    let pending = try forEachReport(in: .pending) { report in
      if !isLeftOut(report.file) { list.append(PruneReport(report)) }
    }
    var completedIDs = IDFilter()
    let pendingCount = list.count
    let completed = try forEachReport(in: .completed) { report in
      completedIDs.insert(report.id)
      if !isLeftOut(report.file) { list.append(PruneReport(report)) }
    }
    // Counted twice, a report would push others over a limit.
    var index = -1
    try list.removeAll { report throws(FileFailure) in
      index += 1
      guard index < pendingCount, completedIDs.mayContain(report.id) else { return false }
      return try !isThere(report.file)
    }
    list.sort()
    return (list, pending.failures + completed.failures)
  }
}
