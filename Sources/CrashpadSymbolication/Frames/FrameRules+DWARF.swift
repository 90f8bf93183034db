internal import CrashpadBytes

extension FrameRules {
  /// - Parameters:
  ///   - row: a row of a frame description.
  ///   - common: the CIE of the description.
  ///   - bytes: the section that contains both.
  ///   - architecture: the architecture of the registers.
  /// - Returns: nil if the row has no canonical frame address, or an unsupported one.
  init?(
    _ row: CfiProgram.Row, _ common: CfiReader.Common, _ bytes: RawSpan, _ architecture: FrameRegisters.Architecture
  ) {
    self.init()
    isSignalFrame = common.isSignalFrame
    switch row.canonicalAddress {
    case .unknown: return nil
    case .register(let register, let distance):
      canonicalAddress = FrameExpression(operations: [
        .named(register, architecture), .constant(UInt64(bitPattern: distance)), .add,
      ])
    case .expression(let range):
      guard let expression = FrameExpression(range, bytes, common, architecture, begin: [], isLocation: false) else {
        return nil
      }
      canonicalAddress = expression
    }

    guard common.returnRegister < UInt64(row.registers.count) else { return nil }
    let caller = Int(common.returnRegister)
    switch row.registers[caller] {
    case .undefined: isOutermost = true
    // If calls store the return address in a register, it stays there; on a stack there is always a rule for it.
    case .unspecified where architecture.link != caller: isOutermost = true
    case .unspecified, .same: returnAddress = FrameExpression(operations: [.named(UInt64(caller), architecture)])
    default:
      guard let expression = FrameExpression(row.registers[caller], bytes, common, architecture) else { return nil }
      returnAddress = expression
    }
    for register in architecture.general {
      switch row.registers[register] {
      // Without a rule, preserved registers keep the callee's values; others are unknown.
      case .unspecified: break
      case .same: registers[register] = FrameExpression(operations: [.register(register)])
      default:
        if let expression = FrameExpression(row.registers[register], bytes, common, architecture) {
          registers[register] = expression
        } else if architecture.preserved.contains(register) {
          registers[register] = FrameExpression(operations: [.unknown])
        }
      }
    }
  }
}

extension FrameExpression {
  /// Nil if there is no rule, or an unsupported one.
  init?(
    _ rule: CfiProgram.Rule, _ bytes: RawSpan, _ common: CfiReader.Common, _ architecture: FrameRegisters.Architecture
  ) {
    switch rule {
    case .unspecified, .undefined, .same: return nil
    case .offset(let distance):
      self.init(operations: [.canonicalAddress, .constant(UInt64(bitPattern: distance)), .add, .load])
    case .valueOffset(let distance):
      self.init(operations: [.canonicalAddress, .constant(UInt64(bitPattern: distance)), .add])
    case .register(let register): self.init(operations: [.named(register, architecture)])
    case .expression(let range):
      self.init(range, bytes, common, architecture, begin: [.canonicalAddress], isLocation: true)
    case .valueExpression(let range):
      self.init(range, bytes, common, architecture, begin: [.canonicalAddress], isLocation: false)
    }
  }

  /// No compiler emits longer expressions; hostile files do.
  private static let maximumOperations = 1024

  /// - Parameters:
  ///   - range: the range of a DWARF expression.
  ///   - bytes: the section that contains it.
  ///   - common: the CIE, for the size of addresses.
  ///   - architecture: the architecture of the registers.
  ///   - begin: the initial content of the stack.
  ///   - isLocation: whether the expression computes the address of the value, not the value itself.
  /// - Returns: nil if the expression has an unsupported operation.
  fileprivate init?(
    _ range: ByteRange, _ bytes: RawSpan, _ common: CfiReader.Common, _ architecture: FrameRegisters.Architecture,
    begin: [Operation], isLocation: Bool
  ) {
    let part = bytes.extracting(0..<range.end)
    var offset = range.offset
    var operations = begin
    var isValue = !isLocation
    while offset < range.end {
      let code = part.uint8(at: offset)
      offset += 1
      switch code {
      // DW_OP_reg0 to DW_OP_reg31, DW_OP_regx: as the only operation, the value is in a register.
      case 0x50...0x6f, 0x90:
        guard let register = code == 0x90 ? part.unsigned(&offset) : UInt64(code - 0x50), offset == range.end else {
          return nil
        }
        operations.append(.named(register, architecture))
        isValue = true
      // DW_OP_breg0 to DW_OP_breg31, DW_OP_bregx
      case 0x70...0x8f, 0x92:
        guard let register = code == 0x92 ? part.unsigned(&offset) : UInt64(code - 0x70),
          let distance = part.signed(&offset)
        else { return nil }
        operations += [.named(register, architecture), .constant(UInt64(bitPattern: distance)), .add]
      case 0x30...0x4f: operations.append(.constant(UInt64(code - 0x30)))
      // DW_OP_addr
      case 0x03:
        guard range.end - offset >= common.addressSize else { return nil }
        operations.append(.constant(part.number(at: offset, size: common.addressSize, isSigned: false)))
        offset += common.addressSize
      case 0x08...0x11:
        guard let constant = CfiExpression.constant(code, part, &offset) else { return nil }
        operations.append(.constant(constant))
      // DW_OP_plus_uconst
      case 0x23:
        guard let distance = part.unsigned(&offset) else { return nil }
        operations += [.constant(distance), .add]
      // DW_OP_stack_value, DW_OP_nop
      case 0x9f: isValue = true
      case 0x96: break
      default:
        guard let operation = Operation(dwarf: code) else { return nil }
        operations.append(operation)
      }
      guard operations.count <= Self.maximumOperations else { return nil }
    }
    if !isValue { operations.append(.load) }
    self.init(operations: operations)
  }
}

extension FrameExpression.Operation {
  fileprivate static func named(_ register: UInt64, _ architecture: FrameRegisters.Architecture) -> Self {
    register < UInt64(architecture.count) ? .register(Int(register)) : .unknown
  }

  /// Maps operations without operands.
  fileprivate init?(dwarf code: UInt8) {
    switch code {
    case 0x06: self = .load
    case 0x12: self = .duplicate
    case 0x13: self = .drop
    case 0x14: self = .over
    case 0x16: self = .swap
    case 0x1a: self = .and
    case 0x1b: self = .divide
    case 0x1c: self = .subtract
    case 0x1d: self = .modulo
    case 0x1e: self = .multiply
    case 0x1f: self = .negate
    case 0x20: self = .not
    case 0x21: self = .or
    case 0x22: self = .add
    case 0x24: self = .shiftLeft
    case 0x25: self = .shiftRight
    case 0x26: self = .shiftRightArithmetic
    case 0x27: self = .exclusiveOr
    case 0x29: self = .equal
    case 0x2a: self = .greaterOrEqual
    case 0x2b: self = .greater
    case 0x2c: self = .lessOrEqual
    case 0x2d: self = .less
    case 0x2e: self = .notEqual
    // DW_OP_call_frame_cfa
    case 0x9c: self = .canonicalAddress
    default: return nil
    }
  }
}
