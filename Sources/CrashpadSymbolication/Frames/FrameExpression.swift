// SPDX-License-Identifier: Apache-2.0
/// The value of a register or of the frame address, in postfix notation: from a STACK CFI record, DWARF call frame
/// information, or the kernel's frame of a signal.
struct FrameExpression: Sendable {
  enum Operation: Sendable {
    case constant(UInt64)
    case register(Int)
    /// The canonical frame address (CFA) that was computed before.
    case frameAddress
    case add, subtract, multiply, divide, modulo
    /// Rounds down to a multiple of a power of two.
    case align
    case load
    case and, or, exclusiveOr, shiftLeft, shiftRight, shiftRightArithmetic
    case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
    /// Copies a value, 0 for the one on top.
    case pick(Int)
    case drop, swap
    /// Moves the value on top below the next two.
    case rotate
    case negate, not
    /// A register that is not supported.
    case unknown

    /// The words of STACK CFI records that are neither numbers nor registers.
    private static let words: [String: Operation] = [
      "+": .add, "-": .subtract, "*": .multiply, "/": .divide, "%": .modulo, "@": .align, "^": .load,
      ".cfa": .frameAddress, ".undef": .unknown,
    ]

    init?(_ text: String, _ architecture: FrameRegisters.Architecture) {
      if let word = Self.words[text] {
        self = word
      } else if let value = Int64(text) {
        self = .constant(UInt64(bitPattern: value))
      } else if let value = UInt64(text) {
        self = .constant(value)
      } else if let number = architecture.number(text) {
        self = .register(number)
      } else if text.hasPrefix("$") || text.first?.isLetter == true {
        self = .unknown
      } else {
        return nil
      }
    }
  }

  let operations: [Operation]

  /// Returns nil if a register is unknown, memory is missing, or the operations yield no value.
  func evaluate(
    _ registers: FrameRegisters, frameAddress: UInt64?, _ load: (UInt64) -> UInt64?
  ) -> UInt64? {
    var stack: [UInt64] = []
    for operation in operations {
      switch operation {
      case .constant(let value): stack.append(value)
      case .register(let number):
        guard let value = registers[number] else { return nil }
        stack.append(value)
      case .frameAddress:
        guard let frameAddress else { return nil }
        stack.append(frameAddress)
      case .load:
        guard let address = stack.popLast(), let value = load(address) else { return nil }
        stack.append(value)
      case .negate:
        guard let top = stack.popLast() else { return nil }
        stack.append(0 &- top)
      case .not:
        guard let top = stack.popLast() else { return nil }
        stack.append(~top)
      case .unknown: return nil
      case .pick, .drop, .swap, .rotate: guard operation.move(&stack) else { return nil }
      default:
        guard let right = stack.popLast(), let left = stack.popLast(), let value = operation.apply(left, right) else {
          return nil
        }
        stack.append(value)
      }
    }
    // DWARF pushes the frame address before it evaluates an expression, so more than one value may be left.
    return stack.last
  }
}

extension FrameExpression.Operation {
  /// Executes an operation that only moves values. Returns false if there are too few.
  func move<Value>(_ stack: inout [Value]) -> Bool {
    switch self {
    case .pick(let index):
      guard index < stack.count else { return false }
      stack.append(stack[stack.count - 1 - index])
    case .drop: return stack.popLast() != nil
    case .swap:
      guard stack.count >= 2 else { return false }
      stack.swapAt(stack.count - 1, stack.count - 2)
    case .rotate:
      guard stack.count >= 3, let top = stack.popLast() else { return false }
      stack.insert(top, at: stack.count - 2)
    default: return false
    }
    return true
  }

  /// The result of an operation on two numbers; nil for a division by zero, or another kind of operation.
  fileprivate func apply(_ left: UInt64, _ right: UInt64) -> UInt64? {
    let (signedLeft, signedRight) = (Int64(bitPattern: left), Int64(bitPattern: right))
    switch self {
    case .add: return left &+ right
    case .subtract: return left &- right
    case .multiply: return left &* right
    case .divide: return right == 0 ? nil : left / right
    case .modulo: return right == 0 ? nil : left % right
    case .align: return right != 0 && right & (right - 1) == 0 ? left & ~(right - 1) : nil
    case .and: return left & right
    case .or: return left | right
    case .exclusiveOr: return left ^ right
    case .shiftLeft: return left << right
    case .shiftRight: return left >> right
    case .shiftRightArithmetic: return UInt64(bitPattern: signedLeft >> right)
    case .equal: return left == right ? 1 : 0
    case .notEqual: return left != right ? 1 : 0
    case .less: return signedLeft < signedRight ? 1 : 0
    case .lessOrEqual: return signedLeft <= signedRight ? 1 : 0
    case .greater: return signedLeft > signedRight ? 1 : 0
    case .greaterOrEqual: return signedLeft >= signedRight ? 1 : 0
    default: return nil
    }
  }
}
