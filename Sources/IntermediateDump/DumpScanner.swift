// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// Scans a dump in one pass: follows Crashpad's reader command by command, and stops where it stops.
///
/// Source: Crashpad, `util/ios/ios_intermediate_dump_reader.cc`. The order of the checks determines which records are
/// kept.
struct DumpScanner {
  let limits: Limits
  /// Containers of at least this many bytes get an index entry.
  let indexThreshold: Int

  var index: [DumpTree.Entry] = []
  var failure: Finding?
  /// The offset at which reading stopped.
  var offset = 0
  /// The number of memory regions for a minidump.
  var memoryRegionCount = 0
  /// The end of the root map's records.
  var contentEnd = 0

  /// One open container.
  private struct Open {
    let isArray: Bool
    let key: DumpKey
    let start: Int
    /// The position of its index entry, if the container turns out to be long.
    let entry: Int
    /// The number of elements so far, for the path of a finding.
    var elements = 0
  }

  private var stack: [Open] = []

  init(limits: Limits, indexThreshold: Int) {
    // `endOfShortContainer` needs one bit for each level.
    precondition(limits.maximumDepth < 60)
    self.limits = limits
    self.indexThreshold = indexThreshold
    stack.reserveCapacity(limits.maximumDepth + 2)
  }

  mutating func scan(_ bytes: RawSpan) {
    let size = bytes.byteCount
    guard size > 0 else {
      failure = Finding(DumpRules.emptyFile)
      return
    }
    guard bytes.uint8(at: 0) == DumpCommand.rootMapStart else {
      failure = Finding(DumpRules.badStart, at: 0, expected: .code(6), found: .code(UInt64(bytes.uint8(at: 0))))
      return
    }
    offset = 1
    stack.append(Open(isArray: false, key: KeyTable.root, start: 0, entry: -1))
    while true {
      if stack.count <= limits.maximumDepth {
        if stack[stack.count - 1].isArray {
          skipElements(bytes, size)
        } else {
          offset = endOfProperties(at: offset, bytes)
        }
      }
      if offset >= size { break }
      guard step(bytes, size) else {
        closeAll()
        return
      }
      if stack.isEmpty { return }
    }
    failure = finding(DumpRules.noRootEnd)
    closeAll()
  }

  /// The offset behind the complete properties that follow `start`: nearly all records are properties, and only their
  /// lengths matter here.
  @inline(__always)
  private func endOfProperties(at start: Int, _ bytes: RawSpan) -> Int {
    var offset = start
    let limit = UInt64(limits.maximumPropertyLength)
    while bytes.byteCount - offset >= 11 {
      guard bytes.uint8(at: offset) == DumpCommand.property, bytes.uint16(at: offset + 1) != 0 else { break }
      let length = bytes.uint64(at: offset + 3)
      guard length <= limit, length <= UInt64(bytes.byteCount - offset - 11) else { break }
      offset += 11 + Int(length)
    }
    return offset
  }

  /// Skips consecutive complete maps of properties in an array: memory regions and annotations, of which there may be
  /// hundreds of thousands.
  private mutating func skipElements(_ bytes: RawSpan, _ size: Int) {
    // A record of such a map is one level deeper than the map.
    guard stack.count < limits.maximumDepth else { return }
    var start = offset
    var count = 0
    while start < size, bytes.uint8(at: start) == DumpCommand.mapStart {
      let end = endOfProperties(at: start + 1, bytes)
      guard end < size, bytes.uint8(at: end) == DumpCommand.mapEnd else { break }
      if end - start >= indexThreshold { index.append(DumpTree.Entry(start: start, contentEnd: end, descendants: 0)) }
      DumpTree.prefetch(after: start, size: end + 1 - start, in: bytes)
      start = end + 1
      count += 1
    }
    offset = start
    let top = stack.count - 1
    stack[top].elements += count
    if stack[top].key == .threadContextMemoryRegions || stack[top].key == .moduleExtraMemoryRegions {
      memoryRegionCount += count
    }
  }

