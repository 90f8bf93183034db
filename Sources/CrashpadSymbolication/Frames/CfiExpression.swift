internal import CrashpadBytes
internal import CCrashpadElfutils

/// Converts a DWARF expression to the postfix notation of STACK CFI records, which has only `+ - * / % @ ^` and no
/// jumps.
///
/// The expression is executed with texts as values. Stack operations therefore produce no output, and comparisons of
/// values known to be small, as in the PLT of x86_64, can be written as divisions.
struct CfiExpression {
  private struct Value {
    var text: String
    /// The value if it is constant.
    var constant: UInt64?
    /// An upper bound (exclusive) of the value, if known.
    var limit: UInt64?
  }

  private var stack: [Value] = []
  private let registers: CfiRegisters
  private var isValue = false

  /// The maximum length in characters. Real expressions are shorter; repeated duplication in a hostile file is not.
  private static let maximumLength = 1024

  /// - Parameters:
  ///   - expression: the range of the expression.
  ///   - bytes: the section that contains it.
  ///   - registers: the names of registers.
  ///   - canonicalAddress: whether the CFA is on the stack at the beginning.
  /// - Returns: nil if the expression can't be written in postfix.
  static func postfix(
    _ expression: ByteRange, _ bytes: RawSpan, _ registers: CfiRegisters, canonicalAddress: Bool
  ) -> String? {
    var converted = CfiExpression(registers: registers)
    if canonicalAddress { converted.stack.append(Value(text: ".cfa")) }
    let part = bytes.extracting(0..<expression.end)
    var offset = expression.offset
    while offset < expression.end {
      let operation = part.uint8(at: offset)
      offset += 1
      guard converted.execute(operation, part, &offset, registers), converted.stack.count <= 32,
        (converted.stack.last?.text.utf8.count ?? 0) <= maximumLength
      else { return nil }
    }
    return converted.stack.last?.text
  }

  private init(registers: CfiRegisters) { self.registers = registers }

  private mutating func push(_ constant: UInt64) {
    stack.append(Value(text: String(Int64(bitPattern: constant)), constant: constant))
  }

  /// - Returns: false if the register has no name.
  private mutating func push(register: UInt64, plus distance: Int64) -> Bool {
    guard let name = registers.name(register) else { return false }
    stack.append(Value(text: distance == 0 ? name : Self.sum(name, distance)))
    return true
  }

  static func sum(_ text: String, _ distance: Int64) -> String { "\(text) \(distance) +" }

  private mutating func execute(
    _ operation: UInt8, _ bytes: RawSpan, _ offset: inout Int, _ registers: CfiRegisters
  ) -> Bool {
    switch operation {
    case 0x30...0x4f: push(UInt64(operation - 0x30))
    case 0x70...0x8f:
      guard let distance = bytes.signed(&offset) else { return false }
      return push(register: UInt64(operation - 0x70), plus: distance)
    case 0x92:
      guard let register = bytes.unsigned(&offset), let distance = bytes.signed(&offset) else { return false }
      return push(register: register, plus: distance)
    case 0x08...0x11:
      guard let constant = Self.constant(operation, bytes, &offset) else { return false }
      push(constant)
    case 0x23:
      guard let distance = bytes.unsigned(&offset), let value = stack.popLast() else { return false }
      return binary(0x22, value, Value(text: String(Int64(bitPattern: distance)), constant: distance))
    case 0x96: break
    // DW_OP_deref
    case 0x06: return replaceTop { Value(text: $0.text + " ^") }
    // DW_OP_neg, DW_OP_not
    case 0x1f: return replaceTop { Value(text: "0 \($0.text) -") }
    case 0x20: return replaceTop { Value(text: "-1 \($0.text) -") }
    // DW_OP_dup, DW_OP_drop, DW_OP_over, DW_OP_pick, DW_OP_swap, DW_OP_rot
    case 0x12: return pick(0)
    case 0x13: return stack.popLast() != nil
    case 0x14: return pick(1)
    case 0x15:
      guard offset < bytes.byteCount else { return false }
      offset += 1
      return pick(Int(bytes.uint8(at: offset - 1)))
    case 0x16:
      guard stack.count >= 2 else { return false }
      stack.swapAt(stack.count - 1, stack.count - 2)
    case 0x17:
      guard stack.count >= 3, let top = stack.popLast() else { return false }
      stack.insert(top, at: stack.count - 2)
    case 0x1a...0x1e, 0x22, 0x24, 0x25, 0x2a:
      guard let right = stack.popLast(), let left = stack.popLast() else { return false }
      return binary(operation, left, right)
    default: return false
    }
    return true
  }

