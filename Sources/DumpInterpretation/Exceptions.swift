// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import IntermediateDump
internal import CrashpadSnapshot

/// Exception codes that affect how a dump is read. Source: XNU, `osfmk/mach/exception_types.h`,
/// `mach/i386/exception.h`.
private enum ExceptionCode {
  static let badAccess: UInt32 = 1
  static let softSignal: UInt32 = 0x10003
  /// Crashpad's own code, "CPnx".
  static let nsException: UInt32 = 0x4350_6e78
  static let i386GeneralProtectionFault: UInt32 = 13
  /// VM_PROT_READ | VM_PROT_EXECUTE, which is also EXC_I386_BOUNDFLT.
  static let i386BoundFault: UInt32 = 5
}

extension DumpInterpreter {
  /// Reads the signal, or else the Mach exception or the NSException. Returns false if it has no thread; Crashpad
  /// rejects such a dump.
  mutating func readException(_ root: RootFields, _ bytes: RawSpan) -> Bool {
    let found = [root.signalException, root.machException, root.nsException].filter { $0.map != nil }
    if found.count > 1 {
      findings.append(Finding(InterpretationRules.severalExceptions, at: found[1].record?.offset))
    }
    let threads = root.threads.array
    let exception: ExceptionSnapshot?
    if let node = root.signalException.map {
      exception = signalException(node, bytes)
    } else if let node = root.machException.map {
      exception = machException(node, threads, bytes)
    } else if let node = root.nsException.map {
      exception = nsException(node, threads, bytes)
    } else {
      return true
    }
    guard let exception else {
      let record = found.first?.record
      findings.append(
        Finding(
          InterpretationRules.exceptionWithoutThread, at: record?.offset,
          path: DumpPath().appending(record?.key ?? .invalid).appending(.threadID).text))
      return false
    }
    snapshot.exception = exception
    if exception.isRaisedAgain { snapshot.annotateRaisedAgain() }
    return true
  }

  // MARK: Signal

  private mutating func signalException(_ node: DumpNode, _ bytes: RawSpan) -> ExceptionSnapshot? {
    var number = DumpField()
    var code = DumpField()
    var address = DumpField()
    var raisedAgain = DumpField()
    let fields = ThreadFields(node, tree, bytes) { record in
      switch record.key {
      case .signalNumber: number.record = record
      case .signalCode: code.record = record
      case .signalAddress: address.record = record
      case .raisedAgain: raisedAgain.record = record
      default: break
      }
    }
    guard let threadID = fields.id.uint64(in: bytes) else { return nil }
    var exception: ExceptionSnapshot
    if isLinux {
      // For a dump without a crash, Crashpad writes -1, which is also Breakpad's code.
      exception = ExceptionSnapshot(kind: .linuxSignal, threadID: threadID, code: number.uint32(in: bytes) ?? 0)
      exception.info = code.uint32(in: bytes) ?? 0
      exception.isRaisedAgain = raisedAgain.uint32(in: bytes) == 1
    } else {
      exception = ExceptionSnapshot(kind: .softSignal, threadID: threadID, code: ExceptionCode.softSignal)
      exception.info = number.uint32(in: bytes) ?? 0
      exception.codes = [UInt64(exception.code), UInt64(exception.info), UInt64(code.uint32(in: bytes) ?? 0)]
    }
    exception.address = address.uint64(in: bytes) ?? 0
    exception.takeSender(processID: snapshot.processID)
    let layout = DarwinStateLayout.of(architecture)
    let float = fields.floatState.value(ofSize: layout.floatSize)
    if let thread = fields.threadState.value(ofSize: layout.threadSize), isLinux || float != nil {
      exception.context = CPUContext(architecture, DarwinState(thread: thread, float: float), bytes)
    } else {
      findings.append(Finding(InterpretationRules.noRegisters, at: node.start, path: "kSignalException"))
    }
    readContextMemory(fields, bytes)
    return exception
  }

  // MARK: Mach

  private mutating func machException(_ node: DumpNode, _ threads: DumpNode?, _ bytes: RawSpan) -> ExceptionSnapshot? {
    let fields = MachExceptionFields(node, tree, bytes)
    guard let threadID = fields.threadID.uint64(in: bytes) else { return nil }
    var exception = ExceptionSnapshot(kind: .mach, threadID: threadID, code: 0)
    if let type = fields.exception.int32(in: bytes) {
      exception.code = UInt32(bitPattern: type)
      exception.codes = [UInt64(bitPattern: Int64(type))]
    }
    readCodes(fields.codes, into: &exception, bytes)
    if let thread = threadFields(id: threadID, in: threads, bytes) {
      loadContext(from: thread, fields, into: &exception, bytes)
    }
    return exception
  }

