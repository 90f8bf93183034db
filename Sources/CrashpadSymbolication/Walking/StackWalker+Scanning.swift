// SPDX-License-Identifier: Apache-2.0
internal import CrashpadSnapshot

/// Callers found by words on the stack that look like return addresses: guesses, which the walker says they are.
extension StackWalker {
  func byScan(_ callee: Position) -> Found? {
    guard let start = callee.registers.stackPointer else { return nil }
    let size = callee.architecture.addressSize
    let words = callee.trust == .context ? limits.scannedWords * 4 : limits.scannedWords
    let function = callee.module.flatMap { functionStart(callee, $0) }
    var first: Found?
    for index in 0..<UInt64(words) {
      let place = (start & ~(size - 1)) &+ size &* index
      guard place >= start else { continue }
      guard let value = load(place, callee) else { return first }
      guard looksLikeReturnAddress(stripped(value), callee) else { continue }
      switch function.map({ target(ofCallBefore: stripped(value), from: callee, $0) }) ?? .unknown {
      case .function: return scanned(value, at: place, index, callee)
      case .unknown where first == nil: return scanned(value, at: place, index, callee)
      // A word that is left over from an earlier call counts only if none further out is better.
      case .unknown, .otherFunction: first = first ?? scanned(value, at: place, index, callee)
      }
    }
    return first
  }

  /// A register that may hold anything led to a guess: a word before it, behind a call to the function at hand, is better.
  func better(than guess: Found, _ callee: Position) -> Found {
    guard let scanned = byScan(callee), let function = callee.module.flatMap({ functionStart(callee, $0) }),
      let near = scanned.registers.stackPointer, let far = guess.registers.stackPointer, near < far,
      let address = scanned.registers.instructionPointer.map(stripped),
      target(ofCallBefore: address, from: callee, function) == .function
    else { return guess }
    return scanned
  }

  private func scanned(_ value: UInt64, at place: UInt64, _ index: UInt64, _ callee: Position) -> Found {
    var caller = FrameRegisters(callee.architecture)
    caller.instructionPointer = value
    caller.stackPointer = place &+ callee.architecture.addressSize
    caller.framePointer = framePointer(ofCallerAt: place, callee)
    var found = Found(caller, .scan)
    found.skippedWords = Int(index)
    return found
  }

  private enum CallTarget {
    case function
    case otherFunction
    case unknown
  }

  /// Whether the call before a return address leads to the start of the function at hand, or to that of another one. A
  /// function may have been reached by a pointer, or by a jump of the one that was called.
  private func target(ofCallBefore address: UInt64, from callee: Position, _ function: UInt64) -> CallTarget {
    guard case .some(.direct(let target)?) = call(before: address, callee) else { return .unknown }
    if target == function { return .function }
    guard let module = module(at: target), case let offset = target - module.address,
      module.symbols?.functionAddress(offset) == offset
    else { return .unknown }
    return .otherFunction
  }

  /// The frame pointer of a caller whose return address is at a place: it may be saved just below it, or still be in the
  /// register. The one that leads on is taken.
  private func framePointer(ofCallerAt place: UInt64, _ callee: Position) -> UInt64? {
    let size = callee.architecture.addressSize
    let saved = callee.architecture.isIntel && place >= size ? load(place - size, callee) : nil
    let candidates = [saved, callee.registers.framePointer].compactMap { $0 }.filter { $0 > place }
    return candidates.first { continues($0, after: place, callee) } ?? candidates.last
  }

  func looksLikeReturnAddress(_ address: UInt64, _ callee: Position) -> Bool {
    guard mayFollowCall(address, callee), let module = module(behindCallAt: address) else { return false }
    guard let symbols = module.symbols else { return true }
    if isSignalReturn(address, callee, module) { return true }
    let offset = (address & ~1) - module.address
    guard symbols.isInFunction(offset &- 1) else { return false }
    // The address of a function is rather a pointer to it than a place behind a call, unless the call is there to see.
    return symbols.functionAddress(offset) != offset || call(before: address, callee) != nil
  }
}
