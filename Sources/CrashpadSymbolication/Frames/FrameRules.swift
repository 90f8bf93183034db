// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles

/// The rules to compute a caller's registers from its callee's, for one address: from STACK CFI records, DWARF call
/// frame information or Apple's compact unwind encoding.
package struct FrameRules: Sendable {
  /// `.cfa`: the stack pointer of the caller.
  var frameAddress: FrameExpression?
  /// `.ra`; nil for the outermost function, which has no caller.
  var returnAddress: FrameExpression?
  /// Indexed by DWARF register number. Preserved registers without a rule have the callee's values.
  var registers: [Int: FrameExpression] = [:]
  /// The offset in the module at which the code begins that these rules describe: a function, or a part that compilers moved
  /// away.
  var start: UInt64?
  /// Whether the caller was interrupted by a signal, so that its address is that of an instruction, not a return
  /// address.
  var isSignalFrame = false
  /// Whether the rules state that there is no caller.
  var isOutermost = false

  /// The maximum length of one record, in bytes.
  private static let maximumLength = 1 << 16

  /// Adds the rules of one record, replacing existing ones: `.cfa: $rsp 8 + .ra: .cfa -8 + ^`.
  ///
  /// - Returns: false if the text has no valid rules; then nothing is added.
  mutating func add(_ text: ByteRange, _ architecture: FrameRegisters.Architecture, _ bytes: RawSpan) -> Bool {
    // The longest real rules have some hundred bytes; each word of a damaged file would become an operation in memory.
    guard text.count <= Self.maximumLength else { return false }
    var line = TextLineReader(at: text.offset, end: text.end, in: bytes)
    var target: String?
    var operations: [FrameExpression.Operation] = []
    var new = self
    while let word = line.word(in: bytes) {
      let text = bytes.text(in: word)
      if text.last == ":" {
        if let target { guard new.set(target, operations, architecture) else { return false } }
        target = String(text.dropLast())
        operations = []
      } else {
        guard target != nil, let operation = FrameExpression.Operation(text, architecture) else { return false }
        operations.append(operation)
      }
    }
    guard let target, new.set(target, operations, architecture) else { return false }
    self = new
    return true
  }

  /// Whether the rules restore the stack pointer and a register that no calling convention preserves, which only the
  /// return from a signal handler does. The text has no other mark for it.
  func restoreEverything(_ architecture: FrameRegisters.Architecture) -> Bool {
    switch architecture {
    case .arm64: registers[31] != nil && registers[16] != nil
    case .x86_64: registers[7] != nil && registers[2] != nil
    case .x86: registers[4] != nil && registers[1] != nil
    case .arm: registers[13] != nil && registers[2] != nil
    // The first register for temporary values
    case .riscv64: registers[2] != nil && registers[5] != nil
    case .loongarch64: registers[3] != nil && registers[12] != nil
    case .ppc64: registers[1] != nil && registers[0] != nil
    case .mips, .mips64: registers[29] != nil && registers[8] != nil
    }
  }

  private mutating func set(
    _ target: String, _ operations: [FrameExpression.Operation], _ architecture: FrameRegisters.Architecture
  ) -> Bool {
    guard !operations.isEmpty else { return false }
    let expression = FrameExpression(operations: operations)
    switch target {
    case ".cfa": frameAddress = expression
    case ".ra": returnAddress = expression
    default:
      // Ignore registers that stack walking does not use.
      guard let number = architecture.number(target) else { return true }
      registers[number] = expression
    }
    return true
  }

  /// The caller's registers; nil if memory or a register is missing.
  func caller(of callee: FrameRegisters, _ load: (UInt64) -> UInt64?) -> FrameRegisters? {
    let mask: UInt64 = callee.architecture.addressSize == 8 ? .max : 0xffff_ffff
    guard let canonical = frameAddress?.evaluate(callee, frameAddress: nil, load).map({ $0 & mask }),
      let instruction = returnAddress?.evaluate(callee, frameAddress: canonical, load)
    else { return nil }
    var caller = callee.preserved()
    for (number, expression) in registers {
      caller[number] = expression.evaluate(callee, frameAddress: canonical, load).map { $0 & mask }
    }
    caller.stackPointer = canonical
    caller.instructionPointer = instruction & mask
    return caller
  }
}
