// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// The methods that find a caller, from the most to the least reliable: rules, the state of a function that has just been
/// called, the chain of frame pointers, and a scan of the stack for what looks like a return address.
///
/// Each says by its trust what it rests on; see `FrameTrust` for what follows from that.
extension StackWalker {
  enum Step {
    case caller(Position)
    case end(WalkEnd)
  }

  /// The registers of a caller, and how they were found.
  struct Found {
    var registers: FrameRegisters
    let trust: FrameTrust
    var skippedWords: Int?
    /// Whether the stack was scanned far out.
    var scannedFar = false
    /// Whether the address is from the link register.
    var isFromLink = false

    init(_ registers: FrameRegisters, _ trust: FrameTrust) { (self.registers, self.trust) = (registers, trust) }

    func isSame(as other: Found) -> Bool {
      registers.instructionPointer == other.registers.instructionPointer
        && registers.stackPointer == other.registers.stackPointer
    }
  }

  func caller(of callee: Position, _ frame: inout StackFrame) -> Step {
    if let step = goroutine(behind: callee) { return step }
    let rules = rules(callee)
    frame.isSignalFrame = rules?.isSignalFrame == true
    if rules?.isOutermost == true || (rules == nil && isBeforeExit(callee)) { return .end(.done) }
    var found = byRules(callee, rules) ?? (rules == nil ? justCalled(callee) : nil)
    if found == nil, rules == nil, usesFramePointers(callee), knowsFramePointer(callee),
      callee.registers.framePointer == 0, mayHaveFrame(callee)
    {
      return .end(.endOfChain)
    }
    if found == nil {
      let returned = rules == nil ? byReturn(callee) : nil
      switch byFramePointer(callee) {
      // Both lead to one caller: then the register is a frame pointer.
      case .found(let caller) where caller.trust == .framePointer && returned.map { $0.isSame(as: caller) } ?? true:
        found = caller
      case _ where returned != nil: found = returned
      case .found(let caller): found = byFirstInstructions(callee) ?? better(than: caller, callee)
      case .endOfChain: return .end(.endOfChain)
      case .notFound: break
      }
    }
    if found?.registers.wasInterrupted == true { frame.isSignalFrame = true }
    // The memory behind the first function of a thread is not a stack.
    if found == nil, isStart(callee) { return .end(.done) }
    guard let caller = found ?? byFirstInstructions(callee) ?? byLinkRegister(callee) ?? byScan(callee) else {
      let isMissing = rules != nil || callee.registers.stackPointer.map { load($0, callee) == nil } ?? true
      return .end(isMissing ? .missingMemory : .noCaller)
    }
    if callee.isFromLink, caller.trust == .scan, let same = behindSavedLink(callee, caller) {
      return self.caller(of: same, &frame)
    }
    guard let next = caller.registers.instructionPointer.map(stripped), next >= Self.firstAddress else {
      return .end(.nullReturnAddress)
    }
    // A handler may have interrupted code anywhere, but nothing returns to memory that can't be executed.
    if !frame.isSignalFrame, !mayExecute(next) {
      return .end(isStart(callee) ? .done : .noCaller)
    }
    if !frame.isSignalFrame, !advances(from: callee, to: caller.registers, next) { return .end(.noProgress) }
    if frame.isSignalFrame {
      frame.interruptsSystemCall = interruptsSystemCall(callee, at: next)
      frame.handled = HandledFault(callee.architecture) { distance in
        callee.registers.stackPointer.flatMap { load($0 &+ distance, callee) }
      }
    }
    let isCall = !frame.isSignalFrame && !isInjected(callee)
    var position = Position(caller.registers, next, caller.trust, isCaller: isCall)
    position.registers.wasInterrupted = false
    position.skippedWords = caller.skippedWords
    position.farScans = callee.farScans + (caller.scannedFar ? 1 : 0)
    (position.isFromLink, position.innermost) = (caller.isFromLink, callee.innermost)
    position.registers.pushedParameters =
      callee.architecture == .x86 ? callee.symbols?.parameterSize(at: callee.lookupOffset) ?? 0 : 0
    return .caller(position)
  }

