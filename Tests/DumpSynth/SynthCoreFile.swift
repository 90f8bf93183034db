// SPDX-License-Identifier: Apache-2.0
/// The bytes of a core, and where in them its fields stand.
public struct SynthCoreFile: Sendable {
  public var bytes: [UInt8]
  /// Offsets by name: `phdr[0]`, that of the notes; `note[2]`; `NT_FILE`, the content of that note; `data[3]`.
  public var fields: [String: Int] = [:]

  public func setting(_ field: String, plus offset: Int = 0, to value: UInt64, width: Int) -> [UInt8] {
    guard let place = fields[field] else { preconditionFailure("no field \(field)") }
    var copy = bytes
    copy.overwrite(value, width: width, at: place + offset)
    return copy
  }
}

extension SynthCore {
  public var bytes: [UInt8] { file().bytes }

  /// A core whose notes have the names that another kernel gives them: of the process, and of one thread.
  public static func ofForeignSystem() -> SynthCore {
    var core = SynthCore(threads: 0)
    core.hasFileNote = false
    core.firstNotes = [
      Note("NetBSD-CORE", 1, [UInt8](repeating: 0, count: 160)),
      Note("NetBSD-CORE@1", 33, [UInt8](repeating: 0, count: 208)),
    ]
    return core
  }

  /// All notes in the kernel's order.
  private var notes: [Note] {
    var notes = firstNotes
    for (index, thread) in threads.enumerated() {
      notes.append(Note("CORE", 1, status(thread)))
      if index == 0 {
        notes.append(Note("CORE", 3, processInfo))
        if hasSignalInfo { notes.append(Note("CORE", 0x5349_4749, signalInfo)) }
        notes.append(Note("CORE", 6, auxiliaryVector.flatMap { machine.bytes(ofWords: [$0.type, $0.value]) }))
        if hasFileNote { notes.append(Note("CORE", 0x4649_4c45, fileNote)) }
      }
      notes.append(Note("CORE", 2, thread.floatingPoint + (machine == .aarch64 ? [UInt8](repeating: 0, count: 8) : [])))
      let data = thread.stackPointer + 256
      switch machine {
      case .x86_64, .riscv64, .ppc64le, .loongarch64: break
      case .aarch64:
        notes.append(Note("LINUX", 0x401, Bytes.of(data)))
        notes.append(Note("LINUX", 0x406, Bytes.of([Self.addressMask, Self.addressMask])))
      case .i386:
        // Number, start, limit and flags of each segment
        let words: [UInt64] = [11, 0x1000, 0xfffff, 0x51, 12, data, 0xfffff, 0x51, 13, 0, 0, 0x28]
        notes.append(Note("LINUX", 0x200, machine.bytes(ofWords: words)))
      case .arm: notes.append(Note("LINUX", 0x401, machine.bytes(ofWords: [data])))
      }
    }
    return notes + extraNotes
  }

  /// Header, program headers, notes, memory; with the extended count a section header at the end.
  public func file() -> SynthCoreFile {
    var file = SynthCoreFile(bytes: [])
    let count = segments.count + (hasNotes ? 1 : 0)
    let start = machine.headerSize + machine.programHeaderSize * count
    var noteBytes: [UInt8] = []
    for (index, note) in (hasNotes ? notes : []).enumerated() {
      file.fields["note[\(index)]"] = start + noteBytes.count
      if note.type == 0x4649_4c45 {
        file.fields["NT_FILE"] = start + noteBytes.count + (20 + noteAlignment - 1) & -noteAlignment
      }
      noteBytes += Self.bytes(of: note, alignment: noteAlignment)
    }
    let memory = start + noteBytes.count
    let total = memory + segments.reduce(0) { $0 + $1.bytes.count }
    file.bytes = Self.header(
      machine, type: 4, programHeaders: hasExtendedCount ? 0xffff : UInt16(count),
      sectionHeaders: hasExtendedCount ? UInt64(total) : 0)
    if hasNotes {
      file.fields["phdr[0]"] = file.bytes.count
      file.bytes += Self.programHeader(
        machine, type: 4, flags: 0, offset: UInt64(start), address: 0, UInt64(noteBytes.count), 0,
        alignment: noteAlignment)
    }
    var place = memory
    for (index, segment) in segments.enumerated() {
      file.fields["phdr[\(index + 1)]"] = file.bytes.count
      file.fields["data[\(index)]"] = place
      file.bytes += Self.programHeader(
        machine, type: 1, flags: segment.flags, offset: UInt64(place), address: segment.address,
        UInt64(segment.bytes.count), segment.size)
      place += segment.bytes.count
    }
    file.bytes += noteBytes
    for segment in segments { file.bytes += segment.bytes }
    if hasExtendedCount {
      var section = [UInt8](repeating: 0, count: machine.sectionHeaderSize)
      section.overwrite(UInt64(count), width: 4, at: machine.isNarrow ? 28 : 44)
      file.bytes += section
    }
    return file
  }

