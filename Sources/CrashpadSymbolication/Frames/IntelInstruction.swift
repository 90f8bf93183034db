// SPDX-License-Identifier: Apache-2.0
/// An instruction of Intel's processors, as far as stack walking needs it: its length, and what it does to the stack pointer
/// and the frame pointer.
///
/// Source: the opcode maps of Intel's manual, volume 2.
struct IntelInstruction {
  enum Effect: Equatable {
    /// Neither of the two registers changes, and the next instruction follows.
    case none
    /// The same, and it does nothing else.
    case noOperation
    /// The mark of a place that may be jumped to, as functions begin with: ENDBR64, ENDBR32.
    case start
    /// PUSH of a register.
    case push(Int)
    /// PUSH of something else.
    case pushOther
    /// POP into a register.
    case pop(Int)
    /// The stack pointer moves up by a number of bytes.
    case raise(Int64)
    /// The stack pointer is set to the frame pointer and a distance in bytes.
    case fromFramePointer(Int64)
    /// LEAVE.
    case leave
    /// The frame pointer gets another value.
    case setsFramePointer
    /// A jump, by the distance from the next instruction.
    case jump(Int64)
    /// The same under a condition.
    case branch(Int64)
    /// RET, and the bytes of parameters that it removes.
    case exit(UInt64)
    /// A call, or an instruction after which the stack pointer or the next instruction is not known.
    case unknown
  }

  let length: UInt64
  private(set) var effect = Effect.none

  /// Nil if the bytes are no instruction, or more of them are needed.
  ///
  /// - Parameters:
  ///   - first: its first eight bytes, little-endian.
  ///   - second: the eight behind them; nil if they are not known.
  init?(_ first: UInt64, _ second: UInt64?, isWide: Bool) {
    var decoder = Decoder(first, second, isWide: isWide)
    guard let effect = decoder.decode() else { return nil }
    length = UInt64(decoder.place)
    self.effect = effect
  }

  /// The numbers of the two registers in instructions.
  fileprivate static let stackPointer = 4
  fileprivate static let framePointer = 5
}

/// Reads instructions from code that is had by words.
struct IntelCode {
  let isWide: Bool
  /// Eight bytes at an address, little-endian; nil if unknown.
  let code: (UInt64) -> UInt64?

  init(isWide: Bool, _ code: @escaping (UInt64) -> UInt64?) { (self.isWide, self.code) = (isWide, code) }

  /// Nil if the code is unknown, or no instruction.
  func instruction(at place: UInt64) -> IntelInstruction? {
    code(place).flatMap { IntelInstruction($0, code(place &+ 8), isWide: isWide) }
  }
}

private struct Decoder {
  private let words: (UInt64, UInt64)
  private let count: Int
  private let isWide: Bool
  /// The number of bytes that were read.
  private(set) var place = 0
  private var prefix: UInt8 = 0
  private var isShort = false
  /// Whether addresses have half the size.
  private var isNarrow = false
  private var repeats: UInt8 = 0

  /// The longest instruction has 15 bytes.
  init(_ first: UInt64, _ second: UInt64?, isWide: Bool) {
    (words, count, self.isWide) = ((first, second ?? 0), second == nil ? 8 : 15, isWide)
  }

  // MARK: Bytes

  private func byte(at place: Int) -> UInt8 {
    UInt8(truncatingIfNeeded: (place < 8 ? words.0 : words.1) >> (8 * UInt64(place % 8)))
  }

  private var next: UInt8? { place < count ? byte(at: place) : nil }

  private mutating func byte() -> UInt8? {
    guard let byte = next else { return nil }
    place += 1
    return byte
  }

  /// A little-endian number of up to eight bytes, with its sign.
  private mutating func number(_ size: Int) -> Int64? {
    guard place + size <= count else { return nil }
    let value = (0..<size).reduce(UInt64(0)) { $0 | UInt64(byte(at: place + $1)) << (8 * UInt64($1)) }
    place += size
    let unused = UInt64(64 - 8 * size)
    return Int64(bitPattern: value << unused) >> Int64(unused)
  }

  private mutating func skip(_ size: Int) -> IntelInstruction.Effect? { number(size).map { _ in .none } }

  /// The size of most numbers in instructions.
  private var numberSize: Int { isShort && prefix & 8 == 0 ? 2 : 4 }

  // MARK: Operands

  private struct Operand {
    let mode: UInt8
    /// The register that is no part of the address, and the one that is, or the operand itself.
    let register: Int
    let base: Int
    var distance: Int64 = 0
    var hasIndex = false

    var isRegister: Bool { mode == 3 }
  }

