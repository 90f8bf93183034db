// SPDX-License-Identifier: Apache-2.0
/// An instruction of x86 in Intel's syntax, in parts.
struct InstructionText {
  let mnemonic: String
  let operands: [Substring]

  /// Nil without a mnemonic.
  init?(_ text: String) {
    var words = text.split(separator: " ", maxSplits: 1)
    while let first = words.first, Self.prefixes.contains(String(first)), words.count > 1 {
      words = words[1].split(separator: " ", maxSplits: 1)
    }
    guard let first = words.first else { return nil }
    mnemonic = String(first)
    operands = words.count > 1 ? words[1].split(separator: ",").map { $0.drop { $0 == " " } } : []
  }

  private static let prefixes: Set<String> = ["lock", "rep", "repe", "repne", "bnd", "notrack", "data16"]

  /// Whether its operands show all that it accesses, and it faults for no other reason than memory. The same instructions as
  /// in rust-minidump, without those for the system.
  var isOrdinary: Bool {
    Self.ordinary.contains(mnemonic) && !operands.contains { $0.hasPrefix("cr") || $0.hasPrefix("dr") }
  }

  private static let ordinary: Set<String> = [
    "add", "call", "cmp", "dec", "inc", "jmp", "jo", "jno", "jb", "jae", "je", "jne", "ja", "jbe", "js", "jns", "jp",
    "jnp", "jl", "jge", "jg", "jle", "lea", "mov", "movaps", "movups", "pop", "push", "ret", "sub", "ucomiss",
  ]

  /// Whether a divisor of 0 is a fault in it. `aam` divides by an operand.
  var isDivision: Bool { ["div", "idiv", "aam"].contains(mnemonic) }

  /// Whether an address that is not aligned is a fault as well.
  var needsAlignment: Bool { mnemonic == "movaps" }

  /// Whether it goes on at the address in its only operand.
  var isJumpByOperand: Bool { ["call", "jmp"].contains(mnemonic) && operands.count == 1 }
  var isReturn: Bool { mnemonic == "ret" }
}
