// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

extension CoreReader {
  mutating func readNotes(_ range: ByteRange, alignment: UInt64, isCut: Bool, _ bytes: RawSpan) {
    var list = ElfNotes(range, alignment: alignment)
    var count = 0
    while let note = list.next(bytes) {
      notes.hasNotes = true
      count += 1
      if note.isNamed("CORE", bytes) {
        readCoreNote(note, bytes)
      } else if note.isNamed("LINUX", bytes) {
        readLinuxNote(note, bytes)
      } else if notes.foreign == nil, let name = foreignSystem(note, bytes) {
        notes.foreign = (name, note.offset)
      }
    }
    // A truncated file already has a finding.
    if let fault = list.fault, !isCut {
      findings.append(Finding(CoreRules.noteOutside, at: fault, path: "notes[\(count)]"))
    }
  }

  /// The systems whose kernels put their own name on the notes of a core, such as "NetBSD-CORE@1" for a thread.
  private static let foreignSystems = ["NetBSD", "OpenBSD", "FreeBSD", "DragonFly", "QNX", "Haiku"]

  private func foreignSystem(_ note: ElfNote, _ bytes: RawSpan) -> String? {
    let name = bytes.array(in: ByteRange(offset: note.name.offset, count: min(note.name.count, 16)))
    return Self.foreignSystems.first { name.starts(with: $0.utf8) }
  }

  private mutating func readCoreNote(_ note: ElfNote, _ bytes: RawSpan) {
    switch note.type {
    case CoreFormat.notePRSTATUS:
      guard check(note, has: layout.statusRegisters + layout.registerBytes, "NT_PRSTATUS"),
        spend(Price.thread, at: note.offset, path: "NT_PRSTATUS")
      else { return }
      readThread(note.content.offset, bytes)
    case CoreFormat.noteFPREGSET:
      // Contexts of 32-bit processors have no such registers.
      guard let size = layout.floatingPointBytes, isOfThread(note, "NT_FPREGSET"),
        check(note, has: size, "NT_FPREGSET")
      else { return }
      readFloatingPoint(note.content.offset, bytes)
    case CoreFormat.notePRPSINFO:
      if notes.process == nil, check(note, has: layout.processInfoSize, "NT_PRPSINFO") {
        notes.process = note.content
      }
    case CoreFormat.noteSIGINFO:
      guard check(note, has: layout.signalAddress + 8, "NT_SIGINFO") else { return }
      if let last = notes.signals.indices.last {
        if notes.signals[last].info == nil { notes.signals[last].info = note.content }
      } else {
        notes.firstSignalInfo = note.content
      }
    case CoreFormat.noteAUXV:
      guard notes.auxiliaryVector == nil else { return }
      notes.auxiliaryVector = note.content
      // Linux has about 40 types.
      let (word, pair) = (layout.wordSize, 2 * layout.wordSize)
      for offset in stride(from: note.content.offset, through: note.content.end - pair, by: pair).prefix(256) {
        let type = layout.word(bytes, at: offset)
        if type == 0 { break }
        if notes.auxiliaryValues[type] == nil { notes.auxiliaryValues[type] = layout.word(bytes, at: offset + word) }
      }
    case CoreFormat.noteFILE:
      if notes.files == nil, check(note, has: 2 * layout.wordSize, "NT_FILE") { notes.files = note.content }
    default: break
    }
  }

  private mutating func readLinuxNote(_ note: ElfNote, _ bytes: RawSpan) {
    switch (layout.architecture, note.type) {
    case (.x86_64, CoreFormat.noteX86XSTATE):
      // The first 512 bytes are the FXSAVE area.
      guard isOfThread(note, "NT_X86_XSTATE"), check(note, has: 512, "NT_X86_XSTATE"),
        case .x86_64(let context)? = snapshot.threads.last?.context, context.fxsave.isEmpty
      else { return }
      readFloatingPoint(note.content.offset, bytes)
    case (.x86, CoreFormat.note386TLS):
      guard isOfThread(note, "NT_386_TLS") else { return }
      readSegments386(note.content, bytes)
    case (.arm64, CoreFormat.noteARMTLS), (.arm, CoreFormat.noteARMTLS):
      guard isOfThread(note, "NT_ARM_TLS"), check(note, has: layout.wordSize, "NT_ARM_TLS") else { return }
      snapshot.threads[snapshot.threads.count - 1].dataAddress = layout.word(bytes, at: note.content.offset)
    case (.arm64, CoreFormat.noteARMPACMask):
      guard check(note, has: 16, "NT_ARM_PAC_MASK") else { return }
      let mask = bytes.uint64(at: note.content.offset) | bytes.uint64(at: note.content.offset + 8)
      if snapshot.system.addressMask == nil, mask != 0 { snapshot.system.addressMask = mask }
    default: break
    }
  }

