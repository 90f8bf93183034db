// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CCrashpadElfutils

/// A `.dwp` file: many `.dwo` files in one, found by the ids of their units. Supports DWARF 5 and GCC's earlier format.
/// Sources: DWARF 5, section 7.3.5; the DebugFission page of GCC's wiki.
final class DwarfPackage {
  private let file: any DwarfContainer
  private let index: SharedBytes
  private let whole: DwarfParts
  private let format: DwarfFormat
  /// The size of the index: sections per unit, number of units, and slots of the hash table.
  private let columns: Int
  private let rows: Int
  private let slots: Int
  /// The bytes of units that may still be returned: in a hostile file, many rows may share one large part.
  private var left: Int

  /// Tables are at most two thirds full, so real ones need only a few steps.
  private static let maximumSteps = 4096

  private static let headerSize = 16

  /// Nil if there is no readable index.
  init?(_ file: any DwarfContainer) {
    self.file = file
    let index = file.contents(".debug_cu_index")
    var format = DwarfFormat(version: 0, addressSize: 8, offsetSize: 4, isBigEndian: !file.isLittleEndian)
    let numbers: [UInt64]? = index.withBytes { bytes in
      guard bytes.byteCount >= Self.headerSize else { return nil }
      // Before DWARF 5 the version field has four bytes.
      let version = bytes.number(at: 0, size: 2, format.isBigEndian)
      let long = bytes.number(at: 0, size: 4, format.isBigEndian)
      return [version == 5 ? 5 : long] + [4, 8, 12].map { bytes.number(at: $0, size: 4, format.isBigEndian) }
    }
    guard let numbers, numbers[0] == 2 || numbers[0] == 5, numbers[1] <= 16, numbers[3] > 0,
      numbers[3] & (numbers[3] - 1) == 0
    else { return nil }
    format.version = Int(numbers[0])
    (columns, rows, slots) = (Int(numbers[1]), Int(numbers[2]), Int(numbers[3]))
    // Per slot an id and a row number, then one row of section ids, then two rows per unit.
    guard 12 * slots + 4 * columns * (1 + 2 * rows) <= index.count - Self.headerSize else { return nil }
    self.index = index
    self.format = format
    whole = DwarfParts(file, suffix: ".dwo")
    left = 1 << 20 + 2 * whole.info.count
    file.keepSections()
  }

  /// The sections of the unit with an id; nil if the package does not contain it.
  func sections(for id: UInt64, _ findings: DwarfFindings) -> DwarfSections? {
    guard left > 0, let parts = index.withBytes({ parts(for: id, $0) }) else { return nil }
    left -= parts.info.count
    return DwarfSections(split: file, parts: parts, findings)
  }

  private func parts(for id: UInt64, _ bytes: RawSpan) -> DwarfParts? {
    guard let row = row(of: id, bytes), row > 0, row <= rows else { return nil }
    let ids = Self.headerSize + 12 * slots
    let offsets = ids + 4 * columns * row
    let sizes = ids + 4 * columns * (rows + row)
    var parts = whole
    parts.info = SharedBytes()
    for column in 0..<columns {
      let (offset, size) = (number(4, offsets + 4 * column, bytes), number(4, sizes + 4 * column, bytes))
      switch number(4, ids + 4 * column, bytes) {
      // DW_SECT_INFO, DW_SECT_ABBREV, DW_SECT_STR_OFFSETS; DW_SECT_RNGLISTS, whose number meant macros before DWARF 5.
      case 1: parts.info = whole.info.part(offset, size)
      case 3: parts.abbreviations = whole.abbreviations.part(offset, size)
      case 6: parts.stringOffsets = whole.stringOffsets.part(offset, size)
      case 8 where format.version == 5: parts.lists = whole.lists.part(offset, size)
      default: break
      }
    }
    return parts
  }

  /// The row of a unit, starting at 1: a lookup with double hashing.
  private func row(of id: UInt64, _ bytes: RawSpan) -> Int? {
    let mask = UInt64(slots - 1)
    var slot = id & mask
    let step = (id >> 32) & mask | 1
    for _ in 0..<min(slots, Self.maximumSteps) {
      let row = number(4, Self.headerSize + 8 * slots + 4 * Int(slot), bytes)
      if row == 0 { return nil }
      if number(8, Self.headerSize + 8 * Int(slot), bytes) == id { return Int(row) }
      slot = (slot + step) & mask
    }
    return nil
  }

  private func number(_ size: Int, _ offset: Int, _ bytes: RawSpan) -> UInt64 {
    bytes.number(at: offset, size: size, format.isBigEndian)
  }
}
