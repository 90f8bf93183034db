internal import CrashpadBytes
internal import CrashpadFiles

/// The rules to compute a caller's registers from its callee's, for one address: from STACK CFI records, DWARF call
/// frame information or Apple's compact unwind encoding.
package struct FrameRules: Sendable {
  /// `.cfa`: the stack pointer of the caller.
  var canonicalAddress: FrameExpression?
  /// `.ra`; nil for the outermost function, which has no caller.
  var returnAddress: FrameExpression?
  /// Indexed by DWARF register number. Preserved registers without a rule have the callee's values.
  var registers: [Int: FrameExpression] = [:]
  /// Whether the caller was interrupted by a signal, so that its address is that of an instruction, not a return
  /// address.
  var isSignalFrame = false
  /// Whether the rules state that there is no caller.
  var isOutermost = false

  /// The maximum length of one record, in bytes.
  private static let maximumLength = 1 << 16

  /// Adds the rules of one record, replacing existing ones: `.cfa: $rsp 8 + .ra: .cfa -8 + ^`.
  ///
  /// - Returns: false if the text has no valid rules; then nothing is added.
  mutating func add(_ text: ByteRange, _ architecture: FrameRegisters.Architecture, _ bytes: RawSpan) -> Bool {
    // The longest real rules have some hundred bytes; each word of a damaged file would become an operation in memory.
    guard text.count <= Self.maximumLength else { return false }
    var line = LineReader(at: text.offset, end: text.end, in: bytes)
    var target: String?
    var operations: [FrameExpression.Operation] = []
    var new = self
    while let word = line.word(in: bytes) {
      let text = bytes.text(in: word)
      if text.last == ":" {
        if let target { guard new.set(target, operations, architecture) else { return false } }
        target = String(text.dropLast())
        operations = []
      } else {
        guard target != nil, let operation = FrameExpression.Operation(text, architecture) else { return false }
        operations.append(operation)
      }
    }
    guard let target, new.set(target, operations, architecture) else { return false }
    self = new
    return true
  }

  /// Whether the rules restore the stack pointer and a register that no calling convention preserves, which only the
  /// return from a signal handler does. The text has no other mark for it.
  fileprivate func restoreEverything(_ architecture: FrameRegisters.Architecture) -> Bool {
    switch architecture {
    case .arm64: registers[31] != nil && registers[16] != nil
    case .x86_64: registers[7] != nil && registers[2] != nil
    }
  }

  private mutating func set(
    _ target: String, _ operations: [FrameExpression.Operation], _ architecture: FrameRegisters.Architecture
  ) -> Bool {
    guard !operations.isEmpty else { return false }
    let expression = FrameExpression(operations: operations)
    switch target {
    case ".cfa": canonicalAddress = expression
    case ".ra": returnAddress = expression
    default:
      // Ignore registers that stack walking does not use.
      guard let number = architecture.number(target.hasPrefix("$") ? String(target.dropFirst()) : target) else {
        return true
      }
      registers[number] = expression
    }
    return true
  }
}

/// One expression of a STACK CFI record, in postfix notation.
struct FrameExpression: Sendable {
  enum Operation: Sendable {
    case constant(UInt64)
    case register(Int)
    case canonicalAddress
    case add, subtract, multiply, divide, modulo
    /// Rounds down to a multiple of a power of two.
    case align
    case load
    case and, or, exclusiveOr, shiftLeft, shiftRight, shiftRightArithmetic
    case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
    case duplicate, drop, over, swap, negate, not
    /// A register that is not supported.
    case unknown

    init?(_ text: String, _ architecture: FrameRegisters.Architecture) {
      switch text {
      case "+": self = .add
      case "-": self = .subtract
      case "*": self = .multiply
      case "/": self = .divide
      case "%": self = .modulo
      case "@": self = .align
      case "^": self = .load
      case ".cfa": self = .canonicalAddress
      case ".undef": self = .unknown
      default:
        if let value = Int64(text) {
          self = .constant(UInt64(bitPattern: value))
        } else if let value = UInt64(text) {
          self = .constant(value)
        } else if let number = architecture.number(text.hasPrefix("$") ? String(text.dropFirst()) : text) {
          self = .register(number)
        } else if text.hasPrefix("$") || text.first?.isLetter == true {
          self = .unknown
        } else {
          return nil
        }
      }
    }
  }

