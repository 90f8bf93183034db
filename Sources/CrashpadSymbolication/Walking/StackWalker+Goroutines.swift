// SPDX-License-Identifier: Apache-2.0
internal import CrashpadSnapshot

/// The goroutine behind a function of Go's runtime that runs on the stack of the system.
///
/// The runtime does some of its work, such as all that follows a fatal error, on another stack than the goroutine's:
/// `systemstack`, `mcall` and `morestack` save the goroutine's registers in its `g.sched`, and switch. Their frames are the
/// outermost ones there; the word above them is of an earlier call. The caller is where the goroutine's registers lead.
///
/// `asmcgocall` calls C on that stack, and saves the registers, too. It has the goroutine in one of the first words of its frame,
/// whose place differs by version.
///
/// Sources: Go, src/runtime/asm_amd64.s and asm_arm64.s.
extension StackWalker {
  /// Nil if this is no function that switched stacks.
  func goroutine(behind callee: Position) -> Step? {
    guard callee.isCaller, let register = Goroutine.register(callee.architecture),
      let name = outermostFunction(callee.symbols, callee.lookupOffset)
    else { return nil }
    if Self.callsOfC.contains(name) { return goroutine(calling: callee) }
    guard Self.switches.contains(name) else { return nil }
    guard let system = callee.registers[register], let machine = process.memory.word(system &+ Goroutine.machinePlace),
      let owner = process.memory.word(machine)
    else { return .end(.missingMemory) }
    guard owner == system, let goroutine = Goroutine(of: machine, besides: system, { process.memory.word($0) }),
      mayExecute(goroutine.instructionPointer)
    else { return .end(.noCaller) }
    var registers = FrameRegisters(callee.architecture)
    registers.stackPointer = goroutine.stackPointer
    registers.instructionPointer = goroutine.instructionPointer
    registers[register] = goroutine.address
    // `systemstack` saves a place in a function without code; the others save their return address.
    let module = module(at: goroutine.instructionPointer)
    let saved = module.flatMap { outermostFunction($0.symbols, goroutine.instructionPointer &- $0.address) }
    let isCaller = saved.map { !$0.hasPrefix("runtime.systemstack_switch") } ?? true
    return .caller(Position(registers, goroutine.instructionPointer, .callFrameInfo, isCaller: isCaller))
  }

  private static let switches: Set<String> = [
    "runtime.systemstack", "runtime.systemstack.abi0", "runtime.mcall", "runtime.mcall.abi0", "runtime.morestack",
    "runtime.morestack.abi0", "runtime.morestack_noctxt", "runtime.morestack_noctxt.abi0",
  ]

  private static let callsOfC: Set<String> = ["runtime.asmcgocall", "runtime.asmcgocall.abi0"]

  /// The caller of `asmcgocall`, by its own rules, which hold for the goroutine's stack.
  private func goroutine(calling callee: Position) -> Step {
    guard let stack = callee.registers.stackPointer, process.memory.word(stack) != nil else {
      return .end(.missingMemory)
    }
    let words = stride(from: stack, to: stack &+ 64, by: 8).compactMap { process.memory.word($0) }
    let threads = words.lazy.compactMap { word in GoThread(calling: word) { process.memory.word($0) } }
    guard let goroutine = threads.first?.goroutine else { return .end(.noCaller) }
    var own = callee
    own.registers.stackPointer = goroutine.stackPointer
    guard let found = byRules(own, rules(own)), let next = found.registers.instructionPointer.map(stripped),
      mayExecute(next)
    else { return .end(.missingMemory) }
    return .caller(Position(found.registers, next, found.trust, isCaller: true))
  }

  /// Whether nothing called the function: the runtime of Go puts it on the stack of what a signal interrupted. Behind it is
  /// the address of an instruction, which may be the first one of its function.
  func isInjected(_ callee: Position) -> Bool {
    outermostFunction(callee.symbols, callee.lookupOffset).map { Self.injected.contains($0) } ?? false
  }

  private static let injected: Set<String> = [
    "runtime.sigpanic", "runtime.sigpanic0", "runtime.sigpanic0.abi0", "runtime.asyncPreempt",
    "runtime.asyncPreempt.abi0",
  ]

  /// The function whose code it is, not one that was inlined into it.
  private func outermostFunction(_ symbols: ModuleSymbols?, _ offset: UInt64) -> String? {
    symbols?.symbolize(offset)?.frames.last?.function
  }
}

extension Goroutine {
  /// The register that has the address of the running `g`.
  fileprivate static func register(_ architecture: FrameRegisters.Architecture) -> Int? {
    switch architecture {
    case .x86_64: 14
    case .arm64: 28
    case .x86, .arm, .riscv64, .loongarch64, .ppc64, .mips, .mips64: nil
    }
  }
}
