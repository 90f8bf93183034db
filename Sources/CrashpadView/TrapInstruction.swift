// SPDX-License-Identifier: Apache-2.0
package import CrashpadSnapshot

/// Instructions that compilers and libraries put where a program must not go on.
package enum TrapInstruction {
  package static func note(_ code: [UInt8], _ architecture: CPUArchitecture) -> String? {
    switch architecture {
    case .x86_64, .x86:
      if code.starts(with: [0x0f, 0x0b]) {
        return "ud2: the program ended itself; compilers write it for failed checks and unreachable code."
      }
      if code.first == 0xcc { return "int3: a breakpoint; compilers write it for failed checks." }
      if code.first == 0xf4 { return "hlt: not allowed in programs; the C library's abort() ends with it." }
    case .arm64:
      guard code.count >= 4 else { return nil }
      let word = code[0..<4].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      if word & 0xffe0_001f == 0xd420_0000 {
        let number = hexadecimal(UInt64(word >> 5 & 0xffff))
        return "brk #0x\(number): the program ended itself; compilers write it for failed checks and unreachable code."
      }
      if word & 0xffff_0000 == 0 { return "udf: an instruction that is never defined." }
    case .arm, .riscv64, .ppc64, .loongarch64, .mips, .mips64, .unknown: break
    }
    return nil
  }
}
