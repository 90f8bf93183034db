internal import CElfutils
internal import Glibc

/// The call frame information of one ELF file: `.eh_frame` and `.debug_frame`. Not to be used from two threads at once.
@safe
final class DwarfFrames {
  /// Holds the bytes.
  private let file: ElfFile
  private let info: DwarfInfo?
  private let exceptionFrames: OpaquePointer?
  private let debugFrames: OpaquePointer?
  private let architecture: FrameRegisters.Architecture
  /// Of `.eh_frame`, if there is a section of that name, and of `.debug_frame`.
  private lazy var exceptionCheck = file.hasContents(".eh_frame") ? CfiCheck(".eh_frame", file) : nil
  private lazy var debugCheck = info.map { CfiCheck(".debug_frame", $0.sections.file) }

  /// Nil if there is none, or none for a machine whose stacks are walked.
  ///
  /// - Parameters:
  ///   - file: the file that was loaded; one with only the debug information lacks `.eh_frame`.
  ///   - info: whose `.debug_frame` is used where `.eh_frame` says nothing.
  init?(_ file: ElfFile, _ info: DwarfInfo?) {
    guard let architecture = file.architecture else { return nil }
    let exceptionFrames =
      unsafe file.hasContents(".eh_frame") || !file.codeRanges.isEmpty ? dwarf_getcfi_elf(file.elf) : nil
    let debugFrames = unsafe info.flatMap { unsafe dwarf_getcfi($0.sections.dwarf) }
    guard unsafe exceptionFrames != nil || debugFrames != nil else { return nil }
    self.file = file
    self.info = info
    unsafe self.exceptionFrames = unsafe exceptionFrames
    unsafe self.debugFrames = unsafe debugFrames
    self.architecture = architecture
  }

  // What `dwarf_getcfi` gave belongs to its Dwarf.
  deinit { if let exceptionFrames = unsafe exceptionFrames { unsafe _ = dwarf_cfi_end(exceptionFrames) } }

  func rules(at address: UInt64) -> FrameRules? {
    if let exceptionFrames = unsafe exceptionFrames, exceptionCheck?.allows(address) ?? true,
      let rules = unsafe rules(at: address, exceptionFrames)
    {
      return rules
    }
    guard let debugFrames = unsafe debugFrames, debugCheck?.allows(address) ?? true else { return nil }
    return unsafe rules(at: address, debugFrames)
  }

  private func rules(at address: UInt64, _ information: OpaquePointer) -> FrameRules? {
    var frame: OpaquePointer?
    guard unsafe dwarf_cfi_addrframe(information, address, &frame) == 0, let frame = unsafe frame else { return nil }
    defer { unsafe free(UnsafeMutableRawPointer(frame)) }
    var rules = FrameRules()
    var start: Dwarf_Addr = 0
    var end: Dwarf_Addr = 0
    let returnRegister = unsafe dwarf_frame_info(frame, &start, &end, &rules.isSignalFrame)
    guard returnRegister >= 0 else { return nil }

    var operations: UnsafeMutablePointer<Dwarf_Op>?
    var count = 0
    guard unsafe dwarf_frame_cfa(frame, &operations, &count) == 0, count > 0, let first = unsafe operations,
      let canonical = unsafe FrameExpression(
        UnsafeBufferPointer(start: first, count: count), architecture, isLocation: false)
    else { return nil }
    rules.canonicalAddress = canonical

    switch unsafe rule(of: returnRegister, frame) {
    case .undefined: rules.isOutermost = true
    case .same: rules.returnAddress = FrameExpression(operations: [.register(Int(returnRegister))])
    case .expression(let expression): rules.returnAddress = expression
    case .unreadable: return nil
    }
    for register in architecture.general {
      switch unsafe rule(of: Int32(register), frame) {
      case .same: rules.registers[register] = FrameExpression(operations: [.register(register)])
      case .expression(let expression): rules.registers[register] = expression
      // elfutils takes rax for rbx where a description says nothing of them.
      case .undefined where architecture == .x86_64 && register == 3: break
      case .undefined, .unreadable:
        if architecture.preserved.contains(register) { rules.registers[register] = .unknown }
      }
    }
    return rules
  }

  private enum RegisterRule {
    case undefined, same, unreadable
    case expression(FrameExpression)
  }