  private mutating func pick(_ index: Int) -> Bool {
    guard index < stack.count else { return false }
    stack.append(stack[stack.count - 1 - index])
    return true
  }

  private mutating func replaceTop(_ body: (Value) -> Value) -> Bool {
    guard let top = stack.popLast() else { return false }
    stack.append(body(top))
    return true
  }

  private mutating func binary(_ operation: UInt8, _ left: Value, _ right: Value) -> Bool {
    func put(_ sign: String, _ operand: String, limit: UInt64? = nil) -> Bool {
      stack.append(Value(text: "\(left.text) \(operand) \(sign)", limit: limit))
      return true
    }
    switch operation {
    case 0x22: return put("+", right.text)
    case 0x1c: return put("-", right.text)
    case 0x1e: return put("*", right.text)
    // DW_OP_div is signed, division in the postfix notation is not: both agree for small values.
    case 0x1b:
      guard left.limit != nil, let constant = right.constant, Int64(bitPattern: constant) > 0 else { return false }
      return put("/", right.text)
    case 0x1d:
      guard let constant = right.constant, constant != 0 else { return false }
      return put("%", right.text, limit: constant)
    // DW_OP_and
    case 0x1a:
      guard let mask = right.constant else { return false }
      if mask != 0, mask != .max, mask & (mask &+ 1) == 0 { return put("%", String(mask + 1), limit: mask + 1) }
      let step = ~mask &+ 1
      guard step != 0, step & (step &- 1) == 0, step < 1 << 62 else { return false }
      return put("@", String(step))
    case 0x24:
      guard let count = right.constant, count < 62 else { return false }
      return put("*", String(UInt64(1) << count))
    case 0x25:
      guard let count = right.constant, count < 62 else { return false }
      return put("/", String(UInt64(1) << count))
    // DW_OP_ge: for a value below a limit m, "at least k" is (value + m - k) / m
    case 0x2a:
      guard let limit = left.limit, limit < 1 << 32, let least = right.constant, least <= limit else { return false }
      stack.append(Value(text: "\(left.text) \(limit - least) + \(limit) /", limit: 2))
      return true
    default: return false
    }
  }

  /// Reads the operand of DW_OP_const1u to DW_OP_consts.
  static func constant(_ operation: UInt8, _ bytes: RawSpan, _ offset: inout Int) -> UInt64? {
    if operation == 0x10 { return bytes.unsigned(&offset) }
    if operation == 0x11 { return bytes.signed(&offset).map { UInt64(bitPattern: $0) } }
    let size = 1 << Int((operation - 0x08) / 2)
    guard bytes.byteCount - offset >= size else { return nil }
    defer { offset += size }
    return bytes.number(at: offset, size: size, isSigned: operation & 1 != 0)
  }
}

/// The names of registers in STACK CFI records, indexed by DWARF register number.
struct CfiRegisters {
  let names: [String]

  /// Nil if the format has no register names for this machine.
  init?(machine: UInt16) {
    switch Int32(machine) {
    case EM_X86_64:
      names =
        ["rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp"].map { "$" + $0 } + (8...15).map { "$r\($0)" }
        + ["$rip"]
    case EM_AARCH64: names = (0...30).map { "x\($0)" } + ["sp"]
    case EM_386: names = ["eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "eip"].map { "$" + $0 }
    case EM_ARM: names = (0...12).map { "r\($0)" } + ["sp", "lr", "pc"]
    // Register 0 is always 0; Breakpad names it pc.
    case EM_RISCV:
      names =
        ["pc", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1"] + (0...7).map { "a\($0)" }
        + (2...11).map { "s\($0)" } + (3...6).map { "t\($0)" }
    case EM_MIPS:
      names =
        (["zero", "at", "v0", "v1"] + (0...3).map { "a\($0)" } + (0...7).map { "t\($0)" } + (0...7).map { "s\($0)" }
        + ["t8", "t9", "k0", "k1", "gp", "sp", "fp", "ra"]).map { "$" + $0 }
    default: return nil
    }
  }

  var count: Int { names.count }
  func name(_ number: UInt64) -> String? { number < UInt64(names.count) ? names[Int(number)] : nil }
}
