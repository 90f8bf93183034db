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
    var chain: [InlinedCall] = []
    // How many of them are known to have the address: a call may say too little, and one inside of it more.
    var count = 0
    var isFirst = true
    // Thousands of calls of a hostile file may share one long list.
    var rangesLeft = 1_000_000
    _ = entries.scan(from: offset, hasCalls: true) { _, _ in
      // Functions inside have calls of their own.
      defer { isFirst = false }
      return isFirst ? 0 : nil
    } call: { _, call in
      // What was inlined into the last one has been passed.
      if call.level < count { return .stop }
      chain.removeSubrange(min(call.level, chain.count)...)
      let isKnown = entries.contains(call.code, address, &rangesLeft)
      guard isKnown || call.code.isEmpty || entries.hasSingleRanges else { return .pass }
      chain.append(InlinedCall(call))
      if isKnown { count = chain.count }
      return .enter
    }
    return Array(chain.prefix(count))
  }
}