  private mutating func operand() -> Operand? {
    guard let byte = byte() else { return nil }
    let (mode, low) = (byte >> 6, byte & 7)
    let register = Int(byte >> 3 & 7) | (prefix & 4 != 0 ? 8 : 0)
    var base = Int(low) | (prefix & 1 != 0 ? 8 : 0)
    guard mode != 3 else { return Operand(mode: mode, register: register, base: base) }
    if isNarrow, !isWide {
      // Addresses of 16 bits are sums of other registers.
      let size = mode == 1 ? 1 : mode == 2 || low == 6 ? 2 : 0
      return number(size).map { Operand(mode: mode, register: register, base: -1, distance: $0, hasIndex: true) }
    }
    var (hasIndex, isAbsolute) = (false, mode == 0 && low == 5)
    if low == 4 {
      guard let scaled = self.byte() else { return nil }
      hasIndex = scaled >> 3 & 7 != 4 || prefix & 2 != 0
      isAbsolute = mode == 0 && scaled & 7 == 5
      base = Int(scaled & 7) | (prefix & 1 != 0 ? 8 : 0)
    }
    guard let distance = mode == 1 ? number(1) : mode == 2 || isAbsolute ? number(4) : 0 else { return nil }
    return Operand(
      mode: mode, register: register, base: isAbsolute ? -1 : base, distance: distance, hasIndex: hasIndex)
  }

  /// The effect of a write to a register.
  private func write(_ register: Int) -> IntelInstruction.Effect {
    switch register {
    case IntelInstruction.stackPointer: .unknown
    case IntelInstruction.framePointer: .setsFramePointer
    default: .none
    }
  }

  private func writesOperand(_ operand: Operand) -> IntelInstruction.Effect {
    operand.isRegister ? write(operand.base) : .none
  }

  // MARK: Instructions

  mutating func decode() -> IntelInstruction.Effect? {
    while let byte = next, isPrefix(byte) || isWide && byte >> 4 == 4 {
      place += 1
      // The prefix of 64 bits counts just before the operation only.
      prefix = isPrefix(byte) ? 0 : byte
      if byte == 0x66 { isShort = true }
      if byte == 0x67 { isNarrow = true }
      if byte == 0xf2 || byte == 0xf3 { repeats = byte }
    }
    guard let code = byte() else { return nil }
    if code == 0x0f { return byte().flatMap { extended($0) } }
    if isVector(code) { return vector(code) }
    return plain(code)
  }

  /// Operand size, address size, repetition, lock and segments.
  private func isPrefix(_ byte: UInt8) -> Bool {
    [0x66, 0x67, 0xf2, 0xf3, 0xf0, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65].contains(byte)
  }

  /// Whether a byte begins an instruction with VEX or EVEX, which have other meanings in 32 bits before some operands.
  private func isVector(_ code: UInt8) -> Bool {
    [0xc4, 0xc5, 0x62].contains(code) && (isWide || next.map { $0 >= 0xc0 } ?? false)
  }

