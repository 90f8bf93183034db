// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadMinidump
internal import CrashpadSnapshot

/// Memory lists and memory contents.
extension MinidumpRedactor {
  mutating func claimMemoryList(_ range: ByteRange, _ bytes: RawSpan) {
    let offsets = entries(of: range, size: MinidumpFormat.memoryDescriptorSize, mayBePadded: true, bytes)
    var kept: [Int] = []
    for entry in offsets {
      let address = bytes.uint64(at: entry)
      // An entry without bytes, or with bytes outside this file, is useless.
      guard let memory = place(at: entry + 8, bytes) else { continue }
      if claimMemory(memory, at: address, mayGo: true) { kept.append(entry) }
    }
    let isPadded = offsets.first.map { $0 == range.offset + 8 } ?? false
    claimList(range, header: isPadded ? 8 : 4, offsets, kept, size: MinidumpFormat.memoryDescriptorSize, bytes)
    if kept.count < offsets.count {
      newSizes[.memoryList] = (isPadded ? 8 : 4) + MinidumpFormat.memoryDescriptorSize * kept.count
    }
  }

  /// Claims the entries of a list that stay. If some are removed, the others move up and the count is reduced.
  mutating func claimList(
    _ range: ByteRange, header: Int, _ offsets: [Int], _ kept: [Int], size: Int, _ bytes: RawSpan
  ) {
    if kept.count == offsets.count {
      for entry in offsets { claims.copy(entry, size) }
      return
    }
    // If two lists share a location, the list is built once.
    claims.make(littleEndian(UInt32(kept.count)), at: range.offset)
    var entries: [UInt8] = []
    entries.reserveCapacity(kept.count * size)
    for entry in kept { entries += bytes.array(in: ByteRange(offset: entry, count: size)) }
    claims.make(entries, at: range.offset + header)
    let start = range.offset + header + entries.count
    claims.claim(ByteRange(offset: start, count: range.end - start), .removed)
  }

  /// Returns whether any part of the range stays, or its place in the file must be kept.
  private mutating func claimMemory(_ range: ByteRange, at address: UInt64, mayGo: Bool) -> Bool {
    if code.holds(address, range.count) {
      claims.claim(range, .copy)
      return true
    }
    // Many ranges may contain all stacks.
    guard policy.memory == .all || look(at: 1 + stacks.count(in: range, at: address)) else {
      claims.claim(range, mayGo ? .removed : .blank)
      removals.add(.memory, byteCount: range.count)
      return !mayGo
    }
    switch policy.memory {
    case .all:
      claims.claim(range, .copy)
      return true
    case .pointers:
      for part in stacks.others(of: range, at: address) {
        if knownMemory.insert(part.offset).inserted {
          claims.words(part, at: address &+ UInt64(part.offset - range.offset))
        }
      }
      return true
    case .stacks:
      let parts = stacks.others(of: range, at: address)
      let goes = mayGo && parts.count == 1 && parts[0] == range
      for part in parts {
        claims.claim(part, goes ? .removed : .blank)
        if knownMemory.insert(part.offset).inserted { removals.add(.memory, byteCount: part.count) }
      }
      return !goes
    }
  }

  /// The ranges are adjacent in the file, so none can be removed.
  mutating func claimMemory64List(_ range: ByteRange, _ bytes: RawSpan) {
    guard range.count >= 16 else { return }
    claims.copy(range.offset, 16)
    let count = Int(clamping: bytes.uint64(at: range.offset))
    var rva = Int(clamping: bytes.uint64(at: range.offset + 8))
    for entry in offsets(from: range.offset + 16, count: count, size: 16, upTo: range.end) {
      claims.copy(entry, 16)
      let length = Int(clamping: bytes.uint64(at: entry + 8))
      guard rva <= size, length <= size - rva else { break }
      if length > 0 {
        _ = claimMemory(ByteRange(offset: rva, count: length), at: bytes.uint64(at: entry), mayGo: false)
      }
      rva += length
    }
  }

  mutating func claimMemoryInfo(_ range: ByteRange, _ bytes: RawSpan) {
    for entry in extendedEntries(of: range, minimumSize: 48, countBytes: 8, bytes) {
      // MINIDUMP_MEMORY_INFO without its padding.
      claims.copy(entry, 20)
      claims.copy(entry + 24, 20)
    }
  }
}
