// SPDX-License-Identifier: Apache-2.0
/// A compiled function, and the calls inlined into it.
final class DwarfFunction {
  /// The offset of its entry.
  let offset: UInt64
  let entries: UnitEntries
  /// Its name, cached on first use.
  var name: String?
  /// The address of the first instruction; for a function in several parts, its entry point. 0 if unknown.
  let entry: UInt64

  /// The calls in its code.
  private(set) lazy var callSites = entries.callSites(in: offset)

  /// An inlined call.
  struct InlinedCall {
    /// The offset of the entry of the called function, or of the call itself.
    let origin: UInt64
    /// The number of the call site's file in the unit's table.
    let file: UInt64
    let line: UInt64
    let column: UInt64

    fileprivate init(_ call: DieScanner.Call) {
      (origin, file, line, column) = (call.origin ?? call.offset, call.file, call.line, call.column)
    }
  }

  /// All calls, in the order of their entries; cached after several lookups.
  private struct Calls {
    struct Call {
      let call: InlinedCall
      let level: Int
      /// The range in `ranges`.
      let ranges: Range<Int>
      /// Whether the entry has no addresses.
      let isSilent: Bool
      /// The index of the first call that is not inside of this one.
      var next: Int
    }
    var calls: [Call] = []
    var ranges: [Range<UInt64>] = []
  }
  private var known: Calls?
  private var lookups = 0

  /// Before that, each lookup reads the entries again: most functions of a stack are looked up once.
  private static let lookupsBeforeKeeping = 3
  /// In a hostile file, thousands of calls may share one long list.
  private static let maximumRanges = 1_000_000

  init(_ offset: UInt64, _ entries: UnitEntries) {
    self.offset = offset
    self.entries = entries
    entry = entries.entryAddress(at: offset) ?? 0
  }

  /// The inlined calls at `address`, outermost first.
  func inlinedCalls(at address: UInt64) -> [InlinedCall] {
    lookups += 1
    if lookups == Self.lookupsBeforeKeeping { known = allCalls() }
    var chain = Chain(mayBeCutOff: entries.hasSingleRanges)
    if let known {
      var index = 0
      while index < known.calls.count {
        let call = known.calls[index]
        let isIn = known.ranges[call.ranges].contains { $0.contains(address) }
        switch chain.take(call.call, level: call.level, isIn ? true : call.isSilent ? nil : false) {
        case .enter, .ignore: index += 1
        case .pass: index = call.next
        case .stop: return chain.calls
        }
      }
      return chain.calls
    }
    var rangesLeft = Self.maximumRanges
    scan { call in
      let isIn = entries.lists.contains(call.code, address, &rangesLeft)
      return chain.take(InlinedCall(call), level: call.level, isIn ? true : call.code.isEmpty ? nil : false)
    }
    return chain.calls
  }

  private func scan(_ body: (DieScanner.Call) -> DieScanner.Step) {
    var isFirst = true
    _ = entries.scan(from: offset, hasCalls: true) { _, _ in
      // Nested functions have calls of their own.
      defer { isFirst = false }
      return isFirst ? 0 : nil
    } call: { _, call in
      body(call)
    }
  }

  /// Nil if there are too many.
  private func allCalls() -> Calls? {
    var all = Calls()
    var open: [Int] = []
    var isComplete = true
    scan { call in
      while let last = open.last, all.calls[last].level >= call.level {
        all.calls[last].next = all.calls.count
        open.removeLast()
      }
      let first = all.ranges.count
      all.ranges += entries.lists.ranges(call.code, most: Self.maximumRanges - first)
      isComplete = all.ranges.count < Self.maximumRanges && entries.sections.takeCalls(1)
      guard isComplete else { return .stop }
      open.append(all.calls.count)
      all.calls.append(
        Calls.Call(
          call: InlinedCall(call), level: call.level, ranges: first..<all.ranges.count, isSilent: call.code.isEmpty,
          next: 0))
      return .enter
    }
    for index in open { all.calls[index].next = all.calls.count }
    return isComplete ? all : nil
  }

  /// The chain of calls at an address, built from the calls in the order of their entries.
  private struct Chain {
    /// Whether calls in several parts give only the address of the first part.
    let mayBeCutOff: Bool
    private var path: [InlinedCall] = []
    /// The number of calls known to contain the address: an entry may lack addresses that an inner call has.
    private var count = 0

    init(mayBeCutOff: Bool) { self.mayBeCutOff = mayBeCutOff }

    var calls: [InlinedCall] { count == path.count ? path : Array(path.prefix(count)) }

    /// - Parameter contains: whether the address is in the call; nil if the entry has no addresses.
    mutating func take(_ call: InlinedCall, level: Int, _ contains: Bool?) -> DieScanner.Step {
      // All calls inlined into the last one have been visited.
      if level < count { return .stop }
      guard contains != false || mayBeCutOff else { return .pass }
      path.removeSubrange(min(level, path.count)...)
      path.append(call)
      if contains == true { count = path.count }
      return .enter
    }
  }
}
