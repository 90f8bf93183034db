internal import CElfutils

/// A compiled function, and the calls that were inlined into it.
@safe
final class DwarfFunction {
  var die: Dwarf_Die
  /// Its name, once it was asked for.
  var name: String?
  /// The first instruction: of a function in several parts the one that it is entered by. 0 if its entry does not say.
  let entry: UInt64

  /// A call that was inlined.
  struct InlinedCall {
    /// Offset of the entry of the function that was called, or of the call's own.
    let origin: UInt64
    /// Number of the calling place's file in the unit's table.
    let file: UInt64
    let line: UInt64
    let column: UInt64
    /// 0 for what was inlined into the function itself.
    let depth: Int
    /// From its first to its last address.
    let hull: Range<UInt64>
    /// If there are several, each of its ranges.
    let parts: [Range<UInt64>]

    /// Nil if it has no code.
    fileprivate init?(_ call: DieScanner.Call, _ ranges: [Range<UInt64>]) {
      guard var hull = ranges.first else { return nil }
      for range in ranges.dropFirst() {
        hull = min(hull.lowerBound, range.lowerBound)..<max(hull.upperBound, range.upperBound)
      }
      self.init(call, hull, ranges.count > 1 ? ranges : [])
    }

    fileprivate init(_ call: DieScanner.Call, _ hull: Range<UInt64>, _ parts: [Range<UInt64>] = []) {
      (origin, depth) = (call.origin ?? call.offset, call.level)
      (file, line, column) = (call.file, call.line, call.column)
      (self.hull, self.parts) = (hull, parts)
    }

    func contains(_ address: UInt64) -> Bool {
      hull.contains(address) && (parts.isEmpty || parts.contains { $0.contains(address) })
    }

    var ranges: [Range<UInt64>] { parts.isEmpty ? [hull] : parts }
  }

  /// In the order of the DWARF, which has a call before those that were inlined into it.
  private var calls: [InlinedCall]?

  init(_ die: Dwarf_Die, _ sections: DwarfInfo.Sections) {
    unsafe self.die = unsafe die
    var own = unsafe die
    var entry: Dwarf_Addr = 0
    if unsafe dwarf_entrypc(&own, &entry) != 0 {
      entry = unsafe DwarfUnit.ranges(&own, sections, most: 1).first?.lowerBound ?? 0
    }
    self.entry = entry
  }

  func ranges(_ sections: DwarfInfo.Sections) -> [Range<UInt64>] { unsafe DwarfUnit.ranges(&die, sections) }

  /// All of them, a call before those that were inlined into it.
  func inlinedCalls(in unit: DwarfUnit, _ sections: DwarfInfo.Sections) -> [InlinedCall] {
    if let calls { return calls }
    var found: [InlinedCall] = []
    if !scan(unit, sections, &found) {
      found = []
      unsafe collect(&die, unit, sections, depth: 0, nesting: 0, &found)
    }
    calls = found
    return found
  }

  /// Those that `address` lies in, from the outermost inwards.
  func inlinedCalls(at address: UInt64, in unit: DwarfUnit, _ sections: DwarfInfo.Sections) -> [InlinedCall] {
    var chain: [InlinedCall] = []
    for call in inlinedCalls(in: unit, sections) {
      // What was inlined into the last one has been passed.
      if call.depth < chain.count { break }
      if call.depth == chain.count, call.contains(address) { chain.append(call) }
    }
    return chain
  }

  /// The fast way. Returns false if it does not work here.
  private func scan(_ unit: DwarfUnit, _ sections: DwarfInfo.Sections, _ found: inout [InlinedCall]) -> Bool {
    guard let entries = unit.entries(sections) else { return false }
    var isFirst = true
    return unsafe entries.scan(from: dwarf_dieoffset(&die), hasCalls: true) { _, _ in
      // Functions inside have calls of their own.
      defer { isFirst = false }
      return isFirst ? 0 : nil
    } call: { _, call in
      if let range = call.range {
        found.append(InlinedCall(call, range))
      } else {
        var entry = unsafe Dwarf_Die()
        guard unsafe dwarf_offdie(sections.dwarf, call.offset, &entry) != nil else { return }
        if let call = unsafe InlinedCall(call, DwarfUnit.ranges(&entry, sections)) { found.append(call) }
      }
    }
  }

  /// The slow way, by libdw alone.
  private func collect(
    _ scope: inout Dwarf_Die, _ unit: DwarfUnit, _ sections: DwarfInfo.Sections, depth: Int, nesting: Int,
    _ found: inout [InlinedCall]
  ) {
    guard nesting < DwarfUnit.maximumDepth else { return }
    unsafe unit.forEachChild(&scope) { child in
      switch unsafe dwarf_tag(&child) {
      case Int32(DW_TAG_inlined_subroutine):
        let call = unsafe DieScanner.Call(
          offset: dwarf_dieoffset(&child), level: depth, range: nil, origin: nil,
          file: DwarfUnit.number(&child, DW_AT_call_file), line: DwarfUnit.number(&child, DW_AT_call_line),
          column: DwarfUnit.number(&child, DW_AT_call_column))
        guard let call = unsafe InlinedCall(call, DwarfUnit.ranges(&child, sections)) else { return }
        found.append(call)
        unsafe collect(&child, unit, sections, depth: depth + 1, nesting: nesting + 1, &found)
      // A function inside has calls of its own; types have none.
      case Int32(DW_TAG_subprogram), Int32(DW_TAG_class_type), Int32(DW_TAG_structure_type): return
      default:
        if unsafe dwarf_haschildren(&child) > 0 {
          unsafe collect(&child, unit, sections, depth: depth, nesting: nesting + 1, &found)
        }
      }
    }
  }
}