  private mutating func check(_ note: ElfNote, has size: Int, _ path: String) -> Bool {
    if note.content.count >= size { return true }
    findings.append(
      Finding(
        CoreRules.noteTooShort, at: note.offset, path: path, expected: .byteCount(UInt64(size)),
        found: .byteCount(UInt64(note.content.count))))
    return false
  }

  private mutating func isOfThread(_ note: ElfNote, _ path: String) -> Bool {
    if !snapshot.threads.isEmpty { return true }
    findings.append(Finding(CoreRules.strayNote, at: note.offset, path: path))
    return false
  }

  // MARK: The process

  /// Reads NT_PRPSINFO and the auxiliary vector.
  mutating func readProcess(_ bytes: RawSpan) {
    var linux = LinuxSnapshot()
    linux.auxiliaryVector = notes.auxiliaryVector.map { SnapshotBytes(inputOffset: $0.offset, count: $0.count) }
    snapshot.system.pageSize = notes.auxiliaryValues[CoreFormat.auxPageSize]
    if let process = notes.process {
      snapshot.processID = bytes.int32(at: process.offset + layout.processID)
      snapshot.parentProcessID = bytes.int32(at: process.offset + layout.processID + 4)
      let name = text(ByteRange(offset: process.offset + layout.processName, count: 16), bytes)
      var arguments = text(ByteRange(offset: process.offset + layout.processArguments, count: 80), bytes)
      // The kernel writes a space after each argument.
      while arguments.count > 0, bytes.uint8(at: arguments.end - 1) == 0x20 { arguments.count -= 1 }
      if arguments.count > 0 {
        linux.commandLine = SnapshotBytes(inputOffset: arguments.offset, count: arguments.count)
      }
      // The times and the name belong to the process' first thread, whose id is the process id.
      let first = UInt64(bytes.uint32(at: process.offset + layout.processID))
      if let main = snapshot.threads.firstIndex(where: { $0.id == first }) {
        if name.count > 0 { snapshot.threads[main].name = SnapshotBytes(inputOffset: name.offset, count: name.count) }
        snapshot.userTime = notes.times[main].user
        snapshot.systemTime = notes.times[main].system
      }
    }
    snapshot.linux = linux
  }

  /// The range up to the first NUL.
  func text(_ range: ByteRange, _ bytes: RawSpan) -> ByteRange {
    ByteRange(offset: range.offset, count: bytes.firstZero(in: range) - range.offset)
  }

  // MARK: The signal

  mutating func readException(_ bytes: RawSpan) {
    if notes.signals.first?.info == nil, !notes.signals.isEmpty { notes.signals[0].info = notes.firstSignalInfo }
    // The kernel and gdb write the thread that received the signal first. Other programs may not.
    let index = notes.signals.firstIndex { $0.current != 0 || signal($0.info, bytes) != 0 }
    guard let index, let id = snapshot.threads[index].id else { return }
    let (current, info) = notes.signals[index]
    let number = signal(info, bytes)
    // A debugger stops the process to write its core; no signal is pending then.
    if current == 0, number == CoreFormat.signalStop { return }
    var exception = ExceptionSnapshot(
      kind: .linuxSignal, threadID: id, code: number != 0 ? number : UInt32(current))
    exception.context = snapshot.threads[index].context
    if let info, number != 0 {
      let code = bytes.int32(at: info.offset + 8)
      exception.info = UInt32(bitPattern: code)
      // For a fault raised by the kernel, this field is the address; for other signals, the sender.
      if code > 0, ExceptionSnapshot.faultSignals.contains(number) {
        exception.address = layout.word(bytes, at: info.offset + layout.signalAddress)
      } else if exception.sending != nil {
        // The word that all minidumps and the handler's dumps have.
        exception.address = bytes.uint64(at: info.offset + layout.signalAddress)
        exception.takeSender(processID: snapshot.processID)
      }
    } else {
      // Without it neither the sender nor the address is known; code 0 would say that a process sent the signal.
      exception.isInfoKnown = false
      exception.isAddressKnown = false
    }
    snapshot.exception = exception
  }

  private func signal(_ info: ByteRange?, _ bytes: RawSpan) -> UInt32 {
    info.map { bytes.uint32(at: $0.offset) } ?? 0
  }
}