  // MARK: Parts

  static func header(_ machine: Machine, type: UInt16, programHeaders: UInt16, sectionHeaders: UInt64 = 0) -> [UInt8] {
    var bytes: [UInt8] = [0x7f, 0x45, 0x4c, 0x46, machine.isNarrow ? 1 : 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    bytes.append(little: type)
    bytes.append(little: machine.number)
    bytes.append(little: UInt32(1))
    bytes += machine.bytes(ofWords: [0, UInt64(machine.headerSize), sectionHeaders])
    bytes.append(little: UInt32(0))
    let sizes = [machine.headerSize, machine.programHeaderSize].map { UInt16($0) }
    for half in sizes + [programHeaders, UInt16(machine.sectionHeaderSize), sectionHeaders == 0 ? 0 : 1, 0] {
      bytes.append(little: half)
    }
    return bytes
  }

  static func programHeader(
    _ machine: Machine, type: UInt32, flags: UInt32, offset: UInt64, address: UInt64, _ fileSize: UInt64,
    _ memorySize: UInt64, alignment: Int = 4
  ) -> [UInt8] {
    let words = machine.bytes(ofWords: [offset, address, 0, fileSize, memorySize])
    let alignment = machine.bytes(ofWords: [UInt64(alignment)])
    return machine.isNarrow
      ? Bytes.of(type) + words + Bytes.of(flags) + alignment : Bytes.of(type) + Bytes.of(flags) + words + alignment
  }

  static func bytes(of note: Note, alignment: Int = 4) -> [UInt8] {
    let name = Array(note.name.utf8) + [0]
    var bytes = Bytes.of(UInt32(name.count)) + Bytes.of(UInt32(note.bytes.count)) + Bytes.of(note.type) + name
    bytes.appendZeros(-bytes.count & (alignment - 1))
    bytes += note.bytes
    bytes.appendZeros(-bytes.count & (alignment - 1))
    return bytes
  }

  /// struct elf_prstatus
  private func status(_ thread: Thread) -> [UInt8] {
    var bytes = Bytes.of(UInt32(thread.signal)) + Bytes.of(UInt32(0)) + Bytes.of(UInt32(0))
    bytes += Bytes.of(thread.signal)
    bytes.appendZeros(2 + 2 * machine.wordSize)
    for id in [thread.id, UInt32(bitPattern: parentID), 1, 1] { bytes.append(little: id) }
    bytes += machine.bytes(ofWords: [12, 345_000, 6, 789_000])  // user and system time
    bytes.appendZeros(4 * machine.wordSize)
    bytes += machine.bytes(ofWords: thread.registers)
    bytes += Bytes.of(UInt32(1))
    bytes.appendZeros(machine.wordSize - 4)
    return bytes
  }

  /// struct elf_prpsinfo
  private var processInfo: [UInt8] {
    var bytes: [UInt8] = [0, UInt8(ascii: "R"), 0, 0]
    bytes.appendZeros(machine.wordSize - 4)
    bytes += machine.bytes(ofWords: [0x400600])
    for user in [1000, 1001] as [UInt32] {
      bytes += machine.isNarrow ? Bytes.of(UInt16(user)) : Bytes.of(user)
    }
    for number in [processID, parentID, processID, 1] { bytes.append(little: number) }
    bytes += Self.fixed(name, 16)
    bytes += Self.fixed(arguments.joined(separator: " ") + " ", 80)
    return bytes
  }

  private static func fixed(_ text: String, _ count: Int) -> [UInt8] {
    let bytes = Array(text.utf8.prefix(count - 1))
    return bytes + [UInt8](repeating: 0, count: count - bytes.count)
  }

  private var signalInfo: [UInt8] {
    var bytes = Bytes.of(signalNumber) + Bytes.of(UInt32(0)) + Bytes.of(signalCode)
    bytes.appendZeros(machine.wordSize - 4)
    bytes += machine.bytes(ofWords: [signalAddress])
    bytes.appendZeros(128 - bytes.count)
    return bytes
  }

  private var fileNote: [UInt8] {
    var bytes = machine.bytes(ofWords: [UInt64(mappings.count), 4096])
    for mapping in mappings { bytes += machine.bytes(ofWords: [mapping.start, mapping.end, mapping.offset]) }
    for mapping in mappings { bytes += Array(mapping.path.utf8) + [0] }
    return bytes
  }
}

extension SynthCore.Machine {
  var headerSize: Int { isNarrow ? 52 : 64 }
  var programHeaderSize: Int { isNarrow ? 32 : 56 }
  var sectionHeaderSize: Int { isNarrow ? 40 : 64 }
}
