// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Writes ThreadList, ThreadNames and Exception. Source: Crashpad,
/// `minidump/minidump_{thread,thread_name_list,exception}_writer.cc`.
extension MinidumpWriter {
  private var contextSize: Int {
    let architecture = snapshot.system.architecture
    return MinidumpContext.NamedRecord.of(architecture)?.size
      ?? (architecture == .x86_64 ? MinidumpFormat.contextAMD64Size : MinidumpFormat.contextARM64Size)
  }

  private var contextAlignment: Int { snapshot.system.architecture == .x86_64 ? 16 : 4 }

  func writeThreadList(to writer: inout ByteWriter, _ input: RawSpan) {
    let threads = snapshot.threads.span
    var contexts = Placement(at: writer.position + 4 + MinidumpFormat.threadSize * threads.count)
    if writer.isMeasuring {
      for _ in threads.indices { _ = contexts.place(contextSize, alignment: contextAlignment) }
      writer.skip(contexts.end - writer.position)
      return
    }
    var memory = memoryPlacement()
    writer.uint32(UInt32(threads.count))
    for index in threads.indices {
      let thread = threads[index]
      writer.uint32(threadIDs[thread.id ?? 0])
      writer.int32(thread.suspendCount ?? 0)
      writer.uint32(0)  // PriorityClass
      writer.int32(thread.priority ?? 0)
      writer.uint64(thread.dataAddress ?? 0)  // Teb
      if let region = thread.stack?.region, !region.content.isEmpty {
        writeMemoryDescriptor(region.address, region.content.count, &memory, to: &writer)
      } else {
        writer.zeros(MinidumpFormat.memoryDescriptorSize)
      }
      writer.location(
        LocationDescriptor(size: contextSize, rva: contexts.place(contextSize, alignment: contextAlignment)))
    }
    for index in threads.indices {
      writer.align(to: contextAlignment)
      writeContext(threads[index].context, to: &writer, input)
    }
  }

  /// Nil if no thread has a name.
  var threadNamesSize: Int? {
    guard snapshot.threads.contains(where: { !($0.name ?? .empty).isEmpty }) else { return nil }
    return 4 + MinidumpFormat.threadNameSize * snapshot.threads.count
  }

  func writeThreadNames(to writer: inout ByteWriter, _ input: RawSpan) {
    let threads = snapshot.threads.span
    var names = Placement(at: writer.position + 4 + MinidumpFormat.threadNameSize * threads.count)
    writer.uint32(UInt32(threads.count))
    for index in threads.indices {
      let name = threads[index].name ?? .empty
      writer.uint32(threadIDs[threads[index].id ?? 0])
      // RvaOfThreadName has 64 bits.
      writer.uint64(UInt64(names.place(snapshot.withBytes(of: name, in: input) { ByteWriter.utf16StringSize($0) })))
    }
    for index in threads.indices {
      snapshot.withBytes(of: threads[index].name ?? .empty, in: input) { writer.utf16String($0) }
    }
  }

  func writeException(to writer: inout ByteWriter, _ input: RawSpan) {
    guard let exception = snapshot.exception else { return }
    let start = writer.position
    // The format has room for 15 parameters.
    let codes = exception.recordedCodes.prefix(15)
    writer.uint32(threadIDs[exception.threadID])
    writer.uint32(0)
    writer.uint32(exception.code)
    writer.uint32(exception.info)  // ExceptionFlags
    writer.uint64(0)  // ExceptionRecord: a further one
    writer.uint64(exception.recordedAddress)
    writer.uint32(UInt32(codes.count))
    writer.uint32(0)
    for code in codes { writer.uint64(code) }
    writer.zeros(8 * (15 - codes.count))
    var placement = Placement(at: start + MinidumpFormat.exceptionStreamSize)
    writer.location(
      LocationDescriptor(size: contextSize, rva: placement.place(contextSize, alignment: contextAlignment)))
    writer.align(to: contextAlignment)
    writeContext(exception.context, to: &writer, input)
  }

