// SPDX-License-Identifier: Apache-2.0
package import CrashpadSnapshot

/// The memory of a process that a minidump contains.
package enum MemorySelection: String, Sendable, CaseIterable {
  /// The threads' stacks, including those interrupted by a handler on a signal stack and those of goroutines; the memory around
  /// addresses in the crashed thread's registers; and the vDSO, which is not in any file.
  case stacks
  /// All captured memory.
  case all
}

extension ProcessSnapshot {
  /// The memory kept around a pointer: 128 bytes before it, and up to 384 from it on.
  private static var before: UInt64 { 128 }
  private static var around: UInt64 { 512 }
  /// The vDSO has two or three pages.
  private static var maximumVDSO: UInt64 { 64 * 1024 }

  /// Drops the memory that is not selected.
  ///
  /// - Parameters:
  ///   - selection: the memory to keep.
  ///   - bytes: the input from which the snapshot was read.
  package mutating func reduceMemory(to selection: MemorySelection, in bytes: RawSpan) {
    guard selection == .stacks else { return }
    extraMemory.sort { $0.address < $1.address }
    var wanted: [(start: UInt64, end: UInt64)] = (exception?.context?.generalRegisters ?? []).map { register in
      let start = register.value < Self.before ? 0 : register.value - Self.before
      return (start, start.addingReportingOverflow(Self.around).overflow ? .max : start + Self.around)
    }
    for module in modules where module.fileType == .other {
      guard let address = module.address, let size = module.size else { continue }
      let end = address.addingReportingOverflow(min(size, Self.maximumVDSO))
      wanted.append((address, end.overflow ? .max : end.partialValue))
    }
    wanted += interruptedStacks(in: bytes)
    wanted += goThreads(in: bytes).flatMap(\.memory)
    wanted.sort { $0.start < $1.start }
    var kept: [MemoryRegion] = []
    var next = 0
    for region in extraMemory where !region.content.isEmpty {
      // For a region that ends at 2^64, the last byte is dropped.
      let regionEnd = region.end ?? .max
      var reach = region.address
      while next < wanted.count, wanted[next].end <= reach { next += 1 }
      for (start, end) in wanted[next...] {
        if start >= regionEnd { break }
        let first = max(start, reach)
        let last = min(end, regionEnd)
        if first >= last { continue }
        reach = last
        kept.append(
          MemoryRegion(
            address: first, content: region.content.part(at: Int(first - region.address), count: Int(last - first))))
      }
    }
    extraMemory = kept
  }
}