  private func rule(of register: Int32, _ frame: OpaquePointer) -> RegisterRule {
    unsafe withUnsafeTemporaryAllocation(of: Dwarf_Op.self, capacity: 3) { memory in
      unsafe memory.initialize(repeating: Dwarf_Op())
      var operations: UnsafeMutablePointer<Dwarf_Op>?
      var count = 0
      guard unsafe dwarf_frame_register(frame, register, memory.baseAddress!, &operations, &count) == 0 else {
        return .unreadable
      }
      guard count > 0 else { return unsafe operations == nil ? .same : .undefined }
      guard let first = unsafe operations,
        let expression = unsafe FrameExpression(
          UnsafeBufferPointer(start: first, count: count), architecture, isLocation: true)
      else { return .unreadable }
      return .expression(expression)
    }
  }
}

extension FrameExpression {
  static let unknown = FrameExpression(operations: [.unknown])

  /// - Parameters:
  ///   - operations: of DWARF.
  ///   - architecture: whose registers they name.
  ///   - isLocation: whether they say where the value is, not what it is.
  /// - Returns: nil if an operation is among them that unwinding has no use for.
  init?(_ operations: UnsafeBufferPointer<Dwarf_Op>, _ architecture: FrameRegisters.Architecture, isLocation: Bool) {
    var converted: [Operation] = []
    var isValue = !isLocation
    for index in 0..<operations.count {
      let operation = unsafe operations[index]
      switch Int32(operation.atom) {
      case Int32(DW_OP_reg0)...Int32(DW_OP_reg31) where operations.count == 1:
        converted.append(.named(UInt64(operation.atom) - UInt64(DW_OP_reg0), architecture))
        isValue = true
      case Int32(DW_OP_regx) where operations.count == 1:
        converted.append(.named(operation.number, architecture))
        isValue = true
      case Int32(DW_OP_breg0)...Int32(DW_OP_breg31):
        converted += [
          .named(UInt64(operation.atom) - UInt64(DW_OP_breg0), architecture), .constant(operation.number), .add,
        ]
      case Int32(DW_OP_bregx):
        converted += [.named(operation.number, architecture), .constant(operation.number2), .add]
      case Int32(DW_OP_lit0)...Int32(DW_OP_lit31):
        converted.append(.constant(UInt64(operation.atom) - UInt64(DW_OP_lit0)))
      case Int32(DW_OP_plus_uconst): converted += [.constant(operation.number), .add]
      case Int32(DW_OP_stack_value): isValue = true
      case Int32(DW_OP_nop): break
      default:
        guard let simple = Operation(operation) else { return nil }
        converted.append(simple)
      }
    }
    if !isValue { converted.append(.load) }
    self.init(operations: converted)
  }
}

extension FrameExpression.Operation {
  fileprivate static func named(_ register: UInt64, _ architecture: FrameRegisters.Architecture) -> Self {
    register < UInt64(architecture.count) ? .register(Int(register)) : .unknown
  }

  fileprivate init?(_ operation: Dwarf_Op) {
    switch Int(operation.atom) {
    case DW_OP_addr, DW_OP_const1u, DW_OP_const1s, DW_OP_const2u, DW_OP_const2s, DW_OP_const4u, DW_OP_const4s,
      DW_OP_const8u, DW_OP_const8s, DW_OP_constu, DW_OP_consts:
      self = .constant(operation.number)
    case DW_OP_call_frame_cfa: self = .canonicalAddress
    case DW_OP_deref: self = .load
    case DW_OP_plus: self = .add
    case DW_OP_minus: self = .subtract
    case DW_OP_mul: self = .multiply
    case DW_OP_div: self = .divide
    case DW_OP_mod: self = .modulo
    case DW_OP_and: self = .and
    case DW_OP_or: self = .or
    case DW_OP_xor: self = .exclusiveOr
    case DW_OP_shl: self = .shiftLeft
    case DW_OP_shr: self = .shiftRight
    case DW_OP_shra: self = .shiftRightArithmetic
    case DW_OP_eq: self = .equal
    case DW_OP_ne: self = .notEqual
    case DW_OP_lt: self = .less
    case DW_OP_le: self = .lessOrEqual
    case DW_OP_gt: self = .greater
    case DW_OP_ge: self = .greaterOrEqual
    case DW_OP_dup: self = .duplicate
    case DW_OP_drop: self = .drop
    case DW_OP_over: self = .over
    case DW_OP_swap: self = .swap
    case DW_OP_neg: self = .negate
    case DW_OP_not: self = .not
    default: return nil
    }
  }
}
