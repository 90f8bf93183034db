// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Reads NT_PRSTATUS and the notes with further registers.
extension CoreReader {
  mutating func readThread(_ offset: Int, _ bytes: RawSpan) {
    var thread = ThreadSnapshot()
    thread.id = UInt64(bytes.uint32(at: offset + CoreFormat.statusThreadID))
    let registers = offset + CoreFormat.statusRegisters
    if snapshot.system.architecture == .x86_64 {
      thread.context = .x86_64(x86_64(registers, bytes))
      // fs_base
      thread.dataAddress = bytes.uint64(at: registers + 21 * 8)
    } else {
      thread.context = .arm64(aarch64(registers, bytes))
    }
    notes.times.append(
      (
        time(offset + CoreFormat.statusUserTime, bytes), time(offset + CoreFormat.statusSystemTime, bytes)
      ))
    notes.signals.append((bytes.uint16(at: offset + CoreFormat.statusSignal), nil))
    snapshot.threads.append(thread)
  }

  /// `struct timeval`
  private func time(_ offset: Int, _ bytes: RawSpan) -> Timestamp {
    Timestamp(
      seconds: Int64(bitPattern: bytes.uint64(at: offset)),
      microseconds: Int32(truncatingIfNeeded: bytes.uint64(at: offset + 8)))
  }

  /// `struct user_regs_struct`
  private func x86_64(_ start: Int, _ bytes: RawSpan) -> X86_64Context {
    func word(_ index: Int) -> UInt64 { bytes.uint64(at: start + 8 * index) }
    var context = X86_64Context()
    for (register, index) in [(15, 0), (14, 1), (13, 2), (12, 3), (11, 6), (10, 7), (9, 8), (8, 9)] {
      context.r[register - 8] = word(index)
    }
    context.rbp = word(4)
    context.rbx = word(5)
    context.rax = word(10)
    context.rcx = word(11)
    context.rdx = word(12)
    context.rsi = word(13)
    context.rdi = word(14)
    context.rip = word(16)
    context.cs = word(17)
    context.rflags = word(18)
    context.rsp = word(19)
    context.fs = word(25)
    context.gs = word(26)
    return context
  }

  /// `struct user_pt_regs`
  private func aarch64(_ start: Int, _ bytes: RawSpan) -> ARM64Context {
    func word(_ index: Int) -> UInt64 { bytes.uint64(at: start + 8 * index) }
    var context = ARM64Context()
    for register in 0..<29 { context.x[register] = word(register) }
    context.fp = word(29)
    context.lr = word(30)
    context.sp = word(31)
    context.pc = word(32)
    context.cpsr = UInt32(truncatingIfNeeded: word(33))
    return context
  }

  /// Sets the floating-point registers of the last thread: `struct user_fpregs_struct`, which has the layout of FXSAVE,
  /// or `struct user_fpsimd_state`.
  mutating func readFloatingPoint(_ offset: Int, _ bytes: RawSpan) {
    let last = snapshot.threads.count - 1
    let image = SnapshotBytes(inputOffset: offset, count: 512)
    switch snapshot.threads[last].context {
    case .x86_64(var context):
      context.fxsave = image
      snapshot.threads[last].context = .x86_64(context)
    case .arm64(var context):
      context.vectors = image
      context.fpsr = bytes.uint32(at: offset + 512)
      context.fpcr = bytes.uint32(at: offset + 516)
      snapshot.threads[last].context = .arm64(context)
    default: break
    }
  }
}