  private mutating func readCodes(_ codes: DumpField, into exception: inout ExceptionSnapshot, _ bytes: RawSpan) {
    guard let value = codes.value else { return }
    guard value.count > 0, value.count % 8 == 0 else {
      findings.append(
        Finding(
          InterpretationRules.badCodes, at: codes.record?.offset, path: "kMachException.kCodes",
          found: .byteCount(UInt64(value.count))))
      return
    }
    let count = value.count / 8
    // A minidump's exception record has room for 15 parameters. Crashpad aborts if there are more; here the first ones
    // are kept.
    let room = 15 - exception.codes.count
    if count > room {
      findings.append(
        Finding(
          InterpretationRules.tooManyCodes, at: codes.record?.offset, path: "kMachException.kCodes",
          expected: .number(UInt64(room)), found: .number(UInt64(count))))
    }
    for index in 0..<min(count, room) { exception.codes.append(bytes.uint64(at: value.offset + 8 * index)) }
    exception.info = bytes.uint32(at: value.offset)
    if count >= 2 { exception.address = bytes.uint64(at: value.offset + 8) }
  }

  /// The first thread with this id.
  private func threadFields(id: UInt64, in threads: DumpNode?, _ bytes: RawSpan) -> ThreadFields? {
    guard let threads else { return nil }
    var records = tree.records(of: threads)
    while let record = records.next(of: tree, in: bytes) {
      let fields = ThreadFields(record.node, tree, bytes)
      if fields.id.uint64(in: bytes) == id { return fields }
    }
    return nil
  }

  /// Loads the registers at the exception: the thread's, with the part replaced that the exception itself contains.
  private mutating func loadContext(
    from thread: ThreadFields, _ fields: MachExceptionFields, into exception: inout ExceptionSnapshot, _ bytes: RawSpan
  ) {
    if let flavor = fields.flavor.uint32(in: bytes), let state = thread.state(architecture),
      let own = fields.state.value
    {
      exception.context = exceptionContext(flavor: flavor, own: own, thread: state, bytes)
    }
    // For EXC_BAD_ACCESS the second code is the accessed address, except for a general protection fault on Intel. The
    // address of any other exception is that of its instruction.
    let hasAddress =
      exception.code == ExceptionCode.badAccess
      && !(architecture == .x86_64
        && [ExceptionCode.i386GeneralProtectionFault, ExceptionCode.i386BoundFault].contains(exception.info))
    if !hasAddress { exception.address = exception.context?.instructionPointer ?? 0 }
  }

  private mutating func exceptionContext(flavor: UInt32, own: ByteRange, thread: DarwinState, _ bytes: RawSpan)
    -> CPUContext
  {
    var context = CPUContext(architecture, thread, bytes)
    guard let (part, isUnified) = DarwinStateLayout.part(ofFlavor: flavor, architecture) else {
      findings.append(
        Finding(
          InterpretationRules.unknownFlavor, path: "kMachException.kFlavor", found: .number(UInt64(flavor))))
      return context
    }
    let headerSize = isUnified ? 8 : 0
    let size = headerSize + DarwinStateLayout.of(architecture).size(of: part)
    if own.count != size {
      findings.append(
        Finding(
          InterpretationRules.stateSize, at: own.offset, path: "kMachException.kState",
          expected: .byteCount(UInt64(size)), found: .byteCount(UInt64(own.count))))
    }
    if own.count >= size {
      if isUnified, !isPlain(part, size, header: own.offset, bytes) { return context }
      context.load(part, at: own.offset + headerSize, bytes)
      return context
    }
    // A short state is padded with zeros, so its floating-point image is stored in the arena instead of referring to
    // the input.
    let padded = bytes.array(in: own) + [UInt8](repeating: 0, count: size - own.count)
    let copy = unsafe padded.span.bytes
    if isUnified, !isPlain(part, size, header: 0, copy) { return context }
    context.load(part, at: headerSize, copy) { snapshot.store(Array(padded[$0..<$0 + 512])) }
    return context
  }

  /// Whether the header of a unified state of `size` bytes has the plain 64-bit flavor and a count, in 32-bit words,
  /// that covers the rest.
  private func isPlain(_ part: DarwinStateLayout.Part, _ size: Int, header: Int, _ bytes: RawSpan) -> Bool {
    bytes.uint32(at: header) == DarwinStateLayout.plainFlavor(of: part, architecture)
      && Int(bytes.uint32(at: header + 4)) >= (size - 8) / 4
  }

  // MARK: NSException

  private mutating func nsException(_ node: DumpNode, _ threads: DumpNode?, _ bytes: RawSpan) -> ExceptionSnapshot? {
    let fields = MachExceptionFields(node, tree, bytes)
    guard let threadID = fields.threadID.uint64(in: bytes) else { return nil }
    var exception = ExceptionSnapshot(kind: .nsException, threadID: threadID, code: ExceptionCode.nsException)
    guard let thread = threadFields(id: threadID, in: threads, bytes) else { return exception }
    guard let frames = thread.exceptionFrames.value else {
      loadContext(from: thread, fields, into: &exception, bytes)
      return exception
    }
    guard frames.count >= 16 else { return exception }
    let first = bytes.uint64(at: frames.offset)
    let second = bytes.uint64(at: frames.offset + 8)
    if architecture == .x86_64 {
      var context = X86_64Context()
      context.rip = first
      context.rsp = second
      exception.context = .x86_64(context)
    } else {
      var context = ARM64Context()
      context.pc = first
      context.lr = second
      context.fp = 8  // The first frame record of the synthetic stack.
      exception.context = .arm64(context)
    }
    exception.address = first
    return exception
  }
}
