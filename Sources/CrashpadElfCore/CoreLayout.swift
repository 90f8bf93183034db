// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// The sizes and places of data that the kernel writes into cores, which depend on the processor.
///
/// Sources: Linux, `include/linux/elfcore.h`, `include/uapi/linux/elfcore.h`, `include/linux/elfcore-compat.h`, and
/// `arch/{x86,arm64,arm,riscv,powerpc,loongarch}/include`, `asm/elf.h`, `asm/user.h` and `asm/ptrace.h`.
struct CoreLayout {
  let architecture: CPUArchitecture
  /// As uname(1) prints it.
  let machineName: String
  /// The size of a long and of a pointer, in bytes.
  let wordSize: Int
  let registerCount: Int
  /// The size of the floating-point registers that the context of a thread has; nil if it has none.
  let floatingPointBytes: Int?
  /// The registers of processors that have no context of their own.
  var named: NamedRegisters?

  /// Registers by their places in NT_PRSTATUS, in the order in which they are listed.
  struct NamedRegisters {
    let list: [(name: String, index: Int)]
    let instructionPointer: Int
    let stackPointer: Int
    /// The index of the register that holds the address of the thread's data; nil if the processor keeps it elsewhere.
    let threadPointer: Int?

    init(_ list: [(String, Int)], instructionPointer: Int, stackPointer: Int, threadPointer: Int? = nil) {
      self.list = list.map { (name: $0.0, index: $0.1) }
      (self.instructionPointer, self.stackPointer) = (instructionPointer, stackPointer)
      self.threadPointer = threadPointer
    }
  }

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
      CoreLayout(
        architecture: .x86, machineName: "i686", wordSize: 4, registerCount: 17, floatingPointBytes: nil,
        named: registers386)
    case (CoreMachine.arm, false):
      CoreLayout(
        architecture: .arm, machineName: "arm", wordSize: 4, registerCount: 18, floatingPointBytes: nil,
        named: registersARM)
    case (CoreMachine.riscv, true):
      CoreLayout(
        architecture: .riscv64, machineName: "riscv64", wordSize: 8, registerCount: 32, floatingPointBytes: nil,
        named: registersRISCV)
    case (CoreMachine.ppc64, true):
      CoreLayout(
        architecture: .ppc64, machineName: "ppc64le", wordSize: 8, registerCount: 48, floatingPointBytes: nil,
        named: registersPPC)
    case (CoreMachine.loongArch, true):
      CoreLayout(
        architecture: .loongarch64, machineName: "loongarch64", wordSize: 8, registerCount: 45,
        floatingPointBytes: nil, named: registersLoongArch)
    default: nil
    }
  }

  /// `struct user_regs_struct` of i386, in the order in which minidumps list registers.
  private static let registers386 = NamedRegisters(
    [
      ("eax", 6), ("ebx", 0), ("ecx", 1), ("edx", 2), ("edi", 4), ("esi", 3), ("ebp", 5), ("esp", 15), ("eip", 12),
      ("eflags", 14), ("cs", 13), ("ss", 16), ("ds", 7), ("es", 8), ("fs", 9), ("gs", 10),
    ], instructionPointer: 12, stackPointer: 15)
  /// `struct pt_regs` of ARM, without the first register before a system call.
  private static let registersARM = NamedRegisters(
    (0..<13).map { ("r\($0)", $0) } + ["sp", "lr", "pc", "cpsr"].enumerated().map { ($1, 13 + $0) },
    instructionPointer: 15, stackPointer: 13)
  /// `struct user_regs_struct` of RISC-V: the instruction pointer has the place of the register that is always 0.
  private static let registersRISCV = NamedRegisters(
    numbered(.riscv64).dropFirst() + [("pc", 0)], instructionPointer: 0, stackPointer: 2, threadPointer: 4)
  /// `struct user_pt_regs` of LoongArch, without the first argument before a system call.
  private static let registersLoongArch = NamedRegisters(
    numbered(.loongarch64).dropFirst() + [("pc", 33)], instructionPointer: 33, stackPointer: 3, threadPointer: 2)
  /// `struct pt_regs` of PowerPC.
  private static let registersPPC = NamedRegisters(
    numbered(.ppc64) + [("pc", 32), ("msr", 33), ("cr", 38), ("lr", 36), ("ctr", 35), ("xer", 37)],
    instructionPointer: 32, stackPointer: 1, threadPointer: 13)

  private static func numbered(_ architecture: CPUArchitecture) -> [(String, Int)] {
    architecture.numberedRegisters.enumerated().map { ($1, $0) }
  }

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
  static let ppc64: UInt16 = 21
  static let aarch64: UInt16 = 183
  static let riscv: UInt16 = 243
  static let loongArch: UInt16 = 258

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