  let operations: [Operation]

  /// Returns nil if a register is unknown, memory is missing, or the operations yield no value.
  func evaluate(
    _ registers: FrameRegisters, canonicalAddress: UInt64?, _ load: (UInt64) -> UInt64?
  ) -> UInt64? {
    var stack: [UInt64] = []
    for operation in operations {
      switch operation {
      case .constant(let value): stack.append(value)
      case .register(let number):
        guard let value = registers[number] else { return nil }
        stack.append(value)
      case .canonicalAddress:
        guard let canonicalAddress else { return nil }
        stack.append(canonicalAddress)
      case .load:
        guard let address = stack.popLast(), let value = load(address) else { return nil }
        stack.append(value)
      case .unknown: return nil
      case .duplicate:
        guard let top = stack.last else { return nil }
        stack.append(top)
      case .drop: guard stack.popLast() != nil else { return nil }
      case .over:
        guard stack.count >= 2 else { return nil }
        stack.append(stack[stack.count - 2])
      case .swap:
        guard stack.count >= 2 else { return nil }
        stack.swapAt(stack.count - 1, stack.count - 2)
      case .negate:
        guard let top = stack.popLast() else { return nil }
        stack.append(0 &- top)
      case .not:
        guard let top = stack.popLast() else { return nil }
        stack.append(~top)
      default:
        guard let right = stack.popLast(), let left = stack.popLast(), let value = operation.apply(left, right) else {
          return nil
        }
        stack.append(value)
      }
    }
    // DWARF pushes the canonical address before it evaluates an expression, so more than one value may be left.
    return stack.last
  }
}

extension FrameExpression.Operation {
  fileprivate func apply(_ left: UInt64, _ right: UInt64) -> UInt64? {
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
    case .shiftRightArithmetic: return UInt64(bitPattern: Int64(bitPattern: left) >> right)
    case .equal: return left == right ? 1 : 0
    case .notEqual: return left != right ? 1 : 0
    case .less: return Int64(bitPattern: left) < Int64(bitPattern: right) ? 1 : 0
    case .lessOrEqual: return Int64(bitPattern: left) <= Int64(bitPattern: right) ? 1 : 0
    case .greater: return Int64(bitPattern: left) > Int64(bitPattern: right) ? 1 : 0
    case .greaterOrEqual: return Int64(bitPattern: left) >= Int64(bitPattern: right) ? 1 : 0
    case .constant, .register, .canonicalAddress, .load, .unknown, .duplicate, .drop, .over, .swap, .negate, .not:
      return nil
    }
  }
}

extension SymFile {
  /// The rules at `address`, relative to the module; nil if there are none, or they can't be read.
  package func frameRules(at address: UInt64, _ architecture: FrameRegisters.Architecture) -> FrameRules? {
    guard let entry = frameRules.entry(containing: address) else { return nil }
    return file.withBytes { bytes in
      var rules = FrameRules()
      var line = LineReader(at: entry.offset, in: bytes)
      _ = line.skip("STACK CFI INIT ", in: bytes)
      _ = line.hexadecimal(in: bytes)
      _ = line.hexadecimal(in: bytes)
      guard rules.add(line.rest, architecture, bytes) else { return nil }
      // The changes that follow, up to the address.
      var offset = bytes.lineEnd(from: entry.offset) + 1
      while offset < bytes.byteCount {
        var line = LineReader(at: offset, in: bytes)
        offset = bytes.lineEnd(from: offset) + 1
        guard line.skip("STACK CFI ", in: bytes), let start = line.hexadecimal(in: bytes), start <= address,
          rules.add(line.rest, architecture, bytes)
        else { break }
      }
      rules.isSignalFrame = rules.restoreEverything(architecture)
      return rules
    }
  }
}
