// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles

/// A STACK WIN record: how to unwind from a function of a 32-bit Windows program. Its compiler wrote it into the PDB.
///
/// The fields are type, address, code size, prologue, epilogue, parameters, saved registers, locals, maximum stack, whether
/// a program follows, and the program or whether the function uses `ebp` as a general register. All numbers are hexadecimal.
/// Source: "STACK WIN" in Breakpad's `docs/symbol_files.md`.
struct WindowsFrame {
  /// The bytes of parameters that the function takes off the stack.
  let parameters: UInt64
  private let saved: UInt64
  private let locals: UInt64
  /// Nil for a function without frame pointer, which has only sizes.
  private let program: ByteRange?
  private let usesBasePointer: Bool

  /// Nil if the record at `offset` can't be read.
  init?(at offset: Int, _ bytes: RawSpan) {
    var line = TextLineReader(at: offset, in: bytes)
    guard line.skip("STACK WIN ", in: bytes) else { return nil }
    let numbers = (0..<10).map { _ in line.hexadecimal(in: bytes) }
    guard let parameters = numbers[5], let saved = numbers[6], let locals = numbers[7], let hasProgram = numbers[9]
    else {
      return nil
    }
    (self.parameters, self.saved, self.locals) = (parameters, saved, locals)
    program = hasProgram == 1 ? line.rest : nil
    usesBasePointer = hasProgram == 0 && line.hexadecimal(in: bytes) == 1
  }

  /// The caller's registers; nil if memory is missing, or the program is damaged.
  func caller(
    of callee: FrameRegisters, _ bytes: RawSpan, _ load: (UInt64) -> UInt64?
  ) -> FrameRegisters? {
    guard let stack = callee.stackPointer else { return nil }
    // The parameters of the function that this one called are still on the stack.
    let frameSize = callee.pushedParameters &+ saved &+ locals
    if let program { return execute(program, callee, start: stack &+ frameSize, bytes, load) }
    var caller = callee.preserved()
    caller.instructionPointer = load(stack &+ frameSize)
    caller.stackPointer = (stack &+ frameSize &+ 4) & 0xffff_ffff
    if usesBasePointer { caller.framePointer = load(stack &+ callee.pushedParameters &+ saved &- 8) }
    return caller.instructionPointer == nil ? nil : caller
  }

  private enum Operand {
    case number(UInt64)
    case variable(Substring)
  }

  /// Executes a program such as `$T0 $ebp = $eip $T0 4 + ^ = $ebp $T0 ^ = $esp $T0 8 + =`.
  private func execute(
    _ program: ByteRange, _ callee: FrameRegisters, start: UInt64, _ bytes: RawSpan, _ load: (UInt64) -> UInt64?
  ) -> FrameRegisters? {
    // Real programs have some hundred bytes.
    guard program.count <= 1 << 12 else { return nil }
    var values: [Substring: UInt64] = [
      ".cbParams": parameters, ".cbCalleeParams": callee.pushedParameters, ".cbSavedRegs": saved, ".cbLocals": locals,
      ".raSearch": start, ".raSearchStart": start,
    ]
    for name in Self.registers { values["$" + name] = callee.architecture.number(String(name)).flatMap { callee[$0] } }
    var stack: [Operand] = []
    func number(_ operand: Operand?) -> UInt64? {
      switch operand {
      case .number(let value): value
      case .variable(let name): values[name]
      case nil: nil
      }
    }
    // Some writers leave out the blank behind an assignment.
    for word in bytes.text(in: program).replacing("=", with: " = ").split(separator: " ") {
      switch word {
      case "=":
        guard let value = number(stack.popLast()), case .variable(let name)? = stack.popLast() else { return nil }
        values[name] = value & 0xffff_ffff
      case "^":
        guard let address = number(stack.popLast()), let value = load(address) else { return nil }
        stack.append(.number(value))
      case "+", "-", "*", "/", "%", "@":
        guard let right = number(stack.popLast()), let left = number(stack.popLast()),
          let value = Self.apply(word, left, right)
        else { return nil }
        stack.append(.number(value & 0xffff_ffff))
      default: stack.append(Int64(word).map { .number(UInt64(bitPattern: $0)) } ?? .variable(word))
      }
    }
    var caller = callee.preserved()
    for name in Self.registers {
      if let number = callee.architecture.number(String(name)) { caller[number] = values["$" + name] }
    }
    // A program that does not say where the caller is leaves the callee's registers.
    guard let address = caller.stackPointer, caller.instructionPointer != nil, address != callee.stackPointer else {
      return nil
    }
    return caller
  }

  private static let registers: [Substring] = ["eip", "esp", "ebp", "ebx", "esi", "edi"]

  private static func apply(_ operation: Substring, _ left: UInt64, _ right: UInt64) -> UInt64? {
    switch operation {
    case "+": left &+ right
    case "-": left &- right
    case "*": left &* right
    case "/": right == 0 ? nil : left / right
    case "%": right == 0 ? nil : left % right
    // Rounds down to a multiple of a power of two.
    default: right != 0 && right & (right &- 1) == 0 ? left & ~(right &- 1) : nil
    }
  }
}

extension BreakpadFile {
  /// By STACK WIN; a record with a program goes before one with sizes.
  private func windowsFrame(at offset: UInt64, _ bytes: RawSpan) -> WindowsFrame? {
    let number = windowsFrames.programs.first(containing: offset) ?? windowsFrames.sizes.first(containing: offset)
    return number.flatMap { WindowsFrame(at: $0, bytes) }
  }

  package func caller(
    of callee: FrameRegisters, at offset: UInt64, isInnermost: Bool, _ memory: (UInt64) -> UInt64?
  ) -> FrameRegisters? {
    guard callee.architecture == .x86, !windowsFrames.isEmpty else { return nil }
    return file.withBytes { bytes in windowsFrame(at: offset, bytes)?.caller(of: callee, bytes, memory) }
  }

  package func parameterSize(at offset: UInt64) -> UInt64? {
    if windowsFrames.isEmpty { return nil }
    return file.withBytes { windowsFrame(at: offset, $0)?.parameters }
  }
}
