// SPDX-License-Identifier: Apache-2.0
internal import CrashpadSnapshot

/// Callers by the chain of frame pointers, and how far the register can be one.
extension StackWalker {
  enum ChainStep {
    case found(Found)
    /// The record of the outermost frame, which has no return address.
    case endOfChain
    case notFound
  }

  /// Whether the register may hold a frame pointer. Code of Windows for x86-64 uses it as any other, but for code of no module, which
  /// a compiler made at run time; so does Thumb code of systems other than Apple's, where r11 is the frame pointer of the long
  /// form only.
  func usesFramePointers(_ callee: Position) -> Bool {
    switch callee.architecture {
    case .x86_64: process.system != .windows || callee.module == nil
    case .arm(let framePointer): framePointer == 7 || !callee.isThumb
    case .arm64, .x86: true
    // Compilers use the register for other values, and frames have other layouts.
    case .riscv64, .loongarch64, .ppc64, .mips, .mips64: false
    }
  }

  /// Whether the register is a frame pointer: 0 then ends the chain. Compilers for Apple's systems use it for nothing else, so that the
  /// rules of a callee lead to one, too.
  func knowsFramePointer(_ callee: Position) -> Bool {
    callee.trust.knowsFramePointer || (process.system.isApple && callee.trust == .callFrameInfo)
  }

  /// Whether the program crashed with an invalid stack pointer: then the caller's may be lower, too.
  func hasLostStack(_ callee: Position) -> Bool {
    callee.trust == .context && callee.registers.stackPointer.map { load($0, callee) == nil } ?? false
  }

  /// The address of a frame record. Swift on systems of Apple marks those of asynchronous functions by bit 60; see "Swift
  /// async frames" in LLVM's code generation.
  private func recordAddress(_ pointer: UInt64) -> UInt64 {
    process.system.isApple ? pointer & ~(1 << 60) : pointer
  }

  func byFramePointer(_ callee: Position) -> ChainStep {
    let size = callee.architecture.addressSize
    guard usesFramePointers(callee), let frame = callee.registers.framePointer.map(recordAddress),
      frame % size == 0, callee.registers.stackPointer.map({ frame >= $0 }) ?? true || hasLostStack(callee),
      let next = load(frame, callee).map(recordAddress), let saved = load(frame &+ size, callee)
    else { return .notFound }
    let hasFrame = mayHaveFrame(callee)
    let isKnown = hasFrame && callee.trust.knowsFramePointer
    // A register that may hold anything may point at another stack.
    if !isKnown, let stack = callee.registers.stackPointer, !process.memory.mayBeJoined(stack, frame) {
      return .notFound
    }
    if saved < Self.firstAddress {
      return hasFrame && knowsFramePointer(callee) && next == 0 ? .endOfChain : .notFound
    }
    guard mayReturn(to: stripped(saved), next, after: frame, callee, isKnown: isKnown) else { return .notFound }
    var caller = callee.registers.preserved()
    caller.framePointer = next
    caller.instructionPointer = saved
    caller.stackPointer = frame &+ 2 * size
    if isKnown || (hasFrame && (continues(next, after: frame, callee) || leadsIntoModule(next, after: frame, callee))) {
      return .found(Found(caller, .framePointer))
    }
    // A register that may hold anything led to one return address, and no further.
    guard looksLikeReturnAddress(stripped(saved), callee) else { return .notFound }
    var found = Found(caller, .scan)
    found.skippedWords = callee.registers.stackPointer.flatMap { frame >= $0 ? Int((frame - $0) / size) + 1 : nil }
    return .found(found)
  }

  /// Whether the code of a function sets the frame pointer before the place, as far as the code is known. Otherwise the
  /// register has what a caller left there, and leads to the caller of that one.
  func mayHaveFrame(_ callee: Position) -> Bool {
    let isIntel = callee.architecture.isIntel
    guard isIntel || callee.architecture == .arm64, let module = callee.module, let start = functionStart(callee),
      callee.instruction - start < Self.longestPrologue
    else { return true }
    for place in stride(from: start, to: callee.instruction, by: isIntel ? 5 : 4) {
      guard let code = code(at: place, module) else { return true }
      if isIntel
        ? (0..<5).contains(where: { Self.setsFramePointer(code >> (8 * $0)) })
        : Arm64Prologue.setsFramePointer(UInt32(truncatingIfNeeded: code))
      {
        return true
      }
    }
    return false
  }

  /// The bytes of a function that are searched for the instruction that sets the frame pointer.
  private static let longestPrologue: UInt64 = 4096

  /// MOV of the stack pointer to the frame pointer in both encodings, LEA of a place near it, ENTER
  private static func setsFramePointer(_ code: UInt64) -> Bool {
    [0xe589, 0xec8b].contains(code & 0xffff) || [0x24_6c8d, 0x24_ac8d].contains(code & 0xff_ffff)
      || code & 0xff00_00ff == 0xc8
  }

  /// Whether a chain of frame pointers goes on: there is a record further out, with a return address or none.
  func continues(_ next: UInt64, after frame: UInt64, _ callee: Position) -> Bool {
    let size = callee.architecture.addressSize
    guard next > frame, next % size == 0, let saved = load(next &+ size, callee) else { return false }
    if saved == 0 { return load(next, callee) == 0 }
    let address = stripped(saved)
    return mayFollowCall(address, callee) || process.executable.contains(address) == .executable
      || (modules.isEmpty && address >= Self.firstAddress)
  }

  /// - Parameter isKnown: whether the register is known to be a frame pointer.
  private func mayReturn(
    to address: UInt64, _ next: UInt64, after frame: UInt64, _ callee: Position, isKnown: Bool
  ) -> Bool {
    guard address != removedWord else { return false }
    // A damaged dump may lack the modules.
    if modules.isEmpty { return true }
    if module(behindCallAt: address) != nil {
      // A function may be called in other ways than by a call; a register that may hold anything needs the evidence.
      return isKnown ? isAligned(address, callee) : mayFollowCall(address, callee)
    }
    guard callee.trust.leadsOutOfModules || process.executable.isInMadeFunction(address), isAligned(address, callee)
    else { return false }
    switch process.executable.contains(address) {
    case .executable: return true
    case .notExecutable, .unlisted: return false
    // Any number may be behind a word that a general register points at, but hardly two numbers in a row: code of no module
    // keeps frame pointers.
    case .unknown:
      return leadsIntoModule(next, after: frame, callee, through: isKnown || callee.module == nil ? 0 : 1)
    }
  }

  /// Whether the chain of frame pointers leads on through code of no module, and into a module.
  ///
  /// - Parameter least: the smallest number of frames in code of no module.
  private func leadsIntoModule(
    _ next: UInt64, after frame: UInt64, _ callee: Position, through least: Int = 0
  ) -> Bool {
    let size = callee.architecture.addressSize
    var (frame, next) = (frame, next)
    for count in 0..<limits.scannedWords {
      guard next > frame, next % size == 0, let saved = load(next &+ size, callee),
        let further = load(next, callee).map(recordAddress)
      else { return false }
      if mayFollowCall(stripped(saved), callee) { return count >= least }
      (frame, next) = (next, further)
    }
    return false
  }
}
