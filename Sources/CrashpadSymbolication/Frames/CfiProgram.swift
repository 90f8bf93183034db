// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// Executes the instructions of one frame description entry, row by row.
struct CfiProgram {
  /// The rule to restore one register of the caller.
  enum RegisterRule: Equatable {
    /// No rule: the calling convention of the machine decides.
    case unspecified
    case undefined
    case same
    /// In memory, at this distance from the CFA.
    case offset(Int64)
    /// The CFA plus this distance.
    case valueOffset(Int64)
    case register(UInt64)
    /// In memory, at the address computed by a DWARF expression.
    case expression(ByteRange)
    /// The value of a DWARF expression.
    case valueExpression(ByteRange)

    /// Whether it gives the place of the value in memory, not the value.
    var isLocation: Bool {
      switch self {
      case .offset, .expression: true
      default: false
      }
    }
  }

  enum FrameAddress: Equatable {
    case unknown
    case register(UInt64, Int64)
    case expression(ByteRange)
  }

  /// The rules of one range of instructions.
  struct Row: Equatable {
    var frameAddress = FrameAddress.unknown
    /// Indexed by DWARF register number; higher numbers are ignored.
    var registers: [RegisterRule]
  }

  private let common: CfiReader.Common
  private var row: Row
  private var first: Row
  private var saved: [Row] = []
  private var address: UInt64
  /// Whether the instructions of the CIE are being executed, which belong to no row.
  private var isInitial = true
  /// Rows that begin after this address are not needed.
  private var last = UInt64.max
  /// Whether such a row has been reached.
  private var isPast = false

  /// Real programs save one or two rows at once.
  private static let maximumSaved = 64

  /// Calls `body` with the start address of each row and the row, in the order of addresses. Stops at an instruction that
  /// can't be read.
  static func run(
    _ entry: CfiReader.Entry, _ common: CfiReader.Common, _ bytes: RawSpan, registerCount: Int,
    _ body: (UInt64, Row) -> Void
  ) {
    var program = CfiProgram(entry, common, registerCount)
    guard program.begin(bytes) else { return }
    // The effect of an unreadable instruction is unknown, so the row before it is the last one.
    _ = program.execute(entry.program, bytes, body)
    body(program.address, program.row)
  }

  /// The row for `address`, which is in the range of the description; nil if an instruction before it can't be read.
  static func row(
    at address: UInt64, _ entry: CfiReader.Entry, _ common: CfiReader.Common, _ bytes: RawSpan, registerCount: Int
  ) -> Row? {
    var program = CfiProgram(entry, common, registerCount)
    program.last = address
    guard program.begin(bytes) else { return nil }
    let isWhole = program.execute(entry.program, bytes) { _, _ in }
    return isWhole || program.isPast ? program.row : nil
  }

  private init(_ entry: CfiReader.Entry, _ common: CfiReader.Common, _ registerCount: Int) {
    self.common = common
    row = Row(registers: Array(repeating: .unspecified, count: registerCount))
    first = row
    address = entry.start
  }

  /// Executes the instructions of the CIE.
  private mutating func begin(_ bytes: RawSpan) -> Bool {
    guard execute(common.program, bytes, { _, _ in }) else { return false }
    first = row
    isInitial = false
    return true
  }

  private mutating func advance(_ delta: UInt64, _ body: (UInt64, Row) -> Void) -> Bool {
    guard !isInitial else { return true }
    let (distance, tooFar) = delta.multipliedReportingOverflow(by: common.codeAlignment)
    let (next, overflow) = address.addingReportingOverflow(distance)
    guard !tooFar, !overflow else { return false }
    return go(to: next, body)
  }

  /// Returns false if the next row is not needed.
  private mutating func go(to next: UInt64, _ body: (UInt64, Row) -> Void) -> Bool {
    guard next <= last else {
      isPast = true
      return false
    }
    if next != address { body(address, row) }
    address = next
    return true
  }

  private mutating func set(_ register: UInt64, _ rule: RegisterRule) {
    if register < UInt64(row.registers.count) { row.registers[Int(register)] = rule }
  }

  private func scaled(_ factor: UInt64) -> Int64 { Int64(bitPattern: factor) &* common.dataAlignment }
  private func scaled(_ factor: Int64) -> Int64 { factor &* common.dataAlignment }

  private mutating func execute(_ program: ByteRange, _ bytes: RawSpan, _ body: (UInt64, Row) -> Void) -> Bool {
    let part = bytes.extracting(0..<program.end)
    var offset = program.offset
    while offset < program.end {
      let instruction = part.uint8(at: offset)
      offset += 1
      let low = UInt64(instruction & 0x3f)
      switch instruction & 0xc0 {
      case 0x40: guard advance(low, body) else { return false }
      case 0x80:
        guard let factor = part.unsigned(&offset) else { return false }
        set(low, .offset(scaled(factor)))
      case 0xc0: restore(low)
      default: guard execute(instruction, part, &offset, body) else { return false }
      }
    }
    return true
  }

