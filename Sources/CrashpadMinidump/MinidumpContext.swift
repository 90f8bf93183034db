// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// The register records of minidumps. Sources: Windows' CONTEXT, Breakpad's `minidump_cpu_{amd64,arm64,x86,arm,riscv,ppc64,mips}.h`,
/// Crashpad's `minidump_context.h`.
enum MinidumpContext {
  /// Returns nil if the size or the flags do not fit the architecture.
  static func read(_ architecture: CPUArchitecture, _ range: ByteRange, _ bytes: RawSpan) -> CPUContext? {
    switch architecture {
    case .x86_64: return readAMD64(range, bytes)
    case .arm64: return readARM64(range, bytes) ?? readOldARM64(range, bytes)
    case .x86, .arm, .riscv64, .ppc64, .mips, .mips64, .loongarch64, .unknown:
      return NamedRecord.of(architecture)?.read(range, bytes)
    }
  }

  /// The architecture whose size and flags a record has. The larger records come first: those of others are shorter.
  static func architecture(of range: ByteRange, _ bytes: RawSpan) -> CPUArchitecture {
    [.x86_64, .arm64, .x86, .arm, .riscv64, .ppc64, .mips, .mips64].first { read($0, range, bytes) != nil } ?? .unknown
  }

  private static func readAMD64(_ range: ByteRange, _ bytes: RawSpan) -> CPUContext? {
    // A record with extended state is longer; that state comes last.
    guard range.count >= MinidumpFormat.contextAMD64Size, bytes.uint32(at: range.offset + 0x30) & 0x0010_0000 != 0
    else {
      return nil
    }
    func word(_ offset: Int) -> UInt64 { bytes.uint64(at: range.offset + offset) }
    var context = X86_64Context()
    context.cs = UInt64(bytes.uint16(at: range.offset + 0x38))
    context.fs = UInt64(bytes.uint16(at: range.offset + 0x3e))
    context.gs = UInt64(bytes.uint16(at: range.offset + 0x40))
    context.rflags = UInt64(bytes.uint32(at: range.offset + 0x44))
    for (index, register) in [0, 1, 2, 3, 6, 7].enumerated() { context.dr[register] = word(0x48 + 8 * index) }
    context.rax = word(0x78)
    context.rcx = word(0x80)
    context.rdx = word(0x88)
    context.rbx = word(0x90)
    context.rsp = word(0x98)
    context.rbp = word(0xa0)
    context.rsi = word(0xa8)
    context.rdi = word(0xb0)
    for register in 0..<8 { context.r[register] = word(0xb8 + 8 * register) }
    context.rip = word(0xf8)
    context.fxsave = SnapshotBytes(inputOffset: range.offset + 0x100, count: 512)
    return .x86_64(context)
  }

  private static func readARM64(_ range: ByteRange, _ bytes: RawSpan) -> CPUContext? {
    guard range.count >= MinidumpFormat.contextARM64Size, bytes.uint32(at: range.offset) & 0x0040_0000 != 0 else {
      return nil
    }
    var context = ARM64Context()
    context.cpsr = bytes.uint32(at: range.offset + 4)
    readRegisters(&context, at: range.offset + 8, bytes)
    context.vectors = SnapshotBytes(inputOffset: range.offset + 272, count: 512)
    context.fpcr = bytes.uint32(at: range.offset + 784)
    context.fpsr = bytes.uint32(at: range.offset + 788)
    return .arm64(context)
  }

  /// Reads the record that Breakpad defined before Windows had one: its flags have 64 bits, and the vectors come last.
  private static func readOldARM64(_ range: ByteRange, _ bytes: RawSpan) -> CPUContext? {
    guard range.count >= 796, bytes.uint64(at: range.offset) & 0x8000_0000 != 0 else { return nil }
    var context = ARM64Context()
    readRegisters(&context, at: range.offset + 8, bytes)
    context.cpsr = bytes.uint32(at: range.offset + 272)
    context.fpsr = bytes.uint32(at: range.offset + 276)
    context.fpcr = bytes.uint32(at: range.offset + 280)
    context.vectors = SnapshotBytes(inputOffset: range.offset + 284, count: 512)
    return .arm64(context)
  }

  /// Reads x0 to x28, fp, lr, sp, pc.
  private static func readRegisters(_ context: inout ARM64Context, at offset: Int, _ bytes: RawSpan) {
    for register in 0..<29 { context.x[register] = bytes.uint64(at: offset + 8 * register) }
    context.fp = bytes.uint64(at: offset + 232)
    context.lr = bytes.uint64(at: offset + 240)
    context.sp = bytes.uint64(at: offset + 248)
    context.pc = bytes.uint64(at: offset + 256)
  }

  // MARK: Records of named registers