  private mutating func plain(_ code: UInt8) -> IntelInstruction.Effect? {
    switch code {
    case 0x00...0x3f: return arithmetic(code)
    // INC and DEC of a register
    case 0x40...0x4f: return write(Int(code & 7))
    case 0x50...0x57: return isShort ? .unknown : .push(Int(code & 7) | (prefix & 1 != 0 ? 8 : 0))
    case 0x58...0x5f:
      let register = Int(code & 7) | (prefix & 1 != 0 ? 8 : 0)
      return isShort || register == IntelInstruction.stackPointer ? .unknown : .pop(register)
    // MOVSXD; ARPL in 32 bits
    case 0x63: return operand().map { isWide ? write($0.register) : .none }
    case 0x68: return skip(numberSize).map { _ in isShort ? .unknown : .pushOther }
    case 0x6a: return skip(1).map { _ in isShort ? .unknown : .pushOther }
    // IMUL with a number
    case 0x69, 0x6b: return operandAndNumber(code == 0x69 ? numberSize : 1).map { write($0.register) }
    case 0x6c...0x6f, 0x98, 0x99, 0x9b, 0x9e, 0x9f, 0xa4...0xa7, 0xaa...0xaf, 0xd7, 0xec...0xef, 0xf5,
      0xf8...0xfd:
      return IntelInstruction.Effect.none
    case 0x70...0x7f, 0xe0...0xe3: return number(1).map { .branch($0) }
    case 0x80...0x83: return operandAndNumber(code == 0x81 ? numberSize : 1, isLast: true)
    case 0x84, 0x85: return operand().map { _ in .none }
    case 0x86, 0x87: return operand().map { merged(write($0.register), writesOperand($0)) }
    case 0x88, 0x89, 0x8a, 0x8b: return move(code)
    case 0x8c: return operand().map { writesOperand($0) }
    case 0x8d: return address()
    case 0x8e: return operand().map { _ in .none }
    case 0x90 where prefix & 1 == 0: return repeats == 0xf3 ? IntelInstruction.Effect.none : .noOperation
    case 0x90...0x97: return merged(write(Int(code & 7) | (prefix & 1 != 0 ? 8 : 0)), .none)
    // Numbers in memory at an address in the instruction
    case 0xa0...0xa3: return skip((isWide ? 8 : 4) / (isNarrow ? 2 : 1))
    case 0xa8: return skip(1)
    case 0xa9: return skip(numberSize)
    case 0xb0...0xb7: return skip(1)
    case 0xb8...0xbf:
      return skip(prefix & 8 != 0 ? 8 : numberSize).map { _ in write(Int(code & 7) | (prefix & 1 != 0 ? 8 : 0)) }
    case 0xc0, 0xc1: return operandAndNumber(1).map { writesOperand($0) }
    case 0xc2: return number(2).map { .exit(UInt64($0 & 0xffff)) }
    case 0xc3: return .exit(0)
    case 0xc6, 0xc7: return operandAndNumber(code == 0xc6 ? 1 : numberSize).map { writesOperand($0) }
    case 0xc9: return isShort ? .unknown : .leave
    // INT is a system call.
    case 0xcd: return skip(1)
    case 0xd0...0xd3: return operand().map { writesOperand($0) }
    case 0xd4, 0xd5, 0xe4...0xe7: return skip(1)
    case 0xd8...0xdf: return operand().map { _ in .none }
    case 0xc8: return skip(3).map { _ in .unknown }
    case 0xe8: return number(4).map { _ in .unknown }
    // With a prefix of 16 bits processors of Intel and AMD take different distances.
    case 0xe9: return isShort ? .unknown : number(4).map { .jump($0) }
    case 0xeb: return number(1).map { .jump($0) }
    case 0xf6, 0xf7: return unary(code)
    case 0xfe: return operand().map { writesOperand($0) }
    case 0xff: return group5()
    default: return .unknown
    }
  }

  /// ADD, OR, ADC, SBB, AND, SUB, XOR, CMP of two registers, one of which may be in memory.
  private mutating func arithmetic(_ code: UInt8) -> IntelInstruction.Effect? {
    let isComparison = code >> 3 == 7
    switch code & 7 {
    case 0...1: return operand().map { isComparison ? .none : writesOperand($0) }
    case 2...3: return operand().map { isComparison ? .none : write($0.register) }
    case 4: return skip(1)
    case 5: return skip(numberSize)
    default: return .unknown
    }
  }

  private mutating func operandAndNumber(_ size: Int) -> Operand? {
    guard let operand = operand(), number(size) != nil else { return nil }
    return operand
  }

  /// The same eight of a register or memory and a number.
  private mutating func operandAndNumber(_ size: Int, isLast: Bool) -> IntelInstruction.Effect? {
    guard let operand = operand(), let number = number(size) else { return nil }
    let kind = operand.register & 7
    if kind == 7 { return IntelInstruction.Effect.none }
    guard operand.isRegister, operand.base == IntelInstruction.stackPointer else { return writesOperand(operand) }
    if isShort || (isWide && prefix & 8 == 0) { return .unknown }
    return kind == 0 ? .raise(number) : kind == 5 ? .raise(-number) : .unknown
  }

  private mutating func move(_ code: UInt8) -> IntelInstruction.Effect? {
    guard let operand = operand() else { return nil }
    let isLoad = code >= 0x8a
    let (target, source) = isLoad ? (operand.register, operand.base) : (operand.base, operand.register)
    guard operand.isRegister else { return isLoad ? write(target) : IntelInstruction.Effect.none }
    if target == IntelInstruction.stackPointer, source == IntelInstruction.framePointer, code & 1 == 1 {
      return .fromFramePointer(0)
    }
    return write(target)
  }

  /// LEA
  private mutating func address() -> IntelInstruction.Effect? {
    guard let operand = operand() else { return nil }
    guard operand.register == IntelInstruction.stackPointer, !operand.isRegister, !operand.hasIndex,
      !isNarrow
    else {
      return write(operand.register)
    }
    switch operand.base {
    case IntelInstruction.stackPointer: return .raise(operand.distance)
    case IntelInstruction.framePointer: return .fromFramePointer(operand.distance)
    default: return .unknown
    }
  }

  /// TEST with a number, NOT, NEG, MUL, IMUL, DIV, IDIV
  private mutating func unary(_ code: UInt8) -> IntelInstruction.Effect? {
    guard let operand = operand() else { return nil }
    switch operand.register & 7 {
    case 0, 1: return skip(code == 0xf6 ? 1 : numberSize)
    case 2, 3: return writesOperand(operand)
    default: return IntelInstruction.Effect.none
    }
  }