  /// Whether the signal of a handler that returns to `callee` came while a system call waited, and not for one that the system
  /// refused to a sandbox.
  private func interruptsSystemCall(_ callee: Position, at next: UInt64) -> Bool {
    guard let module = module(at: next),
      SignalReturn.isInSystemCall(callee.architecture, { code(at: next &+ UInt64(bitPattern: $0), module) })
    else { return false }
    let place = SignalReturn.siginfoOffset(callee.architecture)
    let signal = place.flatMap { distance in callee.registers.stackPointer.flatMap { load($0 &+ distance, callee) } }
    return signal.map { $0 & 0xffff_ffff != Self.refusedCall } ?? true
  }

  /// SIGSYS of Linux.
  private static let refusedCall: UInt64 = 31

  /// No system maps code below.
  static let firstAddress: UInt64 = 4096

  private func advances(from callee: Position, to caller: FrameRegisters, _ instruction: UInt64) -> Bool {
    guard let old = callee.registers.stackPointer, let new = caller.stackPointer, !hasLostStack(callee) else {
      return true
    }
    // A leaf function has its return address in a register, and may use no stack.
    let mayStay = !callee.isCaller && callee.architecture.link != nil
    return new > old || (mayStay && new == old && instructionAddress(instruction, callee) != callee.instruction)
  }

  /// A word of the process as long as an address; `address` is rounded down to its alignment.
  func load(_ address: UInt64, _ position: Position) -> UInt64? {
    let size = position.architecture.addressSize
    let address = address & ~(size - 1)
    return size == 8 ? process.memory.word(address) : process.memory.halfWord(address)
  }

  /// The same without rounding, as rules ask for it.
  private func exactLoad(_ architecture: FrameRegisters.Architecture) -> (UInt64) -> UInt64? {
    let memory = process.memory
    if architecture.addressSize == 8 { return { memory.word($0) } }
    return { memory.halfWord($0 & 0xffff_ffff) }
  }

  // MARK: Rules

  func rules(_ callee: Position) -> FrameRules? {
    let rules = callee.symbols?.frameRules(at: callee.lookupOffset, callee.architecture)
    guard callee.trust != .context, rules?.isSignalFrame != true else { return rules }
    return signalReturn(callee) ?? rules
  }

  func byRules(_ callee: Position, _ rules: FrameRules?) -> Found? {
    let load = exactLoad(callee.architecture)
    if let rules { return byRules(callee, rules, load) }
    let caller = callee.symbols?.caller(
      of: callee.registers, at: callee.lookupOffset, isInnermost: !callee.isCaller, load)
    // Programs of STACK WIN may search the stack themselves.
    if callee.architecture == .x86, let address = caller?.instructionPointer, address >= Self.firstAddress,
      !mayFollowCall(address, callee)
    {
      return nil
    }
    return caller.map { Found($0, .callFrameInfo) }
  }

  private func byRules(_ callee: Position, _ rules: FrameRules, _ load: (UInt64) -> UInt64?) -> Found? {
    guard let caller = rules.caller(of: callee.registers, load), let instruction = caller.instructionPointer else {
      return nil
    }
    if !rules.isSignalFrame, instruction >= Self.firstAddress, !mayExecute(stripped(instruction)) { return nil }
    if callee.trust == .linkRegister {
      // A function that calls nothing may have room on the stack: then the stack pointer is another one.
      let address = stripped(instruction)
      let isPlace = module(behindCallAt: address) != nil || process.executable.contains(address) == .executable
      guard isPlace, mayLead(to: instruction, callee, rules) else { return nil }
      return Found(caller, usesFramePointers(callee) ? .callFrameInfo : .scan)
    }
    guard callee.trust == .scan else { return Found(caller, .callFrameInfo) }
    // Rules that need a guessed frame pointer give a guess.
    var known = callee.registers
    known.framePointer = nil
    if rules.caller(of: known, load) != nil {
      return mayLead(to: instruction, callee, rules) ? Found(caller, .callFrameInfo) : nil
    }
    return looksLikeReturnAddress(stripped(instruction), callee) ? Found(caller, .scan) : nil
  }

