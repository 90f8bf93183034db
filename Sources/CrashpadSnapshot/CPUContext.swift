// SPDX-License-Identifier: Apache-2.0
/// The registers of one thread.
public enum CPUContext: Sendable {
  case arm64(ARM64Context)
  case x86_64(X86_64Context)
  /// An architecture whose registers are only displayed, in the order of its context record.
  case named(CPUArchitecture, registers: [NamedRegister], instructionPointer: UInt64, stackPointer: UInt64)

  /// A register and its value.
  public struct NamedRegister: Sendable, Hashable {
    /// The name in lower case, such as "x0" or "rip".
    public let name: String
    /// The value; a smaller register is extended with zeros.
    public let value: UInt64
    package init(name: String, value: UInt64) {
      self.name = name
      self.value = value
    }
  }

  /// The address of the current instruction.
  public var instructionPointer: UInt64 {
    switch self {
    case .arm64(let context): context.pc
    case .x86_64(let context): context.rip
    case .named(_, _, let instructionPointer, _): instructionPointer
    }
  }

  /// The address of the top of the stack.
  public var stackPointer: UInt64 {
    switch self {
    case .arm64(let context): context.sp
    case .x86_64(let context): context.rsp
    case .named(_, _, _, let stackPointer): stackPointer
    }
  }

  /// The architecture of the registers.
  public var architecture: CPUArchitecture {
    switch self {
    case .arm64: .arm64
    case .x86_64: .x86_64
    case .named(let architecture, _, _, _): architecture
    }
  }

  /// The general-purpose registers in the order in which debuggers print them.
  public var generalRegisters: [NamedRegister] {
    switch self {
    case .arm64(let context): context.generalRegisters
    case .x86_64(let context): context.generalRegisters
    case .named(_, let registers, _, _): registers
    }
  }
}

/// The registers of arm64.
public struct ARM64Context: Sendable {
  package var x = InlineArray<29, UInt64>(repeating: 0)
  package var fp: UInt64 = 0
  package var lr: UInt64 = 0
  package var sp: UInt64 = 0
  package var pc: UInt64 = 0
  package var cpsr: UInt32 = 0
  package var fpsr: UInt32 = 0
  package var fpcr: UInt32 = 0
  /// v0 to v31 as 16 bytes each, little-endian: 512 bytes, or empty if all are zero.
  package var vectors: SnapshotBytes = .empty

  package init() {}

  var generalRegisters: [CPUContext.NamedRegister] {
    var registers = (0..<29).map { CPUContext.NamedRegister(name: "x\($0)", value: x[$0]) }
    for (name, value) in [("fp", fp), ("lr", lr), ("sp", sp), ("pc", pc), ("cpsr", UInt64(cpsr))] {
      registers.append(CPUContext.NamedRegister(name: name, value: value))
    }
    return registers
  }
}

/// The registers of x86-64.
public struct X86_64Context: Sendable {
  package var rax: UInt64 = 0
  package var rbx: UInt64 = 0
  package var rcx: UInt64 = 0
  package var rdx: UInt64 = 0
  package var rdi: UInt64 = 0
  package var rsi: UInt64 = 0
  package var rbp: UInt64 = 0
  package var rsp: UInt64 = 0
  /// r8 to r15.
  package var r = InlineArray<8, UInt64>(repeating: 0)
  package var rip: UInt64 = 0
  package var rflags: UInt64 = 0
  package var cs: UInt64 = 0
  package var fs: UInt64 = 0
  package var gs: UInt64 = 0
  /// dr0 to dr7.
  package var dr = InlineArray<8, UInt64>(repeating: 0)
  /// The image that the FXSAVE instruction writes: 512 bytes, or empty if all are zero.
  package var fxsave: SnapshotBytes = .empty

  package init() {}

  var generalRegisters: [CPUContext.NamedRegister] {
    let first = [
      ("rax", rax), ("rbx", rbx), ("rcx", rcx), ("rdx", rdx), ("rdi", rdi), ("rsi", rsi), ("rbp", rbp), ("rsp", rsp),
    ]
    let last = [("rip", rip), ("rflags", rflags), ("cs", cs), ("fs", fs), ("gs", gs)]
    return first.map { CPUContext.NamedRegister(name: $0.0, value: $0.1) }
      + (0..<8).map { CPUContext.NamedRegister(name: "r\($0 + 8)", value: r[$0]) }
      + last.map { CPUContext.NamedRegister(name: $0.0, value: $0.1) }
  }
}
