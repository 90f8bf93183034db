// SPDX-License-Identifier: Apache-2.0
package import CrashpadSnapshot

/// A place in memory that one instruction of x86 reads or writes.
package struct InstructionAccess: Sendable, Hashable {
  package enum Kind: String, Sendable, CaseIterable {
    case read
    case write
    case readWrite = "readwrite"
  }

  package let address: UInt64
  /// Bytes; nil if the text of the instruction does not say.
  package let size: Int?
  /// Nil if it is not known of this instruction.
  package let kind: Kind?
  /// Whether the address is that of a member of an object at 0: the base register is 0.
  package let hasNullBase: Bool
  /// The registers that the operand names, with their whole values.
  package let registers: [CPUContext.NamedRegister]

  /// An address without more.
  package init(at address: UInt64) { self.init(address: address, size: nil, kind: nil, hasNullBase: false) }

  init(
    address: UInt64, size: Int?, kind: Kind?, hasNullBase: Bool, registers: [CPUContext.NamedRegister] = []
  ) {
    self.address = address
    self.size = size
    self.kind = kind
    self.hasNullBase = hasNullBase
    self.registers = registers
  }

  /// Whether a byte is among those that are accessed.
  package func contains(_ byte: UInt64) -> Bool {
    byte >= address && byte - address < UInt64(size ?? 1)
  }

  /// The accesses of an instruction, from its text in Intel's syntax and the registers; nil if one of them can't be known.
  ///
  /// - Parameters:
  ///   - text: such as "mov dword ptr [rax + 8], 1".
  ///   - next: the address of the next instruction, which rip has in an operand.
  package static func all(
    of text: String, next: UInt64, _ context: CPUContext
  ) -> [InstructionAccess]? {
    guard [.x86_64, .x86].contains(context.architecture), let parts = InstructionText(text) else { return nil }
    let (mnemonic, operands) = (parts.mnemonic, parts.operands)
    if withoutAccess.contains(mnemonic) || mnemonic.hasPrefix("nop") { return [] }
    let registers = OperandRegisters(context, next: next)
    var accesses: [InstructionAccess] = []
    for (index, operand) in operands.enumerated() where operand.contains("[") {
      guard let place = registers.address(operand) else { return nil }
      accesses.append(
        InstructionAccess(
          address: place.address, size: size(operand), kind: kind(mnemonic, isFirst: index == 0, operands.count),
          hasNullBase: place.hasNullBase, registers: place.registers))
    }
    return accesses + registers.stackAccess(mnemonic)
  }

  private static let withoutAccess: Set<String> = [
    "lea", "endbr64", "endbr32", "prefetcht0", "prefetchnta", "prefetchw",
  ]
  /// Instructions that only read their first operand.
  private static let readers: Set<String> = [
    "cmp", "test", "bt", "push", "call", "jmp", "mul", "imul", "div", "idiv", "ucomiss", "ucomisd", "comiss", "comisd",
    "fld", "fild", "ldmxcsr", "cmpsb", "cmpsw", "cmpsd", "cmpsq", "scasb", "scasw", "scasd", "scasq", "ptest",
  ]
  private static let changers: Set<String> = [
    "add", "sub", "adc", "sbb", "and", "or", "xor", "inc", "dec", "neg", "not", "shl", "sal", "shr", "sar", "rol",
    "ror",
    "rcl", "rcr", "xchg", "xadd", "cmpxchg", "cmpxchg8b", "cmpxchg16b", "bts", "btr", "btc", "shld", "shrd",
  ]

  private static func kind(_ mnemonic: String, isFirst: Bool, _ count: Int) -> Kind? {
    if !isFirst { return mnemonic == "xchg" || mnemonic == "xadd" ? .readWrite : .read }
    if readers.contains(mnemonic) { return .read }
    if changers.contains(mnemonic) { return .readWrite }
    let writes = ["mov", "vmov", "set", "stos", "st", "fst", "fist", "pop"]
    return writes.contains { mnemonic.hasPrefix($0) } ? .write : nil
  }

  private static func size(_ operand: Substring) -> Int? {
    let sizes = [
      ("byte", 1), ("word", 2), ("dword", 4), ("qword", 8), ("xmmword", 16), ("ymmword", 32), ("zmmword", 64),
      ("tbyte", 10), ("xword", 10), ("fword", 6),
    ]
    return sizes.first { operand.hasPrefix($0.0 + " ptr") }?.1
  }
}