  /// Whether the rules of a guessed frame lead to what may be a return address: otherwise the guess was wrong.
  private func mayLead(to instruction: UInt64, _ callee: Position, _ rules: FrameRules) -> Bool {
    let address = stripped(instruction)
    guard !rules.isSignalFrame, address >= Self.firstAddress, module(behindCallAt: address) != nil else { return true }
    return looksLikeReturnAddress(address, callee) || isBeforeExit(address, callee)
  }

  /// Whether the process could execute code before an address, as far as its dump lists its memory.
  func mayExecute(_ address: UInt64) -> Bool {
    switch process.executable.contains(endOfCall(address)) {
    case .executable, .unknown: true
    case .notExecutable: false
    // Some lists lack modules.
    case .unlisted: module(behindCallAt: address) != nil
    }
  }

  /// The rules for code to which a signal handler returns; nil if `callee` is not at such code.
  private func signalReturn(_ callee: Position) -> FrameRules? {
    let offset = callee.module.map { callee.instruction &- $0.address }
    return SignalReturn.rules(callee.architecture) { distance in
      offset.flatMap { callee.symbols?.code(at: $0 &+ distance) } ?? process.memory.word(callee.instruction &+ distance)
    }
  }

  // MARK: Functions that were just called

  /// The caller of a frame that has saved nothing yet: the first one, or one that a signal interrupted.
  private func justCalled(_ callee: Position) -> Found? {
    guard !callee.isCaller else { return nil }
    switch process.executable.contains(callee.instruction) {
    case .executable: break
    // Data of a module, too
    case .notExecutable: return calledNowhere(callee)
    case .unlisted, .unknown: if callee.module == nil { return calledNowhere(callee) }
    }
    return callee.architecture.isIntel ? byPushedAddress(callee) : leaf(callee)
  }

  /// The caller if the first frame is where no code is: an invalid address was called, and nothing was pushed since.
  private func calledNowhere(_ callee: Position) -> Found? {
    var caller = callee.registers
    guard let stack = callee.registers.stackPointer else { return nil }
    guard callee.architecture.isIntel else {
      guard let link = callee.registers.link, mayFollowCall(stripped(link), callee) else { return nil }
      caller.instructionPointer = link
      return Found(caller, .linkRegister)
    }
    guard let saved = load(stack, callee),
      mayFollowCall(saved, callee)
        || (module(behindCallAt: saved) == nil && process.executable.isInMadeFunction(endOfCall(saved)))
    else { return nil }
    caller.instructionPointer = saved
    caller.stackPointer = stack &+ callee.architecture.addressSize
    // A direct call can't lead to an invalid address, and a return to one leaves any word there.
    return Found(caller, call(before: saved, callee) == .some(.indirect) ? .returnAddress : .scan)
  }

  /// The caller if the return address of the first frame is known to be at the stack pointer, or one word above: then frame
  /// pointers would lead to the caller's caller.
  private func byPushedAddress(_ callee: Position) -> Found? {
    guard let module = callee.module, let stack = callee.registers.stackPointer else { return nil }
    let size = callee.architecture.addressSize
    let state = savedFramePointer(callee, module)
    let place = state == .saved ? stack &+ size : stack
    guard let saved = load(place, callee), case .some(let call?) = call(before: saved, callee) else { return nil }
    if state == .unknown, !isUntouched(callee, module, calledBy: call) { return nil }
    var caller = callee.registers.preserved()
    if state == .saved { caller.framePointer = load(stack, callee) }
    caller.instructionPointer = saved
    caller.stackPointer = place &+ size
    return Found(caller, .returnAddress)
  }

