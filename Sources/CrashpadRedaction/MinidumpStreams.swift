// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadMinidump
internal import CrashpadSnapshot

/// The streams other than Crashpad's own, memory and registers.
///
/// A damaged directory may refer to anything, such as text. So a record is copied only if its checkable members are
/// valid; above all, its locations have to lie in the file.
extension MinidumpRedactor {
  mutating func claimSystemInfo(_ range: ByteRange, _ bytes: RawSpan) {
    guard snapshot.system.architecture != .unknown, snapshot.system.operatingSystem != .unknown else { return }
    claims.copy(range.offset, min(range.count, MinidumpFormat.systemInfoSize))
    guard range.count >= 32 else { return }
    claimWideString(at: Int(bytes.uint32(at: range.offset + 24)), "SystemInfo", bytes)
  }

  mutating func claimMiscInfo(_ range: ByteRange, _ bytes: RawSpan) {
    let offset = range.offset
    let name = "MiscInfo"
    guard range.count >= 24, (24...2048).contains(bytes.uint32(at: offset)) else { return }
    // Plain numbers up to the start of TIME_ZONE_INFORMATION, which begins with one.
    claims.copy(offset, min(range.count, 64))
    guard range.count >= 232 else { return }
    claimFixedWideText(ByteRange(offset: offset + 64, count: 64), name, bytes)
    claims.copy(offset + 128, 20)
    claimFixedWideText(ByteRange(offset: offset + 148, count: 64), name, bytes)
    claims.copy(offset + 212, 20)
    guard range.count >= MinidumpFormat.miscInfo4Size else { return }
    claimFixedWideText(ByteRange(offset: offset + 232, count: 520), name, bytes)
    claimFixedWideText(ByteRange(offset: offset + 752, count: 80), name, bytes)
  }

  mutating func claimThreads(_ range: ByteRange, _ bytes: RawSpan) {
    for entry in entries(of: range, size: MinidumpFormat.threadSize, mayBePadded: true, bytes) {
      let hasStack = isPlausible(at: entry + 32, bytes)
      let hasContext = isPlausible(at: entry + 40, upTo: 64 * 1024, bytes)
      if hasStack, hasContext {
        claims.copy(entry, MinidumpFormat.threadSize)
      } else {
        // The dump is truncated: keep the id and the parts that lie in the file.
        claims.copy(entry, 4)
        if hasStack { claims.copy(entry + 24, 16) }
        if hasContext { claims.copy(entry + 40, 8) }
      }
      if policy.memory == .all, let stack = place(at: entry + 32, bytes) { claims.claim(stack, .copy) }
      claimContext(at: entry + 40, bytes)
    }
  }

  mutating func claimThreadNames(_ range: ByteRange, _ bytes: RawSpan) {
    for entry in entries(of: range, size: MinidumpFormat.threadNameSize, bytes) {
      guard isPlausibleString(at: Int(clamping: bytes.uint64(at: entry + 4)), bytes) else { continue }
      claims.copy(entry, MinidumpFormat.threadNameSize)
      claimWideString(
        at: Int(clamping: bytes.uint64(at: entry + 4)), "ThreadNames", bytes,
        limit: TextRedactor.maximumThreadNameLength)
    }
  }

  mutating func claimException(_ range: ByteRange, _ bytes: RawSpan) {
    guard range.count >= MinidumpFormat.exceptionStreamSize else { return }
    let offset = range.offset
    // MINIDUMP_EXCEPTION_STREAM up to the parameters, as many parameters as are counted,
    // and the location of the registers.
    let count = Int(bytes.uint32(at: offset + 32))
    guard count <= 64, isPlausible(at: offset + 160, upTo: 64 * 1024, bytes) else { return }
    claims.copy(offset, 36)
    if count <= 15 { claims.copy(offset + 40, 8 * count) }
    claims.copy(offset + 160, 8)
    claimContext(at: offset + 160, bytes)
  }

  // MARK: Modules

  mutating func claimModules(_ range: ByteRange, _ bytes: RawSpan) {
    for entry in entries(of: range, size: MinidumpFormat.moduleSize, mayBePadded: true, bytes) {
      guard isPlausible(at: entry + 76, upTo: 64 * 1024, bytes),
        isPlausibleString(at: Int(bytes.uint32(at: entry + 20)), bytes)
      else {
        // The dump is truncated: keep address and size, so that addresses of this module's code stay.
        if bytes.uint64(at: entry) % 4096 == 0, bytes.uint64(at: entry) >> 48 == 0 { claims.copy(entry, 12) }
        continue
      }
      // Copies up to the location of the CodeView record. The location of other debug information becomes zero,
      // because that information is removed.
      claims.copy(entry, 84)
      claims.claim(ByteRange(offset: entry + 84, count: 24), .blank)
      claimWideString(at: Int(bytes.uint32(at: entry + 20)), "ModuleList", bytes)
      if let record = place(at: entry + 76, bytes), knownPlaces.insert(record.offset).inserted {
        claimCodeView(record, bytes)
      }
    }
  }

  private mutating func claimCodeView(_ record: ByteRange, _ bytes: RawSpan) {
    claims.hold(record)
    guard record.count >= 4 else { return }
    func claimName(from start: Int) {
      claimFixedText(ByteRange(offset: record.offset + start, count: record.count - start), "ModuleList", bytes)
    }
    switch bytes.uint32(at: record.offset) {
    case MinidumpFormat.codeViewPDB70 where record.count >= 24:
      claims.copy(record.offset, 24)
      claimName(from: 24)
    case MinidumpFormat.codeViewPDB20 where record.count >= 16:
      claims.copy(record.offset, 16)
      claimName(from: 16)
    case MinidumpFormat.codeViewELFBuildID:
      // A build ID has at most 64 bytes, the size of a SHA-512.
      claims.copy(record.offset, min(record.count, 4 + 64))
    default: break
    }
  }

  mutating func claimUnloadedModules(_ range: ByteRange, _ bytes: RawSpan) {
    for entry in extendedEntries(of: range, minimumSize: 24, countBytes: 4, bytes) {
      guard isPlausibleString(at: Int(bytes.uint32(at: entry + 20)), bytes) else { continue }
      claims.copy(entry, 24)
      claimWideString(at: Int(bytes.uint32(at: entry + 20)), "UnloadedModuleList", bytes)
    }
  }

  // MARK: Linux

  mutating func claimSystemText(_ range: ByteRange, _ kind: SystemText, _ bytes: RawSpan) {
    let redactor = SystemTextRedactor(text: text, modulePaths: modulePaths(bytes))
    for piece in redactor.pieces(of: range, as: kind, bytes, &removals) { claim(piece, nil, bytes) }
  }

  private func modulePaths(_ bytes: RawSpan) -> Set<[UInt8]> {
    Set(snapshot.modules.compactMap { $0.name.map { snapshot.bytes(of: $0, in: bytes) } })
  }

  /// Claims pairs of type and value, which are numbers and addresses.
  mutating func claimAuxiliaryVector(_ range: ByteRange, _ bytes: RawSpan) {
    let pair = 2 * rule.wordSize
    for index in 0..<min(range.count / pair, 64) {
      let entry = range.offset + index * pair
      // The types in asm/auxvec.h and linux/auxvec.h.
      if rule.word(at: entry, bytes) < 64 { claims.copy(entry, pair) }
    }
  }
}
