// SPDX-License-Identifier: Apache-2.0
package import CrashpadSnapshot

/// The known registers of one frame, by DWARF register number.
package struct FrameRegisters: Sendable {
  /// The numbers, names and roles of registers on one architecture.
  package enum Architecture: Sendable, Hashable {
    case arm64
    case x86_64
    case x86
    /// - Parameter framePointer: 7 in code of Apple, else 11.
    case arm(framePointer: Int)
    case riscv64
    case loongarch64
    case ppc64
    case mips
    case mips64

    /// The number of registers; the last one is the instruction pointer.
    var count: Int {
      switch self {
      // x0 to x30, sp, pc
      case .arm64: 33
      // rax to r15, rip
      case .x86_64: 17
      // eax to edi, eip
      case .x86: 9
      // r0 to r12, sp, lr, pc
      case .arm: 16
      // x0 to x31, r0 to r31, or $0 to $31, pc
      case .riscv64, .loongarch64, .mips, .mips64: 33
      // r0 to r31, lr, pc
      case .ppc64: 34
      }
    }

    /// The size of an address, in bytes.
    var addressSize: UInt64 {
      switch self {
      case .arm64, .x86_64, .riscv64, .loongarch64, .ppc64, .mips64: 8
      case .x86, .arm, .mips: 4
      }
    }

    /// Whether a call pushes its return address.
    var isIntel: Bool { self == .x86_64 || self == .x86 }
    var isArm: Bool { if case .arm = self { true } else { false } }

    var framePointer: Int {
      switch self {
      case .arm64: 29
      case .x86_64: 6
      case .x86: 5
      case .arm(let framePointer): framePointer
      case .riscv64: 8
      case .loongarch64: 22
      case .ppc64: 31
      case .mips, .mips64: 30
      }
    }

    var stackPointer: Int {
      switch self {
      case .arm64: 31
      case .x86_64: 7
      case .x86: 4
      case .arm: 13
      case .riscv64: 2
      case .loongarch64: 3
      case .ppc64: 1
      case .mips, .mips64: 29
      }
    }

    var instructionPointer: Int { count - 1 }

    /// The register for the return address of a call; none on Intel.
    var link: Int? {
      switch self {
      case .arm64: 30
      case .arm: 14
      case .riscv64, .loongarch64: 1
      case .ppc64: 32
      case .mips, .mips64: 31
      case .x86_64, .x86: nil
      }
    }

    /// All registers except the stack pointer and the instruction pointer.
    var general: [Int] { (0..<instructionPointer).filter { $0 != stackPointer } }

    /// The registers that a called function preserves.
    var preserved: [Int] {
      switch self {
      case .arm64: Array(19...29)
      case .x86_64: [3, 6, 12, 13, 14, 15]
      case .x86: [3, 5, 6, 7]
      case .arm: Array(4...11)
      // gp, tp, s0 to s11
      case .riscv64: [3, 4, 8, 9] + Array(18...27)
      // tp, r21, fp, s0 to s8
      case .loongarch64: [2] + Array(21...31)
      // The pointers to the table of contents and to the thread, r14 to r31
      case .ppc64: [2] + Array(13...31)
      // s0 to s7, gp, fp
      case .mips, .mips64: Array(16...23) + [28, 30]
      }
    }

    /// A bit mask of `preserved`.
    var preservedBits: UInt64 {
      switch self {
      case .arm64: 0x3ff8_0000
      case .x86_64: 0xf048
      case .x86: 0xe8
      case .arm: 0xff0
      case .riscv64: 0x0ffc_0318
      case .loongarch64: 0xffe0_0004
      case .ppc64: 0xffff_e004
      case .mips, .mips64: 0x50ff_0000
      }
    }

    /// The register with a number in DWARF; nil if stack walking does not use it.
    func register(dwarf number: UInt64) -> Int? {
      if self == .ppc64, number == Self.linkOfPPC { return 32 }
      return number < UInt64(count) && !(self == .ppc64 && number >= 32) ? Int(number) : nil
    }

    /// The number of a register in DWARF.
    func dwarfNumber(_ register: Int) -> Int { self == .ppc64 && register == 32 ? Int(Self.linkOfPPC) : register }

    private static let linkOfPPC: UInt64 = 65

    /// The number of a register, by its name in STACK CFI records, with or without the `$`.
    func number(_ name: String) -> Int? {
      let name = name.hasPrefix("$") ? String(name.dropFirst()) : name
      return switch self {
      case .arm64: ["sp": 31, "pc": 32, "fp": 29, "lr": 30][name] ?? Self.numbered(name, "x", 0...30)
      case .arm(let framePointer):
        ["sp": 13, "lr": 14, "pc": 15, "fp": framePointer][name] ?? Self.numbered(name, "r", 0...15)
      case .x86_64: Self.names64.firstIndex(of: name)
      case .x86: Self.names32.firstIndex(of: name)
      case .riscv64:
        ["pc": 32, "fp": 8][name] ?? Self.riscv.firstIndex(of: name) ?? Self.numbered(name, "x", 0...31)
      case .loongarch64: ["pc": 32][name] ?? Self.loongArch.firstIndex(of: name) ?? Self.numbered(name, "r", 0...31)
      case .mips, .mips64:
        ["pc": 32, "s8": 30][name] ?? Self.namesMIPS.firstIndex(of: name) ?? Self.numbered(name, "r", 0...31)
      case .ppc64: ["sp": 1, "lr": 32, "pc": 33][name] ?? Self.numbered(name, "r", 0...31)
      }
    }

    private static let riscv = CPUArchitecture.riscv64.numberedRegisters
    private static let namesMIPS = CPUArchitecture.mips.numberedRegisters
    private static let loongArch = CPUArchitecture.loongarch64.numberedRegisters

    private static func numbered(_ name: String, _ prefix: String, _ range: ClosedRange<Int>) -> Int? {
      guard name.hasPrefix(prefix), let number = Int(name.dropFirst()), range.contains(number) else { return nil }
      return number
    }

    private static let names64 = [
      "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
      "rip",
    ]
    private static let names32 = ["eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "eip"]
  }

  package let architecture: Architecture
  private var values = InlineArray<34, UInt64>(repeating: 0)
  /// A bit mask of the registers that are known.
  private var known: UInt64 = 0
  /// The bytes of parameters that the function pushed for its callee, which takes them off the stack: on 32-bit Windows.
  var pushedParameters: UInt64 = 0
  /// Whether the kernel put these registers on the stack, so that the instruction is not behind a call.
  var wasInterrupted = false
  /// Whether the instruction is in the short form of arm.
  var isThumb = false

  package init(_ architecture: Architecture) { self.architecture = architecture }

  /// Nil for architectures that stack walking does not support.
  ///
  /// - Parameter system: tells which register of arm is the frame pointer.
  package init?(_ context: CPUContext, on system: OperatingSystem) {
    switch context {
    case .arm64(let context):
      self.init(.arm64)
      for index in 0..<29 { self[index] = context.x[index] }
      (self[29], self[30], self[31], self[32]) = (context.fp, context.lr, context.sp, context.pc)
    case .x86_64(let context):
      self.init(.x86_64)
      let general = [
        context.rax, context.rdx, context.rcx, context.rbx, context.rsi, context.rdi, context.rbp, context.rsp,
      ]
      for (index, value) in general.enumerated() { self[index] = value }
      for index in 0..<8 { self[8 + index] = context.r[index] }
      self[16] = context.rip
    case .named(let architecture, let registers, let instructionPointer, let stackPointer):
      switch architecture {
      case .x86: self.init(.x86)
      case .arm: self.init(.arm(framePointer: system.isApple ? 7 : 11))
      case .riscv64: self.init(.riscv64)
      case .loongarch64: self.init(.loongarch64)
      case .ppc64: self.init(.ppc64)
      case .mips: self.init(.mips)
      case .mips64: self.init(.mips64)
      case .arm64, .x86_64, .unknown: return nil
      }
      let mask: UInt64 = self.architecture.addressSize == 8 ? .max : 0xffff_ffff
      for register in registers {
        if let number = self.architecture.number(register.name) { self[number] = register.value & mask }
      }
      self.instructionPointer = instructionPointer & mask
      self.stackPointer = stackPointer & mask
    }
  }

  /// A register by its DWARF number, which must exist on the architecture; nil if the value is unknown.
  package subscript(number: Int) -> UInt64? {
    @inline(__always) get { known >> UInt64(number) & 1 == 1 ? values[number] : nil }
    set {
      let bit: UInt64 = 1 << UInt64(number)
      if let newValue {
        values[number] = newValue
        known |= bit
      } else {
        known &= ~bit
      }
    }
  }

  package var instructionPointer: UInt64? {
    @inline(__always) get { self[architecture.instructionPointer] }
    set { self[architecture.instructionPointer] = newValue }
  }

  package var stackPointer: UInt64? {
    @inline(__always) get { self[architecture.stackPointer] }
    set { self[architecture.stackPointer] = newValue }
  }

  package var framePointer: UInt64? {
    @inline(__always) get { self[architecture.framePointer] }
    set { self[architecture.framePointer] = newValue }
  }

  package var link: UInt64? {
    get { architecture.link.flatMap { self[$0] } }
    set { if let link = architecture.link { self[link] = newValue } }
  }

  /// The registers of which the caller has the same values.
  func preserved() -> FrameRegisters {
    var caller = self
    caller.known &= architecture.preservedBits
    return caller
  }

  /// Whether a function leaves a register as its caller had it.
  func isPreserved(_ register: Int) -> Bool { architecture.preservedBits >> UInt64(register) & 1 == 1 }
}
