// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Callers found by words on the stack that look like return addresses: guesses, which the walker says they are.
extension StackWalker {
  /// - Parameter isNear: whether nothing further out than the limit can be better.
  func byScan(_ callee: Position, isNear: Bool = false) -> Found? {
    guard let start = callee.registers.stackPointer else { return nil }
    let size = callee.architecture.addressSize
    if callee.isCaller, let place = threadStart(callee), place < start { return nil }
    let function = CalledFunction(callee, functionStart(callee))
    // The words of the function's own frame are none of its caller's.
    let own = ownWords(callee, function.start)
    var words = own + UInt64(callee.trust == .context ? limits.scannedWords * 4 : limits.scannedWords)
    // A word that is left over from an earlier call counts only if none further out is better.
    var (first, leftOver): (Found?, Found?)
    var index = own
    while index < words {
      defer { index += 1 }
      let place = (start & ~(size - 1)) &+ size &* index
      guard place >= start else { continue }
      guard let value = load(place, callee) else { break }
      // Nothing of the thread is behind the frame of the function that started it, or of that of a context, which is not
      // behind a call.
      let isExit = isBeforeExit(stripped(value), callee)
      guard isExit || looksLikeReturnAddress(stripped(value), callee) else { continue }
      if !isExit, isInnermostAddress(stripped(value), callee, function) { continue }
      let found = scanned(value, at: place, index, callee)
      if isExit { return first ?? found }
      let target = target(ofCallBefore: stripped(value), from: callee, function)
      if target == .function || isSignalReturn(stripped(value), callee) { return found }
      if first == nil, leadsNowhere(found) {
        leftOver = leftOver ?? found
        continue
      }
      if target == .unknown, first == nil { return found }
      // Without code only a call of the function at hand is better, if one is near.
      if target == .unseen, first == nil { words = min(words, own + UInt64(limits.scannedWords)) }
      first = first ?? found
    }
    guard first == nil, !isNear, callee.farScans < limits.farScans else { return first ?? leftOver }
    var found = byDistantScan(callee, from: index) ?? beforeThreadStart(callee, from: index) ?? leftOver
    found?.scannedFar = true
    return found
  }

  /// A caller further out than a scan takes a word for one, on a stack whose outermost frame is known: scans from there lead on to that
  /// frame. Those from words in between do not.
  private func beforeThreadStart(_ callee: Position, from first: UInt64) -> Found? {
    let size = callee.architecture.addressSize
    guard let start = callee.registers.stackPointer.map({ $0 & ~(size - 1) }), let end = threadStart(callee),
      end >= start
    else { return nil }
    var index = (end - start) / size
    guard index >= first else { return nil }
    var nearest: (index: UInt64, value: UInt64)?
    while true {
      guard let value = load(start &+ size &* index, callee) else { break }
      if looksLikeReturnAddress(stripped(value), callee) { nearest = (index, value) }
      guard index > first, let found = nearest, found.index - index < UInt64(limits.scannedWords) else { break }
      index -= 1
    }
    return nearest.map { scanned($0.value, at: start &+ size &* $0.index, $0.index, callee) }
  }

  /// The place of the outermost return address of a frame's stack, if it is known.
  private func threadStart(_ callee: Position) -> UInt64? {
    callee.registers.stackPointer.flatMap { stack in
      process.threadStarts.place(onStackOf: stack) { outermostWords($0, callee) }
    }
  }

  /// The outermost words of a stack that look like return addresses, the outermost one first.
  private func outermostWords(_ stack: ThreadStarts.Stack, _ callee: Position) -> [ThreadStarts.Word] {
    let size = callee.architecture.addressSize
    var words: [ThreadStarts.Word] = []
    var place = stack.end & ~(size - 1)
    for _ in 0..<Self.wordsAtTop where place >= stack.start + size && words.count < Self.outermostCount {
      place -= size
      guard let value = load(place, callee) else { break }
      if looksLikeReturnAddress(stripped(value), callee) {
        let address = stripped(value)
        words.append(
          ThreadStarts.Word(place: place, address: address, module: module(behindCallAt: address)?.index))
      }
    }
    return words
  }

  /// The words at the top of a stack among which that of the outermost frame is, and how many that look like it are compared.
  private static let wordsAtTop = 512
  private static let outermostCount = 4

  /// Whether a word is the address of the innermost frame: records of its registers and of the exception have that. So has a call of
  /// a function that called itself, as far as the code tells.
  private func isInnermostAddress(_ address: UInt64, _ callee: Position, _ function: CalledFunction) -> Bool {
    guard instructionAddress(address, callee) == callee.innermost else { return false }
    if callee.isCaller, case .some(.some) = call(before: address, callee) { return false }
    return callee.isCaller || target(ofCallBefore: address, from: callee, function) != .function
  }

