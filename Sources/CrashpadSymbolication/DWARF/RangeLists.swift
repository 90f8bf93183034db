// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CCrashpadElfutils

/// The range lists of one unit: `.debug_ranges`, or since DWARF 5 `.debug_rnglists`.
struct RangeLists {
  let addresses: AddressTable
  /// The sections whose limits apply.
  private let sections: DwarfSections
  private let bytes: SharedBytes
  private let format: DwarfFormat
  /// The initial base address of a list.
  private let base: UInt64
  /// The offset of the unit's own part of the section.
  private let listBase: UInt64

  /// `skeleton` is that of a split unit.
  init(_ root: UnitRoot, _ header: UnitHeader, _ sections: DwarfSections, skeleton: UnitSkeleton?) {
    let (outer, outerRoot) = (skeleton?.sections ?? sections, skeleton?.root ?? root)
    (format, self.sections) = (header.format, sections)
    // A unit without an offset uses the only part of the section, which has a header.
    let addressBase = outerRoot.addressBase ?? (format.version < 5 ? 0 : 2 * UInt64(format.offsetSize))
    addresses = AddressTable(bytes: outer.addresses, base: addressBase, format: format)
    base = (root.low ?? outerRoot.low).flatMap { [addresses] in addresses.value(of: $0) } ?? 0
    if format.version < 5 {
      bytes = outer.ranges
      listBase = skeleton?.root.splitRangesBase ?? 0
    } else {
      bytes = sections.rangeLists
      listBase = root.listBase ?? (skeleton == nil ? 0 : format.offsetSize == 8 ? 20 : 12)
    }
  }

  /// The address ranges of an entry, at most `most`.
  func ranges(_ code: DieScanner.Code, most: Int = 1_000_000) -> [Range<UInt64>] {
    if let range = code.range { return [range] }
    guard let list = code.list else { return [] }
    var ranges: [Range<UInt64>] = []
    _ = forEach(at: list) { range in
      ranges.append(range)
      return ranges.count < most && (ranges.count < 2 || sections.takeRanges(1))
    }
    return ranges
  }

  /// Whether the location in an entry contains `address`.
  ///
  /// - Parameter left: the number of ranges that may still be read.
  func contains(_ code: DieScanner.Code, _ address: UInt64, _ left: inout Int) -> Bool {
    if let range = code.range { return range.contains(address) }
    guard let list = code.list else { return false }
    var isFound = false
    _ = forEach(at: list) { range in
      left -= 1
      isFound = range.contains(address)
      return !isFound && left > 0
    }
    return isFound
  }

  /// Calls `body` with each non-empty range until it returns false.
  ///
  /// - Returns: false if the list can't be read.
  private func forEach(at place: RangePlace, _ body: (Range<UInt64>) -> Bool) -> Bool {
    bytes.withBytes { bytes in
      guard let start = offset(place), var offset = Int(exactly: start), offset < bytes.byteCount else {
        return false
      }
      return format.version < 5 ? pairs(bytes, &offset, body) : entries(bytes, &offset, body)
    }
  }

  private func offset(_ place: RangePlace) -> UInt64? {
    switch place {
    case .offset(let offset): return format.version < 5 ? offset &+ listBase : offset
    case .index(let index):
      guard listBase > 0 else { return nil }
      return format.entry(index, of: bytes, at: listBase, size: format.offsetSize).map { listBase &+ $0 }
    }
  }

  /// Whether a list has more entries without a range than compilers write. The others count as ranges do.
  private func isTooMany(_ skipped: inout Int) -> Bool {
    skipped += 1
    return skipped > 1000 && !sections.takeRanges(1)
  }

  private func pairs(_ bytes: RawSpan, _ offset: inout Int, _ body: (Range<UInt64>) -> Bool) -> Bool {
    let largest = format.addressSize == 8 ? UInt64.max : 0xffff_ffff
    var base = base
    var skipped = 0
    while let first = format.fixed(format.addressSize, bytes, &offset),
      let second = format.fixed(format.addressSize, bytes, &offset)
    {
      if first == 0, second == 0 { return true }
      if first == largest {
        base = second
        if isTooMany(&skipped) { return false }
        continue
      }
      let (start, end) = ((base &+ first) & largest, (base &+ second) & largest)
      if start >= end, isTooMany(&skipped) { return false }
      if start < end, !body(start..<end) { return true }
    }
    return false
  }

  private func entries(_ bytes: RawSpan, _ offset: inout Int, _ body: (Range<UInt64>) -> Bool) -> Bool {
    var base = base
    var skipped = 0
    func address() -> UInt64? { format.fixed(format.addressSize, bytes, &offset) }
    func indexed() -> UInt64? { bytes.unsigned(&offset).flatMap { addresses[$0] } }
    while offset < bytes.byteCount {
      let kind = Int(bytes.uint8(at: offset))
      offset += 1
      var start: UInt64?
      var end: UInt64?
      switch kind {
      case DW_RLE_end_of_list: return true
      case DW_RLE_base_addressx, DW_RLE_base_address:
        guard let new = kind == DW_RLE_base_address ? address() : indexed() else { return false }
        base = new
        if isTooMany(&skipped) { return false }
        continue
      case DW_RLE_startx_endx: (start, end) = (indexed(), indexed())
      case DW_RLE_startx_length:
        start = indexed()
        end = bytes.unsigned(&offset).flatMap { length in start.map { $0 &+ length } }
      case DW_RLE_offset_pair:
        start = bytes.unsigned(&offset).map { base &+ $0 }
        end = bytes.unsigned(&offset).map { base &+ $0 }
      case DW_RLE_start_end: (start, end) = (address(), address())
      case DW_RLE_start_length:
        start = address()
        end = bytes.unsigned(&offset).flatMap { length in start.map { $0 &+ length } }
      default: return false
      }
      guard let start, let end else { return false }
      if start >= end, isTooMany(&skipped) { return false }
      if start < end, !body(start..<end) { return true }
    }
    return false
  }
}

/// The unit in another file with data that a split unit lacks: addresses, and ranges before DWARF 5.
struct UnitSkeleton {
  let root: UnitRoot
  let sections: DwarfSections
}
