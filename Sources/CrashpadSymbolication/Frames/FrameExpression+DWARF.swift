// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

extension FrameExpression {
  /// No compiler emits longer expressions; hostile files do.
  private static let maximumOperations = 1024

  /// Reads a DWARF expression. Nil if it has an unsupported operation.
  ///
  /// - Parameters:
  ///   - addressSize: the size of an address in bytes; nil if addresses of the file are unusable.
  ///   - register: the register with a number in DWARF; nil if it is not supported.
  ///   - hasFrameAddress: whether the CFA is on the stack at the beginning.
  ///   - isLocation: whether the expression computes the address of the value, not the value itself.
  init?(
    dwarf range: ByteRange, _ bytes: RawSpan, addressSize: Int?, register: (UInt64) -> Int?, hasFrameAddress: Bool,
    isLocation: Bool
  ) {
    let part = bytes.extracting(0..<range.end)
    var offset = range.offset
    var operations: [Operation] = hasFrameAddress ? [.frameAddress] : []
    var isValue = !isLocation
    while offset < range.end {
      let code = part.uint8(at: offset)
      offset += 1
      switch code {
      // DW_OP_reg0 to DW_OP_reg31, DW_OP_regx: as the only operation, the value is in a register.
      case 0x50...0x6f, 0x90:
        guard let number = code == 0x90 ? part.unsigned(&offset) : UInt64(code - 0x50), offset == range.end else {
          return nil
        }
        operations.append(.named(register(number)))
        isValue = true
      // DW_OP_breg0 to DW_OP_breg31, DW_OP_bregx
      case 0x70...0x8f, 0x92:
        guard let number = code == 0x92 ? part.unsigned(&offset) : UInt64(code - 0x70),
          let distance = part.signed(&offset)
        else { return nil }
        operations.append(.named(register(number)))
        if distance != 0 { operations += [.constant(UInt64(bitPattern: distance)), .add] }
      // DW_OP_lit0 to DW_OP_lit31
      case 0x30...0x4f: operations.append(.constant(UInt64(code - 0x30)))
      // DW_OP_addr; DW_OP_const1u to DW_OP_consts
      case 0x03, 0x08...0x11:
        guard let constant = Self.constant(code, part, &offset, addressSize) else { return nil }
        operations.append(.constant(constant))
      // DW_OP_plus_uconst
      case 0x23:
        guard let distance = part.unsigned(&offset) else { return nil }
        operations += [.constant(distance), .add]
      // DW_OP_pick
      case 0x15:
        guard offset < range.end else { return nil }
        operations.append(.pick(Int(part.uint8(at: offset))))
        offset += 1
      // DW_OP_call_frame_cfa
      case 0x9c:
        guard hasFrameAddress else { return nil }
        operations.append(.frameAddress)
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

  private static func constant(_ code: UInt8, _ bytes: RawSpan, _ offset: inout Int, _ addressSize: Int?) -> UInt64? {
    if code == 0x10 { return bytes.unsigned(&offset) }
    if code == 0x11 { return bytes.signed(&offset).map { UInt64(bitPattern: $0) } }
    guard let size = code == 0x03 ? addressSize : 1 << Int((code - 0x08) / 2), bytes.byteCount - offset >= size else {
      return nil
    }
    defer { offset += size }
    return bytes.number(at: offset, size: size, isSigned: code & 1 != 0 && code != 0x03)
  }
}

extension FrameExpression.Operation {
  static func named(_ register: Int?) -> Self { register.map { .register($0) } ?? .unknown }

  /// DWARF's operations without operands.
  private static let dwarf: [UInt8: Self] = [
    0x06: .load, 0x12: .pick(0), 0x13: .drop, 0x14: .pick(1), 0x16: .swap, 0x17: .rotate, 0x1a: .and, 0x1b: .divide,
    0x1c: .subtract, 0x1d: .modulo, 0x1e: .multiply, 0x1f: .negate, 0x20: .not, 0x21: .or, 0x22: .add,
    0x24: .shiftLeft, 0x25: .shiftRight, 0x26: .shiftRightArithmetic, 0x27: .exclusiveOr, 0x29: .equal,
    0x2a: .greaterOrEqual, 0x2b: .greater, 0x2c: .lessOrEqual, 0x2d: .less, 0x2e: .notEqual,
  ]

  fileprivate init?(dwarf code: UInt8) {
    guard let operation = Self.dwarf[code] else { return nil }
    self = operation
  }
}
