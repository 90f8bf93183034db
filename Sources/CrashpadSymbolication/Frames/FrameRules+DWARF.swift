// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

extension FrameRules {
  /// Nil if the row has no canonical frame address, or an unsupported one.
  init?(
    _ row: CfiProgram.Row, _ common: CfiReader.Common, _ bytes: RawSpan, _ architecture: FrameRegisters.Architecture
  ) {
    self.init()
    isSignalFrame = common.isSignalFrame
    switch row.frameAddress {
    case .unknown: return nil
    case .register(let register, let distance):
      frameAddress = FrameExpression(operations: [
        .named(architecture.register(dwarf: register)), .constant(UInt64(bitPattern: distance)), .add,
      ])
    case .expression(let range):
      let expression = FrameExpression(
        dwarf: range, bytes, addressSize: common.addressSize, register: architecture.register(dwarf:),
        hasFrameAddress: false, isLocation: false)
      guard let expression else { return nil }
      frameAddress = expression
    }

    guard common.returnRegister < UInt64(row.registers.count) else { return nil }
    let caller = Int(common.returnRegister)
    switch row.registers[caller] {
    case .undefined: isOutermost = true
    // If calls store the return address in a register, it stays there; on a stack there is always a rule for it.
    case .unspecified where architecture.link != architecture.register(dwarf: common.returnRegister): isOutermost = true
    case .unspecified, .same:
      returnAddress = FrameExpression(operations: [.named(architecture.register(dwarf: common.returnRegister))])
    default:
      guard let expression = FrameExpression(row.registers[caller], bytes, common, architecture) else { return nil }
      returnAddress = expression
    }
    for register in architecture.general {
      let number = architecture.dwarfNumber(register)
      guard number < row.registers.count else { continue }
      switch row.registers[number] {
      // Without a rule, preserved registers keep the callee's values; others are unknown.
      case .unspecified: break
      case .same: registers[register] = FrameExpression(operations: [.register(register)])
      default:
        if let expression = FrameExpression(row.registers[number], bytes, common, architecture) {
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
    _ rule: CfiProgram.RegisterRule, _ bytes: RawSpan, _ common: CfiReader.Common,
    _ architecture: FrameRegisters.Architecture
  ) {
    switch rule {
    case .unspecified, .undefined, .same: return nil
    case .offset(let distance):
      self.init(operations: [.frameAddress, .constant(UInt64(bitPattern: distance)), .add, .load])
    case .valueOffset(let distance):
      self.init(operations: [.frameAddress, .constant(UInt64(bitPattern: distance)), .add])
    case .register(let register): self.init(operations: [.named(architecture.register(dwarf: register))])
    case .expression(let range), .valueExpression(let range):
      self.init(
        dwarf: range, bytes, addressSize: common.addressSize, register: architecture.register(dwarf:),
        hasFrameAddress: true, isLocation: rule.isLocation)
    }
  }
}
