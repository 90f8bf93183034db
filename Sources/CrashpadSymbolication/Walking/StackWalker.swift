// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadFiles
package import CrashpadSnapshot

/// Walks the stacks of one snapshot.
package struct StackWalker: Sendable {
  package struct Limits: Sendable {
    /// The maximum number of frames: only an infinite recursion has stacks this deep.
    package var frames = 200_000
    /// The maximum number of frames of all threads together: threads of a damaged dump may share one deep stack.
    package var allFrames = 2_000_000
    /// The number of words of the stack to scan for a return address; four times as many for the first frame.
    package var scannedWords = 40
    /// The number of frames of a stack whose callers are looked for further out than that: made stacks could ask for it at each.
    package var farScans = 8

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

  /// The process whose stacks are walked, as far as the walks need it.
  package struct Process: Sendable {
    let memory: WalkedMemory
    let executable: ListedMemory
    let threadStarts: ThreadStarts
    /// Bits of a code pointer that are not part of the address (pointer authentication); 0 if unknown.
    let addressMask: UInt64
    let system: OperatingSystem

    package init(_ snapshot: ProcessSnapshot, _ file: InputFile, addressMask: UInt64) {
      memory = WalkedMemory(snapshot, file)
      executable = ListedMemory(snapshot, file)
      threadStarts = ThreadStarts(snapshot, file)
      self.addressMask = addressMask
      system = snapshot.system.operatingSystem
    }
  }

  let modules: [WalkedModule]
  /// The indices are those in `modules`.
  private let map: ModuleMap
  let process: Process
  let limits: Limits

  /// - Parameters:
  ///   - modules: the modules with code; their symbols may be missing.
  ///   - limits: the limits of the walk.
  package init(modules: [WalkedModule], _ process: Process, limits: Limits = Limits()) {
    self.modules = modules
    map = ModuleMap(modules.enumerated().map { ($0.element.address, $0.element.size, $0.offset) })
    self.process = process
    self.limits = limits
  }

  /// The frames from `registers` outwards, at most `most`, and the reason why they end.
  ///
  /// - Parameter isThumb: whether the first instruction of arm is in the short form.
  package func walk(from registers: FrameRegisters, isThumb: Bool = false, most: Int = .max) -> Walk {
    guard let instruction = registers.instructionPointer else { return Walk(frames: [], end: .noRegisters) }
    var callee = Position(registers, stripped(instruction), .context, isCaller: false)
    if isThumb { callee.registers.isThumb = true }
    callee.innermost = callee.instruction
    callee.place(in: module(at: callee.lookupAddress))
    var frames = [frame(callee)]
    var end = WalkEnd.tooManyFrames
    // Behind a signal's frame the stack may be anywhere. A handler that began again at the top of its stack has overwritten the frames
    // of an earlier one, and leads back to itself.
    var interrupted: Set<[UInt64]> = []
    while frames.count < min(limits.frames, most) {
      switch caller(of: callee, &frames[frames.count - 1]) {
      case .end(let reason):
        end = isOutermost(callee, reason) ? .done : reason
      case .caller(var caller):
        if frames[frames.count - 1].isSignalFrame,
          !interrupted.insert([caller.instruction, caller.registers.stackPointer ?? 0]).inserted
        {
          end = .noProgress
          break
        }
        caller.place(in: module(at: caller.lookupAddress))
        callee = caller
        frames.append(frame(caller))
        continue
      }
      break
    }
    return Walk(frames: frames, end: end)
  }

  /// The frames of return addresses listed in the dump: the first is where the exception was thrown.
  package func walk(prewalked addresses: [UInt64]) -> Walk {
    let frames = addresses.map { address in
      var position = Position(FrameRegisters(.arm64), stripped(address), .prewalked, isCaller: true)
      position.place(in: module(at: position.lookupAddress))
      return frame(position)
    }
    return Walk(frames: frames, end: .recorded)
  }

  /// The state of the walk at one frame.
  struct Position {
    var registers: FrameRegisters
    /// Without the bit that marks Thumb.
    let instruction: UInt64
    let trust: FrameTrust
    let isCaller: Bool
    /// Whether the code of arm is in its short form.
    var isThumb: Bool { registers.isThumb }
    /// The words of the stack that a scan passed over.
    var skippedWords: Int?
    /// The instruction of the innermost frame.
    var innermost: UInt64?
    /// Whether the address is from the link register of the innermost frame.
    var isFromLink = false
    /// The number of scans far out that were made for the frames so far.
    var farScans = 0
    /// The module that has the place, if one has it.
    private(set) var module: WalkedModule?
    /// The module's symbols; nil if none were found.
    private(set) var symbols: ModuleSymbols?

    init(_ registers: FrameRegisters, _ address: UInt64, _ trust: FrameTrust, isCaller: Bool) {
      self.registers = registers
      if registers.architecture.isArm, address & 1 == 1 {
        (instruction, self.registers.isThumb) = (address & ~1, true)
      } else {
        (instruction, self.registers.isThumb) = (address, false)
      }
      self.registers.instructionPointer = instruction
      self.trust = trust
      self.isCaller = isCaller
    }

    mutating func place(in module: WalkedModule?) {
      self.module = module
      symbols = nil
      if let found = module?.symbols, found.isFound { symbols = found }
    }

    var architecture: FrameRegisters.Architecture { registers.architecture }
    var lookupAddress: UInt64 { isCaller ? instruction &- 1 : instruction }
    var lookupOffset: UInt64 { module.map { lookupAddress &- $0.address } ?? 0 }
  }

  private func frame(_ position: Position) -> StackFrame {
    var frame = StackFrame(
      instruction: position.instruction, isCaller: position.isCaller, trust: position.trust,
      stackPointer: position.registers.stackPointer, module: position.module?.index,
      moduleOffset: position.module.map { position.instruction &- $0.address })
    frame.skippedWords = position.skippedWords
    return frame
  }

  /// Whether the frame at which a walk ended is the outermost one, by its function.
  private func isOutermost(_ position: Position, _ reason: WalkEnd) -> Bool {
    switch reason {
    case .endOfChain, .nullReturnAddress, .noCaller, .missingMemory: isStart(position)
    case .done, .recorded, .noProgress, .tooManyFrames, .noRegisters: false
    }
  }

  /// Whether the function starts a program or a thread.
  func isStart(_ position: Position) -> Bool {
    guard let symbols = position.symbols else { return false }
    // Assembly code often gives its functions no size.
    if let name = symbols.symbolize(position.lookupOffset), let function = name.frames.last?.function,
      !name.isNearest || name.functionAddress.map({ position.lookupOffset &- $0 < Self.startCode }) == true,
      OutermostFunction.isKnown(function, in: symbols.identity.path)
    {
      return true
    }
    return isBehindEntry(position, symbols)
  }

  /// Whether a frame is in the code that the kernel starts: it is near the file's entry, calls a function with rules, and has
  /// none itself. The loader's has no symbol where symbols of functions alone are kept.
  private func isBehindEntry(_ position: Position, _ symbols: ModuleSymbols) -> Bool {
    guard position.isCaller, let module = position.module, let entry = symbols.entry,
      position.lookupOffset >= entry, position.lookupOffset - entry < Self.startCode,
      symbols.frameRules(at: position.lookupOffset, position.architecture) == nil,
      case .some(.direct(let target)?) = call(before: position.instruction, position)
    else { return false }
    return symbols.frameRules(at: target &- module.address, position.architecture) != nil
  }

  /// The bytes of code that starts a program: that of glibc's loader for arm64 has 72.
  private static let startCode: UInt64 = 128

  /// Removes the authentication code, unless the address is in a module unchanged: masks of damaged dumps may have any
  /// bits.
  func stripped(_ address: UInt64) -> UInt64 {
    process.addressMask == 0 || module(at: address) != nil ? address : address & ~process.addressMask
  }

  func module(at address: UInt64) -> WalkedModule? { map.lookup(address).map { modules[$0.module] } }
}
