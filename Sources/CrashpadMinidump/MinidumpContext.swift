// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// The register records of minidumps. Sources: Windows' CONTEXT, Breakpad's `minidump_cpu_{amd64,arm64,x86,arm}.h`.
enum MinidumpContext {
  /// Returns nil if the size or the flags do not fit the architecture.
  static func read(_ architecture: CPUArchitecture, _ range: ByteRange, _ bytes: RawSpan) -> CPUContext? {
    switch architecture {
    case .x86_64: return readAMD64(range, bytes)
    case .arm64: return readARM64(range, bytes) ?? readOldARM64(range, bytes)
    case .x86: return readX86(range, bytes)
    case .arm: return readARM(range, bytes)
    case .unknown: return nil
    }
  }

  /// The architecture whose size and flags a record has. The larger records come first: those of others are shorter.
  static func architecture(of range: ByteRange, _ bytes: RawSpan) -> CPUArchitecture {
    [.x86_64, .arm64, .x86, .arm].first { read($0, range, bytes) != nil } ?? .unknown
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

  private static func readX86(_ range: ByteRange, _ bytes: RawSpan) -> CPUContext? {
    guard range.count >= MinidumpFormat.contextX86Size - 512, bytes.uint32(at: range.offset) & 0x0001_0000 != 0 else {
      return nil
    }
    return named(.x86, registersX86, instructionPointer: 184, stackPointer: 196, range, bytes)
  }

  /// The registers of x86 with their offsets in the record.
  static let registersX86: [(name: String, offset: Int)] = [
    ("eax", 176), ("ebx", 164), ("ecx", 172), ("edx", 168), ("edi", 156), ("esi", 160), ("ebp", 180), ("esp", 196),
    ("eip", 184), ("eflags", 192), ("cs", 188), ("ss", 200), ("ds", 152), ("es", 148), ("fs", 144), ("gs", 140),
  ]

  private static func readARM(_ range: ByteRange, _ bytes: RawSpan) -> CPUContext? {
    guard range.count >= 72, bytes.uint32(at: range.offset) & 0x4020_0000 != 0 else { return nil }
    return named(.arm, registersARM, instructionPointer: 64, stackPointer: 56, range, bytes)
  }

  static let registersARM: [(name: String, offset: Int)] =
    (0..<13).map { (name: "r\($0)", offset: 4 + 4 * $0) } + [("sp", 56), ("lr", 60), ("pc", 64), ("cpsr", 68)]

  private static func named(
    _ architecture: CPUArchitecture, _ registers: [(name: String, offset: Int)], instructionPointer: Int,
    stackPointer: Int, _ range: ByteRange, _ bytes: RawSpan
  ) -> CPUContext {
    func word(_ offset: Int) -> UInt64 { UInt64(bytes.uint32(at: range.offset + offset)) }
    return .named(
      architecture, registers: registers.map { CPUContext.NamedRegister(name: $0.name, value: word($0.offset)) },
      instructionPointer: word(instructionPointer), stackPointer: word(stackPointer))
  }
}