  /// The same frame behind the place where its callee had saved the link register that led to it; nil if the word that was found is
  /// another one, or of a function that called itself. The stack pointer of the innermost frame was not yet the caller's.
  func behindSavedLink(_ callee: Position, _ found: Found) -> Position? {
    guard let address = found.registers.instructionPointer.map(stripped),
      instructionAddress(address, callee) == callee.instruction,
      target(ofCallBefore: address, from: callee, CalledFunction(callee, functionStart(callee))) != .function
    else { return nil }
    var position = Position(found.registers, address, .scan, isCaller: true)
    position.place(in: callee.module)
    position.farScans = callee.farScans + (found.scannedFar ? 1 : 0)
    position.innermost = callee.innermost
    return position
  }

  /// The words that a scan looks at for a frame that proves itself.
  private static let distantWords: UInt64 = 4096
  /// The callers by rules that prove one.
  private static let provenDepth = 16

  /// A caller further out than a scan takes a word for one: its own rules lead on through several callers, or to the outermost
  /// frame. Words that are left over from an earlier call are mostly at another distance from those. They are at the same one
  /// if a function that still runs made the call: then it has called another function since.
  private func byDistantScan(_ callee: Position, from first: UInt64) -> Found? {
    guard let start = callee.registers.stackPointer else { return nil }
    let size = callee.architecture.addressSize
    for index in first..<max(first, Self.distantWords) {
      let place = (start & ~(size - 1)) &+ size &* index
      guard place >= start, let value = load(place, callee) else { break }
      guard looksLikeReturnAddress(stripped(value), callee) else { continue }
      let found = scanned(value, at: place, index, callee)
      if mayHaveCalled(callee, rules: nil, before: stripped(value)), leadsOn(found) { return found }
    }
    return nil
  }

  /// Whether rules alone lead on from a guessed caller, through several callers or to the outermost frame.
  private func leadsOn(_ found: Found) -> Bool {
    var registers = found.registers
    registers.framePointer = nil
    for depth in 0..<Self.provenDepth {
      guard let address = registers.instructionPointer.map(stripped) else { return false }
      var position = Position(registers, address, .callFrameInfo, isCaller: true)
      position.place(in: module(behindCallAt: address))
      guard let symbols = position.symbols else { return false }
      let rules = symbols.frameRules(at: position.lookupOffset, position.architecture)
      if rules?.isOutermost == true || (rules == nil && (isBeforeExit(position) || isStart(position))) {
        return depth > 0
      }
      guard let rules, !rules.isSignalFrame, let stack = registers.stackPointer,
        let next = rules.caller(of: registers, { load($0, position) }), let further = next.stackPointer,
        further > stack,
        let instruction = next.instructionPointer.map(stripped),
        looksLikeReturnAddress(instruction, position) || isBeforeExit(instruction, position),
        mayHaveCalled(position, rules: rules, before: instruction)
      else { return false }
      registers = next
    }
    return true
  }

  /// Whether the call before a return address may have led to a function: not if it leads straight to the start of another.
  private func mayHaveCalled(_ callee: Position, rules: FrameRules?, before address: UInt64) -> Bool {
    guard case .some(.direct(let target)?) = call(before: address, callee) else { return true }
    let start = callee.module.flatMap { module in rules?.start.map { module.address &+ $0 } } ?? functionStart(callee)
    if target == start { return true }
    guard let module = module(at: target), let symbols = module.symbols else { return true }
    let offset = target &- module.address
    return symbols.frameRules(at: offset, callee.architecture)?.start != offset
      && symbols.functionAddress(offset) != offset
  }

  /// The words at the stack pointer of a caller that are known to be its own. The innermost function may not have put them
  /// there yet, or not have them any more.
  private func ownWords(_ callee: Position, _ start: UInt64?) -> UInt64 {
    guard callee.isCaller, callee.architecture.isIntel, let start, let module = callee.module,
      callee.symbols?.symbolize(callee.lookupOffset)?.isNearest == false
    else { return 0 }
    let isWide = callee.architecture == .x86_64
    let prologue = IntelPrologue(from: start, to: callee.instruction, isWide: isWide) { code(at: $0, module) }
    return prologue.lowered / callee.architecture.addressSize
  }

  /// Whether the rules of a guessed caller are known, and its own caller by them would be no return address.
  private func leadsNowhere(_ found: Found) -> Bool {
    guard let address = found.registers.instructionPointer.map(stripped) else { return false }
    var position = Position(found.registers, address, .scan, isCaller: true)
    position.place(in: module(behindCallAt: address))
    position.registers.framePointer = nil
    guard let symbols = position.symbols,
      let rules = symbols.frameRules(at: position.lookupOffset, position.architecture), !rules.isSignalFrame,
      let next = rules.caller(of: position.registers, { load($0, position) })?.instructionPointer
    else { return false }
    return !looksLikeReturnAddress(stripped(next), position)
  }

  /// The caller whose registers the first instructions of a function of ARM saved. Other instructions may have moved the
  /// stack pointer since, so that the return address has to look like one, as in a scan.
  func byFirstInstructions(_ callee: Position) -> Found? {
    guard let stack = callee.registers.stackPointer, let number = callee.architecture.link,
      let saved = savedRegisters(callee), let place = saved.place(number), place >= stack,
      let value = load(place, callee), looksLikeReturnAddress(stripped(value), callee)
    else { return nil }
    var caller = callee.registers.preserved()
    for register in saved.depths.keys where caller.isPreserved(register) {
      caller[register] = saved.place(register).flatMap { load($0, callee) }
    }
    caller.instructionPointer = value
    caller.stackPointer = saved.stackPointer
    var found = Found(caller, .scan)
    found.skippedWords = Int((place - stack) / callee.architecture.addressSize)
    return found
  }

