internal import Snapshot

/// How a frame was found, from the surest to the least sure.
public enum FrameTrust: String, Sendable {
  /// The registers of the thread.
  case context
  /// Rules for just this address, from a symbol file.
  case callFrameInfo = "cfi"
  /// The chain of frame pointers.
  case framePointer = "frame_pointer"
  /// A word on the stack that looks like a return address.
  case scan
}

/// One frame of a walked stack.
public struct StackFrame: Sendable {
  /// Where the program was: of the first frame the next instruction, of others the one behind the call.
  public let instruction: UInt64
  /// What to look symbols up for: of a caller an address inside of the call.
  public var lookupAddress: UInt64 { trust == .context ? instruction : instruction &- 1 }
  public let trust: FrameTrust
  public let registers: FrameRegisters
  /// Index of the module that it lies in.
  public let module: Int?
}

/// Why a walk ended.
public enum WalkEnd: String, Sendable {
  /// The outermost frame.
  case done
  /// Nothing led to a caller.
  case noCaller = "no-caller"
  /// The stack pointer did not move on: the stack is corrupt.
  case noProgress = "no-progress"
  /// There are more frames than are walked.
  case tooManyFrames = "too-many-frames"
  /// The thread has no registers that can be walked from.
  case noRegisters = "no-registers"
}

/// Walks the stacks of one snapshot.
public struct StackWalker: Sendable {
  public struct Limits: Sendable {
    public var frames = 1024
    /// Words of the stack that are looked at for a return address; four times as many for the first frame.
    public var scannedWords = 40

    public init() {}
  }

  private let modules: [WalkedModule]
  private let memory: WalkedMemory
  /// Bits of a code pointer that are not part of the address.
  private let addressMask: UInt64
  private let limits: Limits

  /// - Parameters:
  ///   - modules: where code lies; the symbols may be missing.
  ///   - memory: what was captured.
  ///   - addressMask: bits of a pointer that are no part of the address (pointer authentication); 0 if that is not known.
  ///   - limits: how far to go.
  public init(modules: [WalkedModule], memory: WalkedMemory, addressMask: UInt64, limits: Limits = Limits()) {
    self.modules = modules.sorted { $0.address < $1.address }
    self.memory = memory
    self.addressMask = addressMask
    self.limits = limits
  }

  /// The frames from `registers` outwards, and why they end.
  public func walk(from registers: FrameRegisters) -> (frames: [StackFrame], end: WalkEnd) {
    guard let instruction = registers.instructionPointer, instruction != 0 || registers.framePointer != nil else {
      return ([], .noRegisters)
    }
    var frames = [frame(registers, .context, stripped(instruction))]
    while frames.count < limits.frames {
      let callee = frames[frames.count - 1]
      guard let (caller, trust) = caller(of: callee) else { return (frames, .noCaller) }
      guard let next = caller.instructionPointer.map(stripped), next >= 4096 else { return (frames, .done) }
      let isLeaf = callee.trust == .context && callee.registers.architecture == .arm64
      if let old = callee.registers.stackPointer, let new = caller.stackPointer {
        // Of a leaf on arm64 the return address is in a register, and nothing on the stack.
        guard new > old || (isLeaf && new == old && next != callee.instruction) else { return (frames, .noProgress) }
      }
      frames.append(frame(caller, trust, next))
    }
    return (frames, .tooManyFrames)
  }

  private func frame(_ registers: FrameRegisters, _ trust: FrameTrust, _ instruction: UInt64) -> StackFrame {
    var registers = registers
    registers.instructionPointer = instruction
    return StackFrame(
      instruction: instruction, trust: trust, registers: registers,
      module: module(at: trust == .context ? instruction : instruction &- 1)?.index)
  }

  private func stripped(_ address: UInt64) -> UInt64 { address & ~addressMask }

  private func module(at address: UInt64) -> WalkedModule? {
    var low = 0
    var high = modules.count
    while low < high {
      let middle = (low + high) / 2
      if modules[middle].address <= address { low = middle + 1 } else { high = middle }
    }
    guard low > 0, address - modules[low - 1].address < modules[low - 1].size else { return nil }
    return modules[low - 1]
  }

