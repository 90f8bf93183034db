// SPDX-License-Identifier: Apache-2.0
package import CrashpadSnapshot

/// The call, jump or return of x86-64 at which the processor refused an address: probably that of the place to go on at.
package struct FaultyBranch: Sendable, Hashable {
  package enum Kind: String, Sendable {
    case call
    case jump
    case `return`
  }

  package let kind: Kind
  /// Nil if the memory that has it was not captured.
  package let target: UInt64?

  /// Nil of all other instructions, and where the processor may have refused to read the target.
  ///
  /// - Parameters:
  ///   - code: the bytes at the program counter.
  ///   - word: a word of captured memory.
  package init?(_ code: [UInt8], _ registers: X86_64Context, word: (UInt64) -> UInt64?) {
    var code = code[...]
    // Marks of branches that the processor may skip: bnd, notrack, and rep in front of a return.
    while let prefix = code.first, [0xf2, 0xf3, 0x3e, 0x2e].contains(prefix) { code.removeFirst() }
    var isExtended = (index: false, base: false)
    if let rex = code.first, rex & 0xf0 == 0x40 {
      isExtended = (rex & 2 != 0, rex & 1 != 0)
      code.removeFirst()
    }
    guard let operation = code.popFirst() else { return nil }
    if operation == 0xc3 || operation == 0xc2 {
      (kind, target) = (.return, word(registers.rsp))
      guard target.map({ !$0.isCanonical }) ?? registers.rsp.isCanonical else { return nil }
      return
    }
    guard operation == 0xff, let mode = code.popFirst() else { return nil }
    switch mode >> 3 & 7 {
    case 2: kind = .call
    case 4: kind = .jump
    default: return nil
    }
    func register(_ number: UInt8, _ isExtended: Bool) -> UInt64 {
      if isExtended { return registers.r[Int(number)] }
      return [
        registers.rax, registers.rcx, registers.rdx, registers.rbx, registers.rsp, registers.rbp, registers.rsi,
        registers.rdi,
      ][Int(number)]
    }
    if mode >> 6 == 3 {
      target = register(mode & 7, isExtended.base)
    } else {
      var address: UInt64 = 0
      var isRelative = false
      var base: UInt8? = mode & 7
      if base == 4 {
        guard let scaled = code.popFirst() else { return nil }
        let index = scaled >> 3 & 7
        if index != 4 || isExtended.index { address = register(index, isExtended.index) << UInt64(scaled >> 6) }
        base = scaled & 7 == 5 && mode >> 6 == 0 ? nil : scaled & 7
      } else if base == 5, mode >> 6 == 0 {
        (base, isRelative) = (nil, true)
      }
      let size = mode >> 6 == 1 ? 1 : mode >> 6 == 2 || base == nil ? 4 : 0
      guard code.count >= size else { return nil }
      let distance = code.prefix(size).reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
      let unused = UInt64(64 - 8 * size)
      if size > 0 { address &+= UInt64(bitPattern: Int64(bitPattern: distance << unused) >> Int64(unused)) }
      if let base { address &+= register(base, isExtended.base) }
      // An operand relative to the next instruction is in a module, whose address is no wild one.
      guard address.isCanonical else { return nil }
      target = isRelative ? nil : word(address)
    }
    guard target?.isCanonical != true else { return nil }
  }
}

extension ExceptionSnapshot {
  /// Whether the processor may have refused an address that it does not report: x86-64 does so for one that no pointer can have.
  /// Old writers left out the code that tells, and then an address of 0 may be none.
  package func mayHideAddress(on architecture: CPUArchitecture) -> Bool {
    guard architecture == .x86_64 else { return false }
    return isGeneralProtection || kind == .linuxSignal && code == 11 && !isInfoKnown && address == 0
  }

  /// Whether the processor refused an address of x86-64 that it did not report: a general protection fault.
  package var isGeneralProtection: Bool {
    switch kind {
    case .linuxSignal: code == 11 && info == 0x80
    case .mach: code == 1 && codes.count > 1 && codes[1] == 13
    case .windows: code == 0xc000_0005 && codes.count > 1 && codes[0] == 0 && codes[1] == .max
    case .softSignal, .nsException: false
    }
  }
}