/// The registers that operands name, in all their widths.
struct OperandRegisters {
  private var values: [String: UInt64] = [:]
  /// The whole registers.
  private var whole: [String: CPUContext.NamedRegister] = [:]
  private let isWide: Bool
  private let stackPointer: UInt64

  init(_ context: CPUContext, next: UInt64) {
    isWide = context.architecture == .x86_64
    stackPointer = context.stackPointer
    for register in context.generalRegisters {
      let name = register.name
      add(name, register.value, register)
      guard isWide else { continue }
      // eax is the lower half of rax, r8d that of r8.
      if name.hasPrefix("r"), name.dropFirst().allSatisfy(\.isNumber) {
        add(name + "d", register.value & 0xffff_ffff, register)
      } else if name.hasPrefix("r"), name.count == 3 {
        add("e" + name.dropFirst(), register.value & 0xffff_ffff, register)
      }
    }
    values[isWide ? "rip" : "eip"] = next
  }

  private mutating func add(_ name: String, _ value: UInt64, _ register: CPUContext.NamedRegister) {
    values[name] = value
    whole[name] = register
  }

  /// The value of an operand that is a register.
  func value(_ operand: Substring) -> UInt64? { values[String(operand)] }

  struct Place {
    var address: UInt64 = 0
    var hasNullBase = false
    var registers: [CPUContext.NamedRegister] = []
  }

  /// The address of an operand such as "dword ptr [rax + rcx*4 - 8]"; nil of one with a segment of its own.
  func address(_ operand: Substring) -> Place? {
    guard let open = operand.firstIndex(of: "["), let close = operand.lastIndex(of: "]"), open < close,
      !operand[..<open].hasSuffix("fs:"), !operand[..<open].hasSuffix("gs:")
    else { return nil }
    var place = Place()
    var isNegative = false
    for word in operand[operand.index(after: open)..<close].split(separator: " ") {
      if word == "+" || word == "-" {
        isNegative = word == "-"
        continue
      }
      let isFirst = place.address == 0 && !place.hasNullBase
      guard let value = term(word) else { return nil }
      if isFirst, value == 0, values[String(word)] != nil { place.hasNullBase = true }
      place.address = isNegative ? place.address &- value : place.address &+ value
      // The address of the next instruction is no value of the program.
      if let register = word.split(separator: "*").first.flatMap({ whole[String($0)] }), !register.name.hasSuffix("ip")
      {
        place.registers.append(register)
      }
    }
    if !isWide { place.address &= 0xffff_ffff }
    return place
  }

  private func term(_ word: Substring) -> UInt64? {
    let parts = word.split(separator: "*")
    guard let first = parts.first else { return nil }
    let value =
      values[String(first)] ?? (first.hasPrefix("0x") ? UInt64(first.dropFirst(2), radix: 16) : UInt64(first))
    guard parts.count > 1 else { return value }
    guard let value, let scale = UInt64(parts[1]) else { return nil }
    return value &* scale
  }

  /// The access to the stack that instructions make without an operand for it.
  func stackAccess(_ mnemonic: String) -> [InstructionAccess] {
    let size: UInt64 = isWide ? 8 : 4
    switch mnemonic {
    case "push", "call":
      return [
        InstructionAccess(address: stackPointer &- size, size: Int(size), kind: .write, hasNullBase: false)
      ]
    case "pop", "ret":
      return [InstructionAccess(address: stackPointer, size: Int(size), kind: .read, hasNullBase: false)]
    default: return []
    }
  }
}