  // MARK: Registers

  /// Writes the registers. Unknown ones are zero; the flags are always those of a complete record.
  private func writeContext(_ context: CPUContext?, to writer: inout ByteWriter, _ input: RawSpan) {
    if let record = MinidumpContext.NamedRecord.of(snapshot.system.architecture) {
      return writeNamed(context, record, to: &writer)
    }
    switch (snapshot.system.architecture, context) {
    case (.x86_64, .x86_64(let context)): writeAMD64(context, to: &writer, input)
    case (.x86_64, _): writeAMD64(X86_64Context(), to: &writer, input)
    case (_, .arm64(let context)): writeARM64(context, to: &writer, input)
    default: writeARM64(ARM64Context(), to: &writer, input)
    }
  }

  private func writeNamed(
    _ context: CPUContext?, _ record: MinidumpContext.NamedRecord, to writer: inout ByteWriter
  ) {
    let start = writer.position
    let known = context?.generalRegisters ?? []
    writer.uint32(record.flags)
    for (name, offset) in record.registers.sorted(by: { $0.offset < $1.offset }) {
      writer.fill(from: start, to: offset)
      let value = known.first { $0.name == name }?.value ?? 0
      if record.wordSize == 8 { writer.uint64(value) } else { writer.uint32(UInt32(truncatingIfNeeded: value)) }
    }
    writer.fill(from: start, to: record.size)  // Floating point
  }

  /// Writes a MinidumpContextARM64.
  private func writeARM64(_ context: ARM64Context, to writer: inout ByteWriter, _ input: RawSpan) {
    let start = writer.position
    writer.uint32(0x0040_0007)  // control, integer, floating point
    writer.uint32(context.cpsr)
    let registers = context.x.span  // A subscript would copy all of them.
    for register in registers.indices { writer.uint64(registers[register]) }
    writer.uint64(context.fp)
    writer.uint64(context.lr)
    writer.uint64(context.sp)
    writer.uint64(context.pc)
    if context.vectors.isEmpty { writer.zeros(512) } else { append(context.vectors, to: &writer, input) }
    writer.uint32(context.fpcr)
    writer.uint32(context.fpsr)
    writer.fill(from: start, to: MinidumpFormat.contextARM64Size)  // Debug registers
  }

  /// Writes a MinidumpContextAMD64, which is Windows' CONTEXT.
  private func writeAMD64(_ context: X86_64Context, to writer: inout ByteWriter, _ input: RawSpan) {
    let start = writer.position
    writer.zeros(6 * 8)  // Home addresses of parameters
    writer.uint32(0x0010_001f)  // control, integer, segments, floating point, debug registers
    // MxCsr is a copy of the value at byte 24 of the FXSAVE image.
    writer.uint32(
      context.fxsave.count < 28
        ? 0 : snapshot.withBytes(of: context.fxsave.part(at: 24, count: 4), in: input) { $0.uint32(at: 0) })
    for segment in [context.cs, 0, 0, context.fs, context.gs, 0] {  // cs ds es fs gs ss
      writer.uint16(UInt16(truncatingIfNeeded: segment))
    }
    writer.uint32(UInt32(truncatingIfNeeded: context.rflags))
    for register in [0, 1, 2, 3, 6, 7] { writer.uint64(context.dr[register]) }
    writer.uint64(context.rax)
    writer.uint64(context.rcx)
    writer.uint64(context.rdx)
    writer.uint64(context.rbx)
    writer.uint64(context.rsp)
    writer.uint64(context.rbp)
    writer.uint64(context.rsi)
    writer.uint64(context.rdi)
    for register in 0..<8 { writer.uint64(context.r[register]) }
    writer.uint64(context.rip)
    if context.fxsave.isEmpty { writer.zeros(512) } else { append(context.fxsave, to: &writer, input) }
    writer.fill(from: start, to: MinidumpFormat.contextAMD64Size)  // Vector and branch trace registers
  }
}
