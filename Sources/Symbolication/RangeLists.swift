internal import BinaryFormat
internal import CElfutils

/// The lists of ranges of one unit: `.debug_ranges`, and from DWARF 5 on `.debug_rnglists`.
struct RangeLists {
  /// How an entry says where its list is.
  enum Place {
    case offset(UInt64)
    case index(UInt64)
  }

  let bytes: RawSpanHolder
  let version: Int
  let offsetSize: Int
  /// What addresses count from at the beginning of a list.
  let base: UInt64
  /// Where the unit's own part of the section begins; only indices need it.
  let listBase: UInt64
  let addresses: DieScanner.AddressTable

  /// Calls `body` with each range that is not empty until it returns false.
  ///
  /// - Returns: false if the list can't be read.
  func forEach(at place: Place, _ body: (Range<UInt64>) -> Bool) -> Bool {
    bytes.withBytes { bytes in
      guard let start = offset(place, bytes), var offset = Int(exactly: start), offset < bytes.byteCount else {
        return false
      }
      return version < 5 ? pairs(bytes, &offset, body) : entries(bytes, &offset, body)
    }
  }

  private func offset(_ place: Place, _ bytes: RawSpan) -> UInt64? {
    guard case .index(let index) = place else {
      guard case .offset(let offset) = place else { return nil }
      return offset
    }
    let (distance, tooFar) = index.multipliedReportingOverflow(by: UInt64(offsetSize))
    let (entry, overflow) = listBase.addingReportingOverflow(distance)
    guard listBase > 0, !tooFar, !overflow, let offset = Int(exactly: entry), offset <= bytes.byteCount - offsetSize
    else { return nil }
    return listBase &+ bytes.number(at: offset, size: offsetSize, isSigned: false)
  }

  private func pairs(_ bytes: RawSpan, _ offset: inout Int, _ body: (Range<UInt64>) -> Bool) -> Bool {
    let size = addresses.addressSize
    let largest = size == 8 ? UInt64.max : 0xffff_ffff
    var base = base
    while bytes.byteCount - offset >= 2 * size {
      let first = bytes.number(at: offset, size: size, isSigned: false)
      let second = bytes.number(at: offset + size, size: size, isSigned: false)
      offset += 2 * size
      if first == 0, second == 0 { return true }
      if first == largest {
        base = second
        continue
      }
      let (start, end) = ((base &+ first) & largest, (base &+ second) & largest)
      if start < end, !body(start..<end) { return true }
    }
    return false
  }

  private func entries(_ bytes: RawSpan, _ offset: inout Int, _ body: (Range<UInt64>) -> Bool) -> Bool {
    let size = addresses.addressSize
    var base = base
    func address() -> UInt64? {
      guard bytes.byteCount - offset >= size else { return nil }
      defer { offset += size }
      return bytes.number(at: offset, size: size, isSigned: false)
    }
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
      if start < end, !body(start..<end) { return true }
    }
    return false
  }
}