  // MARK: Ways to a caller

  private func caller(of callee: StackFrame) -> (FrameRegisters, FrameTrust)? {
    if let caller = byCallFrameInfo(callee) { return (caller, .callFrameInfo) }
    if let caller = byFramePointer(callee) { return (caller, .framePointer) }
    return byScan(callee).map { ($0, .scan) }
  }

  private func byCallFrameInfo(_ callee: StackFrame) -> FrameRegisters? {
    let address = callee.lookupAddress
    guard let module = module(at: address),
      let rules = module.symbols?.frameRules(at: address - module.address, callee.registers.architecture),
      let canonical = rules.canonicalAddress?.evaluate(callee.registers, canonicalAddress: nil, memory.word),
      let instruction = rules.returnAddress?.evaluate(callee.registers, canonicalAddress: canonical, memory.word)
    else { return nil }
    var caller = callee.registers.preserved()
    for (number, expression) in rules.registers {
      caller[number] = expression.evaluate(callee.registers, canonicalAddress: canonical, memory.word)
    }
    caller.stackPointer = canonical
    caller.instructionPointer = instruction
    return caller
  }

  private func byFramePointer(_ callee: StackFrame) -> FrameRegisters? {
    guard let frame = callee.registers.framePointer, frame != 0 || memory.word(0) != nil, frame % 8 == 0,
      callee.registers.stackPointer.map({ frame >= $0 }) ?? true,
      let next = memory.word(frame), let saved = memory.word(frame &+ 8)
    else { return nil }
    var caller = callee.registers.preserved()
    caller.framePointer = next
    switch callee.registers.architecture {
    case .x86_64:
      guard isPlausible(saved) else { return nil }
      caller.instructionPointer = saved
      caller.stackPointer = frame &+ 16
    case .arm64:
      // A function that calls another has its own return address in its frame; one that does not, a leaf, in the register.
      if callee.trust == .context, let link = callee.registers.link, isLeaf(callee, link: link, saved: saved) {
        caller.framePointer = frame
        caller.instructionPointer = link
        caller.stackPointer = callee.registers.stackPointer
        return caller
      }
      caller.instructionPointer = saved
      caller.stackPointer = frame &+ 16
    }
    return caller
  }

  /// Whether the first frame's function has not saved its return address, as far as that shows: the register then tells of
  /// a place in another function than the frame's saved one, and in another than the program is in.
  private func isLeaf(_ callee: StackFrame, link: UInt64, saved: UInt64) -> Bool {
    let link = stripped(link)
    guard link != stripped(saved), isPlausible(link), let module = module(at: callee.instruction) else { return false }
    guard let symbols = module.symbols, let own = symbols.functionAddress(callee.instruction - module.address) else {
      return false
    }
    // Behind a call the register has an address in the function itself.
    guard link >= module.address, link - module.address < module.size else { return true }
    return symbols.functionAddress(link - 1 - module.address) != own
  }

  private func isPlausible(_ address: UInt64) -> Bool {
    let address = stripped(address)
    return address < 4096 || modules.isEmpty || module(at: address &- 1) != nil
  }

  private func byScan(_ callee: StackFrame) -> FrameRegisters? {
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
      // The frame pointer may still be the caller's.
      if let frame = callee.registers.framePointer, frame > place { caller.framePointer = frame }
      return caller
    }
    return nil
  }

  private func looksLikeReturnAddress(_ address: UInt64) -> Bool {
    guard let module = module(at: address &- 1) else { return false }
    guard let symbols = module.symbols else { return true }
    return symbols.isInFunction(address &- 1 - module.address)
  }
}

/// A module of the process, as far as walking needs it.
public struct WalkedModule: Sendable {
  /// In the snapshot's list.
  public let index: Int
  public let address: UInt64
  /// In bytes.
  public let size: UInt64
  public let symbols: SymFile?

  public init(index: Int, address: UInt64, size: UInt64, symbols: SymFile?) {
    self.index = index
    self.address = address
    self.size = size
    self.symbols = symbols
  }
}