  private func savedRegisters(_ callee: Position) -> SavedRegisters? {
    guard let module = callee.module, let start = functionStart(callee) else { return nil }
    func code(_ address: UInt64) -> UInt64? { self.code(at: address, module) }
    let end = callee.instruction
    return switch callee.architecture {
    case .arm: ArmPrologue(from: start, to: end, isThumb: callee.isThumb, code).saved(callee.registers)
    case .arm64: Arm64Prologue(from: start, to: end, code).saved(callee.registers)
    default: nil
    }
  }

  /// Whether a frame goes on with the exit of its thread or program: its function has no caller.
  func isBeforeExit(_ callee: Position) -> Bool {
    callee.isCaller && isBeforeExit(callee.instruction | (callee.isThumb ? 1 : 0), callee)
  }

  func isBeforeExit(_ address: UInt64, _ callee: Position) -> Bool {
    guard let module = module(behindCallAt: address) else { return false }
    let first = instructionAddress(address, callee)
    return ExitCode.isExit(callee.architecture, isThumb: first != address) { code(at: first &+ $0, module) }
  }

  /// A register that may hold anything led to a guess: a word before it, behind a call to the function at hand, is better. So is
  /// the one at the stack pointer where nothing is known of the innermost function's code, which may have no frame.
  func better(than guess: Found, _ callee: Position) -> Found {
    if callee.trust == .context, callee.architecture.isIntel, let module = callee.module,
      code(at: callee.instruction, module) == nil, let stack = callee.registers.stackPointer,
      let saved = load(stack, callee), looksLikeReturnAddress(saved, callee)
    {
      return scanned(saved, at: stack, 0, callee)
    }
    guard let scanned = byScan(callee, isNear: true), let near = scanned.registers.stackPointer,
      let far = guess.registers.stackPointer, near < far,
      let address = scanned.registers.instructionPointer.map(stripped), isCertain(address, callee)
    else { return guess }
    return scanned
  }

  /// Whether a word of the stack is behind a call of the function at hand, or belongs to the kernel's frame of a handler.
  private func isCertain(_ address: UInt64, _ callee: Position) -> Bool {
    target(ofCallBefore: address, from: callee, CalledFunction(callee, functionStart(callee))) == .function
      || isSignalReturn(address, callee)
  }

  private func isSignalReturn(_ address: UInt64, _ callee: Position) -> Bool {
    module(behindCallAt: address).map { isSignalReturn(address, callee, $0) } == true
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
    /// By a pointer, or to a place that is not known.
    case unknown
    /// The code is not known.
    case unseen
  }

  /// The function at hand, as far as known, to find the call that led to it.
  private struct CalledFunction {
    let start: UInt64?
    /// Without what compilers add to the names of a function's parts.
    let name: String?

    init(_ callee: Position, _ start: UInt64?) {
      self.start = start
      let name = callee.symbols?.symbolize(callee.lookupOffset)?.frames.last?.function
      self.name = name.map { name in
        [" [clone .cold", " (.cold", "(.cold", ".cold"].compactMap { name.firstRange(of: $0) }.first
          .map { String(name[..<$0.lowerBound]) } ?? name
      }
    }
  }

  /// Whether the call before a return address leads to the function at hand, or to another one. A function may have been
  /// reached by a pointer, or by a jump of the one that was called.
  private func target(
    ofCallBefore address: UInt64, from callee: Position, _ function: CalledFunction
  ) -> CallTarget {
    guard let name = function.name else { return .unknown }
    guard let call = call(before: address, callee) else { return .unseen }
    guard case .direct(let target)? = call else { return .unknown }
    if target == function.start { return .function }
    guard let module = module(at: target), case let offset = target - module.address,
      let called = module.symbols?.symbolize(offset)?.frames.last?.function
    else { return .unknown }
    // A stub leads to a function of its name, in another module or this one.
    if called.hasSuffix(Demangler.stubSuffix) {
      let isOther = module.index == callee.module?.index && called.dropLast(Demangler.stubSuffix.count) != name
      return isOther ? .otherFunction : .unknown
    }
    guard module.symbols?.functionAddress(offset) == offset else { return .unknown }
    // The part that compilers move away from a function is reached by the call of the function.
    return function.start == nil && called == name ? .function : .otherFunction
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
    guard mayFollowCall(address, callee), let module = module(behindCallAt: address), !module.callsNobody else {
      return false
    }
    guard let symbols = module.symbols else { return true }
    if isSignalReturn(address, callee, module) { return true }
    let offset = (address & ~1) - module.address
    guard symbols.isInFunction(offset &- 1) else { return false }
    // The address of a function is rather a pointer to it than a place behind a call, unless the call is there to see.
    return symbols.functionAddress(offset) != offset || call(before: address, callee) != nil
  }
}