  /// Reads one command. Returns false if Crashpad's reader stops with an error here.
  private mutating func step(_ bytes: RawSpan, _ size: Int) -> Bool {
    if stack.count > limits.maximumDepth { return stop(DumpRules.tooDeep) }
    let top = stack.count - 1
    let inArray = stack[top].isArray
    let command = bytes.uint8(at: offset)
    switch command {
    case DumpCommand.property:
      if inArray { return stop(DumpRules.recordInArray) }
      guard let key = key(bytes, size) else { return false }
      guard size - offset >= 11 else { return stop(DumpRules.truncatedLength, key) }
      let length = bytes.uint64(at: offset + 3)
      guard length <= UInt64(limits.maximumPropertyLength) else {
        return stop(
          DumpRules.valueTooLong, key, expected: .byteCount(UInt64(limits.maximumPropertyLength)),
          found: .byteCount(length))
      }
      let remaining = size - offset - 11
      guard length <= UInt64(remaining) else {
        return stop(DumpRules.truncatedValue, key, expected: .byteCount(length), found: .byteCount(UInt64(remaining)))
      }
      offset += 11 + Int(length)
    case DumpCommand.mapStart:
      if inArray {
        stack[top].elements += 1
        open(isArray: false, key: stack[top].key, headerSize: 1)
      } else {
        guard let key = key(bytes, size) else { return false }
        open(isArray: false, key: key, headerSize: 3)
      }
    case DumpCommand.arrayStart:
      if inArray { return stop(DumpRules.recordInArray) }
      guard let key = key(bytes, size) else { return false }
      open(isArray: true, key: key, headerSize: 3)
    case DumpCommand.mapEnd, DumpCommand.arrayEnd:
      if stack.count < 2 { return stop(DumpRules.endAtRoot) }
      if inArray != (command == DumpCommand.arrayEnd) { return stop(DumpRules.wrongEnd) }
      close()
      offset += 1
    case DumpCommand.rootMapEnd:
      if stack.count != 1 { return stop(DumpRules.rootEndNested) }
      contentEnd = offset
      offset += 1
      stack.removeAll(keepingCapacity: true)
      if offset != size {
        failure = Finding(DumpRules.trailingBytes, at: offset, found: .byteCount(UInt64(size - offset)))
      }
    case DumpCommand.rootMapStart:
      return stop(DumpRules.secondRoot)
    default:
      return stop(DumpRules.badCommand, found: .code(UInt64(command)))
    }
    return true
  }

  private mutating func key(_ bytes: RawSpan, _ size: Int) -> DumpKey? {
    guard size - offset >= 3 else {
      _ = stop(DumpRules.truncatedKey)
      return nil
    }
    let key = DumpKey(bytes.uint16(at: offset + 1))
    if key == .invalid {
      _ = stop(DumpRules.zeroKey)
      return nil
    }
    return key
  }

  private mutating func open(isArray: Bool, key: DumpKey, headerSize: Int) {
    stack.append(Open(isArray: isArray, key: key, start: offset, entry: index.count))
    offset += headerSize
  }

  private mutating func close() {
    let container = stack.removeLast()
    // Containers inside of a short one are shorter still, and have no entry either.
    if offset - container.start >= indexThreshold { addEntry(container) }
  }

  private mutating func addEntry(_ container: Open) {
    // The entries of inner containers exist already and shift by one position. They count their descendants relative to
    // their own position and stay valid; since containers nest at most ten deep, each entry moves at most nine times.
    let entry = DumpTree.Entry(
      start: container.start, contentEnd: offset, descendants: index.count - container.entry)
    // Most entries have none inside; `insert` costs ten times as much as `append`, even at the end.
    if entry.descendants == 0 {
      index.append(entry)
    } else {
      index.insert(entry, at: container.entry)
    }
  }

  /// Ends all open containers where reading stopped.
  private mutating func closeAll() {
    while let container = stack.popLast() {
      if container.entry >= 0 { addEntry(container) }
    }
    contentEnd = offset
  }

  private mutating func stop(
    _ rule: Rule, _ key: DumpKey? = nil, expected: Finding.Value? = nil, found: Finding.Value? = nil
  ) -> Bool {
    failure = finding(rule, key, expected: expected, found: found)
    return false
  }

  private func finding(
    _ rule: Rule, _ key: DumpKey? = nil, expected: Finding.Value? = nil, found: Finding.Value? = nil
  ) -> Finding {
    var path = DumpPath()
    for (depth, container) in stack.enumerated() where depth > 0 {
      if stack[depth - 1].isArray {
        path.append(index: stack[depth - 1].elements - 1)
      } else {
        path.append(container.key)
      }
    }
    if let key { path.append(key) }
    return Finding(rule, at: offset, path: path.text, expected: expected, found: found)
  }

  /// The offset of the end command of a container without index entry, which is therefore known to be well-formed.
  static func endOfShortContainer(from start: Int, isArray: Bool, upTo limit: Int, in bytes: RawSpan) -> Int {
    var offset = start
    var depth = 0
    // Bit n: the container at depth n is an array. Depth is limited, so 64 bits suffice.
    var arrays: UInt64 = isArray ? 1 : 0
    while offset < limit {
      switch bytes.uint8(at: offset) {
      case DumpCommand.property:
        offset += 11 + Int(truncatingIfNeeded: bytes.uint64(at: offset + 3))
      case DumpCommand.mapEnd, DumpCommand.arrayEnd:
        if depth == 0 { return offset }
        depth -= 1
        offset += 1
      case let command:
        offset += arrays >> UInt64(depth) & 1 == 1 ? 1 : 3
        depth += 1
        let bit: UInt64 = 1 << UInt64(depth)
        arrays = command == DumpCommand.arrayStart ? arrays | bit : arrays & ~bit
      }
    }
    return limit
  }
}

/// The key path of a finding, such as `kThreads[2].kStackRegionData`.
package struct DumpPath: Sendable {
  package private(set) var text = ""

  package init() {}

  package mutating func append(_ key: DumpKey) {
    if !text.isEmpty { text += "." }
    text += KeyTable.name(of: key)
  }

  package mutating func append(index: Int) { text += "[\(index)]" }

  package func appending(_ key: DumpKey) -> DumpPath {
    var longer = self
    longer.append(key)
    return longer
  }

  package func appending(index: Int) -> DumpPath {
    var longer = self
    longer.append(index: index)
    return longer
  }
}
