// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// The functions of one module with their inlined calls, in the form of symbol files: calls of one level do not
/// overlap, and each call is inside of the call into which it was inlined.
struct BreakpadFunctions {
  struct Function {
    /// The number of the unit.
    let unit: Int
    /// The offset of its entry.
    let offset: UInt64
    /// The range in `calls`.
    var calls = 0..<0
  }

  /// An inlined call.
  struct Call {
    /// 0 for calls inlined into the function itself.
    let level: Int
    /// The numbers of the function's name and of the call site's file.
    let origin: Int
    let file: Int
    let line: UInt64
    /// The range in `ranges`.
    let ranges: Range<Int>
  }

  private(set) var functions: [Function] = []
  private(set) var calls: [Call] = []
  private(set) var ranges: [Range<UInt64>] = []
  /// The address ranges of the functions. They may overlap.
  private(set) var pieces: [(range: Range<UInt64>, function: Int)] = []

  private let info: DwarfInfo
  private let names: BreakpadNames
  private let isCode: (UInt64) -> Bool
  private let hasCalls: Bool

  /// The calls of the current unit, in the order of their entries.
  private var unitCalls: [(function: Int, call: Call)] = []
  private var unitRanges: [Range<UInt64>] = []
  /// By level: the ranges covered by calls of the current function, and those of the last call.
  private var covered: [RangeList] = []
  private var open: [RangeList] = []

  /// The maximum number of ranges per level; real functions have fewer. Insertions out of order take time proportional
  /// to it.
  private static let maximumCalls = 65_536

  init(_ info: DwarfInfo, _ names: BreakpadNames, _ isCode: @escaping (UInt64) -> Bool, hasCalls: Bool) {
    (self.info, self.names, self.isCode, self.hasCalls) = (info, names, isCode, hasCalls)
    for unit in info.units { read(unit) }
  }

  private mutating func read(_ unit: DwarfUnit) {
    names.beginUnit()
    scan(unit)
    // Calls of a nested function are among those of the outer one.
    if !unitCalls.isSorted({ $0.function < $1.function }) {
      let order = unitCalls.indices.sorted { (unitCalls[$0].function, $0) < (unitCalls[$1].function, $1) }
      unitCalls = order.map { unitCalls[$0] }
    }
    var position = 0
    while position < unitCalls.count {
      let (function, first) = (unitCalls[position].function, calls.count)
      for index in covered.indices { covered[index].removeAll() }
      while position < unitCalls.count, unitCalls[position].function == function {
        add(unitCalls[position].call)
        position += 1
      }
      functions[function].calls = first..<calls.count
    }
    unitCalls.removeAll(keepingCapacity: true)
    unitRanges.removeAll(keepingCapacity: true)
  }

  /// Collects the functions of a unit, and the calls inlined into them.
  private mutating func scan(_ unit: DwarfUnit) {
    guard let entries = unit.entries else { return }
    let isWhole = entries.scan(hasCalls: hasCalls) { offset, code in
      begin(offset, entries.lists.ranges(code), unit)
    } call: { function, call in
      guard !call.code.isEmpty else { return .ignore }
      let first = unitRanges.count
      if let range = call.code.range { unitRanges.append(range) } else { unitRanges += entries.lists.ranges(call.code) }
      let origin = names.origin(at: call.origin ?? call.offset, entries.sections)
      unitCalls.append(
        (
          function,
          Call(
            level: call.level, origin: origin, file: names.file(call.file, of: unit), line: call.line,
            ranges: first..<unitRanges.count)
        ))
      return .enter
    }
    if !isWhole { info.sections.findings.add(ElfRules.badDwarf) }
  }

  /// - Returns: nil for a function that the linker dropped: its ranges are left at 0, or at addresses without code.
  private mutating func begin(_ offset: UInt64, _ ranges: [Range<UInt64>], _ unit: DwarfUnit) -> Int? {
    let number = functions.count
    var isKept = false
    for range in ranges where range.lowerBound != 0 && isCode(range.lowerBound) {
      pieces.append((range, number))
      isKept = true
    }
    guard isKept else { return nil }
    functions.append(Function(unit: unit.number, offset: offset))
    return number
  }

  // MARK: Calls of one function

  private mutating func add(_ call: Call) {
    let level = call.level
    while covered.count <= level {
      covered.append(RangeList())
      open.append(RangeList())
    }
    let first = ranges.count
    for range in unitRanges[call.ranges] where !range.isEmpty && covered[level].ranges.count < Self.maximumCalls {
      if level == 0 || open[level - 1].contains(range) {
        if covered[level].insert(range) { ranges.append(range) } else { ranges += covered[level].insertFree(range) }
      } else {
        for part in open[level - 1].common(with: range) { ranges += covered[level].insertFree(part) }
      }
    }
    // Calls in a call without ranges must not be attributed to the call before it.
    open[level].removeAll()
    guard ranges.count > first else { return }
    for range in ranges[first...] { _ = open[level].insert(range) }
    calls.append(
      Call(level: level, origin: call.origin, file: call.file, line: call.line, ranges: first..<ranges.count))
  }
}