  private mutating func restore(_ register: UInt64) {
    if register < UInt64(first.registers.count) { set(register, first.registers[Int(register)]) }
  }

  private mutating func execute(
    _ instruction: UInt8, _ bytes: RawSpan, _ offset: inout Int, _ body: (UInt64, Row) -> Void
  ) -> Bool {
    switch instruction {
    case 0x00: return true
    case 0x01: return setLocation(bytes, &offset, body)
    case 0x02, 0x03, 0x04:
      let size = 1 << Int(instruction - 2)
      guard bytes.byteCount - offset >= size else { return false }
      defer { offset += size }
      return advance(bytes.number(at: offset, size: size, isSigned: false), body)
    // DW_CFA_remember_state, DW_CFA_restore_state
    case 0x0a:
      guard saved.count < Self.maximumSaved else { return false }
      saved.append(row)
      return true
    case 0x0b:
      guard let last = saved.popLast() else { return false }
      row = last
      return true
    // DW_CFA_def_cfa_expression
    case 0x0f:
      guard let expression = Self.block(bytes, &offset) else { return false }
      row.frameAddress = .expression(expression)
      return true
    // DW_CFA_def_cfa_offset_sf
    case 0x13:
      guard case .register(let base, _) = row.frameAddress, let factor = bytes.signed(&offset) else { return false }
      row.frameAddress = .register(base, scaled(factor))
      return true
    // DW_CFA_GNU_window_save (on arm64: the return address is signed from here on); DW_CFA_GNU_args_size
    case 0x2d: return true
    case 0x2e: return bytes.unsigned(&offset) != nil
    default:
      guard let register = bytes.unsigned(&offset) else { return false }
      return execute(instruction, register, bytes, &offset)
    }
  }

  /// Executes instructions whose first operand is a number: a register unless noted otherwise.
  private mutating func execute(_ instruction: UInt8, _ register: UInt64, _ bytes: RawSpan, _ offset: inout Int) -> Bool
  {
    switch instruction {
    case 0x05, 0x14:
      guard let factor = bytes.unsigned(&offset) else { return false }
      set(register, instruction == 0x05 ? .offset(scaled(factor)) : .valueOffset(scaled(factor)))
    case 0x06: restore(register)
    case 0x07: set(register, .undefined)
    case 0x08: set(register, .same)
    case 0x09:
      guard let other = bytes.unsigned(&offset) else { return false }
      set(register, .register(other))
    case 0x0c:
      guard let distance = bytes.unsigned(&offset) else { return false }
      row.frameAddress = .register(register, Int64(bitPattern: distance))
    case 0x0d:
      switch row.frameAddress {
      case .register(_, let distance): row.frameAddress = .register(register, distance)
      // LLVM begins with this instruction on MIPS: the distance is 0.
      case .unknown: row.frameAddress = .register(register, 0)
      case .expression: return false
      }
    case 0x0e:
      // The operand is the distance.
      guard case .register(let base, _) = row.frameAddress else { return false }
      row.frameAddress = .register(base, Int64(bitPattern: register))
    case 0x10, 0x16:
      guard let expression = Self.block(bytes, &offset) else { return false }
      set(register, instruction == 0x10 ? .expression(expression) : .valueExpression(expression))
    case 0x11, 0x15:
      guard let factor = bytes.signed(&offset) else { return false }
      set(register, instruction == 0x11 ? .offset(scaled(factor)) : .valueOffset(scaled(factor)))
    case 0x12:
      guard let factor = bytes.signed(&offset) else { return false }
      row.frameAddress = .register(register, scaled(factor))
    case 0x2f:
      guard let factor = bytes.unsigned(&offset) else { return false }
      set(register, .offset(0 &- scaled(factor)))
    default: return false
    }
    return true
  }

  private mutating func setLocation(_ bytes: RawSpan, _ offset: inout Int, _ body: (UInt64, Row) -> Void) -> Bool {
    // Only for `.debug_frame`, where addresses are not encoded; no compiler is known to emit this.
    guard !isInitial, common.addressEncoding == 0, bytes.byteCount - offset >= common.addressSize else { return false }
    let next = bytes.number(at: offset, size: common.addressSize, isSigned: false)
    offset += common.addressSize
    return next >= address && go(to: next, body)
  }

  private static func block(_ bytes: RawSpan, _ offset: inout Int) -> ByteRange? {
    guard let length = bytes.unsigned(&offset), length <= UInt64(bytes.byteCount - offset) else { return nil }
    defer { offset += Int(length) }
    return ByteRange(offset: offset, count: Int(length))
  }
}
