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
    let ranges: [Range<UInt64>]

    fileprivate init(_ call: DieScanner.Call, _ ranges: [Range<UInt64>]) {
      (origin, depth) = (call.origin ?? call.offset, call.level)
      (file, line, column) = (call.file, call.line, call.column)
      self.ranges = ranges
    }

    func contains(_ address: UInt64) -> Bool { ranges.contains { $0.contains(address) } }
  }

  /// As libdw reads them, where the fast way does not work.
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

  /// Those that `address` lies in, from the outermost inwards.
  func inlinedCalls(at address: UInt64, in unit: DwarfUnit, _ sections: DwarfInfo.Sections) -> [InlinedCall] {
    var chain: [InlinedCall] = []
    if scan(for: address, unit, sections, &chain) { return chain }
    chain = []
    for call in inlinedCalls(in: unit, sections) {
      // What was inlined into the last one has been passed.
      if call.depth < chain.count { break }
      if call.depth == chain.count, call.contains(address) { chain.append(call) }
    }
    return chain
  }

  /// The fast way. Returns false if it does not work here.
  private func scan(
    for address: UInt64, _ unit: DwarfUnit, _ sections: DwarfInfo.Sections, _ chain: inout [InlinedCall]
  ) -> Bool {
    guard let entries = unit.entries(sections) else { return false }
    var isFirst = true
    return unsafe entries.scan(from: dwarf_dieoffset(&die), hasCalls: true) { _, _ in
      // Functions inside have calls of their own.
      defer { isFirst = false }
      return isFirst ? 0 : nil
    } call: { _, call in
      // What was inlined into the last one has been passed.
      if call.level < chain.count { return .stop }
      if let range = call.code.range {
        guard range.contains(address) else { return .pass }
        chain.append(InlinedCall(call, [range]))
        return .enter
      }
      let new = InlinedCall(call, entries.ranges(call.code, at: call.offset))
      guard new.contains(address) else { return .pass }
      chain.append(new)
      return .enter
    }
  }

  /// All of them by libdw alone, a call before those that were inlined into it.
  func inlinedCalls(in unit: DwarfUnit, _ sections: DwarfInfo.Sections) -> [InlinedCall] {
    if let calls { return calls }
    var found: [InlinedCall] = []
    unsafe collect(&die, unit, sections, depth: 0, nesting: 0, &found)
    calls = found
    return found
  }

  private func collect(
    _ scope: inout Dwarf_Die, _ unit: DwarfUnit, _ sections: DwarfInfo.Sections, depth: Int, nesting: Int,
    _ found: inout [InlinedCall]
  ) {
    guard nesting < DwarfUnit.maximumDepth else { return }
    unsafe unit.forEachChild(&scope) { child in
      switch unsafe dwarf_tag(&child) {
      case Int32(DW_TAG_inlined_subroutine):
        let call = unsafe DieScanner.Call(
          offset: dwarf_dieoffset(&child), level: depth, code: DieScanner.Code(range: nil, list: nil), origin: nil,
          file: DwarfUnit.number(&child, DW_AT_call_file), line: DwarfUnit.number(&child, DW_AT_call_line),
          column: DwarfUnit.number(&child, DW_AT_call_column))
        let ranges = unsafe DwarfUnit.ranges(&child, sections)
        guard !ranges.isEmpty else { return }
        found.append(InlinedCall(call, ranges))
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