  /// The caller by the code from the place to the function's return. A chain of frame pointers is as sure, and needs no code.
  private func byReturn(_ callee: Position) -> Found? {
    guard callee.architecture.isIntel, !callee.trust.knowsFramePointer, let module = callee.module,
      let stack = callee.registers.stackPointer
    else { return nil }
    let (isGuess, frame) = (callee.trust == .scan, callee.trust == .scan ? nil : callee.registers.framePointer)
    let isWide = callee.architecture == .x86_64
    let code = IntelCode(isWide: isWide) { self.code(at: $0, module) }
    guard
      let way = IntelReturn(
        from: callee.instruction, isBehindCall: callee.isCaller, knowsFramePointer: frame != nil, code)
    else { return nil }
    func address(_ place: IntelReturn.Place) -> UInt64? {
      (place.isFramePointer ? frame : stack).map { $0 &+ UInt64(bitPattern: place.distance) }
    }
    guard let place = address(way.address), place >= stack, let saved = load(place, callee),
      looksLikeReturnAddress(saved, callee)
    else { return nil }
    let isCertain = callee.isCaller ? leads(to: callee, by: call(before: saved, callee)) : !isGuess
    if isGuess, !isCertain { return nil }
    var caller = callee.registers.preserved()
    for (number, place) in way.restored {
      let register = isWide ? Self.dwarfNumbers[number] : number
      guard caller.isPreserved(register) else { continue }
      caller[register] = address(place).flatMap { load($0, callee) }
    }
    if !way.keepsFramePointer || isGuess { caller.framePointer = nil }
    caller.instructionPointer = saved
    caller.stackPointer = place &+ callee.architecture.addressSize &+ way.parameters
    var found = Found(caller, isCertain ? .returnAddress : .scan)
    if !isCertain { found.skippedWords = Int((place - stack) / callee.architecture.addressSize) }
    return found
  }

  /// The numbers in DWARF of the registers of x86-64, by those in instructions.
  private static let dwarfNumbers = [0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15]

  /// Whether a call leads to a place near it, or to the start of its function where that is known.
  private func leads(to callee: Position, by call: CallInstruction??) -> Bool {
    guard case .some(.direct(let start)?) = call else { return false }
    if let known = functionStart(callee) { return start == known }
    return start < callee.instruction && callee.instruction - start < Self.longestFunction
  }

  private static let longestFunction: UInt64 = 65536

  /// The state of a function's frame, as far as the next instruction tells.
  enum FrameState {
    /// The next instruction sets the frame pointer, whose old value was just pushed.
    case saved
    /// The next instruction returns.
    case removed
    case unknown
  }

  private func savedFramePointer(_ callee: Position, _ module: WalkedModule) -> FrameState {
    guard let code = code(at: callee.instruction, module) else { return .unknown }
    // RET, also with a number, and REP RET
    if [0xc3, 0xc2].contains(code & 0xff) || code & 0xffff == 0xc3f3 { return .removed }
    // MOV of the stack pointer into the frame pointer, in both encodings, behind PUSH of the latter
    let isWide = callee.architecture == .x86_64
    let isMove = isWide ? [0xe5_8948, 0xec_8b48].contains(code & 0xff_ffff) : [0xe589, 0xec8b].contains(code & 0xffff)
    return isMove && self.code(at: callee.instruction &- 1, module).map { $0 & 0xff } == 0x55 ? .saved : .unknown
  }

  /// Whether the function has not moved the stack pointer, as far as its code before the place tells. The call led to its
  /// start, or it is known from symbols: then the call may have led there by a pointer or a jump.
  private func isUntouched(_ callee: Position, _ module: WalkedModule, calledBy call: CallInstruction) -> Bool {
    if case .direct(let start) = call, start <= callee.instruction, callee.instruction - start < 4096,
      start >= module.address
    {
      return !hasPushed(from: start, to: callee.instruction, module)
    }
    guard let start = functionStart(callee), callee.instruction - start < Self.longestLeaf else { return false }
    return !hasPushed(from: start, to: callee.instruction, module)
      && !lowersStack(in: start..<callee.instruction, module)
  }

