// SPDX-License-Identifier: Apache-2.0
/// The register structures of minidumps, laid out by hand.
enum MinidumpContext {
  static func bytes(_ thread: MinidumpThreadTruth, _ processor: MinidumpProcessor) -> [UInt8] {
    let out =
      switch processor {
      case .x86_64: amd64(thread)
      case .arm64: arm64(thread)
      case .arm64Old: arm64Old(thread)
      case .x86: x86(thread)
      case .arm: arm(thread)
      case .riscv64: riscv64(thread)
      case .ppc64: ppc64(thread)
      case .mips, .mips64: mips(thread, flags: processor == .mips ? 0x0004_000e : 0x0008_000e)
      }
    precondition(out.count == processor.contextSize, "context of \(processor) has \(out.count) bytes")
    return out
  }

  /// Windows' CONTEXT for AMD64: six home slots, flags, mxcsr, segments, debug registers, integer registers, rip,
  /// fxsave image, 26 vector registers, five debug words.
  private static func amd64(_ thread: MinidumpThreadTruth) -> [UInt8] {
    var out = [UInt8](repeating: 0, count: 48)
    out.append(little: UInt32(0x0010_001f))
    out.append(little: UInt32(0x1f80))
    for segment: UInt16 in [0x33, 0x2b, 0x2b, 0, 0, 0x2b] { out.append(little: segment) }
    out.append(little: UInt32(0x246))
    for debug: UInt64 in [0, 0, 0, 0, 0xffff_0ff0, 0x400] { out.append(little: debug) }
    // rax rcx rdx rbx rsp rbp rsi rdi r8–r15 rip.
    let g = thread.general
    let order = [g[0], g[2], g[3], g[1], thread.sp, thread.fp, g[4], g[5]] + g[6..<14] + [thread.pc]
    for value in order { out.append(little: value) }
    // fxsave: fcw, ..., mxcsr at 24, st0–st7 at 32, xmm0–xmm15 at 160.
    var image = [UInt8](repeating: 0, count: 160) + thread.vectors.prefix(256)
    image.appendZeros(512 - image.count)
    image.overwrite(0x037f, width: 2, at: 0)
    image.overwrite(0x1f80, width: 4, at: 24)
    out += image
    out.appendZeros(26 * 16 + 6 * 8)
    return out
  }

  /// Windows' ARM64_NT_CONTEXT: flags, cpsr, x0–x28, fp, lr, sp, pc, v0–v31, fpcr, fpsr, debug registers.
  private static func arm64(_ thread: MinidumpThreadTruth) -> [UInt8] {
    var out = Bytes.of(UInt32(0x0040_0007)) + Bytes.of(UInt32(0x6000_1000))
    out += Bytes.of(thread.general + [thread.fp, thread.lr, thread.sp, thread.pc])
    out += thread.vectors
    out += Bytes.of(UInt32(0)) + Bytes.of(UInt32(0x10))
    // bcr 8 × 4, bvr 8 × 8, wcr 2 × 4, wvr 2 × 8.
    out.appendZeros(8 * 4 + 8 * 8 + 2 * 4 + 2 * 8)
    return out
  }

  /// Breakpad's `MDRawContextARM64_Old`, packed to 4: flags of 64 bits, x0–x30, sp, pc, cpsr, then fpsr, fpcr, v.
  private static func arm64Old(_ thread: MinidumpThreadTruth) -> [UInt8] {
    var out = Bytes.of(UInt64(0x8000_0006))
    out += Bytes.of(thread.general + [thread.fp, thread.lr, thread.sp, thread.pc])
    out += Bytes.of(UInt32(0x6000_1000)) + Bytes.of(UInt32(0x10)) + Bytes.of(UInt32(0))
    return out + thread.vectors
  }

