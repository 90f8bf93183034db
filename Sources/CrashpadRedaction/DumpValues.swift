// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import IntermediateDump
internal import CrashpadSnapshot

/// The values of an intermediate dump's properties.
extension DumpRedactor {
  mutating func emit(property record: DumpRecord, _ row: KeyDescriptor, _ siblings: Siblings?, _ bytes: RawSpan) {
    if let sizes = row.sizes, !sizes.contains(record.value.count) {
      if record.value.count > 0 { removals.add(.key, row.name, byteCount: record.value.count) }
      emit(emptied: record, bytes)
      return
    }
    if row.shape == .map || row.shape == .array {
      removals.add(.key, row.name, byteCount: record.value.count)
      emit(emptied: record, bytes)
      return
    }
    switch row.privacy {
    // The last four bytes of a time are padding and may hold anything.
    case .keep where row.shape == .time: emit(start: record, 12)
    case .keep: emit(whole: record)
    case .drop, .annotations, .memoryRegions:
      removals.add(.key, row.name, byteCount: record.value.count)
      emit(zeroed: record)
    case .text: emit(plain: record, row.name, bytes)
    case .name: emit(plain: record, row.name, bytes, limit: TextRedactor.maximumNameLength)
    case .threadName: emit(plain: record, row.name, bytes, limit: TextRedactor.maximumThreadNameLength)
    case .message: emit(message: record, bytes)
    case .annotation: emit(annotation: record, siblings, bytes)
    // A build ID has at most 64 bytes, the size of a SHA-512.
    case .identifier: emit(start: record, 64)
    case .memory: emit(memory: record, address: siblings?.address ?? 0)
    case .registers: emit(state: record, bytes)
    case .exceptionState: emit(exceptionState: record, siblings, bytes)
    case .exceptionCodes: emit(codes: record, row)
    case .returnAddresses: emit(memory: record, address: 0)
    case .commandLine: emit(system: record, .commandLine, bytes)
    case .environment: emit(system: record, .environment, bytes)
    case .maps: emit(system: record, .maps, bytes)
    case .processStatus: emit(system: record, .status, bytes)
    case .release: emit(system: record, .release, bytes)
    case .auxiliaryVector: emit(auxiliaryVector: record, bytes)
    }
  }

  // MARK: Pieces

  private mutating func emitHeader(_ record: DumpRecord) {
    plan.append(.copy(ByteRange(offset: record.offset, count: record.value.offset - record.offset)))
  }

  private mutating func emit(whole record: DumpRecord) {
    emitHeader(record)
    plan.append(.copy(record.value))
  }

  /// Copies the first bytes of a value and zeroes the others.
  private mutating func emit(start record: DumpRecord, _ count: Int) {
    emitHeader(record)
    plan.append(.copy(ByteRange(offset: record.value.offset, count: min(count, record.value.count))))
    plan.append(.zeros(max(0, record.value.count - count)))
  }

  private mutating func emit(zeroed record: DumpRecord) { emit(start: record, 0) }

  /// Writes the record without its bytes. It still hides an earlier record with its key, and counts as missing.
  private mutating func emit(emptied record: DumpRecord, _ bytes: RawSpan) {
    plan.append(.copy(ByteRange(offset: record.offset, count: 3)))
    plan.append(.zeros(8))
  }

  // MARK: Text

  private mutating func emit(message record: DumpRecord, _ bytes: RawSpan) {
    let name = Array(RedactionPolicy.messageName.utf8)
    if policy.keeps(annotation: name) {
      emit(plain: record, RedactionPolicy.messageName, bytes)
    } else {
      removals.add(.annotation, name: name, byteCount: record.value.count)
    }
  }

  private mutating func emit(
    plain record: DumpRecord, _ place: String, _ bytes: RawSpan, limit: Int = TextRedactor.maximumLength,
    _ role: TextPlace = .free
  ) {
    emitHeader(record)
    for piece in text.pieces(of: record.value, bytes, limit: limit, role) { emit(hidden: piece, place, bytes) }
  }

  /// Writes a piece, and counts it if it is removed.
  private mutating func emit(hidden piece: TextRedactor.Piece, _ place: String, _ bytes: RawSpan) {
    emit(piece)
    if piece.isHidden, !piece.isStars(bytes, wide: false) {
      removals.add(.text, place, byteCount: piece.range.count)
    }
  }

  private mutating func emit(_ piece: TextRedactor.Piece) {
    plan.append(piece.isHidden ? .stars(piece.range.count) : .copy(piece.range))
  }

  private mutating func emit(system record: DumpRecord, _ kind: SystemText, _ bytes: RawSpan) {
    emitHeader(record)
    let redactor = SystemTextRedactor(text: text, modulePaths: facts.modulePaths)
    for piece in redactor.pieces(of: record.value, as: kind, bytes, &removals) { emit(piece) }
  }

  // MARK: Words

