// SPDX-License-Identifier: Apache-2.0
internal import CCrashpadElfutils

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