  /// A record whose registers are listed by their names.
  struct NamedRecord {
    let architecture: CPUArchitecture
    /// The size of a register in bytes.
    let wordSize: Int
    /// The size of a whole record, and that of the part with these registers, in bytes.
    let size: Int
    let minimumSize: Int
    /// The flags of which a record has one or more, and those that are written: of the parts that are known.
    let signature: UInt32
    let flags: UInt32
    /// The registers with their offsets in the record, in the order in which they are listed.
    let registers: [(name: String, offset: Int)]
    let instructionPointer: Int
    let stackPointer: Int

    static func of(_ architecture: CPUArchitecture) -> NamedRecord? {
      switch architecture {
      case .x86: x86
      case .arm: arm
      case .riscv64: riscv64
      case .ppc64: ppc64
      case .mips: mips
      case .mips64: mips64
      case .arm64, .x86_64, .loongarch64, .unknown: nil
      }
    }

    func read(_ range: ByteRange, _ bytes: RawSpan) -> CPUContext? {
      guard range.count >= minimumSize, bytes.uint32(at: range.offset) & signature != 0 else { return nil }
      func word(_ offset: Int) -> UInt64 {
        wordSize == 8 ? bytes.uint64(at: range.offset + offset) : UInt64(bytes.uint32(at: range.offset + offset))
      }
      return .named(
        architecture, registers: registers.map { CPUContext.NamedRegister(name: $0.name, value: word($0.offset)) },
        instructionPointer: word(instructionPointer), stackPointer: word(stackPointer))
    }

    // Control, integer, segments
    private static let x86 = NamedRecord(
      architecture: .x86, wordSize: 4, size: MinidumpFormat.contextX86Size,
      minimumSize: MinidumpFormat.contextX86Size - 512, signature: 0x0001_0000, flags: 0x0001_0007,
      registers: [
        ("eax", 176), ("ebx", 164), ("ecx", 172), ("edx", 168), ("edi", 156), ("esi", 160), ("ebp", 180), ("esp", 196),
        ("eip", 184), ("eflags", 192), ("cs", 188), ("ss", 200), ("ds", 152), ("es", 148), ("fs", 144), ("gs", 140),
      ], instructionPointer: 184, stackPointer: 196)
    private static let arm = NamedRecord(
      architecture: .arm, wordSize: 4, size: MinidumpFormat.contextARMSize, minimumSize: 72, signature: 0x4020_0000,
      flags: 0x4000_0002,
      registers: (0..<13).map { (name: "r\($0)", offset: 4 + 4 * $0) }
        + [("sp", 56), ("lr", 60), ("pc", 64), ("cpsr", 68)],
      instructionPointer: 64, stackPointer: 56)
    // The instruction pointer has the place of the register that is always 0. Floating-point registers follow.
    private static let riscv64 = NamedRecord(
      architecture: .riscv64, wordSize: 8, size: MinidumpFormat.contextRISCV64Size, minimumSize: 264,
      signature: 0x0800_0000, flags: 0x0800_0001, registers: numbered(.riscv64, at: 8).dropFirst() + [("pc", 8)],
      instructionPointer: 8, stackPointer: 24)
    // The flags have 64 bits.
    private static let ppc64 = NamedRecord(
      architecture: .ppc64, wordSize: 8, size: MinidumpFormat.contextPPC64Size, minimumSize: 320,
      signature: 0x0100_0000, flags: 0x0100_0001,
      registers: numbered(.ppc64, at: 24)
        + [("pc", 8), ("msr", 16), ("cr", 280), ("lr", 296), ("ctr", 304), ("xer", 288)],
      instructionPointer: 8, stackPointer: 32)

    // Breakpad has 64 bits for registers of either size.
    private static let mips = NamedRecord(
      architecture: .mips, wordSize: 4, size: MinidumpFormat.contextMIPSSize, minimumSize: 336, signature: 0x0004_0000,
      flags: 0x0004_0002, registers: numbered(.mips, at: 8) + others, instructionPointer: 312, stackPointer: 240)
    private static let mips64 = NamedRecord(
      architecture: .mips64, wordSize: 8, size: MinidumpFormat.contextMIPSSize, minimumSize: 336,
      signature: 0x0008_0000, flags: 0x0008_0002, registers: numbered(.mips64, at: 8) + others,
      instructionPointer: 312, stackPointer: 240)
    private static let others = [(name: "hi", offset: 264), (name: "lo", offset: 272), (name: "pc", offset: 312)]

    private static func numbered(_ architecture: CPUArchitecture, at start: Int) -> [(name: String, offset: Int)] {
      architecture.numberedRegisters.enumerated().map { (name: $1, offset: start + 8 * $0) }
    }
  }
}
