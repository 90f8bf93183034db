// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Walks the stacks of one snapshot.
package struct StackWalker: Sendable {
  package struct Limits: Sendable {
    /// The maximum number of frames: only an infinite recursion has stacks this deep.
    package var frames = 200_000
    /// The maximum number of frames of all threads together: threads of a damaged dump may share one deep stack.
    package var allFrames = 2_000_000
    /// The number of words of the stack to scan for a return address; four times as many for the first frame.
    package var scannedWords = 40

    package init() {}
  }

  package struct Walk: Sendable {
    package let frames: [StackFrame]
    package let end: WalkEnd

    package init(frames: [StackFrame], end: WalkEnd) {
      self.frames = frames
      self.end = end
    }
  }

  private let modules: [WalkedModule]
  /// The ranges of the modules as trivial data, because they are searched several times per frame.
  private let ranges: [(start: UInt64, size: UInt64)]
  private let memory: WalkedMemory
  /// Bits of a code pointer that are not part of the address.
  private let addressMask: UInt64
  private let limits: Limits

  /// - Parameters:
  ///   - modules: the modules with code; their symbols may be missing.
  ///   - memory: the captured memory.
  ///   - addressMask: bits of a pointer that are not part of the address (pointer authentication); 0 if unknown.
  ///   - limits: the limits of the walk.
  package init(modules: [WalkedModule], memory: WalkedMemory, addressMask: UInt64, limits: Limits = Limits()) {
    self.modules = modules.sorted { $0.address < $1.address }
    ranges = self.modules.map { ($0.address, $0.size) }
    self.memory = memory
    self.addressMask = addressMask
    self.limits = limits
  }

  /// The frames from `registers` outwards, at most `most`, and the reason why they end.
  package func walk(from registers: FrameRegisters, most: Int = .max) -> Walk {
    guard let instruction = registers.instructionPointer else { return Walk(frames: [], end: .noRegisters) }
    var callee = Position(registers, stripped(instruction), .context, isCaller: false)
    // After a jump to an invalid address, the caller is found as if that address were the first instruction of a called
    // function.
    var module = module(at: callee.lookupAddress)
    var frames = [frame(callee, in: module)]
    var end = WalkEnd.tooManyFrames
    while frames.count < min(limits.frames, most) {
      switch caller(of: callee, in: module, &frames[frames.count - 1]) {
      case .end(let reason):
        end = reason
      case .caller(let caller):
        callee = caller
        module = self.module(at: caller.lookupAddress)
        frames.append(frame(caller, in: module))
        continue
      }
      break
    }
    return Walk(frames: frames, end: end)
  }

  /// The frames of return addresses listed in the dump: the first is where the exception was thrown.
  package func walk(prewalked addresses: [UInt64]) -> Walk {
    let frames = addresses.map { address in
      let position = Position(FrameRegisters(.arm64), stripped(address), .prewalked, isCaller: true)
      return frame(position, in: module(at: position.lookupAddress))
    }
    return Walk(frames: frames, end: .done)
  }

  /// The state of the walk at one frame.
  private struct Position {
    var registers: FrameRegisters
    let instruction: UInt64
    let trust: FrameTrust
    let isCaller: Bool

    init(_ registers: FrameRegisters, _ instruction: UInt64, _ trust: FrameTrust, isCaller: Bool) {
      self.registers = registers
      self.registers.instructionPointer = instruction
      self.instruction = instruction
      self.trust = trust
      self.isCaller = isCaller
    }

    var lookupAddress: UInt64 { isCaller ? instruction &- 1 : instruction }
  }

  private func frame(_ position: Position, in module: WalkedModule?) -> StackFrame {
    StackFrame(
      instruction: position.instruction, isCaller: position.isCaller, trust: position.trust,
      stackPointer: position.registers.stackPointer, module: module?.index,
      moduleOffset: module.map { position.instruction &- $0.address })
  }

  /// Removes the authentication code, unless the address is in a module unchanged: masks of damaged dumps may have any
  /// bits.
  private func stripped(_ address: UInt64) -> UInt64 {
    addressMask == 0 || moduleIndex(at: address) != nil ? address : address & ~addressMask
  }

  private func module(at address: UInt64) -> WalkedModule? { moduleIndex(at: address).map { modules[$0] } }

  private func moduleIndex(at address: UInt64) -> Int? {
    let next = ranges.indices.partitioningIndex { ranges[$0].start > address }
    guard next > 0, address - ranges[next - 1].start < ranges[next - 1].size else { return nil }
    return next - 1
  }

  // MARK: Finding the caller

  private enum Step {
    case caller(Position)
    case end(WalkEnd)
  }

  private func caller(of callee: Position, in module: WalkedModule?, _ frame: inout StackFrame) -> Step {
    // Skip modules without symbols.
    let symbols = module.flatMap { module in module.symbols.flatMap { $0.isFound ? $0 : nil } }
    let offset = module.map { callee.lookupAddress - $0.address } ?? 0
    var isSignalFrame = false
    var found: (registers: FrameRegisters, trust: FrameTrust)?
    var hasRules = false
    var rules = symbols?.frameRules(at: offset, callee.registers.architecture)
    if callee.trust != .context, rules?.isSignalFrame != true {
      rules = signalReturn(callee, in: module, symbols) ?? rules
    }
    if let rules {
      hasRules = true
      isSignalFrame = rules.isSignalFrame
      frame.isSignalFrame = isSignalFrame
      if rules.isOutermost { return .end(.done) }
      found = rules.caller(of: callee.registers, memory.word).map { ($0, .callFrameInfo) }
    } else if let caller = symbols?.caller(
      of: callee.registers, at: offset, isInnermost: !callee.isCaller, memory.word)
    {
      found = (caller, .callFrameInfo)
    } else if module == nil, let called = jumpedToNowhere(callee) {
      found = (called, .callFrameInfo)
    }
    // At the start of a thread, the chain of frame pointers ends with 0.
    if found == nil, !hasRules, callee.trust == .framePointer, callee.registers.framePointer == 0 { return .end(.done) }
    found = found ?? byFramePointer(callee).map { ($0, .framePointer) } ?? byScan(callee).map { ($0, .scan) }
    guard let (caller, trust) = found else {
      let isMissing = hasRules || callee.registers.stackPointer.map { memory.word($0 & ~7) == nil } ?? true
      return .end(isMissing ? .missingMemory : .noCaller)
    }
    guard let next = caller.instructionPointer.map(stripped), next >= 4096 else {
      // If the chain of frame pointers continues, this is not its end: the data was not a frame.
      let isChainBroken = trust == .framePointer && caller.framePointer != 0
      return .end(isChainBroken ? .noCaller : .done)
    }
    if let old = callee.registers.stackPointer, let new = caller.stackPointer, !isSignalFrame, !hasLostStack(callee) {
      // A leaf function on arm64 has its return address in a register, and may use no stack.
      let mayStay = !callee.isCaller && callee.registers.architecture == .arm64
      guard new > old || (mayStay && new == old && next != callee.instruction) else { return .end(.noProgress) }
    }
    return .caller(Position(caller, next, trust, isCaller: !isSignalFrame))
  }

  /// The rules for code to which a signal handler returns; nil if `callee` is not at such code.
  private func signalReturn(
    _ callee: Position, in module: WalkedModule?, _ symbols: ModuleSymbols?
  ) -> FrameRules? {
    let offset = module.map { callee.instruction &- $0.address }
    return SignalReturn.rules(callee.registers.architecture) { distance in
      offset.flatMap { symbols?.code(at: $0 &+ distance) } ?? memory.word(callee.instruction &+ distance)
    }
  }

  /// The caller if the first frame is in no module: invalid code was called, and nothing was pushed since the call.
  private func jumpedToNowhere(_ callee: Position) -> FrameRegisters? {
    guard callee.trust == .context, let stack = callee.registers.stackPointer else { return nil }
    var caller = callee.registers
    switch callee.registers.architecture {
    case .x86_64:
      guard let saved = memory.word(stack), moduleIndex(at: stripped(saved) &- 1) != nil else { return nil }
      caller.instructionPointer = saved
      caller.stackPointer = stack &+ 8
    case .arm64:
      guard let link = callee.registers.link, moduleIndex(at: stripped(link) &- 1) != nil else { return nil }
      caller.instructionPointer = link
    }
    return caller
  }

  /// Whether the program crashed with an invalid stack pointer: then the caller's may be lower, too.
  private func hasLostStack(_ callee: Position) -> Bool {
    callee.trust == .context && callee.registers.stackPointer.map { memory.word($0 & ~7) == nil } ?? false
  }

  private func byFramePointer(_ callee: Position) -> FrameRegisters? {
    guard let frame = callee.registers.framePointer, frame % 8 == 0,
      callee.registers.stackPointer.map({ frame >= $0 }) ?? true || hasLostStack(callee),
      let next = memory.word(frame), let saved = memory.word(frame &+ 8)
    else { return nil }
    var caller = callee.registers.preserved()
    caller.framePointer = next
    // A function that calls others has its return address in its frame; a leaf function has it in the register.
    if callee.registers.architecture == .arm64, !callee.isCaller, let link = callee.registers.link,
      isLeaf(callee, link: link, saved: saved)
    {
      caller.framePointer = frame
      caller.instructionPointer = link
      caller.stackPointer = callee.registers.stackPointer
      return caller
    }
    guard isPlausible(saved) else { return nil }
    caller.instructionPointer = saved
    caller.stackPointer = frame &+ 16
    return caller
  }

  /// Whether the first frame's function has apparently not saved its return address: the register then points to a
  /// function other than its own, and not to the return address saved in the frame.
  private func isLeaf(_ callee: Position, link: UInt64, saved: UInt64) -> Bool {
    let link = stripped(link)
    guard link != stripped(saved), link >= 4096, let module = module(at: callee.instruction),
      let own = module.symbols?.functionAddress(callee.instruction - module.address),
      let target = self.module(at: link &- 1)
    else { return false }
    // After a call, the register points into the function itself.
    guard target.index == module.index else { return true }
    return module.symbols?.functionAddress(link &- 1 - module.address) != own
  }

  private func isPlausible(_ address: UInt64) -> Bool {
    // The word with which `redact` and Crashpad's sanitizer replace values that are not addresses in a module.
    let defaced: UInt64 = 0x0def_aced_0def_aced
    guard address != defaced else { return false }
    let address = stripped(address)
    return address < 4096 || modules.isEmpty || moduleIndex(at: address &- 1) != nil
  }

  private func byScan(_ callee: Position) -> FrameRegisters? {
    guard let start = callee.registers.stackPointer else { return nil }
    let words = callee.trust == .context ? limits.scannedWords * 4 : limits.scannedWords
    for index in 0..<UInt64(words) {
      let place = (start & ~7) &+ 8 &* index
      guard place >= start else { continue }
      guard let value = memory.word(place) else { return nil }
      guard looksLikeReturnAddress(stripped(value)) else { continue }
      var caller = FrameRegisters(callee.registers.architecture)
      caller.instructionPointer = value
      caller.stackPointer = place &+ 8
      // The frame pointer may still be the caller's, or be saved just below the return address.
      if let frame = callee.registers.framePointer, frame > place {
        caller.framePointer = frame
      } else if callee.registers.architecture == .x86_64, place >= 8, let below = memory.word(place - 8), below > place
      {
        caller.framePointer = below
      }
      return caller
    }
    return nil
  }

  private func looksLikeReturnAddress(_ address: UInt64) -> Bool {
    guard address >= 4096, let module = module(at: address &- 1) else { return false }
    return module.symbols?.isInFunction(address &- 1 - module.address) ?? true
  }
}

extension FrameRules {
  /// The caller's registers; nil if memory or a register is missing.
  func caller(of callee: FrameRegisters, _ load: (UInt64) -> UInt64?) -> FrameRegisters? {
    guard let canonical = frameAddress?.evaluate(callee, frameAddress: nil, load),
      let instruction = returnAddress?.evaluate(callee, frameAddress: canonical, load)
    else { return nil }
    var caller = callee.preserved()
    for (number, expression) in registers {
      caller[number] = expression.evaluate(callee, frameAddress: canonical, load)
    }
    caller.stackPointer = canonical
    caller.instructionPointer = instruction
    return caller
  }
}
