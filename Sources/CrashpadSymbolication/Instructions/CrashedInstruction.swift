// SPDX-License-Identifier: Apache-2.0
package import CrashpadSnapshot

/// The instruction at which a thread stopped, and what it would have done.
package struct CrashedInstruction: Sendable {
  /// In Intel's syntax for x86, such as "mov dword ptr [rax], 1".
  package let text: String
  /// The memory that it accesses; nil if that can't be known.
  package let accesses: [InstructionAccess]?
  /// The address at which it makes the program go on; nil if it makes none, or it can't be known.
  package let target: UInt64?
  /// The registers at the start.
  package let context: CPUContext
  private let parts: InstructionText?

  /// - Parameters:
  ///   - text: the instruction.
  ///   - next: the address of the next one.
  ///   - memory: reads a word of the process.
  package init(_ text: String, next: UInt64, _ context: CPUContext, memory: (UInt64) -> UInt64?) {
    self.text = text
    self.context = context
    parts = [.x86_64, .x86].contains(context.architecture) ? InstructionText(text) : nil
    accesses = InstructionAccess.all(of: text, next: next, context)
    target = parts.flatMap { Self.target($0, OperandRegisters(context, next: next), context, memory) }
  }

  /// Nil for a jump to an address that is part of the instruction.
  private static func target(
    _ parts: InstructionText, _ registers: OperandRegisters, _ context: CPUContext, _ memory: (UInt64) -> UInt64?
  ) -> UInt64? {
    if parts.isReturn { return memory(context.stackPointer) }
    guard parts.isJumpByOperand, let operand = parts.operands.first else { return nil }
    return operand.contains("[")
      ? registers.address(operand).flatMap { memory($0.address) } : registers.value(operand)
  }

  /// Whether all that it accesses is known, and it faults for no other reason than memory.
  package var isOrdinary: Bool { parts?.isOrdinary == true && accesses != nil }
  /// Whether it is known to be able to divide by 0, or not to; nil for processors other than x86.
  package var isDivision: Bool? { parts?.isDivision }
  /// Whether an address that is not aligned is a fault as well.
  package var needsAlignment: Bool { parts?.needsAlignment != false }
  /// The registers in the operands that are memory, each once.
  package var addressRegisters: [CPUContext.NamedRegister] {
    var registers: [CPUContext.NamedRegister] = []
    for register in (accesses ?? []).flatMap(\.registers) where !registers.contains(register) {
      registers.append(register)
    }
    return registers.sorted { $0.name < $1.name }
  }
}
