// SPDX-License-Identifier: Apache-2.0
/// Writes an expression in the notation of STACK CFI records, which has only `+ - * / % @ ^` and no jumps.
///
/// The expression is executed with texts as values. Stack operations therefore produce no output, and comparisons of
/// values known to be small, as in the PLT of x86_64, can be written as divisions.
struct PostfixText {
  private struct Value {
    var text: String
    /// The value if it is constant.
    var constant: UInt64?
    /// An upper bound (exclusive) of the value, if known.
    var limit: UInt64?
  }

  private var stack: [Value] = []

  private static let maximumValues = 32
  /// The maximum length in characters. Real expressions are shorter; repeated duplication in a hostile file is not.
  private static let maximumLength = 1024

  /// Nil if the expression can't be written.
  static func text(_ expression: FrameExpression, _ registers: CfiRegisters) -> String? {
    var converted = PostfixText()
    for operation in expression.operations {
      guard converted.execute(operation, registers), converted.stack.count <= maximumValues,
        (converted.stack.last?.text.utf8.count ?? 0) <= maximumLength
      else { return nil }
    }
    return converted.stack.last?.text
  }

  private mutating func execute(_ operation: FrameExpression.Operation, _ registers: CfiRegisters) -> Bool {
    switch operation {
    case .constant(let value): stack.append(Value(text: String(Int64(bitPattern: value)), constant: value))
    case .register(let number): stack.append(Value(text: registers.names[number]))
    case .frameAddress: stack.append(Value(text: ".cfa"))
    case .load: return replaceTop { "\($0) ^" }
    case .negate: return replaceTop { "0 \($0) -" }
    case .not: return replaceTop { "-1 \($0) -" }
    case .pick, .drop, .swap, .rotate: return operation.move(&stack)
    case .unknown: return false
    default:
      guard let right = stack.popLast(), let left = stack.popLast(), let value = Self.binary(operation, left, right)
      else { return false }
      stack.append(value)
    }
    return true
  }

  private mutating func replaceTop(_ text: (String) -> String) -> Bool {
    guard let top = stack.popLast() else { return false }
    stack.append(Value(text: text(top.text)))
    return true
  }

  private static func binary(_ operation: FrameExpression.Operation, _ left: Value, _ right: Value) -> Value? {
    func value(_ sign: String, _ operand: String, limit: UInt64? = nil) -> Value {
      Value(text: "\(left.text) \(operand) \(sign)", limit: limit)
    }
    switch operation {
    case .add: return value("+", right.text)
    case .subtract: return value("-", right.text)
    case .multiply: return value("*", right.text)
    // DW_OP_div is signed, division in the postfix notation is not: both agree for small values.
    case .divide:
      guard left.limit != nil, let constant = right.constant, Int64(bitPattern: constant) > 0 else { return nil }
      return value("/", right.text)
    case .modulo:
      guard let constant = right.constant, constant != 0 else { return nil }
      return value("%", right.text, limit: constant)
    case .and:
      guard let mask = right.constant else { return nil }
      if mask != 0, mask != .max, mask & (mask &+ 1) == 0 { return value("%", String(mask + 1), limit: mask + 1) }
      let step = ~mask &+ 1
      guard step != 0, step & (step &- 1) == 0, step < 1 << 62 else { return nil }
      return value("@", String(step))
    case .shiftLeft, .shiftRight:
      guard let count = right.constant, count < 62 else { return nil }
      let factor = String(UInt64(1) << count)
      if case .shiftLeft = operation { return value("*", factor) }
      return value("/", factor)
    // For a value below a limit m, "at least k" is (value + m - k) / m.
    case .greaterOrEqual:
      guard let limit = left.limit, limit < 1 << 32, let least = right.constant, least <= limit else { return nil }
      return Value(text: "\(left.text) \(limit - least) + \(limit) /", limit: 2)
    default: return nil
    }
  }
}
