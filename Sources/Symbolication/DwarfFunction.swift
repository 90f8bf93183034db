/// A compiled function, and the calls that were inlined into it.
final class DwarfFunction {
  /// Of its entry.
  let offset: UInt64
  let entries: UnitEntries
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

    fileprivate init(_ call: DieScanner.Call) {
      (origin, file, line, column) = (call.origin ?? call.offset, call.file, call.line, call.column)
    }
  }

  /// All calls, in the order of their entries, once the function was asked for several times.
  private struct Calls {
    struct Call {
      let call: InlinedCall
      let level: Int
      /// Of `ranges`.
      let ranges: Range<Int>
      /// Whether it does not say where it is.
      let isSilent: Bool
      /// The number of the first call that is not inside of this one.
      var next: Int
    }
    var calls: [Call] = []
    var ranges: [Range<UInt64>] = []
  }
  private var known: Calls?
  private var lookups = 0

  /// The entries are read anew until then: most functions of a stack are asked for once.
  private static let lookupsBeforeKeeping = 3
  /// Thousands of calls of a hostile file may share one long list.
  private static let maximumRanges = 1_000_000

  /// - Parameters:
  ///   - offset: of its entry.
  ///   - entries: that it is among.
  init(_ offset: UInt64, _ entries: UnitEntries) {
    self.offset = offset
    self.entries = entries
    entry = entries.entryAddress(at: offset) ?? 0
  }

  /// Those that `address` lies in, from the outermost inwards.
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
      let isIn = entries.contains(call.code, address, &rangesLeft)
      return chain.take(InlinedCall(call), level: call.level, isIn ? true : call.code.isEmpty ? nil : false)
    }
    return chain.calls
  }

  private func scan(_ body: (DieScanner.Call) -> DieScanner.Step) {
    var isFirst = true
    _ = entries.scan(from: offset, hasCalls: true) { _, _ in
      // Functions inside have calls of their own.
      defer { isFirst = false }
      return isFirst ? 0 : nil
    } call: { _, call in
      body(call)
    }
  }

  /// Nil if they are too many.
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
      all.ranges += entries.ranges(call.code, most: Self.maximumRanges - first)
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

  /// The calls that an address lies in, while calls are gone over in the order of their entries.
  private struct Chain {
    /// Whether calls in several parts say only where the first is.
    let mayBeCutOff: Bool
    private var path: [InlinedCall] = []
    /// How many of them are known to have the address: a call may say too little, and one inside of it more.
    private var count = 0

    init(mayBeCutOff: Bool) { self.mayBeCutOff = mayBeCutOff }

    var calls: [InlinedCall] { count == path.count ? path : Array(path.prefix(count)) }

    /// - Parameter contains: whether the address is in the call; nil if that does not say.
    mutating func take(_ call: InlinedCall, level: Int, _ contains: Bool?) -> DieScanner.Step {
      // What was inlined into the last one has been passed.
      if level < count { return .stop }
      guard contains != false || mayBeCutOff else { return .pass }
      path.removeSubrange(min(level, path.count)...)
      path.append(call)
      if contains == true { count = path.count }
      return .enter
    }
  }
}
