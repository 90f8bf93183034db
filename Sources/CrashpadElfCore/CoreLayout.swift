// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// The sizes and places of data that the kernel writes into cores, which depend on the processor.
///
/// Sources: Linux, `include/linux/elfcore.h`, `include/uapi/linux/elfcore.h`, `include/linux/elfcore-compat.h`, and
/// `arch/{x86,arm64,arm}/include`, `asm/elf.h` and `asm/user.h`.
struct CoreLayout {
  let architecture: CPUArchitecture
  /// As uname(1) prints it.
  let machineName: String
  /// The size of a long and of a pointer, in bytes.
  let wordSize: Int
  let registerCount: Int
  /// The size of the floating-point registers that the context of a thread has; nil if it has none.
  let floatingPointBytes: Int?

  /// Nil if the cores of the processor are not read.
  static func of(_ header: ElfHeader) -> CoreLayout? {
    switch (header.machine, header.is64Bit) {
    case (CoreMachine.x86_64, true):
      CoreLayout(
        architecture: .x86_64, machineName: "x86_64", wordSize: 8, registerCount: 27, floatingPointBytes: 512)
    case (CoreMachine.aarch64, true):
      CoreLayout(
        architecture: .arm64, machineName: "aarch64", wordSize: 8, registerCount: 34, floatingPointBytes: 520)
    case (CoreMachine.i386, false):
      CoreLayout(architecture: .x86, machineName: "i686", wordSize: 4, registerCount: 17, floatingPointBytes: nil)
    case (CoreMachine.arm, false):
      CoreLayout(architecture: .arm, machineName: "arm", wordSize: 4, registerCount: 18, floatingPointBytes: nil)
    default: nil
    }
  }

  /// `struct user_regs_struct` of i386, in the order in which minidumps list registers.
  static let registers386 = [
    ("eax", 6), ("ebx", 0), ("ecx", 1), ("edx", 2), ("edi", 4), ("esi", 3), ("ebp", 5), ("esp", 15), ("eip", 12),
    ("eflags", 14), ("cs", 13), ("ss", 16), ("ds", 7), ("es", 8), ("fs", 9), ("gs", 10),
  ].map { (name: $0.0, index: $0.1) }
  /// `struct pt_regs` of ARM, without the first register before a system call.
  static let registersARM =
    (0..<13).map { (name: "r\($0)", index: $0) } + ["sp", "lr", "pc", "cpsr"].enumerated().map { ($1, 13 + $0) }

  var registerBytes: Int { registerCount * wordSize }

  /// Offsets in `struct elf_prstatus`
  static let statusSignal = 12
  var statusThreadID: Int { 16 + 2 * wordSize }
  var statusUserTime: Int { 32 + 2 * wordSize }
  var statusSystemTime: Int { 32 + 4 * wordSize }
  var statusRegisters: Int { 32 + 10 * wordSize }

  /// Offsets in `struct elf_prpsinfo`. The numbers of user and group have 16 bits on the 32-bit processors here.
  var userID: Int { 2 * wordSize }
  var userIDSize: Int { wordSize / 2 }
  /// The parent's follows.
  var processID: Int { 3 * wordSize }
  var processName: Int { 3 * wordSize + 16 }
  var processArguments: Int { 3 * wordSize + 32 }
  var processInfoSize: Int { 3 * wordSize + 112 }

  /// The offset of `si_addr` in `siginfo_t`
  var signalAddress: Int { 8 + wordSize }

  /// A long or a pointer.
  func word(_ bytes: RawSpan, at offset: Int) -> UInt64 {
    wordSize == 8 ? bytes.uint64(at: offset) : UInt64(bytes.uint32(at: offset))
  }

  func signedWord(_ bytes: RawSpan, at offset: Int) -> Int64 {
    wordSize == 8 ? Int64(bitPattern: bytes.uint64(at: offset)) : Int64(bytes.int32(at: offset))
  }
}

/// EM_*
enum CoreMachine {
  static let i386: UInt16 = 3
  static let arm: UInt16 = 40
  static let x86_64: UInt16 = 62
  static let aarch64: UInt16 = 183

  private static let names: [UInt16: String] = [
    2: "SPARC", 3: "i386", 4: "m68k", 8: "MIPS", 15: "PA-RISC", 18: "SPARC", 20: "PowerPC", 21: "PowerPC 64",
    22: "S/390", 40: "ARM", 42: "SuperH", 43: "SPARC V9", 50: "Itanium", 62: "x86-64", 183: "AArch64", 243: "RISC-V",
    258: "LoongArch",
  ]

  /// The name of a file's processor, as a person knows it.
  static func name(_ header: ElfHeader) -> String {
    if header.machine == x86_64, !header.is64Bit { return "x32" }
    let name = names[header.machine] ?? "machine \(header.machine)"
    return "\(name), \(header.is64Bit ? "64" : "32")-bit \(header.isBigEndian ? "big" : "little")-endian"
  }
}
