// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// The goroutine behind a function of Go's runtime that runs on the stack of the system.
///
/// The runtime does some of its work, such as all that follows a fatal error, on another stack than the goroutine's:
/// `systemstack`, `mcall` and `morestack` save the goroutine's registers in its `g.sched`, and switch. Their frames are the
/// outermost ones there; the word above them is of an earlier call. The caller is where the goroutine's registers lead.
///
/// Sources: Go, src/runtime/asm_amd64.s and asm_arm64.s; `g`, `m` and `gobuf` in src/runtime/runtime2.go.
extension StackWalker {
  /// Nil if this is no function that switched stacks.
  func goroutine(behind callee: Position) -> Step? {
    guard callee.isCaller, let register = Goroutine.register(callee.architecture),
      let system = callee.registers[register], let machine = process.memory.word(system &+ Goroutine.machine),
      process.memory.word(machine) == system,
      let name = outermostFunction(callee.symbols, callee.lookupOffset), Self.switches.contains(name)
    else { return nil }
    guard let goroutine = Goroutine(of: machine, besides: system, process.memory), mayExecute(goroutine.pc) else {
      return .end(.noCaller)
    }
    var registers = FrameRegisters(callee.architecture)
    registers.stackPointer = goroutine.sp
    registers.instructionPointer = goroutine.pc
    registers[register] = goroutine.address
    // `systemstack` saves a place in a function without code; the others save their return address.
    let module = module(at: goroutine.pc)
    let saved = module.flatMap { outermostFunction($0.symbols, goroutine.pc &- $0.address) }
    let isCaller = saved.map { !$0.hasPrefix("runtime.systemstack_switch") } ?? true
    return .caller(Position(registers, goroutine.pc, .callFrameInfo, isCaller: isCaller))
  }

  private static let switches: Set<String> = [
    "runtime.systemstack", "runtime.systemstack.abi0", "runtime.mcall", "runtime.mcall.abi0", "runtime.morestack",
    "runtime.morestack.abi0", "runtime.morestack_noctxt", "runtime.morestack_noctxt.abi0",
  ]

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

/// The saved state of a goroutine.
private struct Goroutine {
  /// The address of its `g`.
  let address: UInt64
  let sp: UInt64
  let pc: UInt64

  /// The offsets of `g.stack.hi`, `g.m`, `g.sched.sp`, `g.sched.pc` and `g.sched.g`.
  private static let stackEnd: UInt64 = 8
  static let machine: UInt64 = 48
  private static let savedStack: UInt64 = 56
  private static let savedCode: UInt64 = 64
  private static let savedSelf: UInt64 = 72

  /// The register that has the address of the running `g`.
  static func register(_ architecture: FrameRegisters.Architecture) -> Int? {
    switch architecture {
    case .x86_64: 14
    case .arm64: 28
    case .x86, .arm, .riscv64, .loongarch64, .ppc64: nil
    }
  }

  /// The goroutine that a thread runs. Its place in `m` differs by version; it is the one that belongs to this `m`, names
  /// itself, and has its saved stack pointer in its own stack.
  ///
  /// - Parameters:
  ///   - machine: the address of the thread's `m`.
  ///   - system: the address of the `g` of its system stack.
  init?(of machine: UInt64, besides system: UInt64, _ memory: WalkedMemory) {
    for offset in stride(from: 8, to: 512, by: 8) as StrideTo<UInt64> {
      guard let address = memory.word(machine &+ offset), address != system, address >= StackWalker.firstAddress,
        memory.word(address &+ Self.machine) == machine, memory.word(address &+ Self.savedSelf) == address,
        let start = memory.word(address), let end = memory.word(address &+ Self.stackEnd),
        let sp = memory.word(address &+ Self.savedStack), start <= sp, sp < end,
        let pc = memory.word(address &+ Self.savedCode), pc >= StackWalker.firstAddress
      else { continue }
      (self.address, self.sp, self.pc) = (address, sp, pc)
      return
    }
    return nil
  }
}