  /// Windows' CONTEXT for x86: flags, debug registers, x87 area, segments, integer registers, fxsave image.
  private static func x86(_ thread: MinidumpThreadTruth) -> [UInt8] {
    var out: [UInt8] = []
    func word(_ value: UInt64) { out.append(little: UInt32(truncatingIfNeeded: value)) }
    word(0x0001_003f)
    for debug: UInt64 in [0, 0, 0, 0, 0xffff_0ff0, 0x400] { word(debug) }
    word(0xffff_037f)
    word(0xffff_0000)
    word(0xffff_ffff)
    out.appendZeros(4 * 4 + 80 + 4)
    for segment: UInt64 in [0x33, 0, 0x2b, 0x2b] { word(segment) }
    // edi esi ebx edx ecx eax ebp eip cs eflags esp ss.
    let g = thread.general
    for value in [g[5], g[4], g[1], g[3], g[2], g[0], thread.fp, thread.pc, 0x23, 0x246, thread.sp, 0x2b] {
      word(value)
    }
    var image = [UInt8](repeating: 0, count: 160) + thread.vectors.prefix(128)
    image.appendZeros(512 - image.count)
    image.overwrite(0x037f, width: 2, at: 0)
    image.overwrite(0x1f80, width: 4, at: 24)
    return out + image
  }

  /// Breakpad's `MDRawContextARM`: flags, r0–r15, cpsr, fpscr, d0–d31, 8 extra words.
  private static func arm(_ thread: MinidumpThreadTruth) -> [UInt8] {
    var out: [UInt8] = []
    func word(_ value: UInt64) { out.append(little: UInt32(truncatingIfNeeded: value)) }
    word(0x4000_0006)
    var registers = Array(thread.general.prefix(13)) + [thread.sp, thread.lr, thread.pc]
    // r11 is the frame pointer of Linux, r7 that of iOS and Thumb.
    registers[7] = thread.fp
    registers[11] = thread.fp
    for register in registers { word(register) }
    word(0x6000_0010)
    out.append(little: UInt64(0))
    out += thread.vectors.prefix(256)
    out.appendZeros(8 * 4)
    return out
  }

  /// Breakpad's `MDRawContextRISCV64`: flags, version, pc, x1–x31, f0–f31, fcsr.
  private static func riscv64(_ thread: MinidumpThreadTruth) -> [UInt8] {
    let g = thread.general
    // ra sp gp tp t0 t1 t2 s0, which is the frame pointer, and the others.
    let registers = [thread.pc, thread.lr, thread.sp] + g[0..<5] + [thread.fp] + g[5..<28]
    var out = Bytes.of(UInt32(0x0800_0003)) + Bytes.of(UInt32(0)) + Bytes.of(registers)
    out += thread.vectors.prefix(256)
    out.appendZeros(8)
    return out
  }

  /// Breakpad's `MDRawContextMIPS`: flags, the 32 registers, hi, lo, three more pairs of these with their flags, epc, the bad
  /// address, status, cause, f0–f31, fcsr, fir.
  private static func mips(_ thread: MinidumpThreadTruth, flags: UInt32) -> [UInt8] {
    var out = Bytes.of(flags) + Bytes.of(UInt32(0))
    out += Bytes.of([0] + thread.general[0..<28] + [thread.sp, thread.fp, thread.lr, 0x1111, 0x2222])
    out.appendZeros(32)
    out += Bytes.of([thread.pc, 0x10]) + Bytes.of(UInt32(0x33)) + Bytes.of(UInt32(8))
    out += thread.vectors.prefix(256)
    out.appendZeros(8)
    return out
  }

  /// Breakpad's `MDRawContextPPC64`: flags of 64 bits, srr0, srr1, r0–r31, cr, xer, lr, ctr, vrsave, f0–f31 with fpscr, vectors.
  private static func ppc64(_ thread: MinidumpThreadTruth) -> [UInt8] {
    let g = thread.general
    var out = Bytes.of(UInt64(0x0100_0029)) + Bytes.of([thread.pc, 0x8000_0000_0000_d033, g[0], thread.sp] + g[1..<29])
    // r30 and r31, then the others
    out += Bytes.of([0x30, thread.fp, 0x4400_0000, 0x2000_0000, thread.lr, 0x1234, 0])
    out += thread.vectors.prefix(256)
    out.appendZeros(1152 - out.count)
    return out
  }
}
