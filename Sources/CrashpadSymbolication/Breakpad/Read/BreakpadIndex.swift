// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes

/// Rules of Breakpad's symbol files.
package enum BreakpadRules {
  package static let badRecord = Rule(
    "bad-symbol-record", .warning, "A record of a symbol file can't be read; it is left out")

  package static let all = [badRecord]
}

/// Indexes the records of a symbol file that begin ranges or define names, in one pass.
struct BreakpadIndex {
  /// A range of addresses, relative to the module, and the line that describes it.
  struct Entry: Sendable {
    let address: UInt64
    /// The address after the last one.
    let end: UInt64
    /// The offset of the line in the file.
    let offset: Int
  }

  var functions: [Entry] = []
  var publics: [Entry] = []
  var frameRules: [Entry] = []
  var windowsFrames = WindowsFrames()
  var files = NameTable()
  var inlineOrigins = NameTable()
  var findings = FindingList()

  /// The parts of the MODULE record at the beginning.
  static func module(_ bytes: RawSpan) -> (
    operatingSystem: String, architecture: String, debugID: String, name: String
  )? {
    var line = TextLineReader(at: bytes.markOfUTF8, in: bytes)
    guard line.skip("MODULE ", in: bytes), let system = line.word(in: bytes), let architecture = line.word(in: bytes),
      let id = line.word(in: bytes)
    else { return nil }
    return (
      bytes.text(in: system), bytes.text(in: architecture), bytes.text(in: id).uppercased(), bytes.text(in: line.rest)
    )
  }

  /// Reads the id in the INFO CODE_ID record, which follows the MODULE record; nil if the file lacks that record or ends within it.
  static func codeID(_ bytes: RawSpan) -> String? {
    var offset = bytes.lineEnd(from: bytes.markOfUTF8) + 1
    while offset < bytes.byteCount {
      var line = TextLineReader(at: offset, in: bytes)
      offset = bytes.lineEnd(from: offset) + 1
      guard offset <= bytes.byteCount, line.skip("INFO ", in: bytes) else { return nil }
      if line.skip("CODE_ID ", in: bytes) { return line.word(in: bytes).map { bytes.text(in: $0) } }
    }
    return nil
  }

  mutating func read(_ bytes: RawSpan) {
    // A line record takes about 15 bytes, and a function has several lines.
    functions.reserveCapacity(bytes.byteCount / 700)
    bytes.forEachRecord { offset, first in
      switch first {
      case UInt8(ascii: "F"): readFile(bytes, offset)
      case UInt8(ascii: "P"): readPublic(bytes, offset)
      case UInt8(ascii: "S"): readStack(bytes, offset)
      case UInt8(ascii: "I"): readOrigin(bytes, offset)
      // Unknown records
      default: break
      }
    }
  }

  private mutating func readFile(_ bytes: RawSpan, _ offset: Int) {
    var line = TextLineReader(at: offset, in: bytes)
    if line.skip("FUNC ", in: bytes) {
      line.skipMultiple(in: bytes)
      guard let address = line.hexadecimal(in: bytes), let size = line.hexadecimal(in: bytes) else {
        return complain(offset)
      }
      let (last, overflow) = address.addingReportingOverflow(size)
      functions.append(Entry(address: address, end: overflow ? .max : last, offset: offset))
    } else if line.skip("FILE ", in: bytes) {
      guard let number = line.decimal(in: bytes) else { return complain(offset) }
      files.set(number, line.offset)
    }
  }

  private mutating func readPublic(_ bytes: RawSpan, _ offset: Int) {
    var line = TextLineReader(at: offset, in: bytes)
    guard line.skip("PUBLIC ", in: bytes) else { return }
    line.skipMultiple(in: bytes)
    guard let address = line.hexadecimal(in: bytes) else { return complain(offset) }
    publics.append(Entry(address: address, end: .max, offset: offset))
  }

  private mutating func readStack(_ bytes: RawSpan, _ offset: Int) {
    // Most of these records have the rules behind the first ones of a function.
    guard bytes.hasText("STACK CFI INIT ", at: offset) || bytes.hasText("STACK WIN ", at: offset) else { return }
    var line = TextLineReader(at: offset, in: bytes)
    if line.skip("STACK WIN ", in: bytes) { return readWindowsFrame(&line, bytes, offset) }
    _ = line.skip("STACK CFI INIT ", in: bytes)
    guard let address = line.hexadecimal(in: bytes), let size = line.hexadecimal(in: bytes) else {
      return complain(offset)
    }
    let (last, overflow) = address.addingReportingOverflow(size)
    frameRules.append(Entry(address: address, end: overflow ? .max : last, offset: offset))
  }

  private mutating func readWindowsFrame(_ line: inout TextLineReader, _ bytes: RawSpan, _ offset: Int) {
    guard let type = line.hexadecimal(in: bytes), let address = line.hexadecimal(in: bytes),
      let size = line.hexadecimal(in: bytes)
    else { return complain(offset) }
    let (end, overflow) = address.addingReportingOverflow(size)
    windowsFrames.add(type, address..<(overflow ? .max : end), offset)
  }

  private mutating func readOrigin(_ bytes: RawSpan, _ offset: Int) {
    guard bytes.hasText("INLINE_ORIGIN ", at: offset) else { return }
    var line = TextLineReader(at: offset, in: bytes)
    _ = line.skip("INLINE_ORIGIN ", in: bytes)
    guard let number = line.decimal(in: bytes) else { return complain(offset) }
    inlineOrigins.set(number, line.offset)
  }

  private mutating func complain(_ offset: Int) { findings.append(Finding(BreakpadRules.badRecord, at: offset)) }
}

extension [BreakpadIndex.Entry] {
  func sortedByAddress() -> [BreakpadIndex.Entry] {
    isSorted { $0.address < $1.address } ? self : sorted { ($0.address, $0.offset) < ($1.address, $1.offset) }
  }

  /// The last entry that begins at or before `address`.
  func last(atOrBefore address: UInt64) -> BreakpadIndex.Entry? {
    let next = indices.partitioningIndex { self[$0].address > address }
    return next > 0 ? self[next - 1] : nil
  }

  /// The entry that contains `address`.
  func entry(containing address: UInt64) -> BreakpadIndex.Entry? {
    guard let entry = last(atOrBefore: address), address < entry.end else { return nil }
    return entry
  }
}

/// Offsets of names by number. Real files have dense numbers from 0 on; others are stored separately.
struct NameTable: Sendable {
  private var dense: [Int] = []
  private var sparse: [UInt64: Int] = [:]

  mutating func set(_ number: UInt64, _ offset: Int) {
    if number == UInt64(dense.count) {
      dense.append(offset)
    } else if number < UInt64(dense.count) {
      dense[Int(number)] = offset
    } else {
      sparse[number] = offset
    }
  }

  subscript(number: UInt64) -> Int? {
    number < UInt64(dense.count) ? dense[Int(number)] : sparse[number]
  }
}

/// The STACK WIN records; their numbers are offsets in the file.
struct WindowsFrames: Sendable {
  /// Records of type 4, frame data.
  var programs = RangeIndex()
  /// Records of type 0, functions without frame pointer.
  var sizes = RangeIndex()

  var isEmpty: Bool { programs.isEmpty && sizes.isEmpty }

  mutating func add(_ type: UInt64, _ range: Range<UInt64>, _ offset: Int) {
    if type == 4 { programs.add(range, offset) } else if type == 0 { sizes.add(range, offset) }
  }

  mutating func finish() {
    programs.finish()
    sizes.finish()
  }
}