  /// INC, DEC, CALL, JMP, PUSH
  private mutating func group5() -> IntelInstruction.Effect? {
    guard let operand = operand() else { return nil }
    switch operand.register & 7 {
    case 0, 1: return writesOperand(operand)
    case 6: return isShort ? .unknown : .pushOther
    default: return .unknown
    }
  }

  private func merged(_ first: IntelInstruction.Effect, _ second: IntelInstruction.Effect) -> IntelInstruction.Effect {
    first == .unknown || second == .none ? first : second
  }

  // MARK: Two bytes

  private mutating func extended(_ code: UInt8) -> IntelInstruction.Effect? {
    switch code {
    // SYSCALL, CLTS, INVD, WBINVD, WRMSR, RDTSC, RDMSR, RDPMC, CPUID, EMMS
    case 0x05, 0x06, 0x08, 0x09, 0x30...0x33, 0x77, 0xa2: return IntelInstruction.Effect.none
    case 0x38: return byte().flatMap { _ in operand() }.map { write($0.register) }
    case 0x3a: return byte().flatMap { _ in operandAndNumber(1) }.map { writesOperand($0) }
    case 0x80...0x8f: return isShort ? .unknown : number(4).map { .branch($0) }
    case 0xc8...0xcf: return write(Int(code & 7) | (prefix & 1 != 0 ? 8 : 0))
    case 0x1e where repeats == 0xf3 && next.map { $0 & 0xfe == 0xfa } == true:
      place += 1
      return .start
    case 0x1f: return operand().map { _ in .noOperation }
    // Registers of control and debugging, whose operand is a register whatever its mode says; programs may not use them.
    case 0x20...0x23: return byte().map { _ in .unknown }
    case 0x70...0x73, 0xa4, 0xac, 0xba, 0xc2, 0xc4...0xc6:
      return operandAndNumber(1).map { effect(code, $0) }
    case 0x0d, 0x10...0x1e, 0x28...0x2f, 0x40...0x6f, 0x74...0x76, 0x78...0x7f, 0x90...0x9f, 0xa3, 0xa5,
      0xab, 0xad...0xb8, 0xbb...0xbf, 0xc0, 0xc1, 0xc3, 0xc7, 0xd0...0xfe:
      return operand().map { effect(code, $0) }
    default: return .unknown
    }
  }

  /// Most of these change vector registers or flags.
  private func effect(_ code: UInt8, _ operand: Operand) -> IntelInstruction.Effect {
    switch code {
    // CVT to a register, CMOV, MOVMSK, IMUL, LSS to LGS, MOVZX, POPCNT, BSF, BSR, MOVSX, PEXTRW, PMOVMSKB
    case 0x2c, 0x2d, 0x40...0x50, 0xaf, 0xb2, 0xb4...0xb8, 0xbc...0xbf, 0xc5, 0xd7: write(operand.register)
    // MOV of control registers, MOVD, SET, SHLD, BTS, SHRD, BTR, BTC
    case 0x20...0x23, 0x7e, 0x90...0x9f, 0xa4, 0xa5, 0xab, 0xac, 0xad, 0xb3, 0xba, 0xbb, 0xc7: writesOperand(operand)
    // CMPXCHG, XADD
    case 0xb0, 0xb1, 0xc0, 0xc1: merged(write(operand.register), writesOperand(operand))
    default: .none
    }
  }

  // MARK: VEX and EVEX

  private mutating func vector(_ code: UInt8) -> IntelInstruction.Effect? {
    guard let first = byte() else { return nil }
    var map: UInt8 = 1
    // The bits that extend registers are inverted, and count in 64 bits only.
    prefix = isWide ? (~first >> 7 & 1) << 2 : 0
    if code != 0xc5 {
      map = first & (code == 0xc4 ? 0x1f : 7)
      if isWide { prefix |= (~first >> 6 & 1) << 1 | ~first >> 5 & 1 }
      guard skip(code == 0xc4 ? 1 : 2) != nil else { return nil }
    }
    guard let operation = byte() else { return nil }
    switch map {
    case 1 where operation == 0x77: return IntelInstruction.Effect.none
    case 1:
      let hasNumber = (0x70...0x73).contains(operation) || operation == 0xc2 || (0xc4...0xc6).contains(operation)
      return hasNumber ? operandAndNumber(1).map { effect(operation, $0) } : operand().map { effect(operation, $0) }
    // Operations on bits have general registers: ANDN, BZHI, PEXT, SHLX.
    case 2: return operand().map { (0xf0...0xff).contains(operation) ? write($0.register) : .none }
    case 3:
      return operandAndNumber(1).map { operation == 0xf0 ? write($0.register) : writesOperand($0) }
    default: return nil
    }
  }
}