  /// The bytes of a function that are searched for instructions.
  private static let longestLeaf: UInt64 = 1024

  /// The start of the function at a place, by its symbol. The part that compilers move away from a function does not begin
  /// as a function does.
  func functionStart(_ callee: Position) -> UInt64? {
    guard let module = callee.module, let symbols = module.symbols,
      case let offset = callee.lookupAddress &- module.address,
      let start = symbols.functionAddress(offset), start <= offset,
      symbols.symbolize(offset)?.frames.last?.function?.contains(".cold") != true
    else { return nil }
    return module.address &+ start
  }

  /// Whether a function begins with instructions that lower the stack pointer, before the place.
  private func hasPushed(from start: UInt64, to end: UInt64, _ module: WalkedModule) -> Bool {
    // ENDBR64, ENDBR32
    let isMarked = code(at: start, module).map { [0xfa1e_0ff3, 0xfb1e_0ff3].contains($0 & 0xffff_ffff) } ?? false
    let first = isMarked ? start &+ 4 : start
    guard end > first else { return false }
    guard let code = code(at: first, module) else { return true }
    // PUSH of a register, also of r8 to r15
    let isPush = [code & 0xff, code & 0xff == 0x41 ? code >> 8 & 0xff : 0].contains { (0x50...0x57).contains($0) }
    return isPush || Self.lowersStack(code)
  }

  /// SUB of a number from rsp or esp
  private static func lowersStack(_ code: UInt64) -> Bool {
    let word = code & 0xff == 0x48 ? code >> 8 & 0xffff : code & 0xffff
    return word == 0xec83 || word == 0xec81
  }

  /// Whether code has an instruction that lowers the stack pointer for variables, or bytes that look like one. A variable may
  /// hold the return address of an earlier call; a register that was pushed hardly does.
  private func lowersStack(in range: Range<UInt64>, _ module: WalkedModule) -> Bool {
    for place in stride(from: range.lowerBound, to: range.upperBound, by: 6) {
      guard let code = code(at: place, module) else { return true }
      let count = min(6, range.upperBound - place)
      if (0..<count).contains(where: { Self.lowersStack(code >> (8 * $0)) }) { return true }
    }
    return false
  }

  /// The caller in the link register of a function that has called nothing. Whether it has is known if the register leads to
  /// another module or function, or behind a call of this function: after a call it would lead into the function itself.
  private func leaf(_ callee: Position) -> Found? {
    guard let module = callee.module, let link = callee.registers.link.map(stripped),
      mayFollowCall(link, callee), let target = self.module(behindCallAt: link)
    else { return nil }
    if target.index == module.index {
      let own = module.symbols?.functionAddress(callee.instruction - module.address)
      let other = module.symbols?.functionAddress(endOfCall(link) - module.address)
      if let own {
        // An address of no known function is not in this one.
        if own == other { return nil }
      } else {
        guard case .direct(let start)? = call(before: link, callee), start <= callee.instruction,
          callee.instruction - start < 4096, !(start..<callee.instruction).contains(link)
        else { return nil }
      }
    }
    // The frame has the same address once the function has saved it: then the chain leads on.
    if let frame = callee.registers.framePointer,
      load(frame &+ callee.architecture.addressSize, callee).map(stripped) == link
    {
      return nil
    }
    return byLink(link, callee, .linkRegister)
  }

  /// The caller at an address in the link register: the function has moved neither the stack nor the frame pointer.
  private func byLink(_ link: UInt64, _ callee: Position, _ trust: FrameTrust) -> Found {
    var caller = callee.registers.preserved()
    caller.instructionPointer = link
    caller.stackPointer = callee.registers.stackPointer
    var found = Found(caller, trust)
    found.isFromLink = true
    return found
  }