  private mutating func emit(codes record: DumpRecord, _ row: KeyDescriptor) {
    // A minidump has room for 15 codes.
    let isPlausible = record.value.count <= 15 * 8
    if !isPlausible { removals.add(.key, row.name, byteCount: record.value.count) }
    emit(start: record, isPlausible ? record.value.count / 8 * 8 : 0)
  }

  private mutating func emit(memory record: DumpRecord, address: UInt64) {
    if policy.memory == .all {
      emit(whole: record)
    } else {
      emitHeader(record)
      plan.append(.words(record.value, address: address))
    }
  }

  /// Copies pairs of type and value, which are numbers and addresses.
  private mutating func emit(auxiliaryVector record: DumpRecord, _ bytes: RawSpan) {
    emitHeader(record)
    let pairs = min(record.value.count / 16, 64)
    for index in 0..<pairs {
      let pair = ByteRange(offset: record.value.offset + 16 * index, count: 16)
      // The types in asm/auxvec.h and linux/auxvec.h.
      plan.append(bytes.uint64(at: pair.offset) < 64 ? .copy(pair) : .zeros(16))
    }
    plan.append(.zeros(record.value.count - 16 * pairs))
  }

  // MARK: Registers

  private mutating func emit(state record: DumpRecord, _ bytes: RawSpan) {
    if policy.keepsRegisters {
      emit(whole: record)
      return
    }
    guard record.key == .threadState else {
      if bytes.nonzeroCount(in: record.value) > 0 { removals.add(.register, byteCount: record.value.count) }
      emit(zeroed: record)
      return
    }
    emitHeader(record)
    emitRegisters(record.value, record.value.count == DumpStateLayout.arm64.size ? .arm64 : .x86_64, bytes)
  }

  /// Writes the registers in the state, even if it is too short; bytes after them become zero.
  private mutating func emitRegisters(_ range: ByteRange, _ layout: DumpStateLayout, _ bytes: RawSpan) {
    var state = [UInt8](repeating: 0, count: min(range.count, layout.size))
    for index in 0..<min(layout.words, state.count / 8) {
      let offset = 8 * index
      let word = bytes.uint64(at: range.offset + offset)
      let stays =
        offset == layout.programCounter || offset == layout.stackPointer || plan.rule.keeps(word)
        || (layout.link == offset && plan.rule.isSignedCodeAddress(word))
      if !stays, word != removedWord { removals.add(.register, byteCount: 8) }
      state.replaceSubrange(offset..<offset + 8, with: littleEndian(stays ? word : removedWord))
    }
    for offset in layout.plain where offset < state.count { state[offset] = bytes.uint8(at: range.offset + offset) }
    plan.append(made: state)
    plan.append(.zeros(range.count - state.count))
  }

  /// Redacts kState, which may have any size; its flavor gives the layout. Sources: XNU,
  /// `osfmk/mach/{arm,i386}/thread_status.h`.
  private mutating func emit(exceptionState record: DumpRecord, _ siblings: Siblings?, _ bytes: RawSpan) {
    if policy.keepsRegisters, record.value.count <= 1024 {
      emit(whole: record)
      return
    }
    let isARM = facts.architecture == .arm64
    let flavor = siblings?.flavor ?? 0
    let isUnified = isARM ? flavor == 1 : [7, 8, 12].contains(flavor)
    emitHeader(record)
    let header = isUnified ? min(record.value.count, DumpStateLayout.header) : 0
    // The flavor and the word count of the state that follows.
    let isPlausible =
      header == DumpStateLayout.header && bytes.uint32(at: record.value.offset) < 64
      && bytes.uint32(at: record.value.offset + 4) < 1024
    let start = ByteRange(offset: record.value.offset, count: header)
    plan.append(isPlausible ? .copy(start) : .zeros(header))
    let state = ByteRange(offset: start.end, count: record.value.count - header)
    if isARM ? [1, 6].contains(flavor) : [4, 7].contains(flavor) {
      emitRegisters(state, isARM ? .arm64 : .x86_64, bytes)
      return
    }
    if bytes.nonzeroCount(in: state) > 0 { removals.add(.register, byteCount: state.count) }
    plan.append(.zeros(state.count))
  }

  // MARK: Annotations

  private mutating func emit(annotation record: DumpRecord, _ siblings: Siblings?, _ bytes: RawSpan) {
    let name = siblings?.annotationName ?? []
    switch policy.value(of: siblings?.annotationKind ?? .simple, named: name) {
    case .text: emit(plain: record, "annotations", bytes, KeyedValues.place(named: name))
    case .whole: emit(whole: record)
    case .zeros:
      if bytes.nonzeroCount(in: record.value) > 0 { removals.add(.value, name: name, byteCount: record.value.count) }
      emit(zeroed: record)
    case .asterisks:
      emitHeader(record)
      emit(hidden: TextRedactor.Piece(range: record.value, isHidden: true), "annotations", bytes)
    }
  }
}
