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
        notes.append(Note("CORE", 6, auxiliaryVector.flatMap { Bytes.of([$0.type, $0.value]) }))
        if hasFileNote { notes.append(Note("CORE", 0x4649_4c45, fileNote)) }
      }
      notes.append(Note("CORE", 2, thread.floatingPoint + (machine == .aarch64 ? [UInt8](repeating: 0, count: 8) : [])))
      if machine == .aarch64 {
        notes.append(Note("LINUX", 0x401, Bytes.of(thread.stackPointer + 256)))
        notes.append(Note("LINUX", 0x406, Bytes.of([Self.addressMask, Self.addressMask])))
      }
    }
    return notes + extraNotes
  }

  /// Header, program headers, notes, memory; with the extended count a section header at the end.
  public func file() -> SynthCoreFile {
    var file = SynthCoreFile(bytes: [])
    let count = segments.count + (hasNotes ? 1 : 0)
    let start = 64 + 56 * count
    var noteBytes: [UInt8] = []
    for (index, note) in (hasNotes ? notes : []).enumerated() {
      file.fields["note[\(index)]"] = start + noteBytes.count
      if note.type == 0x4649_4c45 { file.fields["NT_FILE"] = start + noteBytes.count + 20 }
      noteBytes += Self.bytes(of: note)
    }
    let memory = start + noteBytes.count
    let total = memory + segments.reduce(0) { $0 + $1.bytes.count }
    file.bytes = Self.header(
      machine, type: 4, programHeaders: hasExtendedCount ? 0xffff : UInt16(count),
      sectionHeaders: hasExtendedCount ? UInt64(total) : 0)
    if hasNotes {
      file.fields["phdr[0]"] = file.bytes.count
      file.bytes += Self.programHeader(
        type: 4, flags: 0, offset: UInt64(start), address: 0, UInt64(noteBytes.count), 0)
    }
    var place = memory
    for (index, segment) in segments.enumerated() {
      file.fields["phdr[\(index + 1)]"] = file.bytes.count
      file.fields["data[\(index)]"] = place
      file.bytes += Self.programHeader(
        type: 1, flags: segment.flags, offset: UInt64(place), address: segment.address, UInt64(segment.bytes.count),
        segment.size)
      place += segment.bytes.count
    }
    file.bytes += noteBytes
    for segment in segments { file.bytes += segment.bytes }
    if hasExtendedCount {
      var section = [UInt8](repeating: 0, count: 64)
      section.overwrite(UInt64(count), width: 4, at: 44)
      file.bytes += section
    }
    return file
  }

  // MARK: Parts

  static func header(_ machine: Machine, type: UInt16, programHeaders: UInt16, sectionHeaders: UInt64 = 0) -> [UInt8] {
    var bytes: [UInt8] = [0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    bytes.append(little: type)
    bytes.append(little: UInt16(machine == .x86_64 ? 62 : 183))
    bytes.append(little: UInt32(1))
    bytes += Bytes.of([0, 64, sectionHeaders])
    bytes.append(little: UInt32(0))
    for half in [64, 56, programHeaders, 64, sectionHeaders == 0 ? 0 : 1, 0] as [UInt16] { bytes.append(little: half) }
    return bytes
  }

  static func programHeader(
    type: UInt32, flags: UInt32, offset: UInt64, address: UInt64, _ fileSize: UInt64, _ memorySize: UInt64
  ) -> [UInt8] {
    Bytes.of(type) + Bytes.of(flags) + Bytes.of([offset, address, 0, fileSize, memorySize, 4])
  }

  static func bytes(of note: Note) -> [UInt8] {
    let name = Array(note.name.utf8) + [0]
    var bytes = Bytes.of(UInt32(name.count)) + Bytes.of(UInt32(note.bytes.count)) + Bytes.of(note.type) + name
    bytes.appendZeros(-bytes.count & 3)
    bytes += note.bytes
    bytes.appendZeros(-bytes.count & 3)
    return bytes
  }

  /// struct elf_prstatus
  private func status(_ thread: Thread) -> [UInt8] {
    var bytes = Bytes.of(UInt32(thread.signal)) + Bytes.of(UInt32(0)) + Bytes.of(UInt32(0))
    bytes += Bytes.of(thread.signal)
    bytes.appendZeros(2 + 16)
    for id in [thread.id, UInt32(bitPattern: parentID), 1, 1] { bytes.append(little: id) }
    bytes += Bytes.of([12, 345_000, 6, 789_000])  // user and system time
    bytes.appendZeros(32)
    bytes += Bytes.of(thread.registers)
    bytes += Bytes.of(UInt32(1)) + Bytes.of(UInt32(0))
    return bytes
  }

  /// struct elf_prpsinfo
  private var processInfo: [UInt8] {
    var bytes: [UInt8] = [0, UInt8(ascii: "R"), 0, 0, 0, 0, 0, 0]
    bytes += Bytes.of(UInt64(0x400600))
    for number in [1000, 1001, processID, parentID, processID, 1] as [Int32] { bytes.append(little: number) }
    bytes += Self.fixed(name, 16)
    bytes += Self.fixed(arguments.joined(separator: " ") + " ", 80)
    return bytes
  }

  private static func fixed(_ text: String, _ count: Int) -> [UInt8] {
    let bytes = Array(text.utf8.prefix(count - 1))
    return bytes + [UInt8](repeating: 0, count: count - bytes.count)
  }

  private var signalInfo: [UInt8] {
    var bytes = Bytes.of(signalNumber) + Bytes.of(UInt32(0)) + Bytes.of(signalCode) + Bytes.of(UInt32(0))
    bytes += Bytes.of(signalAddress)
    bytes.appendZeros(128 - bytes.count)
    return bytes
  }

  private var fileNote: [UInt8] {
    var bytes = Bytes.of([UInt64(mappings.count), 4096])
    for mapping in mappings { bytes += Bytes.of([mapping.start, mapping.end, mapping.offset]) }
    for mapping in mappings { bytes += Array(mapping.path.utf8) + [0] }
    return bytes
  }
}
