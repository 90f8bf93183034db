internal import CElfutils

/// A compiled function, and the calls that were inlined into it.
@safe
final class DwarfFunction {
  var die: Dwarf_Die
  let ranges: [Range<UInt64>]
  /// Its name, once it was asked for.
  var name: String?
  /// The first instruction: of a function in several parts the one that it is entered by.
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
    /// Of the call that it was inlined into.
    let parent: Int?
    let ranges: [Range<UInt64>]
  }

  /// All of them in the order of the DWARF, which has a call before those that were inlined into it.
  private var calls: [InlinedCall]?

  init(_ die: Dwarf_Die, _ ranges: [Range<UInt64>]) {
    unsafe self.die = unsafe die
    self.ranges = ranges
    var own = unsafe die
    var entry: Dwarf_Addr = 0
    self.entry = unsafe dwarf_entrypc(&own, &entry) == 0 ? entry : ranges[0].lowerBound
  }

  func inlinedCalls(in unit: DwarfUnit) -> [InlinedCall] {
    if let calls { return calls }
    var found: [InlinedCall] = []
    unsafe collect(&die, unit, nil, depth: 0, nesting: 0, &found)
    calls = found
    return found
  }

  /// Those that `address` lies in, from the outermost inwards.
  func inlinedCalls(at address: UInt64, in unit: DwarfUnit) -> [InlinedCall] {
    let calls = inlinedCalls(in: unit)
    var chain: [InlinedCall] = []
    var parent: Int?
    for (index, call) in calls.enumerated()
    where call.depth == chain.count && call.parent == parent && call.ranges.contains(where: { $0.contains(address) }) {
      chain.append(call)
      parent = index
    }
    return chain
  }

  private func collect(
    _ scope: inout Dwarf_Die, _ unit: DwarfUnit, _ parent: Int?, depth: Int, nesting: Int, _ found: inout [InlinedCall]
  ) {
    guard nesting < DwarfUnit.maximumDepth else { return }
    unsafe unit.forEachChild(&scope) { child in
      switch unsafe dwarf_tag(&child) {
      case Int32(DW_TAG_inlined_subroutine):
        let ranges = unsafe DwarfUnit.ranges(&child)
        guard !ranges.isEmpty else { return }
        found.append(
          InlinedCall(
            name: unsafe DwarfUnit.linkageName(&child) ?? DwarfUnit.shortName(&child),
            file: unsafe DwarfUnit.number(&child, DW_AT_call_file),
            line: unsafe DwarfUnit.number(&child, DW_AT_call_line),
            column: unsafe DwarfUnit.number(&child, DW_AT_call_column), depth: depth, parent: parent, ranges: ranges))
        unsafe collect(&child, unit, found.count - 1, depth: depth + 1, nesting: nesting + 1, &found)
      // A function inside has calls of its own; types have none.
      case Int32(DW_TAG_subprogram), Int32(DW_TAG_class_type), Int32(DW_TAG_structure_type): return
      default:
        if unsafe dwarf_haschildren(&child) > 0 {
          unsafe collect(&child, unit, parent, depth: depth, nesting: nesting + 1, &found)
        }
      }
    }
  }
}
