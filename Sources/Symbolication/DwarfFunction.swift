internal import CElfutils

/// A compiled function, and the calls that were inlined into it.
@safe
final class DwarfFunction {
  var die: Dwarf_Die
  let ranges: [Range<UInt64>]
  /// Its name, once it was asked for.
  var name: String?
  /// The first instruction: of a function in several parts the one that it is entered by. 0 if its entry does not say.
  let entry: UInt64

  /// A call that was inlined.
  struct InlinedCall {
    /// Of the function that was called; mangled where the DWARF has that.
    let name: String?
    /// Number of the calling place's file in the unit's table.
    let file: UInt64
    let line: UInt64
    let column: UInt64
    /// 0 for what was inlined into the function itself.
    let depth: Int
    let ranges: [Range<UInt64>]
  }

  /// Where a call lies. What else its entry says is read for those that an address lies in.
  private struct Extent {
    /// Of its entry.
    let offset: UInt64
    let depth: Int
    /// From its first to its last address.
    let hull: Range<UInt64>
    /// If there are several, each of its ranges.
    let parts: [Range<UInt64>]

    init?(_ offset: UInt64, _ depth: Int, _ ranges: [Range<UInt64>]) {
      guard var hull = ranges.first else { return nil }
      for range in ranges.dropFirst() {
        hull = min(hull.lowerBound, range.lowerBound)..<max(hull.upperBound, range.upperBound)
      }
      self.init(offset, depth, hull, ranges.count > 1 ? ranges : [])
    }

    init(_ offset: UInt64, _ depth: Int, _ hull: Range<UInt64>, _ parts: [Range<UInt64>] = []) {
      (self.offset, self.depth, self.hull, self.parts) = (offset, depth, hull, parts)
    }

    func contains(_ address: UInt64) -> Bool {
      hull.contains(address) && (parts.isEmpty || parts.contains { $0.contains(address) })
    }

    var ranges: [Range<UInt64>] { parts.isEmpty ? [hull] : parts }
  }

  /// Of all calls in the order of the DWARF, which has a call before those that were inlined into it.
  private var extents: [Extent]?
  /// Those that were read, by their places in `extents`.
  private var calls: [Int: InlinedCall] = [:]

  init(_ die: Dwarf_Die, _ ranges: [Range<UInt64>]) {
    unsafe self.die = unsafe die
    self.ranges = ranges
    var own = unsafe die
    var entry: Dwarf_Addr = 0
    self.entry = unsafe dwarf_entrypc(&own, &entry) == 0 ? entry : ranges.first?.lowerBound ?? 0
  }

  /// All of them, a call before those that were inlined into it.
  func inlinedCalls(in unit: DwarfUnit, _ sections: DwarfInfo.Sections) -> [InlinedCall] {
    let extents = extents(in: unit, sections)
    return extents.indices.compactMap { call($0, extents[$0], unit) }
  }

  /// Those that `address` lies in, from the outermost inwards.
  func inlinedCalls(at address: UInt64, in unit: DwarfUnit, _ sections: DwarfInfo.Sections) -> [InlinedCall] {
    var chain: [InlinedCall] = []
    for (index, extent) in extents(in: unit, sections).enumerated() {
      // What was inlined into the last one has been passed.
      if extent.depth < chain.count { break }
      guard extent.depth == chain.count, extent.contains(address), let call = call(index, extent, unit) else {
        continue
      }
      chain.append(call)
    }
    return chain
  }

  private func call(_ index: Int, _ extent: Extent, _ unit: DwarfUnit) -> InlinedCall? {
    if let known = calls[index] { return known }
    var entry = unsafe Dwarf_Die()
    guard let dwarf = unsafe dwarf_cu_getdwarf(die.cu), unsafe dwarf_offdie(dwarf, extent.offset, &entry) != nil else {
      return nil
    }
    let call = InlinedCall(
      name: unsafe DwarfUnit.linkageName(&entry) ?? DwarfUnit.shortName(&entry),
      file: unsafe DwarfUnit.number(&entry, DW_AT_call_file), line: unsafe DwarfUnit.number(&entry, DW_AT_call_line),
      column: unsafe DwarfUnit.number(&entry, DW_AT_call_column), depth: extent.depth, ranges: extent.ranges)
    calls[index] = call
    return call
  }

  private func extents(in unit: DwarfUnit, _ sections: DwarfInfo.Sections) -> [Extent] {
    if let extents { return extents }
    var found: [Extent] = []
    if !scan(unit, sections, &found) {
      found = []
      unsafe collect(&die, unit, sections, depth: 0, nesting: 0, &found)
    }
    extents = found
    return found
  }

  /// The fast way. Returns false if it does not work here.
  private func scan(_ unit: DwarfUnit, _ sections: DwarfInfo.Sections, _ found: inout [Extent]) -> Bool {
    let own = unsafe dwarf_dieoffset(&die)
    return unit.withCalls(from: own, sections) { call in
      if let range = call.range {
        found.append(Extent(call.offset, call.level, range))
      } else {
        var entry = unsafe Dwarf_Die()
        guard unsafe dwarf_offdie(sections.dwarf, call.offset, &entry) != nil else { return }
        if let extent = unsafe Extent(call.offset, call.level, DwarfUnit.ranges(&entry, sections)) {
          found.append(extent)
        }
      }
    }
  }

  /// The slow way, by libdw alone.
  private func collect(
    _ scope: inout Dwarf_Die, _ unit: DwarfUnit, _ sections: DwarfInfo.Sections, depth: Int, nesting: Int,
    _ found: inout [Extent]
  ) {
    guard nesting < DwarfUnit.maximumDepth else { return }
    unsafe unit.forEachChild(&scope) { child in
      switch unsafe dwarf_tag(&child) {
      case Int32(DW_TAG_inlined_subroutine):
        guard let extent = unsafe Extent(dwarf_dieoffset(&child), depth, DwarfUnit.ranges(&child, sections)) else {
          return
        }
        found.append(extent)
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
