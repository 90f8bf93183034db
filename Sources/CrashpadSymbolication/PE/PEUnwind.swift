// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// Unwinds one frame of x86-64 code of Windows by its UNWIND_INFO, which lists what the function's first instructions do.
///
/// Every function that changes the stack pointer or calls another one has an entry, so that one without is a leaf. A frame may
/// have been interrupted within those instructions, or within the last ones, which no table describes: these are executed.
/// Source: "x64 exception handling" in Microsoft's documentation.
struct PEUnwind {
  let file: PEFile

  /// The numbers of DWARF for the registers by their numbers in instructions: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 …
  private static let registers = [0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15]
  /// The registers that a function has to preserve: rbx, rbp, rsi, rdi, r12 to r15.
  private static let preserved = [3, 6, 4, 5, 12, 13, 14, 15]

  /// A frame while its instructions are undone.
  private struct State {
    var registers: FrameRegisters
    var stack: UInt64
    /// The address that saved registers are counted from, if the entry has a frame register.
    var base: UInt64?
    /// The instruction in a frame that the kernel put there.
    var interrupted: UInt64?
  }

  /// The caller's registers; nil if memory is missing, or the entry is damaged.
  ///
  /// - Parameters:
  ///   - address: the instruction, in a caller one of the call.
  ///   - isInnermost: whether the function may be within its last instructions. A call may be among its first ones.
  func caller(
    of callee: FrameRegisters, at address: UInt64, isInnermost: Bool, _ bytes: RawSpan, _ load: (UInt64) -> UInt64?
  ) -> FrameRegisters? {
    guard let stack = callee.stackPointer, file.isCode(address) else { return nil }
    var kept = FrameRegisters(.x86_64)
    for number in Self.preserved { kept[number] = callee[number] }
    var state = State(registers: kept, stack: stack)
    guard let function = file.function(containing: address, bytes) else {
      return isInnermost ? finish(state, load) : nil
    }
    if isInnermost, let ended = undoEpilogue(state, at: address, function, bytes, load) { return finish(ended, load) }
    var entry = function
    // Instructions that were not executed yet have done nothing. Those of continued entries have all been executed.
    var executed: UInt64? = address &+ (isInnermost ? 0 : 1) &- function.start
    for _ in 0..<PEFile.mostChained {
      guard let info = file.unwindInfo(of: entry, bytes), undo(info, executed, callee, &state, bytes, load) else {
        return nil
      }
      guard state.interrupted == nil, let next = info.continued else { return finish(state, load) }
      (entry, executed) = (next, nil)
    }
    return nil
  }

  private func finish(_ state: State, _ load: (UInt64) -> UInt64?) -> FrameRegisters? {
    var caller = state.registers
    caller.wasInterrupted = state.interrupted != nil
    caller.instructionPointer = state.interrupted ?? load(state.stack)
    caller.stackPointer = state.interrupted != nil ? state.stack : state.stack &+ 8
    return caller.instructionPointer == nil ? nil : caller
  }

  // MARK: The first instructions

  /// Undoes the codes of an entry, the last instruction first. False if memory is missing, or the entry is damaged.
  ///
  /// - Parameter executed: the distance of the next instruction from the function's start; nil if all have been executed.
  private func undo(
    _ info: PEFile.UnwindInfo, _ executed: UInt64?, _ callee: FrameRegisters, _ state: inout State, _ bytes: RawSpan,
    _ load: (UInt64) -> UInt64?
  ) -> Bool {
    var codes: [Code] = []
    var index = 0
    while index < info.count {
      guard let code = Code(at: info.codes + 2 * index, room: info.count - index, bytes) else { return false }
      index += code.slots
      if executed.map({ UInt64(code.distance) <= $0 }) ?? true { codes.append(code) }
    }
    // The function may have lowered the stack pointer since.
    let hasFrame = info.continued != nil || codes.contains { $0.operation == Code.setFrame }
    let frame = info.frameRegister == 0 ? nil : callee[Self.registers[info.frameRegister]]
    state.base = hasFrame ? frame.map { $0 &- info.frameOffset } : nil
    for code in codes {
      guard apply(code, &state, load) else { return false }
      if state.interrupted != nil { return true }
    }
    return true
  }

  /// One UNWIND_CODE with its operand.
  private struct Code {
    let distance: UInt8
    let operation: UInt8
    let info: UInt8
    /// The operand, in bytes.
    let operand: UInt64
    let slots: Int

    /// SET_FPREG
    static let setFrame: UInt8 = 3

    /// Nil for a code that is not known, or is not whole.
    init?(at offset: Int, room: Int, _ bytes: RawSpan) {
      distance = bytes.uint8(at: offset)
      operation = bytes.uint8(at: offset + 1) & 0xf
      info = bytes.uint8(at: offset + 1) >> 4
      switch (operation, info) {
      case (1, 0), (4, _), (8, _), (6, _): slots = 2
      case (1, 1), (5, _), (7, _), (9, _): slots = 3
      case (0, _), (2, _), (3, _), (10, 0...1): slots = 1
      default: return nil
      }
      guard slots <= room else { return nil }
      switch slots {
      case 2: operand = UInt64(bytes.uint16(at: offset + 2)) * (operation == 8 ? 16 : 8)
      case 3: operand = UInt64(bytes.uint16(at: offset + 2)) | UInt64(bytes.uint16(at: offset + 4)) << 16
      default: operand = 0
      }
    }
  }

