// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// The units of one file, and the addresses that they contain, as they are kept for later runs.
struct UnitTable {
  /// All units of the section.
  let headers: [UnitHeader]
  /// The numbers in the section of those with code; other numbers count these alone.
  var places: [Int] = []
  /// The numbers of units without ranges, or with incomplete ones.
  var silent: [Int] = []
  var ranges = RangeIndex()
}

// MARK: Keeping

extension UnitTable {
  private static let unitsName = "units"
  private static let rangesName = "ranges"
  private static let entrySize = 48
  /// Flags of a unit.
  private static let isPlace: UInt32 = 1
  private static let isSilent: UInt32 = 2
  private static let hasID: UInt32 = 4
  private static let isBigEndian: UInt32 = 8

  var parts: [IndexPart] {
    [
      IndexPart(name: Self.unitsName, bytes: SharedBytes(unitBytes)),
      IndexPart(name: Self.rangesName, bytes: SharedBytes(ranges.bytes)),
    ]
  }

  private var unitBytes: [UInt8] {
    let output = MemoryOutput()
    var writer = ByteWriter(to: output)
    var flags = [UInt32](repeating: 0, count: headers.count)
    for place in places { flags[place] |= Self.isPlace }
    for number in silent { flags[places[number]] |= Self.isSilent }
    for (header, flags) in zip(headers, flags) {
      for value in [header.start, header.entries, header.end] { writer.uint64(UInt64(value)) }
      writer.uint64(header.abbreviations)
      writer.uint64(header.id ?? 0)
      let format = header.format
      for value in [format.version, format.addressSize, format.offsetSize, header.type] {
        writer.uint8(UInt8(truncatingIfNeeded: value))
      }
      writer.uint32(
        flags | (header.id == nil ? 0 : Self.hasID) | (format.isBigEndian ? Self.isBigEndian : 0))
    }
    try? writer.finish()
    return output.bytes
  }

  /// Nil if nothing was kept, or it is not of a section of this size.
  init?(_ index: FileIndex, size: Int) {
    guard let units = index.part(Self.unitsName), let ranges = index.part(Self.rangesName), !units.isEmpty,
      units.count % Self.entrySize == 0
    else { return nil }
    var headers: [UnitHeader] = []
    var (places, silent): ([Int], [Int]) = ([], [])
    let isWhole = units.withBytes { bytes in
      headers.reserveCapacity(bytes.byteCount / Self.entrySize)
      for number in 0..<bytes.byteCount / Self.entrySize {
        let place = number * Self.entrySize
        guard let header = UnitHeader(kept: bytes, at: place, size), header.start >= headers.last?.end ?? 0 else {
          return false
        }
        let flags = bytes.uint32(at: place + 44)
        if flags & Self.isPlace != 0 {
          if flags & Self.isSilent != 0 { silent.append(places.count) }
          places.append(number)
        }
        headers.append(header)
      }
      return true
    }
    guard isWhole else { return nil }
    (self.headers, self.places, self.silent) = (headers, places, silent)
    self.ranges = RangeIndex(kept: ranges)
  }

  fileprivate static func format(_ bytes: RawSpan, at place: Int) -> DwarfFormat? {
    let (version, address, offset) = (
      Int(bytes.uint8(at: place + 40)), Int(bytes.uint8(at: place + 41)), Int(bytes.uint8(at: place + 42))
    )
    guard (2...5).contains(version), address == 4 || address == 8, offset == 4 || offset == 8 else { return nil }
    return DwarfFormat(
      version: version, addressSize: address, offsetSize: offset,
      isBigEndian: bytes.uint32(at: place + 44) & isBigEndian != 0)
  }

  fileprivate static func id(_ bytes: RawSpan, at place: Int) -> UInt64? {
    bytes.uint32(at: place + 44) & hasID == 0 ? nil : bytes.uint64(at: place + 32)
  }
}

extension UnitHeader {
  /// Nil if the unit is not inside of a section of this size.
  fileprivate init?(kept bytes: RawSpan, at place: Int, _ size: Int) {
    let (start, entries, end) = (bytes.uint64(at: place), bytes.uint64(at: place + 8), bytes.uint64(at: place + 16))
    guard start <= entries, entries <= end, end <= UInt64(size), let format = UnitTable.format(bytes, at: place) else {
      return nil
    }
    self.init(
      start: Int(start), entries: Int(entries), end: Int(end), format: format, type: Int(bytes.uint8(at: place + 43)),
      abbreviations: bytes.uint64(at: place + 24), id: UnitTable.id(bytes, at: place))
  }
}