  /// The link register of a first frame of which nothing else is known.
  private func byLinkRegister(_ callee: Position) -> Found? {
    guard !callee.isCaller, let link = callee.registers.link, looksLikeReturnAddress(stripped(link), callee),
      instructionAddress(stripped(link), callee) != callee.instruction
    else { return nil }
    var found = byLink(link, callee, .scan)
    found.skippedWords = 0
    return found
  }

  // MARK: Evidence

  /// The address of the instruction that a code pointer refers to: bit 0 of those of ARM marks Thumb.
  func instructionAddress(_ pointer: UInt64, _ callee: Position) -> UInt64 {
    callee.architecture.isArm ? pointer & ~1 : pointer
  }

  /// The last byte of a call, by its return address. Bit 0 of that may mark Thumb; on other processors one byte less is in
  /// the call, too.
  private func endOfCall(_ address: UInt64) -> UInt64 { (address & ~1) &- 1 }

  /// The module of the call that returns to an address.
  func module(behindCallAt address: UInt64) -> WalkedModule? { module(at: endOfCall(address)) }

  /// Whether an address is in the code of a module, and behind a call or at the code to which a signal handler returns, as
  /// far as that is known.
  func mayFollowCall(_ address: UInt64, _ callee: Position) -> Bool {
    guard isAligned(address, callee), let module = module(behindCallAt: address),
      // The headers of a program are in its memory, but are no code.
      endOfCall(address) - module.address >= Self.smallestHeader
    else { return false }
    if process.executable.contains(endOfCall(address)) == .notExecutable { return false }
    return call(before: address, callee) != .some(nil) || isSignalReturn(address, callee, module)
  }

  /// The header of an ELF file with one program header; those of other formats are larger.
  private static let smallestHeader: UInt64 = 0x78

  /// Whether an instruction can be at an address.
  func isAligned(_ address: UInt64, _ callee: Position) -> Bool {
    guard address >= Self.firstAddress else { return false }
    switch callee.architecture {
    case .arm64, .loongarch64, .ppc64, .mips, .mips64: return address % 4 == 0
    case .riscv64: return address % 2 == 0
    // Bit 0 marks Thumb.
    case .arm: return address & 3 != 2
    case .x86_64, .x86: return true
    }
  }

  /// Whether the kernel's frame of a signal handler has the address: no call is before it.
  func isSignalReturn(_ address: UInt64, _ callee: Position, _ module: WalkedModule) -> Bool {
    let first = instructionAddress(address, callee)
    return SignalReturn.rules(callee.architecture) { code(at: first &+ $0, module) } != nil
      || module.symbols?.frameRules(at: address - module.address, callee.architecture)?.isSignalFrame == true
  }

  /// The call that ends at a return address: nil if its code is not known, and a nil call if it is none.
  ///
  /// Memory of the dump may show a call, but not that there is none: what is private in it may have been replaced.
  func call(before address: UInt64, _ callee: Position) -> CallInstruction?? {
    let end = instructionAddress(address, callee)
    let start = end &- CallInstruction.reach
    func call(_ code: UInt64) -> CallInstruction? {
      CallInstruction(endingAt: end, code, callee.architecture, isThumb: end != address)
    }
    if let code = module(at: start).flatMap({ fileCode(at: start, $0) }) { return .some(call(code)) }
    return process.memory.word(start).flatMap(call).map { .some($0) }
  }

  private func fileCode(at address: UInt64, _ module: WalkedModule) -> UInt64? {
    module.symbols.flatMap { $0.isFound ? $0.code(at: address &- module.address) : nil }
  }

  func code(at address: UInt64, _ module: WalkedModule) -> UInt64? {
    fileCode(at: address, module) ?? process.memory.word(address)
  }
}