  private func apply(_ code: Code, _ state: inout State, _ load: (UInt64) -> UInt64?) -> Bool {
    let register = Self.registers[Int(code.info)]
    switch code.operation {
    // PUSH_NONVOL
    case 0:
      guard let value = load(state.stack) else { return false }
      state.registers[register] = value
      state.stack = state.stack &+ 8
    // ALLOC_LARGE, ALLOC_SMALL
    case 1: state.stack = state.stack &+ code.operand
    case 2: state.stack = state.stack &+ 8 &* (UInt64(code.info) + 1)
    case Code.setFrame:
      guard let base = state.base else { return false }
      state.stack = base
    // SAVE_NONVOL, SAVE_NONVOL_FAR: at a distance from the stack pointer after the allocations
    case 4, 5:
      guard let value = load((state.base ?? state.stack) &+ code.operand) else { return false }
      state.registers[register] = value
    // PUSH_MACHFRAME: an error code, then rip, cs, flags, rsp, ss
    case 10:
      let place = state.stack &+ (code.info == 1 ? 8 : 0)
      guard let instruction = load(place), let stack = load(place &+ 24) else { return false }
      (state.interrupted, state.stack) = (instruction, stack)
    // EPILOG, SAVE_XMM128 and SAVE_XMM128_FAR change nothing here.
    default: break
    }
    return true
  }

  // MARK: The last instructions

  /// Executes the rest of a function that is within its last instructions; nil if it is elsewhere. These only add to the stack
  /// pointer, pop registers and return or jump out.
  private func undoEpilogue(
    _ state: State, at address: UInt64, _ function: PEFile.Function, _ bytes: RawSpan, _ load: (UInt64) -> UInt64?
  ) -> State? {
    var state = state
    var place = address
    // add rsp, 8 or 32 bits. A frame register would be added by LEA, whose state the codes describe as well.
    if let word = code(at: place, bytes) {
      if word & 0xff_ffff == 0xc4_8348 {
        state.stack = state.stack &+ UInt64(bitPattern: Int64(Int8(truncatingIfNeeded: word >> 24)))
        place += 4
      } else if word & 0xff_ffff == 0xc4_8148 {
        state.stack = state.stack &+ UInt64(bitPattern: Int64(Int32(truncatingIfNeeded: word >> 24)))
        place += 7
      }
    }
    // At most the eight registers that are preserved, one that fills up, and the end
    var hasBegun = place != address
    for _ in 0..<Self.preserved.count + 2 {
      guard let word = code(at: place, bytes) else { return nil }
      let isHigh = word & 0xff == 0x41
      let byte = isHigh ? word >> 8 & 0xff : word & 0xff
      if (0x58...0x5f).contains(byte) {
        guard let value = load(state.stack) else { return nil }
        state.registers[Self.registers[Int(byte & 7) + (isHigh ? 8 : 0)]] = value
        state.stack = state.stack &+ 8
        place += isHigh ? 2 : 1
        hasBegun = true
        continue
      }
      return leaves(word, at: place, function, hasBegun: hasBegun, bytes) ? state : nil
    }
    return nil
  }

  /// Whether an instruction leaves the function: `ret`, `rep ret`, or a jump out of it.
  ///
  /// - Parameter hasBegun: whether an instruction of an end precedes it. A jump through a register without the prefix that
  ///   compilers put before those at an end may also be that of a switch.
  private func leaves(
    _ word: UInt64, at place: UInt64, _ function: PEFile.Function, hasBegun: Bool, _ bytes: RawSpan
  ) -> Bool {
    let (second, third) = (word >> 8 & 0xff, word >> 16 & 0xff)
    switch word & 0xff {
    case 0xc3, 0xc2: return true
    case 0xf3: return second == 0xc3
    case 0xe9:
      return isOutside(place &+ 5 &+ UInt64(bitPattern: Int64(Int32(truncatingIfNeeded: word >> 8))), function, bytes)
    case 0xeb:
      return isOutside(place &+ 2 &+ UInt64(bitPattern: Int64(Int8(truncatingIfNeeded: word >> 8))), function, bytes)
    // jmp through memory beside the code, which has the addresses of other files' functions
    case 0xff: return second == 0x25 || (hasBegun && second & 0x38 == 0x20)
    case 0x41: return hasBegun && second == 0xff && third & 0x38 == 0x20
    case 0x48...0x4f: return second == 0xff && third & 0x38 == 0x20
    default: return false
    }
  }

  /// Whether a jump to an address leaves the function: to another one, or to its start.
  private func isOutside(_ target: UInt64, _ function: PEFile.Function, _ bytes: RawSpan) -> Bool {
    let own = file.primary(of: function, bytes)
    guard let other = file.function(containing: target, bytes).map({ file.primary(of: $0, bytes) }) else { return true }
    return other.start != own.start || target == own.start
  }

  private func code(at address: UInt64, _ bytes: RawSpan) -> UInt64? {
    if let offset = file.offset(of: address, count: 8) { return bytes.uint64(at: offset) }
    // At the end of a section
    guard file.offset(of: address, count: 1) != nil else { return nil }
    return (0..<8).reduce(UInt64(0)) { word, index in
      let byte = file.offset(of: address &+ UInt64(index), count: 1).map { bytes.uint8(at: $0) } ?? 0
      return word | UInt64(byte) << UInt64(8 * index)
    }
  }
}
