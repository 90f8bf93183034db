// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Reads memory and the description of the address space.
extension MinidumpReader {
  mutating func readMemoryList(_ range: ByteRange, _ bytes: RawSpan) {
    for (index, offset) in entries(
      of: range, size: MinidumpFormat.memoryDescriptorSize, price: Price.memory, mayBePadded: true, "MemoryList", bytes
    )
    .enumerated() {
      if let region = memoryRegion(at: offset, { "MemoryList[\(index)]" }, bytes) { add(region) }
    }
  }

  /// Reads ranges whose bytes are contiguous in the file from one offset on.
  mutating func readMemory64List(_ range: ByteRange, _ bytes: RawSpan) {
    guard check(range, has: 16, "Memory64List") else { return }
    let count = Int(clamping: bytes.uint64(at: range.offset))
    var rva = Int(clamping: bytes.uint64(at: range.offset + 8))
    let offsets = entries(
      from: range.offset + 16, to: range.end, count: count, size: 16, price: Price.memory, "Memory64List")
    for (index, offset) in offsets.enumerated() {
      let size = Int(clamping: bytes.uint64(at: offset + 8))
      guard let place = self.range(rva: rva, count: size, bytes) else {
        findings.append(
          Finding(
            MinidumpRules.memoryOutside, at: offset, path: "Memory64List[\(index)]",
            expected: .byteCount(UInt64(bytes.byteCount)),
            found: .byteCount(UInt64(clamping: rva.addingReportingOverflow(size).overflow ? .max : rva + size))))
        return
      }
      add(
        MemoryRegion(
          address: bytes.uint64(at: offset), content: SnapshotBytes(inputOffset: place.offset, count: place.count)))
      rva += size
    }
  }

  /// Adds a region, unless it is a thread's stack, which the list repeats.
  private mutating func add(_ region: MemoryRegion) {
    if region.content.isEmpty || stackContents.contains(region) { return }
    snapshot.extraMemory.append(region)
  }

  mutating func readMemoryInfoList(_ range: ByteRange, _ bytes: RawSpan) {
    let (offsets, _) = extendedEntries(
      of: range, minimumSize: 48, countBytes: 8, price: Price.memory, "MemoryInfoList", bytes)
    snapshot.memoryMap.reserveCapacity(offsets.count)
    for offset in offsets {
      snapshot.memoryMap.append(
        MemoryMapRegion(
          address: bytes.uint64(at: offset), size: bytes.uint64(at: offset + 24), state: bytes.uint32(at: offset + 32),
          protection: bytes.uint32(at: offset + 36)))
    }
  }
}
