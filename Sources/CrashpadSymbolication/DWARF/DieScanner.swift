// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CCrashpadElfutils

/// Scans the entries of one unit in `.debug_info` for functions with code and calls inlined into them. Abbreviations
/// give the sizes of entries, so other entries are skipped without reading them.
struct DieScanner {
  /// Trivial type, because one is used for each entry and must not cause retain calls.
  struct Abbreviation {
    /// False if no abbreviation has this code.
    var isKnown = false
    var isFunction = false
    var isInlinedCall = false
    var isCallSite = false
    var isTemplateType = false
    /// The kind of entry that names are qualified by; nil for others.
    var scope: EntryScope.Kind?
    var hasChildren = false
    /// The size of all attributes in bytes; nil if it depends on their values.
    var size: Int? = 0
    /// The range in `attributes`.
    var first = 0
    var end = 0
    /// The range in `pieces`.
    var firstPiece = 0
    var endPiece = 0
  }

  struct Attribute {
    let name: UInt32
    let form: UInt32
    /// The size of the value in bytes; -1 if it depends on the value.
    let size: Int
    /// The value if it is in the abbreviation itself.
    let constant: UInt64?
  }

  /// A step in skipping an entry: a number of bytes, then one value of a form whose size depends on the value.
  private struct Piece {
    var size = 0
    /// 0 for none.
    var form: UInt32 = 0
  }

  /// The attributes of all abbreviations.
  private(set) var attributes: [Attribute] = []
  private var pieces: [Piece] = []
  /// Indexed by code. Codes are dense in all real files.
  private(set) var abbreviations = [Abbreviation()]
  let format: DwarfFormat

  /// The largest accepted code; real files have fewer.
  private static let maximumCode: UInt64 = 65_536

  /// Reads a unit's abbreviations in `.debug_abbrev`. Nil if they are damaged or implausible.
  init?(_ table: RawSpan, at start: UInt64, _ format: DwarfFormat) {
    self.format = format
    guard var offset = Int(exactly: start), offset < table.byteCount else { return nil }
    while let code = table.unsigned(&offset) {
      if code == 0 { return }
      // A sparse list would use memory for each gap.
      guard code <= Self.maximumCode, code <= UInt64(4 * abbreviations.count + 256) else { return nil }
      while abbreviations.count <= code { abbreviations.append(Abbreviation()) }
      guard !abbreviations[Int(code)].isKnown, let new = abbreviation(table, &offset) else { return nil }
      abbreviations[Int(code)] = new
    }
    return nil
  }

  private mutating func abbreviation(_ table: RawSpan, _ offset: inout Int) -> Abbreviation? {
    guard let tag = table.unsigned(&offset), offset < table.byteCount else { return nil }
    var new = Abbreviation()
    (new.isKnown, new.first, new.firstPiece) = (true, attributes.count, pieces.count)
    new.hasChildren = table.uint8(at: offset) != 0
    offset += 1
    var hasCode = false
    var piece = Piece()
    while let name = table.unsigned(&offset), let form = table.unsigned(&offset), name != 0 || form != 0 {
      guard attributes.count - new.first < 256, let name = UInt32(exactly: name), let form = UInt32(exactly: form)
      else {
        return nil
      }
      var constant: UInt64?
      if Int(form) == DW_FORM_implicit_const {
        guard let value = table.signed(&offset) else { return nil }
        constant = UInt64(bitPattern: value)
      }
      if Int(name) == DW_AT_low_pc || Int(name) == DW_AT_ranges { hasCode = true }
      let size = format.fixedSize(form)
      attributes.append(Attribute(name: name, form: form, size: size ?? -1, constant: constant))
      if let size {
        piece.size += size
      } else {
        new.size = nil
        piece.form = form
        pieces.append(piece)
        piece = Piece()
      }
    }
    if new.size != nil { new.size = piece.size }
    if piece.size > 0 { pieces.append(piece) }
    (new.end, new.endPiece) = (attributes.count, pieces.count)
    new.isFunction = hasCode && Int(clamping: tag) == DW_TAG_subprogram
    // Before DWARF 3, a call in several parts has no code, but the calls in it have.
    new.isInlinedCall = Int(clamping: tag) == DW_TAG_inlined_subroutine
    new.isCallSite = [DW_TAG_call_site, DW_TAG_GNU_call_site].contains(Int(clamping: tag))
    new.isTemplateType = Int(clamping: tag) == DW_TAG_template_type_parameter
    new.scope = new.hasChildren ? EntryScope.Kind(tag: Int(clamping: tag)) : nil
    return new
  }

  // MARK: Skipping values

  /// Skips all values of an entry.
  func skip(_ abbreviation: Abbreviation, _ unit: RawSpan, _ offset: inout Int) -> Bool {
    if let size = abbreviation.size {
      offset += size
      return true
    }
    for index in abbreviation.firstPiece..<abbreviation.endPiece {
      let piece = pieces[index]
      offset += piece.size
      guard piece.form == 0 || format.skip(piece.form, unit, &offset) else { return false }
    }
    return true
  }

  /// Skips a value.
  func skip(_ attribute: Attribute, _ unit: RawSpan, _ offset: inout Int) -> Bool {
    guard attribute.size < 0 else {
      offset += attribute.size
      return true
    }
    return format.skip(attribute.form, unit, &offset)
  }

  // MARK: One entry

  /// Calls `body` with each attribute of one entry: its name, its form, its value if the abbreviation has it, and the bytes and the
  /// offset of the value.
  ///
  /// - Parameter unit: the section up to the end of the unit.
  /// - Returns: false if the entry can't be read.
  func forEachAttribute(
    _ unit: RawSpan, at start: Int,
    _ body: (_ name: Int, _ form: UInt32, _ constant: UInt64?, _ unit: RawSpan, _ place: Int) -> Void
  ) -> Bool {
    var offset = start
    guard let code = unit.unsigned(&offset), code < UInt64(abbreviations.count) else { return false }
    let abbreviation = abbreviations[Int(code)]
    guard abbreviation.isKnown else { return false }
    for index in abbreviation.first..<abbreviation.end {
      let attribute = attributes[index]
      var place = offset
      guard skip(attribute, unit, &offset), offset <= unit.byteCount else { return false }
      body(Int(attribute.name), format.actual(attribute.form, unit, &place), attribute.constant, unit, place)
    }
    return true
  }
}
