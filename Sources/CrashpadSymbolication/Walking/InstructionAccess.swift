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

  /// The accesses of an instruction, from its text in Intel's syntax and the registers; nil if one of them can't be known.
  ///
  /// - Parameters:
  ///   - text: such as "mov dword ptr [rax + 8], 1".
  ///   - next: the address of the next instruction, which rip has in an operand.
  package static func all(
    of text: String, next: UInt64, _ context: CPUContext
  ) -> [InstructionAccess]? {
    guard [.x86_64, .x86].contains(context.architecture) else { return nil }
    var words = text.split(separator: " ", maxSplits: 1)
    while let first = words.first, prefixes.contains(String(first)), words.count > 1 {
      words = words[1].split(separator: " ", maxSplits: 1)
    }
    guard let mnemonic = words.first.map(String.init) else { return nil }
    if withoutAccess.contains(mnemonic) || mnemonic.hasPrefix("nop") { return [] }
    let operands = words.count > 1 ? words[1].split(separator: ",").map { $0.drop { $0 == " " } } : []
    let registers = Registers(context, next: next)
    var accesses: [InstructionAccess] = []
    for (index, operand) in operands.enumerated() where operand.contains("[") {
      guard let place = registers.address(operand) else { return nil }
      accesses.append(
        InstructionAccess(
          address: place.address, size: size(operand), kind: kind(mnemonic, isFirst: index == 0, operands.count),
          hasNullBase: place.hasNullBase))
    }
    return accesses + registers.stackAccess(mnemonic)
  }

  private static let prefixes: Set<String> = ["lock", "rep", "repe", "repne", "bnd", "notrack", "data16"]
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
private struct Registers {
  private var values: [String: UInt64] = [:]
  private let isWide: Bool
  private let stackPointer: UInt64

  init(_ context: CPUContext, next: UInt64) {
    isWide = context.architecture == .x86_64
    stackPointer = context.stackPointer
    for register in context.generalRegisters {
      let name = register.name
      values[name] = register.value
      guard isWide else { continue }
      // eax is the lower half of rax, r8d that of r8.
      if name.hasPrefix("r"), name.dropFirst().allSatisfy(\.isNumber) {
        values[name + "d"] = register.value & 0xffff_ffff
      } else if name.hasPrefix("r"), name.count == 3 {
        values["e" + name.dropFirst()] = register.value & 0xffff_ffff
      }
    }
    values[isWide ? "rip" : "eip"] = next
  }

  /// The address of an operand such as "dword ptr [rax + rcx*4 - 8]"; nil of one with a segment of its own.
  func address(_ operand: Substring) -> (address: UInt64, hasNullBase: Bool)? {
    guard let open = operand.firstIndex(of: "["), let close = operand.lastIndex(of: "]"), open < close,
      !operand[..<open].hasSuffix("fs:"), !operand[..<open].hasSuffix("gs:")
    else { return nil }
    var address: UInt64 = 0
    var isNegative = false
    var hasNullBase = false
    for word in operand[operand.index(after: open)..<close].split(separator: " ") {
      if word == "+" || word == "-" {
        isNegative = word == "-"
        continue
      }
      let isFirst = address == 0 && !hasNullBase
      guard let value = term(word) else { return nil }
      if isFirst, value == 0, values[String(word)] != nil { hasNullBase = true }
      address = isNegative ? address &- value : address &+ value
    }
    return (isWide ? address : address & 0xffff_ffff, hasNullBase)
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
