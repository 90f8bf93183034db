// SPDX-License-Identifier: Apache-2.0
package import CrashpadSnapshot

/// The known registers of one frame, by DWARF register number.
package struct FrameRegisters: Sendable {
  /// The numbers, names and roles of registers on one architecture.
  package enum Architecture: Sendable, Hashable {
    case arm64
    case x86_64

    var count: Int {
      switch self {
      // x0 to x30, sp, pc
      case .arm64: 33
      // rax to r15, rip
      case .x86_64: 17
      }
    }

    var framePointer: Int { self == .arm64 ? 29 : 6 }
    var stackPointer: Int { self == .arm64 ? 31 : 7 }
    var instructionPointer: Int { self == .arm64 ? 32 : 16 }
    /// The register for the return address of a call; only on arm64.
    var link: Int? { self == .arm64 ? 30 : nil }

    /// All registers except the stack pointer and the instruction pointer.
    var general: [Int] { (0..<(self == .arm64 ? 31 : 16)).filter { $0 != stackPointer } }

    /// The registers that a called function preserves.
    var preserved: [Int] {
      switch self {
      case .arm64: Array(19...29)
      case .x86_64: [3, 6, 12, 13, 14, 15]
      }
    }

    /// A bit mask of `preserved`.
    var preservedBits: UInt64 {
      switch self {
      case .arm64: 0x3ff8_0000
      case .x86_64: 0xf048
      }
    }

    /// The number of a register, by its name in STACK CFI records, with or without the `$`.
    func number(_ name: String) -> Int? {
      let name = name.hasPrefix("$") ? String(name.dropFirst()) : name
      return switch self {
      case .arm64:
        switch name {
        case "sp": 31
        case "pc": 32
        case "fp": 29
        case "lr": 30
        default: name.hasPrefix("x") ? Int(name.dropFirst()).flatMap { (0...30).contains($0) ? $0 : nil } : nil
        }
      case .x86_64: Self.names.firstIndex(of: name)
      }
    }

    private static let names = [
      "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
      "rip",
    ]
  }

  package let architecture: Architecture
  private var values = InlineArray<33, UInt64>(repeating: 0)
  /// A bit mask of the registers that are known.
  private var known: UInt64 = 0

  package init(_ architecture: Architecture) { self.architecture = architecture }

  /// Nil for architectures that stack walking does not support.
  package init?(_ context: CPUContext) {
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
    case .named: return nil
    }
  }

  /// A register by its DWARF number, which must exist on the architecture; nil if the value is unknown.
  package subscript(number: Int) -> UInt64? {
    get { known >> UInt64(number) & 1 == 1 ? values[number] : nil }
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
    get { self[architecture.instructionPointer] }
    set { self[architecture.instructionPointer] = newValue }
  }

  package var stackPointer: UInt64? {
    get { self[architecture.stackPointer] }
    set { self[architecture.stackPointer] = newValue }
  }

  package var framePointer: UInt64? {
    get { self[architecture.framePointer] }
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
}
