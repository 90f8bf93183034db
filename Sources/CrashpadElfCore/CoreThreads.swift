// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Reads NT_PRSTATUS and the notes with further registers.
extension CoreReader {
  mutating func readThread(_ offset: Int, _ bytes: RawSpan) {
    var thread = ThreadSnapshot()
    thread.id = UInt64(bytes.uint32(at: offset + layout.statusThreadID))
    let registers = offset + layout.statusRegisters
    thread.context = context(registers, bytes)
    if layout.architecture == .x86_64 {
      // fs_base
      thread.dataAddress = bytes.uint64(at: registers + 21 * 8)
    }
    if let pointer = layout.named?.threadPointer {
      thread.dataAddress = layout.word(bytes, at: registers + pointer * layout.wordSize)
    }
    notes.times.append(
      (time(offset + layout.statusUserTime, bytes), time(offset + layout.statusSystemTime, bytes)))
    notes.signals.append((bytes.uint16(at: offset + CoreLayout.statusSignal), nil))
    snapshot.threads.append(thread)
  }

  private func context(_ start: Int, _ bytes: RawSpan) -> CPUContext {
    if let registers = layout.named { return named(registers, start, bytes) }
    return layout.architecture == .x86_64 ? .x86_64(x86_64(start, bytes)) : .arm64(aarch64(start, bytes))
  }

  /// `struct timeval`
  private func time(_ offset: Int, _ bytes: RawSpan) -> Timestamp {
    Timestamp(
      seconds: layout.signedWord(bytes, at: offset),
      microseconds: Int32(truncatingIfNeeded: layout.word(bytes, at: offset + layout.wordSize)))
  }

  private func named(_ registers: CoreLayout.NamedRegisters, _ start: Int, _ bytes: RawSpan) -> CPUContext {
    func word(_ index: Int) -> UInt64 { layout.word(bytes, at: start + layout.wordSize * index) }
    return .named(
      layout.architecture,
      registers: registers.list.map { CPUContext.NamedRegister(name: $0.name, value: word($0.index)) },
      instructionPointer: word(registers.instructionPointer), stackPointer: word(registers.stackPointer))
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

  /// Sets the address of the last thread's data from NT_386_TLS, segments of 16 bytes: gs selects one of them.
  mutating func readSegments386(_ content: ByteRange, _ bytes: RawSpan) {
    let last = snapshot.threads.count - 1
    let gs = snapshot.threads[last].context?.generalRegisters.first { $0.name == "gs" }
    guard let index = gs.map({ UInt32(truncatingIfNeeded: $0.value >> 3) }) else { return }
    for place in stride(from: content.offset, to: content.end - 15, by: 16) where bytes.uint32(at: place) == index {
      snapshot.threads[last].dataAddress = UInt64(bytes.uint32(at: place + 4))
    }
  }
}
